// Why each GPU was idle: every idle nanosecond of the window gets exactly one cause, found from the
// op that ends the gap, its launching call, and what the launching thread did since the gap began
// (docs/architecture.md, "Why a gap is there").
#pragma once

#include <array>
#include <vector>

#include "engine/metrics/budget.h"
#include "engine/metrics/host_activity.h"
#include "engine/metrics/run.h"

namespace advise {

enum class IdleCause : std::uint8_t {
  kDataLoading,
  kHostSync,
  kAllocation,
  kJitOrModuleLoad,
  kFileIo,
  kHostWait,
  kLaunch,
  kHostCompute,
  kPeerWait,
  kProfilerOverhead,
  kNoWorkQueued,
  kUnknown,
};
inline constexpr std::size_t kIdleCauseCount = 12;
const char* IdleCauseName(IdleCause cause);

// A stretch of a gap with one cause. There can be as many as kernels: kept small.
struct GapPiece {
  Nanos start = 0;
  Nanos end = 0;
  std::uint32_t gap = 0;
  std::uint16_t device = 0;
  IdleCause cause : 4 = IdleCause::kUnknown;
  Phase phase : 4 = Phase::kUnnamed;
  Activity activity = Activity::kCode;
  Nanos Length() const { return end - start; }
};

struct Gap {
  Nanos start = 0;
  Nanos end = 0;
  std::uint32_t op = kNone;  // that ends it; kNone at the end of the trace
  // That launched this op (or the one before, when there is none).
  std::uint32_t thread = kNone;
  // The blocking call after which the host has not been ahead of the GPU again: the gap is part of
  // its recovery.
  std::uint32_t blocked_by = kNone;
  std::uint16_t device = 0;
  bool host_late = false;  // the launch began after the gap did
  Nanos Length() const { return end - start; }
};

// The call that launched the op that ends the gap; kNone when there is none or it was not captured.
inline std::uint32_t CallOf(const Trace& trace, const Gap& gap) {
  return gap.op == kNone ? kNone : trace.ops.call[gap.op];
}

struct Idle {
  std::vector<Gap> gaps;         // by device, then time
  std::vector<GapPiece> pieces;  // by device, then time; together they are the idle time exactly
  std::vector<std::array<Nanos, kIdleCauseCount>> by_device;

  // The pieces that `keep` accepts, per device.
  template <typename Keep>
  std::vector<IntervalSet> Select(std::size_t device_count, Keep keep) const {
    std::vector<IntervalSet> sets(device_count);
    for (const GapPiece& piece : pieces) {
      if (keep(piece)) sets[piece.device].Append(piece.start, piece.end);
    }
    return sets;
  }
};

// O((ops + host events) log nesting).
Idle ExplainIdle(const Run& run, const std::vector<DeviceTime>& times);

// For each call that launched an op: the last blocking call of its thread (synchronise, blocking or
// pageable copy, allocation) after which no op has yet been queued behind a busy device; kNone
// otherwise. O(calls).
std::vector<std::uint32_t> UnrecoveredBlocks(const Run& run);

// True when the call holds its thread until the GPU has done something: a synchronise or blocking
// call by its class, or an asynchronous copy that its pageable memory makes wait.
bool BlocksHost(const Run& run, std::uint32_t call);

}  // namespace advise
