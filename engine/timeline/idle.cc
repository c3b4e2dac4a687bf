#include "engine/timeline/idle.h"

#include <algorithm>
#include <map>

#include "engine/base/is_in.h"
#include "engine/timeline/host_functions.h"

namespace advise {

namespace {

class Explainer {
 public:
  Explainer(const Run& run, const std::vector<DeviceTime>& times,
            const std::vector<std::uint32_t>& blocks, const HandOvers& hand_overs)
      : run_(run),
        times_(times),
        blocks_(blocks),
        hosts_(run, hand_overs),
        functions_(run),
        latency_ns_(run.knowledge.Time("idle.launch_latency")),
        longest_latency_ns_(run.knowledge.Time("idle.longest_latency")) {
    idle_.by_device.resize(times.size());
  }

  Idle Explain() {
    const GapTimes when(times_);
    idle_.gaps = Gaps(when);
    idle_.pieces = GapPieces(when);
    idle_.lost_work = FindLostWork(run_);
    for (std::uint32_t d = 0; d < times_.size(); ++d) ExplainDevice(d);
    idle_.late_copies = FindLateCopies(run_, blocks_);
    idle_.serves = hosts_.Serves();
    idle_.syncs_before_meetings = hosts_.SyncsBeforeMeetings();
    idle_.sources = hosts_.sources();
    idle_.pieces = GapPieces(idle_.pieces);  // a copy has no room to grow, and there are millions
    for (const GapPiece piece : idle_.pieces) {
      idle_.by_device[piece.device][static_cast<std::size_t>(piece.cause)] += piece.Length();
    }
    return std::move(idle_);
  }

  // What the host does in these times, in which the device has work; by launching calls.
  Idle Follow() {
    const GapTimes when(times_);
    idle_.gaps = Gaps(when);
    idle_.pieces = GapPieces(when);
    for (std::uint32_t d = 0; d < times_.size(); ++d) FollowHost(d);
    return std::move(idle_);
  }

 private:
  // As a device has work, no op says for whom the host is late: its next launch does.
  void FollowHost(std::uint32_t d) {
    const CallTable& calls = run_.trace.calls;
    std::vector<std::uint32_t> launches;
    for (const std::uint32_t op : run_.ops_of_device[d]) {
      const std::uint32_t call = run_.trace.ops.call[op];
      if (call != kNone && run_.first_op_of_call[call] == op) launches.push_back(call);
    }
    std::sort(launches.begin(), launches.end());  // calls are in time order by thread
    std::stable_sort(launches.begin(), launches.end(), [&](std::uint32_t a, std::uint32_t b) {
      return calls.start[a] < calls.start[b];
    });
    hosts_.Rewind();
    std::size_t next = 0;
    for (const Interval& interval : times_[d].idle.intervals()) {
      while (next < launches.size() && calls.start[launches[next]] < interval.start) ++next;
      Gap gap;
      gap.start = told_ = interval.start;
      gap.end = interval.end;
      gap.device = static_cast<std::uint16_t>(d);
      idle_.gaps.Append(gap);
      for (; next < launches.size() && told_ < gap.end; ++next) {
        const std::uint32_t call = launches[next];
        gap.thread = calls.thread[call];
        Host(gap, told_, std::min(gap.end, calls.start[call]));
        if (calls.start[call] >= gap.end) break;
        Add(gap, std::min(gap.end, calls.end[call]), IdleCause::kLaunch, Activity::kLaunch);
      }
      Add(gap, gap.end, IdleCause::kUnknown);
    }
  }

  void ExplainDevice(std::uint32_t d) {
    hosts_.Rewind();
    const OpTable& ops = run_.trace.ops;
    const std::vector<std::uint32_t>& device_ops = run_.ops_of_device[d];
    std::size_t next = 0;
    std::uint32_t previous = kNone;
    std::uint32_t launcher = FirstLauncher(d);
    for (const Interval& interval : times_[d].idle.intervals()) {
      while (next < device_ops.size() && ops.start[device_ops[next]] < interval.end) {
        previous = device_ops[next++];
        if (Launcher(previous) != kNone) launcher = Launcher(previous);
      }
      Gap gap;
      gap.start = interval.start;
      gap.end = interval.end;
      gap.device = static_cast<std::uint16_t>(d);
      gap.op = next < device_ops.size() ? device_ops[next] : kNone;
      previous_ = previous;
      const std::uint32_t call = CallOf(run_.trace, gap);
      const std::uint32_t from = call != kNone       ? call
                                 : previous == kNone ? kNone
                                                     : ops.call[previous];
      if (from != kNone) gap.thread = run_.trace.calls.thread[from];
      const bool fed = gap.thread != kNone && run_.feeds[gap.thread] != 0;
      if (launcher != kNone && (fed || (gap.op != kNone && MovesForHost(gap.op))))
        gap.thread = launcher;  // the GPU could compute, had this one launched something
      if (call != kNone) {
        gap.host_late = run_.trace.calls.start[call] > gap.start;
        gap.blocked_by = blocks_[call];
      }
      const bool lost =
          previous != kNone && idle_.lost_work.IsBetween(run_, ops.call[previous], call);
      if (lost) {
        gap.host_late = false;
        gap.blocked_by = kNone;
      }
      idle_.gaps.Append(gap);
      told_ = gap.start;
      if (lost)
        Add(gap, gap.end, IdleCause::kUnknown);
      else
        ExplainGap(gap);
    }
  }

  // The thread of the first work on the device whose launching call is known; kNone when none is.
  std::uint32_t FirstLauncher(std::uint32_t d) const {
    for (const std::uint32_t op : run_.ops_of_device[d]) {
      if (Launcher(op) != kNone) return Launcher(op);
    }
    return kNone;
  }
  // The thread that launched this; kNone: not known, or a thread that only feeds others.
  std::uint32_t Launcher(std::uint32_t op) const {
    const std::uint32_t call = run_.trace.ops.call[op];
    const std::uint32_t thread = call == kNone ? kNone : run_.trace.calls.thread[call];
    return thread == kNone || run_.feeds[thread] != 0 ? kNone : thread;
  }

  // Unified memory that moves because the host touched it, or asked for it: no launching call, but
  // the host's doing.
  bool MovesForHost(std::uint32_t op) const {
    if (run_.trace.ops.kind[op] != OpKind::kCopy) return false;
    const CopyTable& copies = run_.trace.copies;
    const std::uint32_t copy = run_.trace.ops.detail[op];
    if (!IsMigration(copies.direction[copy])) return false;
    const MigrationCause cause = copies.cause[copy];
    return cause == MigrationCause::kUser ||
           (copies.direction[copy] == CopyDirection::kMigrationToHost &&
            cause != MigrationCause::kEviction);
  }

  // The gap from where it is explained so far up to `end`.
  void Add(const Gap& gap, Nanos end, IdleCause cause, Activity activity = Activity::kCode,
           Phase phase = Phase::kUnnamed, std::uint32_t thread = kNone) {
    if (end <= told_) return;
    const auto row = static_cast<std::uint32_t>(idle_.gaps.size() - 1);
    const std::uint32_t other = thread == idle_.gaps[row].thread ? kNone : thread;
    idle_.pieces.Append({told_, end, row, gap.device, cause, phase, activity, other});
    told_ = end;
  }

  void ExplainGap(const Gap& gap) {
    if (!IsIn(gap.device, run_.active_devices)) {
      Add(gap, gap.end, IdleCause::kNoWorkQueued);
      return;
    }
    if (gap.op != kNone && gap.thread != kNone && MovesForHost(gap.op)) {
      Host(gap, gap.start, gap.end);
      return;
    }
    if (gap.op != kNone && CallOf(run_.trace, gap) == kNone) {  // its launch was not captured
      Add(gap, gap.end, IdleCause::kUnknown);
      return;
    }
    if (gap.thread == kNone) {
      Add(gap, gap.end, IdleCause::kNoWorkQueued);
      return;
    }
    if (CallOf(run_.trace, gap) ==
        kNone) {  // nothing follows: whatever the last launching thread did, no work came of it
      Host(gap, gap.start, gap.end);
      return;
    }
    const Nanos launch_start = run_.trace.calls.start[CallOf(run_.trace, gap)];
    if (gap.host_late) {
      Host(gap, gap.start, std::min(launch_start, gap.end));
      Launch(gap, std::min(launch_start, gap.end), gap.end);
    } else {
      Awaiting(gap);
    }
  }

  // The host was late: what did the launching thread do?
  void Host(const Gap& gap, Nanos start, Nanos end) {
    if (end <= start) return;
    // Before its thread did anything at all, the device had nobody to work for.
    const Nanos seen = std::clamp(hosts_.ActivityOf(gap.thread).FirstEvent(), start, end);
    Add(gap, seen, IdleCause::kNoWorkQueued);
    if (seen == end) return;
    for (const HostCauses::Piece& piece : hosts_.Explain(gap.thread, seen, end)) {
      // Who waits for a GPU that has nothing to do waits for what its stream runs on the host.
      const bool for_function = piece.activity == Activity::kSync &&
                                piece.end - told_ > longest_latency_ns_ && previous_ != kNone &&
                                functions_.Follows(previous_, told_);
      Add(gap, piece.end, for_function ? IdleCause::kHostFunction : piece.cause, piece.activity,
          piece.phase, piece.thread);
    }
  }

  // From the start of the launching call to the start of its op: the call itself and the latency,
  // unless something else is recorded inside (lazy loading, compilation, the profiler, an
  // allocation). An op that is launched long before it starts waits for something else.
  void Launch(const Gap& gap, Nanos start, Nanos end) {
    if (end <= start) return;
    const Nanos returned = run_.trace.calls.end[CallOf(run_.trace, gap)];
    const bool waits =
        end - returned > (functions_.Precedes(gap.op) ? latency_ns_ : longest_latency_ns_);
    if (waits) end = std::max(start, returned + latency_ns_);
    // Older captures do not record lazy loading: it hides in the first launch of a kernel.
    const Nanos loaded = hosts_.loading().InLaunchOf(gap.op)
                             ? std::min(end, run_.trace.calls.end[CallOf(run_.trace, gap)])
                             : start;
    Add(gap, loaded, IdleCause::kJitOrModuleLoad, Activity::kModuleLoad);
    for (const HostPiece& piece : hosts_.ActivityOf(gap.thread).Pieces(loaded, end)) {
      const IdleCause cause = CauseOf(piece);
      const bool inside_call = cause == IdleCause::kJitOrModuleLoad ||
                               cause == IdleCause::kProfilerOverhead ||
                               cause == IdleCause::kAllocation;
      Add(gap, piece.end, inside_call ? cause : IdleCause::kLaunch,
          inside_call ? piece.activity : Activity::kLaunch, piece.phase);
    }
    if (waits) Add(gap, gap.end, WhatHeld(gap));
  }

  // The host was in time: the op itself waited for something.
  void Awaiting(const Gap& gap) {
    const Nanos launched = run_.trace.calls.end[CallOf(run_.trace, gap)];
    // The call began while the device was still busy, and loaded code until long after.
    if (hosts_.loading().InLaunchOf(gap.op))
      Add(gap, std::min(gap.end, launched), IdleCause::kJitOrModuleLoad, Activity::kModuleLoad);
    const Nanos latency_end = std::min(gap.end, std::max(launched, gap.start) + latency_ns_);
    Add(gap, latency_end, IdleCause::kLaunch, Activity::kLaunch);
    if (latency_end >= gap.end) return;
    Add(gap, gap.end, WhatHeld(gap));
  }

  // What an op waits for that was launched in time.
  IdleCause WhatHeld(const Gap& gap) {
    if (PeerReleased(gap)) return IdleCause::kPeerWait;
    return functions_.Precedes(gap.op) ? IdleCause::kHostFunction : IdleCause::kUnknown;
  }

  // Did an op on another device end just before this one began?
  bool PeerReleased(const Gap& gap) {
    if (run_.IsComm(gap.op)) return true;
    for (const std::uint32_t d : run_.active_devices) {
      if (d == gap.device) continue;
      const std::vector<Nanos>& ends = EndsOf(d);
      const auto after = std::upper_bound(ends.begin(), ends.end(), gap.end);
      if (after != ends.begin() && *std::prev(after) >= gap.end - latency_ns_) return true;
    }
    return false;
  }

  // When the ops of a device ended, ascending.
  const std::vector<Nanos>& EndsOf(std::uint32_t device) {
    std::vector<Nanos>& ends = ends_[device];
    if (ends.empty()) {
      for (const std::uint32_t op : run_.ops_of_device[device])
        ends.push_back(run_.trace.ops.end[op]);
      std::sort(ends.begin(), ends.end());
    }
    return ends;
  }

  const Run& run_;
  const std::vector<DeviceTime>& times_;
  const std::vector<std::uint32_t>& blocks_;
  HostCauses hosts_;
  HostFunctions functions_;
  Nanos latency_ns_;
  Nanos longest_latency_ns_;
  std::map<std::uint32_t, std::vector<Nanos>> ends_;
  Idle idle_;
  std::uint32_t previous_ = kNone;  // the last op to begin before the gap at hand
  Nanos told_ = 0;                  // up to where the gap at hand is explained
};

}  // namespace

Idle ExplainIdle(const Run& run, const std::vector<DeviceTime>& times,
                 const std::vector<std::uint32_t>& blocks, const HandOvers& hand_overs) {
  return Explainer(run, times, blocks, hand_overs).Explain();
}

Idle FollowHosts(const Run& run, const std::vector<IntervalSet>& when,
                 const HandOvers& hand_overs) {
  std::vector<DeviceTime> times(when.size());
  bool any = false;
  for (std::size_t d = 0; d < when.size(); ++d) {
    times[d].idle = when[d];
    any = any || !when[d].empty();
  }
  if (!any) return {};
  return Explainer(run, times, {}, hand_overs).Follow();
}

}  // namespace advise
