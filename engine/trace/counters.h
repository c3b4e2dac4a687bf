// Hardware counters of single kernels, as a kernel profiler (Nsight Compute) reports them.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace advise {

// What the kernel profiler itself advised.
struct CounterAdvice {
  std::string section;
  std::string rule;
  std::string text;
  double speedup_percent = -1;  // its own estimate; -1 none
};

// Of a page that begins behind the name of its first kernel.
inline constexpr const char* kNamelessKernel = "a kernel whose name is cut off";

// One profiled kernel instance. A metric that was not collected is not in the map.
struct KernelCounters {
  std::string kernel;  // full name as reported
  std::string device;  // GPU name, may be empty
  std::string compute_capability;
  std::array<std::uint32_t, 3> grid{};
  std::array<std::uint32_t, 3> block{};
  std::map<std::string, double, std::less<>>
      metrics;  // by metric id, in base units (byte, ns, hz…)
  std::vector<CounterAdvice> advice;
  std::string source;  // "path:line" or "path, result 3", to search for by hand
};

}  // namespace advise
