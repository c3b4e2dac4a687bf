#include "engine/timeline/pause.h"

#include <algorithm>

#include "engine/base/median.h"

namespace advise {

Interval PauseAround(const Run& run, std::uint32_t thread, Nanos time) {
  Interval pause{run.window.start, run.window.end};
  const auto narrow = [&](const auto& table, RowRange rows) {
    const auto first = table.start.begin() + rows.first;
    const auto last = table.start.begin() + rows.last;
    const auto next = std::upper_bound(first, last, time);
    if (next != last) pause.end = std::min(pause.end, *next);
    if (next == first) return;
    const Nanos ended = table.end[static_cast<std::size_t>(next - table.start.begin()) - 1];
    pause.start = std::max(pause.start, ended);
  };
  narrow(run.trace.calls, run.calls_of_thread[thread]);
  narrow(run.trace.os_calls, run.os_of_thread[thread]);
  narrow(run.trace.mpi, run.mpi_of_thread[thread]);
  if (pause.start > time) pause.end = pause.start = time;
  return pause;
}

std::uint32_t NextCall(const Run& run, std::uint32_t thread, Nanos time) {
  if (thread == kNone) return kNone;
  const RowRange rows = run.calls_of_thread[thread];
  const auto& start = run.trace.calls.start;
  const auto last = start.begin() + static_cast<std::ptrdiff_t>(rows.last);
  const auto next =
      std::upper_bound(start.begin() + static_cast<std::ptrdiff_t>(rows.first), last, time);
  return next == last ? kNone : static_cast<std::uint32_t>(next - start.begin());
}

StringId InnermostRange(const Run& run, std::uint32_t thread, Nanos time) {
  constexpr int kTries = 256;  // ranges that came and went since it began
  const RangeTable& ranges = run.trace.ranges;
  const RowRange rows = run.ranges_of_thread[thread];
  const auto first = ranges.start.begin() + rows.first;
  auto at = std::upper_bound(first, ranges.start.begin() + rows.last, time);
  for (int tries = 0; at != first && tries < kTries; ++tries) {
    const auto row = static_cast<std::size_t>(--at - ranges.start.begin());
    if (ranges.end[row] > time) return ranges.name[row];
  }
  return 0;
}

namespace {

// Launches behind the first of one operator follow it as fast as a library makes them: they tell
// nothing of what a framework needs between two launches. Where no operator of the thread was
// recorded, each launch counts.
class FirstOfOperator {
 public:
  FirstOfOperator(const Run& run, RowRange rows)
      : operators_(run.trace.operators), rows_(rows), next_(rows.first) {}

  // Calls come in time order.
  bool Is(Nanos launch) {
    if (rows_.empty()) return true;
    const std::uint32_t before = next_;
    while (next_ < rows_.last && operators_.start[next_] <= launch) ++next_;
    return next_ > before;
  }

 private:
  const OperatorTable& operators_;
  RowRange rows_;
  std::uint32_t next_;
};

}  // namespace

std::vector<Nanos> LongPauses(const Run& run) {
  const auto longest = run.knowledge.Time("launch.long_gap");
  const auto shortest = run.knowledge.Time("launch.long_pause");
  const double stands_out = run.knowledge.Number("launch.pause_factor");
  const double many = run.knowledge.Number("launch.many_per_step");
  const std::size_t steps = run.steps.known() ? run.steps.steady_count() : 1;
  const double far_out = run.knowledge.Number("launch.pause_far_out");
  const double least = run.knowledge.Number("launch.long_pause_least");
  std::vector<Nanos> limits(run.trace.threads.size(), longest);
  const CallTable& calls = run.trace.calls;
  const std::vector<RowRange> operators =
      RowsByThread(run.trace.operators.thread, run.trace.threads.size());
  for (const std::uint32_t thread : run.launching_threads) {
    std::vector<float> pauses;
    FirstOfOperator first_of_operator(run, operators[thread]);
    const RowRange rows = run.calls_of_thread[thread];
    Nanos longest_since = 0;
    bool waited = false;
    std::size_t after_waits = 0;
    for (std::uint32_t c = rows.first + 1; c < rows.last; ++c) {
      if (!run.InWindow(calls.start[c])) continue;
      waited = waited || IsSync(run.ClassOfCall(c - 1));
      longest_since = std::max(longest_since, calls.start[c] - calls.end[c - 1]);
      if (run.first_op_of_call[c] == kNone) continue;
      if (first_of_operator.Is(calls.start[c])) {
        pauses.push_back(static_cast<float>(longest_since));
        after_waits += waited ? 1 : 0;
      }
      longest_since = 0;
      waited = false;
    }
    if (pauses.empty()) continue;
    // What follows a wait for the GPU reads what it computed. Where nearly all launches follow one,
    // no pause tells what launching needs.
    const auto count = static_cast<double>(pauses.size());
    if (static_cast<double>(after_waits) >= run.knowledge.Number("launch.after_waits") * count) {
      limits[thread] = shortest;
      continue;
    }
    const bool few = count < many * static_cast<double>(steps);
    const double most =
        run.knowledge.Number(few ? "launch.usual_pause_most_of_few" : "launch.usual_pause_most");
    const double usual = std::min(static_cast<double>(Median(std::move(pauses))), most);
    // Where launches follow each other at once, as in C++, even a short pause is other code.
    const double at_once = std::max(least, far_out * usual);
    const Nanos low = std::min(shortest, static_cast<Nanos>(at_once));
    limits[thread] = std::clamp(static_cast<Nanos>(stands_out * usual), low, longest);
  }
  return limits;
}

}  // namespace advise
