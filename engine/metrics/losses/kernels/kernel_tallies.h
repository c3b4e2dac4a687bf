// Totals of kernel launches by name or class: gathered by shape, since shapes are few and names are
// long.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "engine/metrics/losses/kernels/kernel.h"

namespace advise {

class Tallies {
 public:
  explicit Tallies(const Run& run) : run_(run), shapes_(run.trace.shapes.size()) {}

  // One more launch. What the caller sets in the row says what the last launch was like.
  KernelRow& Add(std::uint32_t op);

  // Most time first, names in order where equal. Medians of launches longer than 4.29 s (32 bits of
  // nanoseconds) are that long.
  std::vector<KernelRow> ByName() const;
  std::vector<KernelRow> ByClass() const;

 private:
  struct OfShape {
    KernelRow row;
    std::uint32_t last_op = 0;
    std::vector<std::uint32_t> lengths;  // ns
  };
  template <typename KeyOf>
  std::vector<KernelRow> Rows(KeyOf key_of) const;

  const Run& run_;
  std::vector<OfShape> shapes_;
};

// Totals by shape, for the few launches that show something.
using RowsOfShapes = std::map<std::uint32_t, KernelRow>;
KernelRow& AddToShape(const Run& run, std::uint32_t op, double time_ns, RowsOfShapes* rows);
std::vector<KernelRow> ByTime(const RowsOfShapes& rows);  // most time first

}  // namespace advise
