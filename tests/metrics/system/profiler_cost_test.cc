// What PyTorch's profiler takes on the threads that it records.
#include "engine/metrics/system/profiler_cost.h"

#include "tests/support/analyzed.h"

namespace advise {
namespace {

// Launches that begin so long after each other; the kernels take no part in it.
TraceBuilder LaunchesEvery(Nanos spacing) {
  TraceBuilder story;
  for (int i = 0; i < 100; ++i) {
    const Nanos at = i * spacing;
    story.Launch("kernel", {at, at + spacing / 4}, {at + 1_us, at + 1_us + spacing / 4});
  }
  return story.RecordedBy("PyTorch profiler");
}

double CostPerEvent(const TraceBuilder& story) {
  const Analyzed run(story);
  const ProfilerCost cost = CostOfProfiler(run->run);
  return cost.events == 0 ? 0 : cost.time_ns / static_cast<double>(cost.events);
}

TEST_CASE("the profiler takes its time for each recorded call") {
  CHECK(CostPerEvent(LaunchesEvery(20_us)) == Approx(2'000));
}

TEST_CASE("the profiler takes no more than a part of the time, however close events are") {
  CHECK(CostPerEvent(LaunchesEvery(2_us)) == Approx(1'100).epsilon(0.02));
}

TEST_CASE("on a host whose events begin soon after each other, recording takes less") {
  TraceBuilder story = LaunchesEvery(20_us);
  for (int i = 0; i < 100; ++i)  // as an operator does that asks the driver first
    story.Call("cudaPeekAtLastError", {i * 20_us + 5'200, i * 20_us + 5'300})
        .Call("cudaGetDevice", {i * 20_us + 5'600, i * 20_us + 5'700});
  CHECK(CostPerEvent(story) == Approx(1'000).epsilon(0.05));
}

TEST_CASE("other profilers tell what they take themselves") {
  CHECK(CostPerEvent(LaunchesEvery(20_us).RecordedBy("Nsight Systems")) == 0);
}

}  // namespace
}  // namespace advise
