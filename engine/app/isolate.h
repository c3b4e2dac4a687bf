// Work on files of strangers in a process of its own: bounded in time and memory, so that a crash
// or a hang of one does not stop the others.
#pragma once

#include <cstddef>
#include <functional>
#include <string>

#include "engine/base/error.h"

namespace advise {

struct IsolateLimits {
  double seconds = 60;                               // on the wall clock
  std::size_t memory_bytes = std::size_t{8} << 30U;  // of address space
  std::size_t output_bytes = std::size_t{16} << 20U;
};

// What `work` returned, in a forked child without input and without a voice on stderr. Fails with
// what ended it: a limit, a signal, an exception. The caller must have no other threads.
Result<std::string> RunIsolated(const IsolateLimits& limits,
                                const std::function<std::string()>& work);

}  // namespace advise
