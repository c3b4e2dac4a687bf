#include "engine/timeline/gap.h"

#include <algorithm>

namespace advise {

const char* IdleCauseName(IdleCause cause) {
  switch (cause) {
    case IdleCause::kDataLoading:
      return "data_loading";
    case IdleCause::kHostSync:
      return "host_sync";
    case IdleCause::kAllocation:
      return "allocation";
    case IdleCause::kJitOrModuleLoad:
      return "jit_or_module_load";
    case IdleCause::kFileIo:
      return "file_io";
    case IdleCause::kHostWait:
      return "host_wait";
    case IdleCause::kLaunch:
      return "launch";
    case IdleCause::kHostCompute:
      return "host_compute";
    case IdleCause::kPeerWait:
      return "peer_wait";
    case IdleCause::kProfilerOverhead:
      return "profiler_overhead";
    case IdleCause::kNoWorkQueued:
      return "no_work_queued";
    case IdleCause::kUnknown:
      break;
  }
  return "unknown";
}

std::uint32_t GapPieces::OtherThread(std::size_t row) const {
  const auto at = std::lower_bound(other_threads_.begin(), other_threads_.end(),
                                   std::pair{static_cast<std::uint32_t>(row), 0U});
  return at->second;
}

std::size_t GapPieces::FirstEndingAfter(std::uint32_t device, Nanos time) const {
  std::size_t first = 0;
  std::size_t last = rows_.size();
  while (first < last) {
    const std::size_t middle = first + (last - first) / 2;
    const GapPiece piece = (*this)[middle];
    const bool before = piece.device < device || (piece.device == device && piece.end <= time);
    (before ? first : last) = before ? middle + 1 : middle;
  }
  return first;
}

}  // namespace advise
