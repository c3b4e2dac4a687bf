// What workers take for one batch after another.
#include "engine/metrics/losses/input/loader_batches.h"

#include "tests/support/analyzed.h"
#include "tests/support/loops.h"

namespace advise {
namespace {

// Ten steps of 1 ms. Two workers never rest: of twenty files, each opens two for a batch, every
// 500 us, but for one of the second worker that takes `slow`.
TraceBuilder WithWorkers(Nanos slow, int files = 20) {
  TraceBuilder story;
  Repeat(10, 1_ms, [&](int i, Nanos at) {
    story.Thread("main").Range("step " + std::to_string(i), {at, at + 995_us});
    story.Launch("work", {at, at + 5_us}, {at + 10_us, at + 610_us});
    story.Range("load_batch", {at + 610_us, at + 990_us});
  });
  for (int worker = 0; worker < 2; ++worker) {
    story.Process("worker " + std::to_string(worker)).Thread("pt_data_worker");
    Nanos at = 100_us;
    for (int file = 0; file < files / 2; ++file) {
      story.OsCall("open64", {at, at + 20_us});
      at += worker == 1 && file == 4 ? slow : 500_us;
    }
    story.OsCall("open64", {at, at + 20_us});
  }
  return story;
}

TEST_CASE("a batch of a worker that takes more than three times the median is slow") {
  const Analyzed run(WithWorkers(6_ms));
  const LoaderBatches& batches = run->input.batches;
  REQUIRE(batches.known);
  CHECK(batches.median_ns == Approx(1e6).epsilon(0.01));
  CHECK(batches.slow_count == 1);
  CHECK(batches.count == 11);
  // From 2.1 to 8.6 ms: six of the nine waits.
  CHECK(batches.slow_part == Approx(6 / 9.0).epsilon(0.15));
  CHECK(batches.usual_ns == Approx(5e6).epsilon(0.1));
}

TEST_CASE("batches that vary as file caches make them vary are not slow") {
  const Analyzed run(WithWorkers(1_ms));
  REQUIRE(run->input.batches.known);
  CHECK(run->input.batches.slow_count == 0);
  CHECK(run->input.batches.slow_part == 0);
}

TEST_CASE("batches of workers that open fewer files than there are steps are not known") {
  CHECK_FALSE(Analyzed(WithWorkers(6_ms, 4))->input.batches.known);
}

}  // namespace
}  // namespace advise
