#include "engine/metrics/losses/usual_pauses.h"

#include <algorithm>

#include "engine/timeline/pause.h"

namespace advise {

UsualPauses::UsualPauses(const Run& run)
    : run_(run),
      most_(run.knowledge.Number("step.usual_pauses") *
            static_cast<double>(run.steps.steady_count())),
      beyond_(run.knowledge.Number("step.usual_pause_part")),
      of_thread_(run.trace.threads.size()),
      syncs_(run.trace.threads.size()) {
  const CallTable& calls = run.trace.calls;
  for (const std::uint32_t thread : run.launching_threads) {
    const RowRange rows = run.calls_of_thread[thread];
    if (rows.empty()) continue;
    Nanos until = calls.end[rows.first];
    for (std::uint32_t c = rows.first + 1; c < rows.last; ++c) {
      if (run.InWindow(calls.start[c]) && calls.start[c] > until)
        of_thread_[thread][KindOf(c)].push_back(calls.start[c] - until);
      if (run.InWindow(calls.start[c]) && IsSync(run.ClassOfCall(c))) ++syncs_[thread][KindOf(c)];
      until = std::max(until, calls.end[c]);
    }
    for (auto& [kind, lengths] : of_thread_[thread]) std::sort(lengths.begin(), lengths.end());
  }
}

UsualPauses::Kind UsualPauses::KindOf(std::uint32_t call) const {
  const std::uint32_t op = run_.first_op_of_call[call];
  const bool kernel = op != kNone && run_.trace.ops.kind[op] == OpKind::kKernel;
  return {run_.trace.calls.name[call], kernel ? run_.trace.ops.detail[op] : kNone};
}

std::uint32_t UsualPauses::RareSyncBefore(std::uint32_t thread, Nanos time) const {
  if (thread == kNone) return kNone;
  const std::uint32_t next = NextCall(run_, thread, time);
  if (next == kNone || next == run_.calls_of_thread[thread].first) return kNone;
  if (!IsSync(run_.ClassOfCall(next - 1))) return kNone;
  const auto count = syncs_[thread].find(KindOf(next - 1));
  const bool usual = count != syncs_[thread].end() && static_cast<double>(count->second) >= most_;
  return usual ? kNone : next - 1;
}

bool UsualPauses::Holds(std::uint32_t thread, Nanos time, Nanos idle) const {
  if (thread == kNone) return false;
  const CallTable& calls = run_.trace.calls;
  const std::uint32_t next = NextCall(run_, thread, time);
  if (next == kNone || next == run_.calls_of_thread[thread].first) return false;
  if (time < calls.end[next - 1]) return false;  // inside that call
  const Nanos pause = calls.start[next] - calls.end[next - 1];
  const auto found = of_thread_[thread].find(KindOf(next));
  if (pause <= 0 || found == of_thread_[thread].end()) return false;
  const std::vector<Nanos>& lengths = found->second;
  const Nanos least = RareSyncBefore(thread, time) != kNone
                          ? static_cast<Nanos>(beyond_ * static_cast<double>(pause))
                          : pause - idle / 2;
  const auto longer = lengths.end() - std::lower_bound(lengths.begin(), lengths.end(), least);
  return static_cast<double>(longer) >= most_;
}

}  // namespace advise
