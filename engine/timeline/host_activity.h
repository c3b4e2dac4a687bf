// What one host thread did over time, as far as the report shows: the innermost, most specific
// thing at each instant.
#pragma once

#include <algorithm>
#include <array>
#include <string_view>
#include <vector>

#include "engine/timeline/run.h"

namespace advise {

// From the least to the most specific: where several hold at once, the later one names the time.
enum class Activity : std::uint8_t {
  kCode,        // between recorded events: code that the report does not show
  kDeviceWait,  // blocked in the driver of a device, in no call of CUDA: a camera, a display
  kOtherCall,   // a CUDA call that neither launches nor waits
  kLaunch,
  kGraphLaunch,
  kCopyCall,  // an asynchronous copy or memset call
  kSleep,
  kSilentWait,  // nothing was recorded, and what others did shows that it waited (Awaited)
  kOsWait,      // blocked in the OS: poll, condition, semaphore
  kChildWait,   // blocked until a child process ends
  kNetwork,
  kLock,
  kMemoryMap,
  kFileWrite,
  kFileIo,
  kSync,          // waiting for the GPU by a synchronize call
  kBlockingCopy,  // a copy or memset call that returns when the data has moved
  kMpi,           // in a call of MPI that moves data or waits for it
  kAllocation,
  kModuleLoad,
  kJit,
  kProfiler,
};
inline constexpr std::size_t kActivityCount = 22;

struct HostPiece {
  Nanos start = 0;
  Nanos end = 0;
  Activity activity = Activity::kCode;
  Phase phase = Phase::kUnnamed;
};

// Walks one thread forward in time. Calls to Pieces must come with ascending, non-overlapping
// [from, to). All calls together are O(events of the thread x log(nesting)).
class HostActivity {
 public:
  HostActivity(const Run& run, std::uint32_t thread);

  // Pieces that cover [from, to) exactly, in order; neighbors differ.
  std::vector<HostPiece> Pieces(Nanos from, Nanos to);

  // The same, one after the other: visit(piece). No list is made, which would be as long as the
  // trace.
  template <typename Visit>
  void ForEachPiece(Nanos from, Nanos to, const Visit& visit) {
    HostPiece last{from, from};
    while (from < to) {
      const Nanos until = std::min(to, AfterSomeRows(from));
      for (const HostPiece& piece : Pieces(from, until)) {
        if (last.start < last.end &&
            (piece.activity != last.activity || piece.phase != last.phase)) {
          visit(last);
          last.start = piece.start;
        }
        last.end = piece.end;
        last.activity = piece.activity;
        last.phase = piece.phase;
      }
      from = until;
    }
    if (last.start < last.end) visit(last);
  }

  // When the thread is first seen doing anything; the end of time when never.
  Nanos FirstEvent() const { return first_event_; }

 private:
  struct Event {
    Nanos start;
    Nanos end;
    std::uint8_t slot;  // activity, or kActivityCount + phase
  };
  void Admit(Nanos before);
  // A time after `from` before which few rows begin that are still ahead.
  Nanos AfterSomeRows(Nanos from) const;

  const Run& run_;
  Nanos device_wait_;
  RowRange calls_, ranges_, os_, mpi_, overheads_;  // what is still ahead
  std::vector<Event> active_;                       // may reach into what is still to come
  Nanos first_event_;
};

Activity ActivityOfCall(CallClass call_class);
// Of a row of an overhead table, by its name: the profiler's own work, or CUDA's (loading,
// compiling, a full queue).
Activity ActivityOfOverhead(std::string_view name);

}  // namespace advise
