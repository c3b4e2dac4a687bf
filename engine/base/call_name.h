// Names of calls into CUDA and HIP.
#pragma once

#include <string_view>

#include "engine/base/ascii.h"

namespace advise {

// "cudaLaunchKernel" of "cudaLaunchKernel_ptsz_v7000": profilers add the version that a call was
// linked against, and whose default stream it means.
constexpr std::string_view WithoutVersionSuffix(std::string_view name) {
  while (true) {
    if (name.ends_with("_ptsz") || name.ends_with("_ptds")) {
      name.remove_suffix(5);
      continue;
    }
    const std::size_t version = name.rfind("_v");
    if (version == std::string_view::npos || !IsDigits(name.substr(version + 2))) return name;
    name = name.substr(0, version);
  }
}

}  // namespace advise
