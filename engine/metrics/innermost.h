// Which span of a table is the innermost around each call.
#pragma once

#include <vector>

#include "engine/trace/tables.h"

namespace advise {

// By call: the innermost span around it among those that count; no rows where the table is empty.
// O(spans + calls).
template <typename Counts>
std::vector<std::uint32_t> InnermostOfCalls(const RangeTable& spans, const Trace& trace,
                                            Counts counts) {
  std::vector<std::uint32_t> of_call;
  if (spans.size() == 0) return of_call;
  of_call.assign(trace.calls.size(), kNone);
  const auto span_rows = RowsByThread(spans.thread, trace.threads.size());
  const auto call_rows = RowsByThread(trace.calls.thread, trace.threads.size());
  for (std::size_t t = 0; t < trace.threads.size(); ++t) {
    std::vector<std::uint32_t> open;
    std::uint32_t next = span_rows[t].first;
    for (std::uint32_t call = call_rows[t].first; call < call_rows[t].last; ++call) {
      const Nanos at = trace.calls.start[call];
      for (; next < span_rows[t].last && spans.start[next] <= at; ++next) {
        while (!open.empty() && spans.end[open.back()] <= spans.start[next]) open.pop_back();
        if (counts(next)) open.push_back(next);
      }
      while (!open.empty() && spans.end[open.back()] <= at) open.pop_back();
      if (!open.empty()) of_call[call] = open.back();
    }
  }
  return of_call;
}

}  // namespace advise
