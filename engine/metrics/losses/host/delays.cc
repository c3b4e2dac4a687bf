#include "engine/metrics/losses/host/delays.h"

#include <algorithm>
#include <deque>
#include <limits>
#include <utility>
#include <vector>

#include "engine/timeline/spacing.h"

namespace advise {
namespace {

// The thread goes on when something else is done, and would have waited longer had it come earlier.
bool Waits(Activity activity) {
  switch (activity) {
    case Activity::kSync:
    case Activity::kBlockingCopy:
    case Activity::kMpi:
    case Activity::kOsWait:
    case Activity::kDeviceWait:
    case Activity::kSilentWait:
    case Activity::kChildWait:
    case Activity::kLock:
    case Activity::kNetwork:
      return true;
    default:
      return false;
  }
}

// Time in which a device computes nothing because the thread came late to a call.
struct Wait {
  Nanos at = 0;  // idle time: its start; an upload: its call
  Interval when;
  std::uint32_t gap = kNone;
  std::uint16_t device = 0;
  IdleCause cause = IdleCause::kUnknown;
  bool IsUpload() const { return gap == kNone; }
};

// Uploads beside no kernel that began as soon as they were called, or right behind one that did, so
// that earlier calls would have begun them beside the kernels before; as much of them as their
// stream was free beside these, before them and before the uploads that they follow.
class LateUploads {
 public:
  explicit LateUploads(const Basis& basis) : basis_(basis) {
    if (std::all_of(basis.times.begin(), basis.times.end(),
                    [](const DeviceTime& time) { return time.copy_exposed.empty(); }))
      return;
    const Trace& trace = basis.run.trace;
    const auto latency = basis.run.knowledge.Time("idle.launch_latency");
    struct Stream {
      Nanos done;  // the work so far
      // Behind uploads that began when they were called: how much earlier these could have begun.
      Nanos room = 0;
    };
    std::vector<Stream> streams(trace.streams.size(), Stream{basis.run.window.start});
    for (std::uint32_t op = 0; op < trace.ops.size(); ++op) {
      if (trace.ops.stream[op] == kNone) continue;
      Stream& stream = streams[trace.ops.stream[op]];
      const Nanos start = trace.ops.start[op];
      const Nanos free_for = start - stream.done;
      stream.done = std::max(stream.done, trace.ops.end[op]);
      const std::uint32_t call = trace.ops.call[op];
      if (trace.ops.kind[op] != OpKind::kCopy || call == kNone || free_for < 0 ||
          trace.DirectionOfCopy(op) != CopyDirection::kHostToDevice || !basis.InLoop(start)) {
        stream.room = 0;
        continue;
      }
      // A call that lasts longer may have waited, also for work of other streams, before it copied.
      const bool holds = trace.calls.end[call] > start;
      const Nanos called = holds ? trace.calls.start[call] : trace.calls.end[call];
      if (start <= called + latency) {
        stream.room +=
            basis.times[trace.ops.device[op]].compute.OverlapWith(start - free_for, start);
      } else if (free_for > latency) {
        stream.room = 0;  // it waited for something else than the uploads before
      }
      Add(op, call, &stream.room);
    }
  }

  // Those that the thread called, by time.
  std::vector<Wait> Of(std::uint32_t thread, std::uint16_t device) const {
    std::vector<Wait> waits;
    for (const auto& [caller, wait] : uploads_)
      if (caller == thread && wait.device == device) waits.push_back(wait);
    std::stable_sort(waits.begin(), waits.end(),
                     [](const Wait& a, const Wait& b) { return a.at < b.at; });
    return waits;
  }

 private:
  void Add(std::uint32_t op, std::uint32_t call, Nanos* room) {
    const Trace& trace = basis_.run.trace;
    const std::uint16_t device = trace.ops.device[op];
    const IntervalSet exposed =
        basis_.times[device].copy_exposed.Clip(trace.ops.start[op], trace.ops.end[op]);
    for (const Interval& part : exposed.intervals()) {
      const Nanos length = std::min(part.Length(), *room);
      if (length <= 0) break;
      uploads_.push_back({trace.calls.thread[call],
                          {trace.calls.start[call], {part.end - length, part.end}, kNone, device}});
      *room -= length;
    }
  }

  const Basis& basis_;
  std::vector<std::pair<std::uint32_t, Wait>> uploads_;  // the calling thread
};

// The waits of a device for a thread, forward in time: its idle time and late uploads. Both can be
// as many as its kernels, so no list is made of the idle time. What was in the queue before the
// device was idle would have begun no sooner, had the thread come earlier; what was not, only so
// much sooner that the device still has what it needs between two ops.
class WaitsForThread {
 public:
  // `needs`: what the device needs between two ops of a stream.
  WaitsForThread(const Basis& basis, std::uint32_t thread, std::uint16_t device, Nanos needs,
                 const LateUploads& uploads)
      : run_(basis.run),
        idle_(basis.idle),
        latency_(basis.run.knowledge.Time("idle.launch_latency")),
        needs_(needs),
        thread_(thread),
        uploads_(uploads.Of(thread, device)) {
    constexpr Nanos kEver = std::numeric_limits<Nanos>::min();
    piece_ = idle_.pieces.FirstEndingAfter(device, kEver);
    end_ = idle_.pieces.FirstEndingAfter(device + 1U, kEver);
    FindIdle();
  }

  // The next one; nothing behind the last.
  const Wait* Next() const {
    const bool uploads = upload_ < uploads_.size();
    if (piece_ == end_) return uploads ? &uploads_[upload_] : nullptr;
    return uploads && uploads_[upload_].at <= idle_wait_.at ? &uploads_[upload_] : &idle_wait_;
  }
  void Advance() {
    if (Next() != &idle_wait_) {
      ++upload_;
      return;
    }
    ++piece_;
    FindIdle();
  }

 private:
  void FindIdle() {
    for (; piece_ < end_; ++piece_) {
      const GapPiece piece = idle_.pieces[piece_];
      if (idle_.ThreadOf(piece) != thread_ || WasQueued(idle_.gaps[piece.gap])) continue;
      const Nanos end = std::min(piece.end, idle_.gaps[piece.gap].end - needs_);
      if (end <= piece.start) continue;
      idle_wait_ = {piece.start, {piece.start, end}, piece.gap, piece.device, piece.cause};
      return;
    }
  }

  bool WasQueued(const Gap& gap) const {
    const std::uint32_t call = gap.op == kNone ? kNone : run_.trace.ops.call[gap.op];
    return call != kNone && run_.trace.calls.end[call] + latency_ <= gap.start;
  }

  const Run& run_;
  const Idle& idle_;
  const Nanos latency_;
  const Nanos needs_;
  const std::uint32_t thread_;
  const std::vector<Wait> uploads_;
  std::size_t upload_ = 0;
  std::size_t piece_, end_;
  Wait idle_wait_;
};

// One thread and one device of those that wait for it, forward in time.
class DelayWalk {
 public:
  DelayWalk(const Basis& basis, std::uint32_t thread, WaitsForThread waits)
      : basis_(basis), thread_(thread), waits_(std::move(waits)) {}

  void Run(const std::function<bool(std::uint32_t, const HostPiece&)>& is_cause,
           const std::function<void(const Delay&)>& visit) {
    const Window& window = basis_.run.window;
    const auto walk = [&](const HostPiece& piece) {
      const bool cause = is_cause(thread_, piece);
      const Nanos length = piece.end - piece.start;
      Nanos idle = 0;
      for (const Wait* wait = waits_.Next(); wait != nullptr && wait->at < piece.end;
           wait = waits_.Next()) {
        if (!wait->IsUpload()) idle += wait->when.Length();
        if (wait->IsUpload() || (!cause && !Waits(piece.activity))) Credit(*wait, visit);
        waits_.Advance();
      }
      if (cause) {
        if (length > idle) late_.push_back({piece, length - idle});
      } else if (Waits(piece.activity)) {
        Absorb(length);
      }
    };
    HostActivity(basis_.run, thread_).ForEachPiece(window.start, window.end, walk);
  }

 private:
  struct Late {
    HostPiece piece;
    Nanos by = 0;
  };

  void Credit(const Wait& wait, const std::function<void(const Delay&)>& visit) {
    // What comes from outside the thread comes no earlier, and the profiler's work is not the
    // run's.
    if (wait.cause == IdleCause::kNoWorkQueued || wait.cause == IdleCause::kDataLoading ||
        wait.cause == IdleCause::kProfilerOverhead) {
      Absorb(wait.when.Length());
      return;
    }
    Nanos end = wait.when.end;  // the device would have begun earlier
    while (!late_.empty() && end > wait.when.start) {
      Late& late = late_.front();
      const Nanos start = std::max(wait.when.start, end - late.by);
      if (basis_.InLoop(start))
        visit({thread_, late.piece, wait.device, {start, end}, wait.IsUpload()});
      late.by -= end - start;
      end = start;
      if (late.by <= 0) late_.pop_front();
    }
  }

  void Absorb(Nanos wait) {
    while (!late_.empty() && wait > 0) {
      const Nanos part = std::min(wait, late_.front().by);
      late_.front().by -= part;
      wait -= part;
      if (late_.front().by <= 0) late_.pop_front();
    }
  }

  const Basis& basis_;
  const std::uint32_t thread_;
  WaitsForThread waits_;
  std::deque<Late> late_;
};

}  // namespace

void ForEachDelay(const Basis& basis,
                  const std::function<bool(std::uint32_t, const HostPiece&)>& is_cause,
                  const std::function<void(const Delay&)>& visit) {
  if (!basis.run.steps.known()) return;
  const LateUploads uploads(basis);
  const std::vector<Nanos> needs = UsualSpacing(basis.run);
  for (const std::uint32_t thread : basis.run.launching_threads) {
    for (std::size_t d = 0; d < basis.run.trace.devices.size(); ++d) {
      const auto device = static_cast<std::uint16_t>(d);
      WaitsForThread waits(basis, thread, device, needs[d], uploads);
      if (waits.Next() != nullptr) DelayWalk(basis, thread, std::move(waits)).Run(is_cause, visit);
    }
  }
}

bool LaunchingThreadsCall(const Run& run, OsClass os_class) {
  const OsCallTable& calls = run.trace.os_calls;
  return std::any_of(
      run.launching_threads.begin(), run.launching_threads.end(), [&](std::uint32_t thread) {
        const RowRange rows = run.os_of_thread[thread];
        const auto first = calls.name.begin() + rows.first;
        return std::any_of(first, calls.name.begin() + rows.last,
                           [&](StringId name) { return run.names.Os(name) == os_class; });
      });
}

}  // namespace advise
