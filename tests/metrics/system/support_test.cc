// Whether a capture holds enough to judge a loop by: at the edges of what is enough.
#include "engine/metrics/system/support.h"

#include <catch2/catch.hpp>
#include <random>

#include "tests/support/analyzed.h"

namespace advise {
namespace {

TEST_CASE("launches that anybody can count are no pass, up to a number that is the last") {
  const auto reason = [](int launches) {
    TraceBuilder story;
    for (int i = 0; i < launches; ++i) {
      const Nanos at = 10_us + i * i * 5_us;  // further and further apart: no loop
      story.Launch("kernel" + std::to_string(i), {at - 5_us, at - 2_us}, {at, at + 2_us});
    }
    return Analyzed(story, kAuto)->support.reason;
  };
  const int few = static_cast<int>(ShippedKnowledge().Number("verdict.few_launches"));
  CHECK(reason(2) == "only 2 kernel launches were recorded");
  CHECK(reason(few) == "only " + std::to_string(few) + " kernel launches were recorded");
  CHECK(reason(few + 1) == "the capture holds no loop, or too few passes of one");
}

// Work of changing length without steps, each launch of a kernel of its own.
TEST_CASE("work without steps is enough from so many operations and so much time on") {
  const auto enough = [](int operations, Nanos length, Nanos pause) {
    TraceBuilder story;
    std::minstd_rand any(7);
    Nanos at = 10_us;
    for (int i = 0; i < operations; ++i) {
      story.Launch("kernel" + std::to_string(any() % 1000) + std::to_string(i),
                   {at - 5_us, at - 4_us}, {at, at + length});
      at += length + pause;
    }
    const Trace trace = story.Build();  // two processes would have twice as many
    const Analysis run(trace, ShippedKnowledge(), {});
    REQUIRE_FALSE(run.run.steps.known());
    return run.support.verdict;
  };
  const int least = static_cast<int>(ShippedKnowledge().Number("verdict.min_ops"));
  CHECK(enough(least, 2_us, 1_us));
  CHECK_FALSE(enough(least - 1, 2_us, 1_us));
  CHECK_FALSE(enough(least, 1_us, 100_ns));  // 2.2 of the 3 ms
}

TEST_CASE("what has no timeline says what it shows instead") {
  const auto reason = [](auto fill) {
    Trace trace;
    fill(&trace);
    return Analysis(trace, ShippedKnowledge(), {}).support.reason;
  };
  CHECK(reason([](Trace*) {}) == "there is no timeline of the run");
  CHECK(reason([](Trace* trace) {
          trace->monitor.gpus = {{"0", "", "", "", {}}};
        }) == "monitor samples show how busy the GPUs were, not what they waited for");
}

}  // namespace
}  // namespace advise
