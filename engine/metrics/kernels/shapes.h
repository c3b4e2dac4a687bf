// Products, convolutions and attention of the window whose sizes were recorded: the work that each
// call does, what the GPU could do with it, and what its kernels reached. An estimate: operations
// and bytes follow from sizes, not from counters.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "engine/metrics/losses/loss.h"

namespace advise {

struct Hardware;

// Calls of one operator on the same sizes and types. -1 is unknown: the peaks of the device are.
struct ShapeRow {
  std::string op;       // "aten::mm"
  std::string shape;    // "[8192, 1024] x [1024, 4096]"
  std::string type;     // "bf16"
  std::string kernel;   // the one that takes most of the time
  bool tensor = false;  // the peak is that of tensor cores
  std::int64_t count = 0;
  double time_ns = 0;  // of the kernels that the calls launched themselves, summed
  double flops = 0;    // a call
  double bytes = 0;    // a call, the least that can be
  double intensity = 0;
  double balance = -1;         // peak over bandwidth
  double peak = -1;            // operations a second
  double achieved = 0;         // operations a second
  double achieved_share = -1;  // of the peak
  double attainable = -1;      // operations a second that peak and bandwidth allow these sizes
  double attained = -1;        // achieved over attainable
  std::string side;   // "memory" or "compute": which limit these sizes meet first; "" unknown
  std::string bound;  // the side when the kernels come near it, else "neither"; "cache" when memory
                      // could not have moved the bytes in the time
  double uses = 0;    // as ShapeWork
  double odd = 0;     // as ShapeWork
};

struct ShapeRows {
  bool recorded = false;       // sizes of operators were
  std::vector<ShapeRow> rows;  // most time first
  double time_ns = 0;          // of all rows
  double covered = 0;          // part of the time of matrix, convolution and attention kernels
  double kernel_ns = 0;        // all kernels of the window
  // Calls left out: rates above the peak, kernels that do fewer operations than the sizes say.
  std::int64_t dropped = 0;
  double dropped_ns = 0;
  std::string dropped_example;  // "aten::mm [8, 8] x [8, 8]"
};

// O(ops + calls + operators) when sizes were recorded, else O(1).
ShapeRows FindShapes(const Basis& basis, const Hardware& hardware);

}  // namespace advise
