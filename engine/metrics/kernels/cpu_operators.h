// Operators that only CPUs have: a trace without GPU work that holds them is of a model on the CPU.
#pragma once

#include <string>

#include "engine/timeline/run.h"

namespace advise {

struct CpuOperator {
  std::string name;  // "" where none was recorded
  double time_ns = 0;
};

// Of the operators that say "cpu" (kb/runs.toml) the one that takes most time, summed over its
// calls. O(operators).
CpuOperator FindCpuOperator(const Run& run);

}  // namespace advise
