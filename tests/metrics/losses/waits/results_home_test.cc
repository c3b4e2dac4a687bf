// Which waits may be for a result: code of the host can read only what came home.
#include "engine/metrics/losses/waits/results_home.h"

#include <memory>

#include "tests/support/analyzed.h"
#include "tests/support/stories.h"

namespace advise {
namespace {

// Each step runs a kernel, waits for it, and computes on the host for 1 ms. Every tenth step writes
// its field to disk.
struct Solver {
  bool residual = false;  // comes home in each step, in front of another kernel
  bool output = true;
  const char* memory = nullptr;  // what allocates memory that both sides see
};

const Syncs& Waits(const Solver& solver, std::shared_ptr<const Analyzed>* kept) {
  TraceBuilder story;
  if (solver.memory != nullptr) story.Call(solver.memory, {0, 50_us});
  Repeat(40, 2_ms, [&](int step, Nanos at) {
    at += 100_us;
    story.Launch("advance", {at, at + 5_us}, {at + 10_us, at + 300_us});
    if (solver.residual)
      story.CopyFromGpu(8, MemoryKind::kPinned, {at + 6_us, at + 9_us}, {at + 300_us, at + 302_us});
    story.Launch("edges", {at + 10_us, at + 15_us}, {at + 310_us, at + 400_us});
    story.Sync({at + 16_us, at + 402_us}, "cudaDeviceSynchronize");
    if (solver.output && step % 10 == 9)
      story.CopyFromGpu(4_MiB, MemoryKind::kPinned, {at + 1400_us, at + 1700_us},
                        {at + 1410_us, at + 1690_us});
  });
  *kept = std::make_shared<const Analyzed>(story);
  return (**kept)->syncs;
}

double CodeThatReads(const Solver& solver) {
  std::shared_ptr<const Analyzed> kept;
  return Waits(solver, &kept).loop_code_ns;
}

TEST_CASE("code behind a wait reads no result where nothing came home") {
  std::shared_ptr<const Analyzed> kept;
  const Syncs& syncs = Waits({}, &kept);
  // Only the step behind an output may read it.
  CHECK(syncs.loop_code_ns <= 4 * 1700_us);
  CHECK(syncs.loop_free_code_ns >= 30 * 1_ms);
  CHECK(syncs.loop_with_code <= 0.11);
}

TEST_CASE("a solver that downloads a residual in each step needs its wait") {
  Solver solver;
  solver.residual = true;
  std::shared_ptr<const Analyzed> kept;
  const Syncs& syncs = Waits(solver, &kept);
  CHECK(syncs.loop_code_ns >= 35 * 1_ms);
  CHECK(syncs.loop_free_code_ns == 0);
  CHECK(syncs.loop_with_code >= 0.9);
}

TEST_CASE("what the host and the GPU both see needs no copy to come home") {
  for (const char* call : {"cudaMallocManaged", "cudaHostGetDevicePointer"}) {
    Solver solver;
    solver.memory = call;
    CHECK(CodeThatReads(solver) >= 35 * 1_ms);
  }
}

TEST_CASE("a program that copies no array may share its memory unseen") {
  Solver solver;
  solver.output = false;
  CHECK(CodeThatReads(solver) >= 35 * 1_ms);
}

}  // namespace
}  // namespace advise
