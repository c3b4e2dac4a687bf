// Calls that load code although their name says something else: older captures and other formats do
// not record lazy loading.
#pragma once

#include <map>
#include <utility>

#include "engine/timeline/host_activity.h"

namespace advise {

class CodeLoading {
 public:
  explicit CodeLoading(const Run& run);  // O(ops log kernels)

  // The op is a kernel, the first of its name in the process, and its launch took far longer than
  // launches do.
  bool InLaunchOf(std::uint32_t op) const;

  // On an idle GPU there is nothing to wait for, and freeing takes microseconds: a call that takes
  // this long loads a library that is used for the first time. The piece is of an idle time.
  bool InSlowFree(std::uint32_t thread, const HostPiece& piece) const;

 private:
  const Run& run_;
  Nanos slow_launch_ns_;
  Nanos slow_free_ns_;
  bool has_managed_memory_ = false;  // freeing it takes as long as it is large
  std::map<std::pair<std::uint32_t, StringId>, std::uint32_t>
      first_launch_;  // (process, kernel) -> its first op
};

}  // namespace advise
