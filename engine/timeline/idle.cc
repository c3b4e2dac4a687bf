#include "engine/timeline/idle.h"

#include <algorithm>
#include <map>
#include <optional>

#include "engine/base/median.h"
#include "engine/timeline/awaited.h"
#include "engine/timeline/code_loading.h"
#include "engine/timeline/pause.h"

namespace advise {

IdleCause CauseOf(const HostPiece& piece) {
  switch (piece.activity) {
    case Activity::kProfiler:
      return IdleCause::kProfilerOverhead;
    case Activity::kJit:
    case Activity::kModuleLoad:
      return IdleCause::kJitOrModuleLoad;
    case Activity::kAllocation:
      return IdleCause::kAllocation;
    case Activity::kSync:
    case Activity::kBlockingCopy:
      return IdleCause::kHostSync;
    case Activity::kMpi:
      return IdleCause::kPeerWait;
    default:
      break;
  }
  if (piece.phase == Phase::kDataLoading) return IdleCause::kDataLoading;
  if (piece.phase == Phase::kCompilation) return IdleCause::kJitOrModuleLoad;
  // Inside a range named after a communication library the thread waits for its peer.
  if (piece.phase == Phase::kCommunication && piece.activity == Activity::kCode)
    return IdleCause::kPeerWait;
  switch (piece.activity) {
    case Activity::kFileIo:
    case Activity::kFileWrite:
    case Activity::kMemoryMap:
      return IdleCause::kFileIo;
    case Activity::kLock:
    case Activity::kNetwork:
    case Activity::kOsWait:
    case Activity::kChildWait:
    case Activity::kSleep:
      return IdleCause::kHostWait;
    case Activity::kLaunch:
    case Activity::kGraphLaunch:
    case Activity::kCopyCall:
    case Activity::kOtherCall:
      return IdleCause::kLaunch;
    default:
      return IdleCause::kHostCompute;
  }
}

namespace {

class Explainer {
 public:
  Explainer(const Run& run, const std::vector<DeviceTime>& times,
            const std::vector<std::uint32_t>& blocks, const HandOvers& hand_overs)
      : run_(run),
        times_(times),
        awaited_(run),
        hand_overs_(hand_overs),
        blocks_(blocks),
        compiling_(CompilingPauses(run)),
        loading_(run),
        latency_ns_(static_cast<Nanos>(run.knowledge.Number("idle.launch_latency"))),
        longest_latency_ns_(static_cast<Nanos>(run.knowledge.Number("idle.longest_latency"))) {
    idle_.by_device.resize(times.size());
  }

  Idle Explain() {
    const GapTimes when(times_);
    idle_.gaps = Gaps(when);
    idle_.pieces = GapPieces(when);
    for (std::uint32_t d = 0; d < times_.size(); ++d) ExplainDevice(d);
    idle_.late_copies = FindLateCopies(run_, blocks_);
    idle_.serves = awaited_.Serves() || AnswersPrograms();
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
  // Whether it waits for requests again and again, each time more briefly than people take; what
  // trains waits for data in the same way.
  bool AnswersPrograms() {
    const auto as_people = static_cast<Nanos>(run_.knowledge.Number("input.as_people"));
    const auto least = static_cast<std::size_t>(run_.knowledge.Number("replay.hand_over.least"));
    return request_waits_.size() >= least && Median(request_waits_) < as_people &&
           !awaited_.SaysTraining();
  }

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
    hosts_.clear();
    hosts_.resize(run_.trace.threads.size());
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
    hosts_.clear();
    hosts_.resize(run_.trace.threads.size());
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
      idle_.gaps.Append(gap);
      told_ = gap.start;
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
    if (run_.ops_of_device[gap.device].empty()) {
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
    HostActivity& host = HostOf(gap.thread);
    // Before its thread did anything at all, the device had nobody to work for.
    const Nanos seen = std::clamp(host.FirstEvent(), start, end);
    Add(gap, seen, IdleCause::kNoWorkQueued);
    if (seen < end) Tell(gap, gap.thread, seen, end, 0);
  }

  // Where more is written than read, opening and closing files is part of the writing.
  static void MarkOutput(std::vector<HostPiece>* pieces) {
    Nanos balance = 0;
    for (const HostPiece& piece : *pieces) {
      if (piece.activity == Activity::kFileWrite) balance += piece.end - piece.start;
      if (piece.activity == Activity::kFileIo) balance -= piece.end - piece.start;
    }
    if (balance <= 0) return;
    for (HostPiece& piece : *pieces) {
      if (piece.activity == Activity::kFileIo) piece.activity = Activity::kFileWrite;
    }
  }

  // What the thread did; and where it waited for another thread, what that one did.
  void Tell(const Gap& gap, std::uint32_t thread, Nanos start, Nanos end, int depth) {
    constexpr int kDeepest = 3;
    std::vector<HostPiece> pieces = HostOf(thread).Pieces(start, end);
    MarkOutput(&pieces);
    // Who polls sleeps again and again; one sleep waits for nothing but its own end.
    const bool polls = std::count_if(pieces.begin(), pieces.end(), [](const HostPiece& piece) {
                         return piece.activity == Activity::kSleep;
                       }) > 1;
    for (std::size_t i = 0; i < pieces.size(); ++i) {
      const HostPiece& piece = pieces[i];
      IdleCause cause = CauseOf(piece);
      Activity activity = piece.activity;
      if (loading_.InSlowFree(thread, piece)) {
        Add(gap, piece.end, IdleCause::kJitOrModuleLoad, Activity::kModuleLoad, piece.phase,
            thread);
        continue;
      }
      if (activity == Activity::kOsWait && awaited_.IsForInput(thread, piece.start, piece.end)) {
        Add(gap, piece.end, IdleCause::kNoWorkQueued, activity, piece.phase, thread);
        continue;
      }
      if (cause == IdleCause::kHostWait || cause == IdleCause::kHostCompute) {
        const std::uint32_t other =
            depth < kDeepest ? hand_overs_.AwaitedAt(thread, piece.start) : kNone;
        if (other != kNone && other != gap.thread) {
          Tell(gap, other, piece.start, piece.end, depth + 1);
          continue;
        }
      }
      const bool for_answer = cause == IdleCause::kHostWait &&
                              (activity == Activity::kOsWait || activity == Activity::kNetwork) &&
                              awaited_.IsForAnswer(thread, piece.start, piece.end);
      if (for_answer) activity = Activity::kNetwork;
      // A queue is waited for by condition, semaphore, pipe or polling; a mutex is no queue.
      const bool waits = activity == Activity::kOsWait || activity == Activity::kFileIo ||
                         activity == Activity::kNetwork || (activity == Activity::kSleep && polls);
      const bool may_be_loader =
          !for_answer && (cause == IdleCause::kHostWait || cause == IdleCause::kFileIo);
      if (waits && may_be_loader && awaited_.IsLoader(thread, piece.start, piece.end)) {
        cause = IdleCause::kDataLoading;
      }
      if (waits && !for_answer && cause == IdleCause::kHostWait &&
          awaited_.IsForRequest(thread, piece.start, piece.end)) {
        cause = IdleCause::kNoWorkQueued;
        request_waits_.push_back(piece.end - piece.start);
      }
      if (cause == IdleCause::kHostCompute && activity == Activity::kCode &&
          awaited_.IsSilentLoader(thread, piece.start, piece.end)) {
        cause = IdleCause::kDataLoading;
        activity = Activity::kSilentWait;
      }
      if (cause == IdleCause::kHostCompute && activity == Activity::kCode &&
          awaited_.IsSilentForRequest(thread, piece.start, piece.end)) {
        cause = IdleCause::kNoWorkQueued;
        activity = Activity::kSilentWait;
      }
      // It waited for a thread that does nothing but upload data, and computed that before.
      if (cause == IdleCause::kHostCompute && activity == Activity::kCode &&
          run_.loads[thread] != 0) {
        cause = IdleCause::kDataLoading;
      }
      // What a child process made is loaded next: it was a compiler.
      const bool loads_next = std::any_of(pieces.begin() + static_cast<std::ptrdiff_t>(i),
                                          pieces.end(), [](const HostPiece& later) {
                                            return later.activity == Activity::kModuleLoad ||
                                                   later.activity == Activity::kJit;
                                          });
      if (activity == Activity::kChildWait && (loads_next || awaited_.CompilerSeen())) {
        cause = IdleCause::kJitOrModuleLoad;
      }
      if (cause == IdleCause::kHostCompute && activity == Activity::kCode) {
        const IntervalSet compiling =
            compiling_[thread].Clip(std::max(told_, piece.start), piece.end);
        for (const Interval& part : compiling.intervals()) {
          Add(gap, part.start, cause, activity, piece.phase, thread);
          Add(gap, part.end, IdleCause::kJitOrModuleLoad, activity, piece.phase, thread);
        }
      }
      Add(gap, piece.end, cause, activity, piece.phase, thread);
    }
  }

  // From the start of the launching call to the start of its op: the call itself and the latency,
  // unless something else is recorded inside (lazy loading, compilation, the profiler, an
  // allocation). An op that is launched long before it starts waits for something else.
  void Launch(const Gap& gap, Nanos start, Nanos end) {
    if (end <= start) return;
    const Nanos returned = run_.trace.calls.end[CallOf(run_.trace, gap)];
    const bool waits = end - returned > longest_latency_ns_;
    if (waits) end = std::max(start, returned + latency_ns_);
    // Older captures do not record lazy loading: it hides in the first launch of a kernel.
    const Nanos loaded = loading_.InLaunchOf(gap.op)
                             ? std::min(end, run_.trace.calls.end[CallOf(run_.trace, gap)])
                             : start;
    Add(gap, loaded, IdleCause::kJitOrModuleLoad, Activity::kModuleLoad);
    for (const HostPiece& piece : HostOf(gap.thread).Pieces(loaded, end)) {
      const IdleCause cause = CauseOf(piece);
      const bool inside_call = cause == IdleCause::kJitOrModuleLoad ||
                               cause == IdleCause::kProfilerOverhead ||
                               cause == IdleCause::kAllocation;
      Add(gap, piece.end, inside_call ? cause : IdleCause::kLaunch,
          inside_call ? piece.activity : Activity::kLaunch, piece.phase);
    }
    if (waits) Add(gap, gap.end, PeerReleased(gap) ? IdleCause::kPeerWait : IdleCause::kUnknown);
  }

  // The host was in time: the op itself waited for something.
  void Awaiting(const Gap& gap) {
    const Nanos launched = run_.trace.calls.end[CallOf(run_.trace, gap)];
    // The call began while the device was still busy, and loaded code until long after.
    if (loading_.InLaunchOf(gap.op))
      Add(gap, std::min(gap.end, launched), IdleCause::kJitOrModuleLoad, Activity::kModuleLoad);
    const Nanos latency_end = std::min(gap.end, std::max(launched, gap.start) + latency_ns_);
    Add(gap, latency_end, IdleCause::kLaunch, Activity::kLaunch);
    if (latency_end >= gap.end) return;
    Add(gap, gap.end, PeerReleased(gap) ? IdleCause::kPeerWait : IdleCause::kUnknown);
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

  HostActivity& HostOf(std::uint32_t thread) {
    std::optional<HostActivity>& host = hosts_[thread];
    if (!host) host.emplace(run_, thread);
    return *host;
  }

  const Run& run_;
  const std::vector<DeviceTime>& times_;
  Awaited awaited_;
  const HandOvers& hand_overs_;
  const std::vector<std::uint32_t>& blocks_;
  std::vector<IntervalSet> compiling_;  // by thread
  CodeLoading loading_;
  Nanos latency_ns_;
  Nanos longest_latency_ns_;
  std::map<std::uint32_t, std::vector<Nanos>> ends_;
  Idle idle_;
  Nanos told_ = 0;  // up to where the gap at hand is explained
  std::vector<Nanos> request_waits_;
  std::vector<std::optional<HostActivity>> hosts_;
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
