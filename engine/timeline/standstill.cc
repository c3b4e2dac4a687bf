#include "engine/timeline/standstill.h"

#include <algorithm>

#include "engine/timeline/step.h"

namespace advise {
namespace {

// The longest time without work on any GPU, between the first and the last step.
Interval LongestPause(const Run& run, const Interval& steps) {
  const OpTable& ops = run.trace.ops;
  Interval longest;
  Nanos done = 0;
  for (std::uint32_t op = 0; op < ops.size() && ops.start[op] < steps.end; ++op) {
    if (done >= steps.start && ops.start[op] - done > longest.Length())
      longest = {done, ops.start[op]};
    done = std::max(done, ops.end[op]);
  }
  return longest;
}

// Whether a thread makes calls in the middle of it, a range tells what it is, or the thread that
// launches the first work behind it says what it waits for.
bool IsAlive(const Run& run, const Interval& pause) {
  const Nanos tenth = pause.Length() / 10;
  const auto in_middle = [&](Nanos start) {
    return start > pause.start + tenth && start < pause.end - tenth;
  };
  const std::vector<Nanos>& calls = run.trace.calls.start;
  if (std::any_of(calls.begin(), calls.end(), in_middle)) return true;
  // A range, or an operator, that is hardly longer than the pause: the program says what it did.
  const auto fills = [&](const auto& table) {
    for (std::size_t i = 0; i < table.size(); ++i) {
      const Nanos inside =
          std::min(table.end[i], pause.end) - std::max(table.start[i], pause.start);
      if (2 * inside > pause.Length() && table.end[i] - table.start[i] < 2 * pause.Length())
        return true;
    }
    return false;
  };
  if (fills(run.trace.ranges) || fills(run.trace.operators)) return true;
  const OpTable& ops = run.trace.ops;
  const auto next = std::lower_bound(ops.start.begin(), ops.start.end(), pause.end);
  if (next == ops.start.end()) return false;
  const std::uint32_t call = ops.call[static_cast<std::size_t>(next - ops.start.begin())];
  if (call == kNone) return false;
  const OsCallTable& os = run.trace.os_calls;
  for (const std::uint32_t row : run.os_of_thread[run.trace.calls.thread[call]]) {
    const Nanos inside = std::min(os.end[row], pause.end) - std::max(os.start[row], pause.start);
    if (2 * inside > pause.Length()) return true;
  }
  return false;
}

}  // namespace

void LeaveOutStandstill(const Run& run, Steps* steps) {
  if (!steps->known()) return;
  const Interval all{steps->all.front().start, steps->all.back().end};
  const Interval pause = LongestPause(run, all);
  const Nanos rest = all.Length() - pause.Length();
  if (static_cast<double>(pause.Length()) <
          run.knowledge.Number("step.standstill") * static_cast<double>(rest) ||
      IsAlive(run, pause)) {
    return;
  }
  std::vector<Step> before;
  std::vector<Step> behind;
  for (const Step& step : steps->all) {
    if (step.end <= pause.start) before.push_back(step);
    if (step.start >= pause.end) behind.push_back(step);
  }
  const bool keeps_first = before.size() >= behind.size();
  std::vector<Step>& longer = keeps_first ? before : behind;
  if (longer.size() < run.knowledge.CountOf("step.min_count")) return;
  steps->standstill = pause;
  steps->all = std::move(longer);
  SplitWarmup(run, {}, steps);
}

}  // namespace advise
