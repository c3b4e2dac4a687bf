// Operators that only CPUs have: a trace without GPU work that holds them is of a model on the CPU.
#pragma once

#include <string>

#include "engine/trace/tables.h"

namespace advise {

struct CpuOperator {
  std::string name;  // "" where none was recorded
  double time_ns = 0;
};

// Of the operators of oneDNN and MKL the one that takes most time, summed over its calls.
// O(operators).
CpuOperator FindCpuOperator(const Trace& trace);

}  // namespace advise
