// Operators of the window whose sizes were recorded: the work that each call does, what the GPU
// could do with it, and what its kernels reached. An estimate: operations and bytes follow from
// sizes, not from counters. Rates are all work over all time of the calls of one row.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "engine/metrics/kernels/shape_work.h"
#include "engine/metrics/losses/loss.h"

namespace advise {

struct Hardware;

// Calls of one operator on the same sizes and types. -1 is unknown: the peaks of the device are.
struct ShapeRow {
  std::string op;      // "aten::mm"
  std::string shape;   // "[8192, 1024] x [1024, 4096]"
  std::string type;    // "bf16"
  std::string kernel;  // the one that takes most of the time
  WorkKind kind = WorkKind::kProduct;
  bool tensor = false;  // the peak is that of tensor cores
  std::int64_t count = 0;
  std::uint32_t call = kNone;  // one that launched a kernel of the row
  double kernels = 0;          // that a call launches
  double time_ns = 0;          // of the kernels that the calls launched themselves, summed
  double flops = 0;            // a call
  double bytes = 0;            // a call, the least that can be
  double intensity = 0;
  double balance = -1;         // peak over bandwidth
  double peak = -1;            // operations a second
  double achieved = 0;         // operations a second
  double bandwidth = 0;        // bytes a second
  double achieved_share = -1;  // of the peak
  double attainable = -1;      // operations a second that peak and bandwidth allow these sizes
  double attained = -1;        // achieved over attainable
  // The time that kernels of good libraries take for this work over the time it took, at most 1.
  double reached = -1;
  double recoverable_ns = 0;  // the rest of the time
  // Of what the maker or good libraries measured for large products of this type, or for copies,
  // whichever limits these sizes; -1 unknown.
  double of_measured = -1;
  std::string side;   // "memory" or "compute": which limit these sizes meet first; "" unknown
  std::string bound;  // the side when the kernels come near it, else "neither"; "cache" when memory
                      // could not have moved the bytes in the time
  std::string reason;  // why it may stay below: see ReasonOf; "" where sizes do not tell
  double uses = 0;     // as ShapeWork
  double odd = 0;      // as ShapeWork
  double tiles = 0;    // as ShapeWork
};

// Which advice fits a row that stays below its roof.
enum class RoofGroup { kProducts, kConvolutions, kAttention, kExperts, kMemory, kCount };
RoofGroup GroupOf(WorkKind kind);

struct ShapeRows {
  bool recorded = false;       // sizes of operators were
  std::vector<ShapeRow> rows;  // most time first
  double time_ns = 0;          // of all rows
  double covered = 0;          // part of the time of matrix, convolution and attention kernels
  double kernel_ns = 0;        // all kernels of the window
  double compute_ns = 0;       // without communication
  double rated_ns = 0;         // in rows whose roof is known
  double operator_ns = 0;      // of kernels that operators with recorded sizes launched
  std::map<StringId, double> rated_of_kernel;  // by name
  // Rows far below what good libraries reach: see roofline.below. `lost` is the part of their time
  // that such kernels would not take, `remedy` takes it away.
  std::array<Loss, static_cast<std::size_t>(RoofGroup::kCount)> below;
  // Calls left out: rates above the peak, kernels that do fewer operations than the sizes say.
  std::int64_t dropped = 0;
  double dropped_ns = 0;
  std::string dropped_example;  // "aten::mm [8, 8] x [8, 8]"
  bool IsBelow(const ShapeRow& row) const { return row.reached >= 0 && row.reached < below_limit; }
  double below_limit = 0;
};

// O(ops + calls + operators) when sizes were recorded, else O(ops).
ShapeRows FindShapes(const Basis& basis, const Hardware& hardware);

}  // namespace advise
