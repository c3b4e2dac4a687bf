#include "engine/metrics/losses/host/operators_in_code.h"

#include <algorithm>
#include <limits>

#include "engine/timeline/run.h"

namespace advise {

std::vector<NamedTime> OperatorsInCode::LongestFirst() const {
  const OperatorTable& operators = trace_.operators;
  std::map<StringId, Nanos> times;
  const std::vector<RowRange> rows = RowsByThread(operators.thread, trace_.threads.size());
  for (const auto& [thread, spans] : spans_) {
    const IntervalSet chosen = IntervalSet::Of(spans);
    std::vector<std::uint32_t> open;  // operators, each within the one before it
    Nanos until = 0;                  // told so far
    // Until `to`, the innermost of the open operators runs.
    const auto run_until = [&](Nanos to) {
      while (!open.empty() && until < to) {
        const Nanos end = std::min(to, operators.end[open.back()]);
        if (end > until) times[operators.name[open.back()]] += chosen.OverlapWith(until, end);
        until = std::max(until, end);
        if (operators.end[open.back()] > to) break;
        open.pop_back();
      }
      until = std::max(until, to);
    };
    for (const std::uint32_t row : rows[thread]) {
      run_until(operators.start[row]);
      open.push_back(row);
    }
    run_until(std::numeric_limits<Nanos>::max());
  }
  std::vector<NamedTime> longest;
  for (const auto& [name, time] : times)
    if (time > 0) longest.push_back({trace_.strings[name], static_cast<double>(time)});
  std::stable_sort(longest.begin(), longest.end(),
                   [](const NamedTime& a, const NamedTime& b) { return a.time_ns > b.time_ns; });
  return longest;
}

}  // namespace advise
