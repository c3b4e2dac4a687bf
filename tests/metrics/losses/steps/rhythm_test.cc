// Which slow steps of a loop come at a regular distance.
#include "engine/metrics/losses/steps/rhythm.h"

#include <algorithm>
#include <functional>

#include "tests/support/analyzed.h"
#include "tests/support/dice.h"

namespace advise {
namespace {

// Of that many steps, those are slow of which `slow` says so, all by 10 ms.
Rhythm RhythmOf(std::size_t steps, const std::function<bool(std::size_t)>& slow) {
  std::vector<SlowStep> these;
  for (std::size_t n = 0; n < steps; ++n) {
    if (slow(n)) these.push_back({n, 10_ms});
  }
  return FindRhythm(these, 0, steps, ShippedKnowledge());
}

TEST_CASE("a rhythm among many slow steps of a long run is found, too") {
  std::vector<SlowStep> slow;
  constexpr std::size_t kSteps = 20000;
  for (std::size_t n = 0; n < kSteps; ++n) {
    if (n % 4 == 3 || n % 7 == 1) slow.push_back({n, 10_ms});
  }
  const Rhythm rhythm = FindRhythm(slow, 0, kSteps, ShippedKnowledge());
  CHECK(rhythm.every == 4);
  CHECK(rhythm.steps.size() == kSteps / 4);
}

TEST_CASE("a stop that shows in two steps is one event of the rhythm") {
  const Rhythm rhythm = RhythmOf(41, [](std::size_t n) { return n % 4 < 2 && n > 3; });
  CHECK(rhythm.every == 4);
  CHECK(rhythm.steps.size() == 19);
  // Pairs that come out of turn.
  const auto out_of_turn = [](std::size_t n) {
    return n == 3 || n == 4 || n == 8 || n == 9 || n == 19 || n == 20 || n == 33 || n == 34;
  };
  CHECK(RhythmOf(41, out_of_turn).every == 0);
}

TEST_CASE("two far slower steps do not hide the turn in which most of the time is lost") {
  // Every eighth step, others out of turn, and two that lose twenty times as much.
  std::vector<SlowStep> slow;
  constexpr std::size_t kSteps = 400;
  for (std::size_t n = 0; n < kSteps; ++n) {
    if (n == 99 || n == 299) {
      slow.push_back({n, 4_ms});
    } else if (n % 8 == 5 || n % 23 == 3) {
      slow.push_back({n, 200_us});
    }
  }
  const Rhythm rhythm = FindRhythm(slow, 0, kSteps, ShippedKnowledge());
  CHECK(rhythm.every == 8);
  CHECK(rhythm.steps.size() == kSteps / 8);
}

TEST_CASE("one stop of the loop is no part of a turn in which steps are hardly longer") {
  std::vector<SlowStep> slow;
  for (std::size_t n = 2; n < 44; n += 3) slow.push_back({n, n == 8 ? 46_ms : 800_us});
  const Rhythm rhythm = FindRhythm(slow, 0, 44, ShippedKnowledge());
  CHECK(rhythm.every == 3);
  CHECK(rhythm.steps.size() == slow.size() - 1);
  CHECK(std::find(rhythm.steps.begin(), rhythm.steps.end(), 8) == rhythm.steps.end());
}

TEST_CASE("steps that are slow by chance hardly ever keep a turn, be they few or many") {
  const double chance = ShippedKnowledge().Number("step.periodic_chance");
  for (const int one_in : {2, 3, 5}) {
    Dice dice(static_cast<std::uint32_t>(one_in));
    constexpr int kLoops = 300;
    int found = 0;
    for (int loop = 0; loop < kLoops; ++loop)
      found += RhythmOf(60, [&](std::size_t) { return dice.Chance(one_in); }).every > 0;
    INFO("one in " << one_in << " is slow");
    CHECK(found <= chance * kLoops);
  }
}

TEST_CASE("every eighth step is found among as many that are slow by chance") {
  int found = 0;
  for (std::uint32_t seed = 0; seed < 100; ++seed) {
    Dice dice(seed);
    found += RhythmOf(160, [&](std::size_t n) { return n % 8 == 5 || dice.Chance(8); }).every == 8;
  }
  CHECK(found >= 95);
}

TEST_CASE("a turn among other slow steps must come four times") {
  const auto every = [](std::size_t steps) {
    return RhythmOf(steps, [](std::size_t n) { return n % 8 == 7 || n == 2; }).every;
  };
  CHECK(every(32) == 8);
  CHECK(every(31) == 0);
}

}  // namespace
}  // namespace advise
