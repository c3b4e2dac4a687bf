// Why a GPU idles, and every way in which that is said.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

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
  kHostFunction,
  kProfilerOverhead,
  kNoWorkQueued,
  kUnknown,
};
inline constexpr std::size_t kIdleCauseCount = 13;

struct IdleCauseWords {
  const char* name;   // in facts: "data_loading"
  const char* label;  // in the budget, before a share: "data loading"
  const char* host;   // what the host does meanwhile: "file calls"
  const char* gpu;    // what the GPU does: "waiting for data"
  const char* late;   // why a rank with more of it is late: "it waits longer for data"
};
const IdleCauseWords& WordsOf(IdleCause cause);

// The words of the cause of that name; nullptr: there is none.
const IdleCauseWords* WordsOfIdleCause(std::string_view name);

}  // namespace advise
