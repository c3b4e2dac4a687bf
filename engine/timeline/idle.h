// Why each GPU was idle: every idle nanosecond of the window gets exactly one cause, found from the
// op that ends the gap, its launching call, and what the launching thread did since the gap began
// (docs/design/idle-causes.md).
#pragma once

#include <array>
#include <vector>

#include "engine/timeline/gap.h"
#include "engine/timeline/host_cause.h"
#include "engine/timeline/late_copies.h"
#include "engine/timeline/lost_work.h"

namespace advise {

// The call that launched the op that ends the gap; kNone when there is none or it was not captured.
inline std::uint32_t CallOf(const Trace& trace, const Gap& gap) {
  return gap.op == kNone ? kNone : trace.ops.call[gap.op];
}

struct Idle {
  Gaps gaps;
  GapPieces pieces;  // together they are the idle time exactly
  std::vector<std::array<Nanos, kIdleCauseCount>> by_device;
  std::vector<LateCopy> late_copies;
  LostWork lost_work;
  std::vector<PacedWaits> sources;  // by thread: waits for what comes at a rate of its own
  bool serves = false;              // a launching thread receives or answers requests itself
  std::vector<std::uint8_t> syncs_before_meetings;  // HostCauses::SyncsBeforeMeetings()

  // Whose doing the piece is: the launching thread, or the one that it waited for. kNone: nobody's.
  std::uint32_t ThreadOf(const GapPiece& piece) const {
    return piece.other_thread != kNone ? piece.other_thread : gaps[piece.gap].thread;
  }

  // The thread waits for a source that keeps a rate of its own.
  bool AwaitsSource(const GapPiece& piece) const {
    const std::uint32_t thread = ThreadOf(piece);
    return piece.cause == IdleCause::kNoWorkQueued && thread < sources.size() &&
           sources[thread].waits.Contains(piece.start);
  }

  // The pieces that `keep` accepts, per device.
  template <typename Keep>
  std::vector<IntervalSet> Select(std::size_t device_count, Keep keep) const {
    std::vector<IntervalSet> sets(device_count);
    for (const GapPiece piece : pieces) {
      if (keep(piece)) sets[piece.device].Append(piece.start, piece.end);
    }
    return sets;
  }
};

// `blocks` are those of UnrecoveredBlocks. O((ops + host events) log nesting).
Idle ExplainIdle(const Run& run, const std::vector<DeviceTime>& times,
                 const std::vector<std::uint32_t>& blocks, const HandOvers& hand_overs);

// What the launching threads do while each device is in the states of `when`, in which it has work:
// pieces cover these times exactly, and tell of the next launch, since no op says for whom the host
// is late. O((launches + host events) log nesting).
Idle FollowHosts(const Run& run, const std::vector<IntervalSet>& when, const HandOvers& hand_overs);

}  // namespace advise
