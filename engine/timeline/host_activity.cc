#include "engine/timeline/host_activity.h"

#include <algorithm>
#include <bit>
#include <limits>
#include <string_view>

#include "engine/timeline/blocking_calls.h"

namespace advise {
namespace {

// Activities, and behind them phases.
constexpr std::size_t kSlots = kActivityCount + static_cast<std::size_t>(Phase::kDataLoading) + 1;
constexpr std::uint64_t kActivitySlots = (std::uint64_t{1} << kActivityCount) - 1;
static_assert(kSlots <= 64);

Activity ActivityOfOs(OsClass os_class) {
  switch (os_class) {
    case OsClass::kFileIo:
      return Activity::kFileIo;
    case OsClass::kFileWrite:
      return Activity::kFileWrite;
    case OsClass::kWait:
      return Activity::kOsWait;
    case OsClass::kChild:
      return Activity::kChildWait;
    case OsClass::kSleep:
      return Activity::kSleep;
    case OsClass::kMemoryMap:
      return Activity::kMemoryMap;
    case OsClass::kNetwork:
      return Activity::kNetwork;
    case OsClass::kLock:
      return Activity::kLock;
    case OsClass::kDevice:
      return Activity::kDeviceWait;
    case OsClass::kOther:
      break;
  }
  return Activity::kCode;
}

// What MPI does inside a call (polling, files, copies of its own) is part of the call.
Activity ActivityOfMpi(MpiKind kind) {
  switch (kind) {
    case MpiKind::kSend:
    case MpiKind::kReceive:
    case MpiKind::kExchange:
    case MpiKind::kWait:
    case MpiKind::kCollective:
      return Activity::kMpi;
    case MpiKind::kFile:
      return Activity::kFileIo;
    case MpiKind::kFileWrite:
      return Activity::kFileWrite;
    case MpiKind::kOther:
      break;
  }
  return Activity::kCode;
}

}  // namespace

// Names as the profiler's overhead tables print them; what is not CUDA's own work is the
// profiler's.
Activity ActivityOfOverhead(std::string_view name) {
  const auto has = [name](std::string_view part) {
    return name.find(part) != std::string_view::npos;
  };
  if (has("compiler") || has("Compiler")) return Activity::kJit;
  if (has("loading") || has("Loading")) return Activity::kModuleLoad;
  if (has("ommand buffer") || has("ommand Buffer")) return Activity::kLaunch;  // back-pressure
  return Activity::kProfiler;
}

Activity ActivityOfCall(CallClass call_class) {
  switch (call_class) {
    case CallClass::kLaunch:
      return Activity::kLaunch;
    case CallClass::kGraphLaunch:
      return Activity::kGraphLaunch;
    case CallClass::kCopyAsync:
    case CallClass::kMemsetAsync:
      return Activity::kCopyCall;
    case CallClass::kCopy:
    case CallClass::kMemset:
      return Activity::kBlockingCopy;
    case CallClass::kSyncDevice:
    case CallClass::kSyncStream:
    case CallClass::kSyncEvent:
      return Activity::kSync;
    case CallClass::kAllocDevice:
    case CallClass::kFreeDevice:
    case CallClass::kAllocHost:
    case CallClass::kAllocAsync:
    case CallClass::kAllocManaged:
      return Activity::kAllocation;
    case CallClass::kModuleLoad:
    case CallClass::kModuleData:
    case CallClass::kLibraryData:
      return Activity::kModuleLoad;
    case CallClass::kJit:
      return Activity::kJit;
    default:
      return Activity::kOtherCall;
  }
}

HostActivity::HostActivity(const Run& run, std::uint32_t thread)
    : run_(run),
      device_wait_(run.knowledge.Time("idle.device_wait")),
      calls_(run.calls_of_thread[thread]),
      ranges_(run.ranges_of_thread[thread]),
      os_(run.os_of_thread[thread]),
      mpi_(run.mpi_of_thread[thread]),
      overheads_(run.overheads_of_thread[thread]),
      first_event_(std::numeric_limits<Nanos>::max()) {
  const Trace& trace = run.trace;
  if (!calls_.empty()) first_event_ = std::min(first_event_, trace.calls.start[calls_.first]);
  if (!ranges_.empty()) first_event_ = std::min(first_event_, trace.ranges.start[ranges_.first]);
  if (!os_.empty()) first_event_ = std::min(first_event_, trace.os_calls.start[os_.first]);
  if (!mpi_.empty()) first_event_ = std::min(first_event_, trace.mpi.start[mpi_.first]);
}

void HostActivity::Admit(Nanos before) {
  const Trace& trace = run_.trace;
  const auto admit = [&](const auto& table, RowRange* rows, auto slot_of) {
    while (rows->first < rows->last && table.start[rows->first] < before) {
      const std::uint32_t i = rows->first++;
      const std::uint8_t slot = slot_of(i);
      if (slot != 0) active_.push_back({table.start[i], table.end[i], slot});
    }
  };
  const auto activity_slot = [](Activity a) { return static_cast<std::uint8_t>(a); };
  admit(trace.calls, &calls_, [&](std::uint32_t i) {
    const Activity activity = ActivityOfCall(run_.ClassOfCall(i));
    // Of pageable memory: the call is there until the copy is done.
    const bool holds = activity == Activity::kCopyCall && BlocksHost(run_, i);
    return activity_slot(holds ? Activity::kBlockingCopy : activity);
  });
  admit(trace.os_calls, &os_, [&](std::uint32_t i) {
    const Activity activity = ActivityOfOs(run_.names.Os(trace.os_calls.name[i]));
    const bool blocks = trace.os_calls.end[i] - trace.os_calls.start[i] >= device_wait_;
    return activity_slot(activity == Activity::kDeviceWait && !blocks ? Activity::kCode : activity);
  });
  admit(trace.mpi, &mpi_,
        [&](std::uint32_t i) { return activity_slot(ActivityOfMpi(trace.mpi.kind[i])); });
  admit(trace.overheads, &overheads_, [&](std::uint32_t i) {
    return activity_slot(ActivityOfOverhead(trace.strings[trace.overheads.name[i]]));
  });
  admit(trace.ranges, &ranges_, [&](std::uint32_t i) {
    const auto phase = static_cast<std::uint8_t>(run_.names.RangePhase(trace.ranges.name[i]));
    return phase == 0 ? phase : static_cast<std::uint8_t>(kActivityCount + phase);
  });
}

Nanos HostActivity::AfterSomeRows(Nanos from) const {
  constexpr std::uint32_t kRows = 1024;
  Nanos until = std::numeric_limits<Nanos>::max();
  const auto bound = [&](const auto& table, RowRange rows) {
    if (rows.last - rows.first > kRows) until = std::min(until, table.start[rows.first + kRows]);
  };
  bound(run_.trace.calls, calls_);
  bound(run_.trace.os_calls, os_);
  bound(run_.trace.mpi, mpi_);
  bound(run_.trace.overheads, overheads_);
  bound(run_.trace.ranges, ranges_);
  return std::max(until, from + 1);
}

std::vector<HostPiece> HostActivity::Pieces(Nanos from, Nanos to) {
  std::erase_if(active_, [from](const Event& e) { return e.end <= from; });
  Admit(to);
  struct Edge {
    Nanos time;
    std::uint8_t slot;
    bool opens;
  };
  std::vector<Edge> edges;
  for (const Event& e : active_) {
    const Nanos start = std::max(e.start, from);
    const Nanos end = std::min(e.end, to);
    if (end <= start) continue;
    edges.push_back({start, e.slot, true});
    edges.push_back({end, e.slot, false});
  }
  std::sort(edges.begin(), edges.end(),
            [](const Edge& a, const Edge& b) { return a.time < b.time; });

  std::array<int, kSlots> open{};
  std::uint64_t open_slots = 0;  // a bit each
  const auto highest = [](std::uint64_t slots) {
    return slots == 0 ? 0 : static_cast<int>(std::bit_width(slots)) - 1;
  };
  std::vector<HostPiece> pieces;
  Nanos at = from;
  const auto emit = [&](Nanos until) {
    if (until <= at) return;
    const auto activity = static_cast<Activity>(highest(open_slots & kActivitySlots));
    const auto phase = static_cast<Phase>(highest(open_slots >> kActivityCount));
    if (!pieces.empty() && pieces.back().activity == activity && pieces.back().phase == phase) {
      pieces.back().end = until;
    } else {
      pieces.push_back({at, until, activity, phase});
    }
    at = until;
  };
  for (const Edge& edge : edges) {
    emit(edge.time);
    open[edge.slot] += edge.opens ? 1 : -1;
    const std::uint64_t bit = std::uint64_t{1} << edge.slot;
    open_slots = open[edge.slot] > 0 ? open_slots | bit : open_slots & ~bit;
  }
  emit(to);
  return pieces;
}

}  // namespace advise
