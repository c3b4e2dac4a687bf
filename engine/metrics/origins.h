// GPU work by kernel and by where the program launched it: the operator with the sizes of its
// inputs, the range or module around it, and its place in the step. What is left to know a run by
// when a change renames, fuses or captures its kernels. Without communication.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "engine/metrics/losses/loss.h"

namespace advise {

struct OriginRow {
  std::string kernel;        // "" of a graph that was traced as a whole
  std::string kernel_class;  // "graph" of such
  double blocks = 0;
  double threads = 0;  // a block
  std::string op;      // innermost operator of the framework, "" unknown
  std::string sizes;   // of the operator's first two tensors: "[64, 8] [8, 32]"; "" unknown
  std::string range;   // innermost range that is no step, else the module; "" unknown
  double place = -1;   // middle of its time in the step, 0 to 1; -1 without steps
  std::int64_t count = 0;
  double time_ns = 0;
};

struct Origins {
  std::vector<OriginRow> rows;  // most time first
};

// O((ops + calls + ranges + operators + python frames) log steps).
Origins FindOrigins(const Basis& basis);

}  // namespace advise
