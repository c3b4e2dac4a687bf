// Every kernel of the window by name: how often, how long, in what shape. For people who want to
// look for themselves; rules read FindKernels.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "engine/metrics/losses/loss.h"

namespace advise {

struct KernelTotal {
  std::string name;          // full
  std::string kernel_class;  // "matrix", "communication" …
  std::string precision;     // "" unknown
  std::int64_t count = 0;    // that start in the window
  Nanos total_ns = 0;        // summed; of all devices
  double share = 0;          // of the summed time of all kernels
  Nanos median_ns = 0;       // upper median
  Nanos min_ns = 0;
  Nanos max_ns = 0;
  std::uint64_t blocks = 0;  // of the shape with most time, as the two below
  std::uint64_t threads = 0;
  std::uint32_t registers = 0;
};

// Most time first, names in order where equal. O(kernels).
std::vector<KernelTotal> TabulateKernels(const Basis& basis);

// Those that no entry of the knowledge base claims; shares are of all kernels. O(kernels).
std::vector<KernelTotal> UnknownKernels(const Basis& basis);

// A name for people: without return type, namespaces, arguments and most of the template's; of
// generic kernels with what they are an instance of: "vectorized_elementwise_kernel<
// CUDAFunctor_add>". At most 60 characters.
std::string ShortKernelName(std::string_view full, const Knowledge& knowledge);

}  // namespace advise
