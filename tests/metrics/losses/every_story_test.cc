// What holds for every loss and every fact of every story that these tests tell.
#include <algorithm>

#include "tests/metrics/losses/all_losses.h"
#include "tests/metrics/losses/loss_words.h"
#include "tests/support/fact_checks.h"
#include "tests/support/operator_story.h"

namespace advise {
namespace {

bool Has(std::vector<std::uint32_t> rows, std::size_t count) {
  std::sort(rows.begin(), rows.end());
  return rows.empty() || rows.back() < count;
}

// Time that is not made of things that could be counted.
bool IsCounted(const std::string& name) {
  for (const char* time : {"launches.bound", "launches.graph", "launches.framework",
                           "host_code.time", "start_up.loss"}) {
    if (name == time) return false;
  }
  return true;
}

// What is counted in steps, which all processes share.
bool CountsSteps(const std::string& name) {
  return name.starts_with("step_stats.") || name == "graphs.misses";
}

// Copies and what is set; all else has no size.
bool HasBytes(const std::string& name) {
  return name.starts_with("copies.") || name.starts_with("moves.") || name == "syncs.item" ||
         name == "syncs.memset" || name == "mpi.staged";
}

void CheckSound(const Analysis& run) {
  const OpTable& ops = run.run.trace.ops;
  const CallTable& calls = run.run.trace.calls;
  const Window& window = run.run.window;
  for (const auto& [name, loss] : AllLosses(run)) {
    INFO(name << ": " << Told(*loss));
    bool sound = loss->count >= 0 && loss->bytes >= 0 && loss->time_ns >= 0 &&
                 loss->per_step <= static_cast<double>(loss->count);
    // What never happens has no size, costs nothing and changes nothing.
    if (loss->count == 0 && IsCounted(name))
      sound = sound && loss->bytes == 0 && loss->time_ns == 0 && loss->lost->Total() == 0;
    if (!HasBytes(name)) sound = sound && loss->bytes == 0;
    if (name.starts_with("stalls."))
      sound = sound && loss->time_ns == 0;  // gaps, whoever fills them
    for (const IntervalSet& when : loss->lost->by_device)
      sound = sound && when.Clip(window.start, window.end).Total() == when.Total();
    const Remedy& remedy = *loss->remedy;
    for (const auto* list : {&remedy.scaled_ops, &remedy.lighter_ops}) {
      for (const auto& [op, factor] : *list)
        sound = sound && op < ops.size() && factor >= 0 && factor <= 1;
    }
    sound = sound && Has(remedy.unblocked_calls, calls.size()) &&
            Has(remedy.vanished_calls, calls.size()) && Has(remedy.detached_ops, ops.size()) &&
            Has(remedy.freed_ops, ops.size());
    CHECK(sound);
  }
}

// The same program once more, on other GPUs and at the same time, loses on each what one loses.
void CheckTwice(const Analysis& once, const Analysis& twice) {
  const auto one = AllLosses(once);
  // How long a launch takes is measured where enough launches find the GPU idle.
  const bool few_launches = static_cast<double>(once.launches.count) <
                            2 * ShippedKnowledge().Number("launch.latency_count");
  const auto two = AllLosses(twice);
  for (std::size_t i = 0; i < one.size(); ++i) {
    const std::string& name = one[i].first;
    if (name == "turns.waiting" || name == "unseen_ranks.loss") continue;  // of one process, or GPU
    if (name.starts_with("launches.") && few_launches) continue;
    const Loss& alone = *one[i].second;
    const Loss& both = *two[i].second;
    INFO(name << ": " << Told(alone) << "; twice: " << Told(both));
    const int times = CountsSteps(name) ? 1 : 2;
    CHECK(both.count == times * alone.count);
    CHECK(both.bytes == times * alone.bytes);
    CHECK(both.time_ns == Approx((name == "graphs.misses" ? 2 : times) * alone.time_ns));
    // Of some it is the mean of a device.
    CHECK((both.per_step == Approx(alone.per_step) || both.per_step == Approx(2 * alone.per_step)));
    const std::size_t devices = alone.lost->by_device.size();
    for (std::size_t d = 0; d < devices; ++d) {
      const Nanos lost = alone.lost->by_device[d].Total();
      CHECK(both.lost->by_device[d].Total() == lost);
      CHECK(both.lost->by_device[d + devices].Total() == lost);
    }
    const Remedy& fix = *alone.remedy;
    const Remedy& fixes = *both.remedy;
    CHECK(fixes.reach_ns == fix.reach_ns);
    if (name != "input.loss") CHECK(fixes.floor_ns == fix.floor_ns);  // loaders share the cores
    // The first device speaks for slow steps, and one device is late.
    if (CountsSteps(name) || name == "late_device") continue;
    CHECK(fixes.scaled_ops.size() == 2 * fix.scaled_ops.size());
    CHECK(fixes.unblocked_calls.size() == 2 * fix.unblocked_calls.size());
    CHECK(fixes.vanished_calls.size() == 2 * fix.vanished_calls.size());
    CHECK(fixes.detached_ops.size() == 2 * fix.detached_ops.size());
    CHECK(fixes.freed_ops.size() == 2 * fix.freed_ops.size());
  }
}

// The same at another time, or on another GPU beside one that does nothing, loses the same.
void CheckSame(const TraceBuilder& story, const AnalysisOptions& options, const Analysis& as) {
  const Trace trace = story.Build();
  const Analysis told(trace, ShippedKnowledge(), options);
  const auto one = AllLosses(as);
  const auto other = AllLosses(told);
  for (std::size_t i = 0; i < one.size(); ++i) {
    INFO(one[i].first);
    const Loss& a = *one[i].second;
    const Loss& b = *other[i].second;
    CHECK(Told(a) == Told(b));
    CHECK(Changes(a) == Changes(b));
    CHECK(a.per_step == b.per_step);
    CHECK(a.remedy->reach_ns == b.remedy->reach_ns);
    CHECK(a.remedy->floor_ns == b.remedy->floor_ns);
  }
}

// The sanitizers, which make this ten times as slow, look at every eighth story.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr int kStoriesPerCheck = 8;
#else
constexpr int kStoriesPerCheck = 1;
#endif

void CheckFacts(const Analysis& once, const Analysis& twice) {
  static int stories = 0;
  if (stories++ % kStoriesPerCheck != 0) return;
  const auto facts = FactsOf(once);
  CheckSoundFacts(*facts);
  CheckFactsTwice(*facts, *FactsOf(twice));
}

void CheckStory(const TraceBuilder& story, const AnalysisOptions& options, const Analysis& run) {
  CheckSound(run);
  const Trace both = TraceBuilder(story).Twice().Build();
  const Analysis twice(both, ShippedKnowledge(), options);
  CheckTwice(run, twice);
  CheckFacts(run, twice);
  CheckSame(TraceBuilder(story).Shift(7_ms), options, run);
  // Of several GPUs the first may speak for all.
  if (run.run.trace.devices.size() == 1)
    CheckSame(TraceBuilder(story).OnDevice(1).SwapDevices(0, 1), options, run);
}

void CheckOperatorStory(const OperatorStory& story, const Analysis& run) {
  CheckSound(run);
  OperatorStory::each = nullptr;
  OperatorStory both = story.Twice();
  const Analysis& twice = both.Analyze();
  CheckTwice(run, twice);
  CheckFacts(run, twice);
  OperatorStory::each = CheckOperatorStory;
}

const bool kAsked = [] {
  each_story = CheckStory;
  OperatorStory::each = CheckOperatorStory;
  return true;
}();

TEST_CASE("every story of these tests is checked") { CHECK(kAsked); }

}  // namespace
}  // namespace advise
