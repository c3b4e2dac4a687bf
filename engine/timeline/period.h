// What repeats in a sequence of tokens, each of which stands for one op of the GPU.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "engine/base/units.h"
#include "engine/knowledge/knowledge.h"

namespace advise {

// `computes`: by token, 1 for kernels and graphs. `weight`: how many ops it stands for, 1 but for
// graphs. `time`: how long each runs.
struct Tokens {
  std::vector<std::uint64_t> what;
  std::vector<std::uint8_t> computes;
  std::vector<std::uint32_t> weight;
  std::vector<Nanos> time;
};

struct Period {
  std::size_t length = 0;           // tokens
  std::vector<std::size_t> starts;  // token indices
  double match = 0;                 // share of tokens equal to the one a period later
  bool same_sizes = false;          // tokens tell the sizes of what they stand for
};

// Tokens that come back at even distances open a period; the rarest such token gives the longest
// one. `meets_host(places, data_only)`: whether the host takes part in each of the iterations that
// tokens at these places open, or, with `data_only`, sends data to the GPU in each. The length is 0
// when nothing repeats. `fewest`: tokens that come less often open none; at least `step.min_count`.
// O(tokens log tokens) for each of at most 64 candidates.
Period FindPeriod(const Knowledge& knowledge, const Tokens& tokens,
                  const std::function<bool(const std::vector<std::size_t>&, bool)>& meets_host,
                  std::size_t fewest = 0);

// Kinds of kernels and graphs in a usual repeat; 0 where no two repeats follow each other.
std::size_t KindsComputed(const Tokens& tokens, const Period& period);

// Whether all kernels and graphs before and after the repeats are such as the repeats hold.
bool ComputesNothingElse(const Tokens& tokens, const Period& period);

}  // namespace advise
