// What names of ranges and pauses of the host leave open about the kind of program.
#include "engine/metrics/system/run_kind.h"
#include "tests/support/analyzed.h"
#include "tests/support/loops.h"

namespace advise {
namespace {

TEST_CASE("pauses before uploads that last as unevenly as requests come may be waits for them") {
  // Steps of an upload and two kernels, each behind a pause that nothing of the OS was recorded of.
  const auto loop = [](const std::vector<Nanos>& pauses, const char* last) {
    TraceBuilder story;
    Nanos at = 100_us;
    for (int i = 0; i < 60; ++i) {
      at += pauses[static_cast<std::size_t>(i * 7) % pauses.size()];
      story.CopyToGpu(1 << 20, MemoryKind::kPinned, {at, at + 3_us}, {at + 5_us, at + 90_us});
      story.Launch("score", {at + 4_us, at + 7_us}, {at + 90_us, at + 1_ms});
      story.Launch(last, {at + 8_us, at + 11_us}, {at + 1_ms, at + 2_ms});
      story.Sync({at + 12_us, at + 2_ms + 5_us});
      at += 2_ms + 5_us;
    }
    return Analyzed(story, kAuto)->kind;
  };
  const std::vector<Nanos> at_random = {1_ms, 2_ms, 4_ms, 9_ms, 20_ms};
  const RunKind service = loop(at_random, "rank");
  CHECK(service.uneven_pauses == Approx(4.5).epsilon(0.01));  // 9 ms over 2 ms
  CHECK(service.request_waits == RequestWaits::kAsCode);
  const RunKind code = loop({5_ms, 6_ms, 7_ms}, "rank");
  CHECK(code.uneven_pauses == Approx(7.0 / 5).epsilon(0.01));
  CHECK(code.request_waits == RequestWaits::kNone);
  CHECK(loop(at_random, "void flash::flash_bwd_dq_dk_dv_loop_seqk_parallel_kernel<int>(int)")
            .request_waits == RequestWaits::kNone);  // it learns
  // A pause in each fifth step is none of the steps'.
  CHECK(loop({0, 0, 0, 0, 9_ms}, "rank").request_waits == RequestWaits::kNone);
}

TEST_CASE("a solver that names its steps as those of a model are called is a solver") {
  for (const char* range : {"evaluate_rhs", "optimizer_step", "update_weights", "decode"}) {
    INFO(range);
    TraceBuilder story;
    Repeat(30, 4_ms, [&](int, Nanos at) {
      story.Launch("stencil_update", {at, at + 5_us}, {at + 10_us, at + 1_ms});
      story.Launch("residual_kernel", {at + 6_us, at + 11_us}, {at + 1_ms, at + 2_ms});
      story.Sync({at + 12_us, at + 2_ms + 5_us});
      story.Range(range, {at + 2_ms + 10_us, at + 3900_us});
    });
    const auto phases = [](const Analyzed& run) {
      return run->run.names.RangePhase(run.trace().ranges.name[0]);
    };
    const Analyzed solver(TraceBuilder(story).WithoutModel(), kAuto);
    CHECK(solver->kind.kind == KindOfRun::kSolver);
    if (std::string_view(range) == "decode") continue;  // of files, too
    CHECK(phases(solver) == Phase::kUnnamed);
    CHECK(phases(Analyzed(story, kAuto)) != Phase::kUnnamed);
  }
}

}  // namespace
}  // namespace advise
