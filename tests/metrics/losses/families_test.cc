// Families of names: what belongs to one mechanism, with what it costs.
#include "engine/metrics/losses/families.h"

#include <algorithm>

#include "tests/support/analyzed.h"
#include "tests/support/loops.h"
#include "tests/support/operator_story.h"

namespace advise {
namespace {

const char* const kVectorProduct =
    "void gemv2T_kernel_val<int, int, __half, __half, __half, float, 128, 16, 4, 4, false, false, "
    "cublasGemvParamsEx<int> >(int)";

std::size_t Index(FamilyKind kind, const std::string& name) {
  const std::vector<NameFamily>& families = ShippedKnowledge().families(kind);
  const auto found = std::find_if(families.begin(), families.end(),
                                  [&](const NameFamily& family) { return family.name == name; });
  REQUIRE(found != families.end());
  return static_cast<std::size_t>(found - families.begin());
}

const KernelFamily& Family(const Analyzed& run, const char* name) {
  return run->families->kernels[Index(FamilyKind::kKernel, name)];
}

TEST_CASE("a kernel family counts its kernels and loses their time") {
  TraceBuilder story;
  Repeat(10, 1_ms, [&](int i, Nanos at) {
    story.Range("step " + std::to_string(i), {at, at + 900_us});
    story.Launch(kVectorProduct, {at, at + 5_us}, {at + 10_us, at + 110_us});
    story.Launch(kMatrixBf16, {at + 5_us, at + 9_us}, {at + 110_us, at + 410_us});
  });
  const Analyzed run(story);
  const KernelFamily& gemv = Family(run, "gemv");
  CHECK(gemv.loss.count == 10);
  CHECK(gemv.loss.per_step == 1);
  CHECK(gemv.loss.lost->Total() == 1_ms);
  CHECK(gemv.loss.time_ns == 1e6);
  CHECK(gemv.loss.bytes == 0);
  CHECK(gemv.loss.remedy->scaled_ops.size() == 10);
  CHECK(gemv.halved->scaled_ops.front().second == 0.5F);
  CHECK(Family(run, "upsample").loss.count == 0);
}

TEST_CASE("builders of families share nothing") {
  const Analyzed run(TraceBuilder().Kernel(kVectorProduct, {0_us, 100_us}));
  CHECK(Family(run, "gemv").loss.lost->Total() == 100_us);
  CHECK(Family(run, "sort").loss.lost->Total() == 0);
  CHECK(Family(run, "sort").loss.remedy->scaled_ops.empty());
}

TEST_CASE("a family of calls loses the idle time inside them") {
  TraceBuilder story;
  Repeat(10, 1_ms, [&](int i, Nanos at) {
    story.Range("step " + std::to_string(i), {at, at + 900_us});
    story.Call("cudaGraphInstantiate", {at + 500_us, at + 600_us});
    story.Launch("kernel", {at + 600_us, at + 605_us}, {at + 610_us, at + 710_us});
  });
  const Analyzed run(story);
  const Loss& built = run->families->calls[Index(FamilyKind::kCall, "graph_build")];
  CHECK(built.count == 9);  // the first call lies before the window, which begins with GPU work
  CHECK(built.lost->Total() == 9 * 100_us);
  REQUIRE(built.remedy->host_cuts.size() == 1);
  CHECK(built.remedy->host_cuts[0].when.Total() == 9 * 100_us);
  // A call that is gone does not wait for the GPU either.
  CHECK(built.remedy->unblocked_calls.size() == 9);
}

TEST_CASE("a capture lasts from its beginning to what instantiates it") {
  TraceBuilder story;
  Repeat(10, 2_ms, [&](int i, Nanos at) {
    story.Range("step " + std::to_string(i), {at, at + 1900_us});
    story.Call("cudaStreamBeginCapture", {at + 300_us, at + 310_us});
    for (int k = 0; k < 20; ++k)
      story.Call("cudaLaunchKernel", {at + 320_us + k * 20_us, at + 323_us + k * 20_us});
    story.Call("cudaStreamEndCapture", {at + 730_us, at + 800_us});
    story.Call("cudaGraphGetNodes", {at + 801_us, at + 802_us});
    story.Call("cudaGraphInstantiate", {at + 810_us, at + 1000_us});
    story.Graph(static_cast<std::uint32_t>(i), {at + 1020_us, at + 1030_us},
                {at + 1040_us, at + 1640_us});
  });
  const Analyzed run(story);
  const Loss& captured = run->families->calls[Index(FamilyKind::kCall, "graph_capture")];
  CHECK(captured.count == 18);
  CHECK(captured.lost->Total() == 9 * 700_us);
  CHECK(run->replay().Gain(*captured.remedy) > 8 * 700_us);
}

TEST_CASE("a constant that fits into the arguments of a kernel needs no copy, a table does") {
  for (const std::int64_t bytes : {4096, 4097}) {
    TraceBuilder story;
    Repeat(10, 1_ms, [&](int i, Nanos at) {
      story.Range("step " + std::to_string(i), {at, at + 900_us});
      story.CopyToGpu(bytes, MemoryKind::kPageable, {at + 10_us, at + 15_us},
                      {at + 14_us, at + 34_us}, "cudaMemcpyToSymbol");
      story.Launch("kernel", {at + 16_us, at + 20_us}, {at + 34_us, at + 710_us});
    });
    const Analyzed run(story, kAuto);
    const Loss& symbols = run->families->calls[Index(FamilyKind::kCall, "symbol_copy")];
    const auto steps = static_cast<std::size_t>(symbols.count);
    REQUIRE(steps >= 9);
    CHECK(symbols.remedy->scaled_ops.size() == (bytes == 4096 ? steps : 0));
    CHECK(symbols.lost->Total() >= symbols.count * (bytes == 4096 ? 20_us : 3_us));
    CHECK(symbols.lost->Total() <= symbols.count * (bytes == 4096 ? 26_us : 6_us));
  }
}

TEST_CASE("calls behind a busy GPU lose nothing") {
  TraceBuilder story;
  Repeat(10, 1_ms, [&](int i, Nanos at) {
    story.Range("step " + std::to_string(i), {at, at + 990_us});
    story.Launch("kernel", {at, at + 5_us}, {at + 10_us, at + 1010_us});
    story.Call("cudaMemGetInfo", {at + 100_us, at + 200_us});
  });
  const Analyzed run(story);
  const Loss& asked = run->families->calls[Index(FamilyKind::kCall, "device_query")];
  CHECK(asked.count == 10);
  CHECK(asked.lost->Total() == 0);
}

TEST_CASE("ranges of a family on the launching thread lose the idle time inside them") {
  TraceBuilder story;
  Repeat(10, 1_ms, [&](int i, Nanos at) {
    story.Range("step " + std::to_string(i), {at, at + 900_us});
    story.Range("gloo:all_reduce", {at + 200_us, at + 500_us});
    story.Launch("kernel", {at + 600_us, at + 605_us}, {at + 610_us, at + 710_us});
  });
  const Analyzed run(story);
  const Loss& gloo = run->families->ranges[Index(FamilyKind::kRange, "gloo")];
  CHECK(gloo.count == 9);
  CHECK(gloo.lost->Total() == 9 * 300_us);
}

TEST_CASE(
    "what a library names among a framework's operators is a range, other operators are none") {
  OperatorStory told;
  for (Nanos at = 0; at < 10_ms; at += 1_ms) {
    const Interval search{at + 100_us, at + 700_us};
    told.operators.push_back({"torch.distributed.ddp.reducer::search_unused_parameters", search});
    told.operators.push_back({"aten::find_unused_thing", {at + 720_us, at + 740_us}});
    told.story.Launch(kMatrixBf16, {at + 750_us, at + 755_us}, {at + 760_us, at + 990_us});
  }
  const Analysis& analysis = told.Analyze();
  const Loss& loss = analysis.families->ranges[Index(FamilyKind::kRange, "unused_search")];
  CHECK(loss.count == 9);  // but that before the first kernel
  CHECK(loss.lost->Total() == 9 * 600_us);
}

}  // namespace
}  // namespace advise
