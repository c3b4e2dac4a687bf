#include "engine/timeline/host_functions.h"

#include <algorithm>

namespace advise {

HostFunctions::HostFunctions(const Run& run) : run_(run), queued_(run.trace.processes.size()) {
  const Trace& trace = run.trace;
  bool any = false;
  for (std::uint32_t call = 0; call < trace.calls.size(); ++call) {
    if (run.ClassOfCall(call) != CallClass::kHostFunction) continue;
    const std::uint32_t process = run.ProcessOfCall(call);
    if (process == kNone) continue;
    queued_[process].push_back(trace.calls.start[call]);
    any = true;
  }
  if (!any) return;
  for (std::vector<Nanos>& starts : queued_) std::sort(starts.begin(), starts.end());
  precedes_.assign(trace.ops.size(), 0);
  std::vector<std::uint32_t> last(trace.streams.size(), kNone);  // launch of its last op so far
  for (std::uint32_t op = 0; op < trace.ops.size(); ++op) {
    const std::uint32_t stream = trace.ops.stream[op];
    const std::uint32_t call = trace.ops.call[op];
    if (stream == kNone || call == kNone) continue;
    const std::uint32_t before = std::exchange(last[stream], call);
    if (before == kNone || before == call) continue;
    precedes_[op] =
        QueuedBetween(run.ProcessOfCall(call), trace.calls.end[before], trace.calls.start[call])
            ? 1
            : 0;
  }
}

bool HostFunctions::Follows(std::uint32_t op, Nanos call_start) const {
  if (precedes_.empty()) return false;
  const std::uint32_t call = run_.trace.ops.call[op];
  return call != kNone &&
         QueuedBetween(run_.ProcessOfCall(call), run_.trace.calls.end[call], call_start);
}

bool HostFunctions::QueuedBetween(std::uint32_t process, Nanos from, Nanos to) const {
  if (process == kNone) return false;
  const std::vector<Nanos>& starts = queued_[process];
  const auto at = std::lower_bound(starts.begin(), starts.end(), from);
  return at != starts.end() && *at < to;
}

}  // namespace advise
