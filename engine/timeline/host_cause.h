// What a host thread was kept by while a GPU was idle for it: each piece of its time gets a cause,
// and where it waited for another thread, what that one did is the cause.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "engine/timeline/awaited.h"
#include "engine/timeline/code_loading.h"
#include "engine/timeline/hand_over.h"
#include "engine/timeline/host_activity.h"
#include "engine/timeline/paced_waits.h"
#include "engine/timeline/thread_devices.h"
#include "engine/trace/idle_cause.h"

namespace advise {

// Why a GPU is idle while the thread that should give it work does this, as far as the piece alone
// tells.
IdleCause CauseOf(const HostPiece& piece);

class HostCauses {
 public:
  // A stretch that begins where the one before it ends; it may be empty.
  struct Piece {
    Nanos end = 0;
    IdleCause cause = IdleCause::kUnknown;
    Activity activity = Activity::kCode;
    Phase phase = Phase::kUnnamed;
    std::uint32_t thread = kNone;  // that did it
  };

  HostCauses(const Run& run, const HandOvers& hand_overs);

  // Time starts anew: up to the next call of this, each thread is asked about in time order.
  void Rewind();

  // Pieces that cover [start, end) of the thread's time.
  std::vector<Piece> Explain(std::uint32_t thread, Nanos start, Nanos end);

  HostActivity& ActivityOf(std::uint32_t thread);
  const CodeLoading& loading() const { return loading_; }
  const std::vector<PacedWaits>& sources() const { return sources_; }  // by thread

  // By call, 1 for the last synchronization of a thread before it meets a thread of other GPUs: it
  // waits for that one, or is waited for. Empty where no threads meet. O(calls + hand-overs log
  // calls).
  std::vector<std::uint8_t> SyncsBeforeMeetings() const;

  // Whether a launching thread receives or answers requests itself, or what was explained waits for
  // requests again and again, each time more briefly than people take. What trains waits for data
  // in the same way.
  bool Serves() const;

 private:
  std::vector<std::uint32_t> LastSyncs() const;
  void Tell(std::uint32_t thread, Nanos start, Nanos end, int depth);
  Piece CauseOfWait(std::uint32_t thread, const HostPiece& piece, bool polls);
  void CauseOfCode(std::uint32_t thread, const HostPiece& piece, Piece* made) const;
  void SplitOffCompiling(std::uint32_t thread, const HostPiece& piece, const Piece& made);

  const Run& run_;
  const HandOvers& hand_overs_;
  ThreadDevices devices_;
  Awaited awaited_;
  CodeLoading loading_;
  std::vector<PacedWaits> sources_;
  std::vector<IntervalSet> compiling_, exchanging_;  // by thread
  std::vector<std::optional<HostActivity>> hosts_;
  std::vector<Nanos> request_waits_;
  std::uint32_t asked_ = kNone;  // the thread that is explained
  std::vector<Piece> pieces_;
};

}  // namespace advise
