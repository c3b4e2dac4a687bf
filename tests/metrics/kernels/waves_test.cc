// Waves of blocks: as a kernel profiler counted them, else worked out from threads a block.
#include "engine/metrics/kernels/waves.h"

#include "tests/support/analyzed.h"

namespace advise {
namespace {

KernelCounters Counted(const std::string& kernel, std::uint32_t blocks, double waves,
                       const std::string& gpu = "") {
  KernelCounters counters;
  counters.kernel = kernel;
  counters.device = gpu;
  counters.grid = {blocks, 1, 1};
  counters.block = {1024, 1, 1};
  counters.metrics = {{"launch__waves_per_multiprocessor", waves}};
  return counters;
}

// One kernel of 1024 threads a block for 100 us, on a device of 100 SMs that hold 2048 threads
// each.
struct OneKernel {
  Trace trace;
  std::unique_ptr<Analysis> analysis;
  OneKernel(std::uint32_t blocks, std::vector<KernelCounters> counters,
            const std::string& name = "stencil(float *)") {
    TraceBuilder story;
    story.Kernel(name, {0_us, 100_us}, {.blocks = blocks, .threads = 1024});
    trace = story.Build();
    trace.devices[0].max_threads_per_sm = 2048;
    trace.counters = std::move(counters);
    AnalysisOptions options;
    options.window.mode = WindowRequest::Mode::kAll;
    analysis = std::make_unique<Analysis>(trace, ShippedKnowledge(), options);
  }
  const Kernels& kernels() const { return analysis->kernels; }
};

TEST_CASE("counted waves show a tail that threads a block do not") {
  // 101 blocks are half a wave of two a SM; registers allow one a SM, and one block runs alone.
  CHECK(OneKernel(101, {}).kernels().tail.lost->Total() == 0);
  const OneKernel counted(101, {Counted("stencil", 101, 1.01)});
  CHECK(counted.kernels().tail.lost->Total() == 100_us);
  REQUIRE(counted.kernels().tail_rows.size() == 1);
  CHECK(counted.kernels().tail_rows[0].waves == Approx(1.01));
  CHECK(counted.kernels().tail_waste_ns == Approx(100'000 * 0.495));
  CHECK(counted.kernels().tail_counted_ns == Approx(100'000));
}

TEST_CASE("counted waves take back a tail that was only worked out") {
  const OneKernel guessed(201, {});
  CHECK(guessed.kernels().tail.lost->Total() == 100_us);
  CHECK(guessed.kernels().tail_counted_ns == 0);
  // Four full waves of 50 blocks: clusters, or shared memory that lets only half of the SMs work.
  CHECK(OneKernel(200, {Counted("stencil", 200, 4)}).kernels().tail.lost->Total() == 0);
}

TEST_CASE("a launch of another size tells how many blocks run at once") {
  // 400 blocks in four waves: 100 at once, so 205 are two waves and a bit.
  const OneKernel other(205, {Counted("stencil", 400, 4)});
  REQUIRE(other.kernels().tail_rows.size() == 1);
  CHECK(other.kernels().tail_rows[0].waves == Approx(2.05));
}

TEST_CASE("counts that do not fit are not used") {
  const auto per_wave = [](std::vector<KernelCounters> counters) {
    return CountedBlocksPerWave(OneKernel(250, std::move(counters)).trace, ShippedKnowledge())
        .at(0);
  };
  CHECK(per_wave({Counted("stencil", 400, 4)}) == Approx(100));
  CHECK(per_wave({Counted("other", 400, 4)}) == 0);
  CHECK(per_wave({Counted("stencil", 400, 4, "GPU B")}) == 0);
  CHECK(per_wave({Counted("stencil", 400, 4, "Test GPU")}) == Approx(100));
  KernelCounters small = Counted("stencil", 400, 4);
  small.block = {128, 1, 1};
  CHECK(per_wave({small}) == 0);
  KernelCounters none = Counted("stencil", 400, 0);
  CHECK(per_wave({none}) == 0);
  // Launches that differ in shared memory: only the one of this grid can be meant.
  CHECK(per_wave({Counted("stencil", 400, 4), Counted("stencil", 400, 8)}) == 0);
  CHECK(per_wave({Counted("stencil", 400, 4), Counted("stencil", 250, 5)}) == Approx(50));
}

// 2048 threads of 32 registers each are all that the 64 K registers of an SM hold.
TEST_CASE("registers limit how many blocks run at once, and with them the waves") {
  const auto tail = [](std::uint32_t blocks, std::uint32_t registers) {
    TraceBuilder one;
    one.Launch("tail", {0, 1_us}, {1_ms, 1_ms + 100_us},
               {.blocks = blocks, .threads = 128, .registers = registers});
    const Analyzed run(one);
    return run->kernels.tail_rows.empty() ? 0 : run->kernels.tail_rows[0].waves;
  };
  CHECK(tail(850, 0) == Approx(850.0 / 800));   // by 1024 threads an SM: 8 blocks
  CHECK(tail(850, 64) == Approx(850.0 / 800));  // registers suffice for 8
  CHECK(tail(450, 96) == 0);                    // for 5: less than one wave of 500
  CHECK(tail(510, 96) == Approx(510.0 / 500));  // and a little more than one
  CHECK(tail(650, 65) == 0);                    // in units of 8 registers: 72, which is 7 blocks
  CHECK(tail(710, 65) == Approx(710.0 / 700));
}

}  // namespace
}  // namespace advise
