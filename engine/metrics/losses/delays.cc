#include "engine/metrics/losses/delays.h"

#include <algorithm>
#include <deque>
#include <vector>

namespace advise {
namespace {

// The thread goes on when something else is done, and would have waited longer had it come earlier.
bool Waits(Activity activity) {
  switch (activity) {
    case Activity::kSync:
    case Activity::kBlockingCopy:
    case Activity::kMpi:
    case Activity::kOsWait:
    case Activity::kSilentWait:
    case Activity::kChildWait:
    case Activity::kLock:
    case Activity::kNetwork:
      return true;
    default:
      return false;
  }
}

// One thread and one device of those that wait for it, forward in time.
class DelayWalk {
 public:
  DelayWalk(const Basis& basis, std::uint32_t thread, std::vector<GapPiece> idle)
      : basis_(basis), thread_(thread), idle_(std::move(idle)) {}

  void Run(const std::vector<HostPiece>& pieces,
           const std::function<bool(std::uint32_t, const HostPiece&)>& is_cause,
           const std::function<void(const Delay&)>& visit) {
    for (const HostPiece& piece : pieces) {
      const bool cause = is_cause(thread_, piece);
      const Nanos length = piece.end - piece.start;
      Nanos idle = 0;
      for (; next_ < idle_.size() && idle_[next_].start < piece.end; ++next_) {
        idle += idle_[next_].Length();
        if (!cause && !Waits(piece.activity)) Credit(idle_[next_], visit);
      }
      if (cause) {
        if (length > idle) late_.push_back({piece, length - idle});
      } else if (Waits(piece.activity)) {
        Absorb(length);
      }
    }
  }

 private:
  struct Late {
    HostPiece piece;
    Nanos by = 0;
  };

  void Credit(const GapPiece& idle, const std::function<void(const Delay&)>& visit) {
    // What comes from outside the thread comes no earlier, and the profiler's work is not the
    // run's.
    if (idle.cause == IdleCause::kNoWorkQueued || idle.cause == IdleCause::kDataLoading ||
        idle.cause == IdleCause::kProfilerOverhead) {
      Absorb(idle.Length());
      return;
    }
    Nanos end = idle.end;  // the device would have begun earlier
    while (!late_.empty() && end > idle.start) {
      Late& late = late_.front();
      const Nanos start = std::max(idle.start, end - late.by);
      if (basis_.InLoop(start)) visit({thread_, late.piece, idle.gap, idle.device, {start, end}});
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
  const std::vector<GapPiece> idle_;
  std::size_t next_ = 0;
  std::deque<Late> late_;
};

}  // namespace

void ForEachDelay(const Basis& basis,
                  const std::function<bool(std::uint32_t, const HostPiece&)>& is_cause,
                  const std::function<void(const Delay&)>& visit) {
  if (!basis.run.steps.known()) return;
  const Window& window = basis.run.window;
  for (const std::uint32_t thread : basis.run.launching_threads) {
    std::vector<std::vector<GapPiece>> idle(basis.run.trace.devices.size());
    for (const GapPiece piece : basis.idle.pieces) {
      if (basis.idle.ThreadOf(piece) == thread) idle[piece.device].push_back(piece);
    }
    std::vector<HostPiece> pieces;
    for (std::vector<GapPiece>& of_device : idle) {
      if (of_device.empty()) continue;
      if (pieces.empty()) pieces = HostActivity(basis.run, thread).Pieces(window.start, window.end);
      DelayWalk(basis, thread, std::move(of_device)).Run(pieces, is_cause, visit);
    }
  }
}

}  // namespace advise
