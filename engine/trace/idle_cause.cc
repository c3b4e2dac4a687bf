#include "engine/trace/idle_cause.h"

#include <algorithm>
#include <array>

namespace advise {
namespace {

constexpr const char* kSlowHost = "its host is slower";
constexpr const char* kHostCode = "host code";

// By enum IdleCause.
constexpr std::array<IdleCauseWords, kIdleCauseCount> kWords = {{
    {"data_loading", "data loading", "data loading", "waiting for data",
     "it waits longer for data"},
    {"host_sync", "synchronization", "synchronization calls",
     "waiting for the host to return from synchronization calls",
     "its host waits in synchronization calls"},
    {"allocation", "memory allocation", "memory allocation", "waiting for memory allocation",
     "it allocates memory"},
    {"jit_or_module_load", "compiling or loading code", "compiling or loading code",
     "waiting for code to be compiled or loaded", "it compiles or loads code"},
    {"file_io", "file access", "file calls", "waiting for files to be read or written",
     "it waits longer for data"},
    {"host_wait", "host blocked in the OS", "waiting in the OS",
     "waiting for a host thread that is blocked",
     "its host is blocked in the operating system for longer"},
    {"launch", "launching", kHostCode, "waiting for kernel launches",
     "its host launches more slowly"},
    {"host_compute", kHostCode, kHostCode, "waiting for host code", kSlowHost},
    {"peer_wait", "waiting for a peer", kHostCode, "waiting for another GPU", kSlowHost},
    {"host_function", "functions on the host", kHostCode,
     "waiting for functions that its streams run on the host",
     "functions that its streams run on the host take longer"},
    {"profiler_overhead", "the profiler itself", "the profiler", "waiting for the profiler",
     kSlowHost},
    {"no_work_queued", "no work queued", kHostCode, "without any work queued", kSlowHost},
    {"unknown", "unknown", "idle time of unknown cause", "for unknown reasons", kSlowHost},
}};
static_assert(kIdleCauseCount == static_cast<std::size_t>(IdleCause::kUnknown) + 1);
static_assert(std::all_of(kWords.begin(), kWords.end(),
                          [](const IdleCauseWords& words) { return words.late != nullptr; }));

}  // namespace

const IdleCauseWords& WordsOf(IdleCause cause) { return kWords[static_cast<std::size_t>(cause)]; }

const IdleCauseWords* WordsOfIdleCause(std::string_view name) {
  const auto* const found =
      std::find_if(kWords.begin(), kWords.end(),
                   [&](const IdleCauseWords& words) { return words.name == name; });
  return found == kWords.end() ? nullptr : found;
}

}  // namespace advise
