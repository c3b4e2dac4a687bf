// Families of names that a rule can ask for: kernels, CUDA calls, named ranges and OS calls that
// belong to one mechanism. What belongs to which is said by kb/families.toml; here stands which
// families there are, since each is a group of facts.
#pragma once

#include <array>
#include <string_view>
#include <vector>

#include "engine/metrics/losses/loss.h"

namespace advise {

inline constexpr std::array<std::string_view, 26> kKernelFamilies = {"batch_norm_sync",
                                                                     "checks",
                                                                     "clip",
                                                                     "compiled",
                                                                     "concat",
                                                                     "cross_entropy",
                                                                     "decode",
                                                                     "dequantise",
                                                                     "dropout",
                                                                     "embedding",
                                                                     "foreach",
                                                                     "gemv",
                                                                     "index_backward",
                                                                     "kv_cache",
                                                                     "loss_scaling",
                                                                     "moe_routing",
                                                                     "naive_convolution",
                                                                     "nonzero",
                                                                     "old_tensor",
                                                                     "prefill",
                                                                     "reduction",
                                                                     "rotary",
                                                                     "sampling",
                                                                     "scan",
                                                                     "sort",
                                                                     "upsample"};
inline constexpr std::array<std::string_view, 11> kCallFamilies = {
    "device_query", "event_timing", "graph_build", "graph_capture", "host_register", "ipc",
    "objects",      "pool",         "query",       "strided_copy",  "symbol_copy"};
inline constexpr std::array<std::string_view, 6> kRangeFamilies = {
    "communicator", "detokenise", "gloo", "object_collective", "prepare", "unused_search"};
inline constexpr std::array<std::string_view, 2> kOsFamilies = {"open", "process"};

// Of one kernel family: the loss is the kernels' own time; `remedy` takes them away, `halved` half
// of them.
struct KernelFamily {
  Loss loss;
  std::shared_ptr<Remedy> halved = std::make_shared<Remedy>();
};

struct Families {
  std::vector<KernelFamily> kernels;  // in the order of kKernelFamilies, and so on
  std::vector<Loss> calls;   // inside the steady loop, on launching threads: idle time in them
  std::vector<Loss> ranges;  // the same of named ranges
  std::vector<Loss> os;      // of all threads; idle time only where the launching thread is inside
};

// O(ops + calls + ranges + OS calls); each distinct name is matched once.
Families FindFamilies(const Basis& basis);

// -1 when there is no such family. `kind`: kernel, call, range or os.
int FamilyIndex(std::string_view kind, std::string_view name);

}  // namespace advise
