#include "engine/metrics/losses/host/preemption.h"

#include <algorithm>
#include <set>
#include <utility>

#include "engine/metrics/losses/host/delays.h"

namespace advise {
namespace {

class PreemptionFinder : Finder {
 public:
  explicit PreemptionFinder(const Basis& basis) : Finder(basis), away_(AwayFromCpu(basis)) {}

  Preemption Find() {
    Preemption result;
    if (away_.empty()) return result;
    LossBuilder loss(basis_);
    double total = 0;
    std::set<std::pair<std::uint32_t, Nanos>> counted;
    for (const GapPiece piece : basis_.idle.pieces) {
      const std::uint32_t thread = basis_.idle.ThreadOf(piece);
      if (thread == kNone || piece.activity != Activity::kCode ||
          piece.cause != IdleCause::kHostCompute)
        continue;
      const IntervalSet away = away_[thread].Clip(piece.start, piece.end);
      for (const Interval& i : away.intervals()) {
        loss.AddSpan(piece.device, i.start, i.end);
        total += static_cast<double>(i.Length());
      }
      // It had no CPU before the GPU ran out of work, too.
      const IntervalList& all = away_[thread].intervals();
      auto at = std::partition_point(all.begin(), all.end(),
                                     [&](const Interval& i) { return i.end <= piece.start; });
      for (; at != all.end() && (*at).start < piece.end; ++at) {
        const Interval i = *at;
        loss.CutHost(thread, i.start, i.end);
        if (counted.insert({thread, i.start}).second) loss.Count(i.start, 0, i.Length());
      }
    }
    ForEachDelay(
        basis_,
        [this](std::uint32_t thread, const HostPiece& piece) {
          return piece.activity == Activity::kCode && basis_.InLoop(piece.start) &&
                 IsMostlyAway(away_, thread, piece.start, piece.end);
        },
        [&](const Delay& delay) {
          loss.AddSpan(delay.device, delay.idle.start, delay.idle.end);
          const IntervalSet away = away_[delay.thread].Clip(delay.piece.start, delay.piece.end);
          for (const Interval& i : away.intervals()) loss.CutHost(delay.thread, i.start, i.end);
        });
    result.per_device_ns = total / Devices();
    result.loss = loss.Build();
    return result;
  }

 private:
  std::vector<IntervalSet> away_;
};

}  // namespace

std::vector<IntervalSet> AwayFromCpu(const Basis& basis) {
  const Trace& trace = basis.run.trace;
  // Off the CPU is blocked or preempted; without OS calls nothing tells which.
  if (trace.sched.size() == 0 || trace.os_calls.size() == 0) return {};
  const auto longest = basis.run.knowledge.Time("host.longest_preemption");
  const std::vector<RowRange> rows = RowsByThread(trace.sched.thread, trace.threads.size());
  std::vector<IntervalSet> away(trace.threads.size());
  for (const std::uint32_t thread : basis.run.launching_threads) {
    std::vector<Interval> intervals;
    for (std::uint32_t i = rows[thread].first; i + 1 < rows[thread].last; ++i) {
      const Interval off{trace.sched.time[i], trace.sched.time[i + 1]};
      const bool leaves = trace.sched.on[i] == 0 && trace.sched.on[i + 1] != 0;
      if (leaves && off.Length() <= longest) intervals.push_back(off);
    }
    away[thread] = IntervalSet::Of(std::move(intervals));
  }
  return away;
}

bool IsMostlyAway(const std::vector<IntervalSet>& away, std::uint32_t thread, Nanos start,
                  Nanos end) {
  return thread < away.size() && 2 * away[thread].OverlapWith(start, end) > end - start;
}

Preemption FindPreemption(const Basis& basis) { return PreemptionFinder(basis).Find(); }

}  // namespace advise
