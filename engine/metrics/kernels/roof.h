// The roof over one kind of work on one GPU: what its data sheet allows, and what good libraries
// were seen to reach.
#pragma once

#include <string>

#include "engine/metrics/kernels/shapes.h"

namespace advise {

struct HardwareEntry;

// What the kernels of a row say of the units they use.
struct UsedUnits {
  double tensor_ns = 0;  // in kernels that are known to use tensor cores
  double plain_ns = 0;   // in kernels that are known not to
  double tf32_ns = 0;    // in kernels that round to TF32
};

class Roof {
 public:
  Roof(const Knowledge& knowledge, const Hardware& hardware);

  // Fills in the roof of a row whose work and time are known. False when that contradicts what the
  // kernels did: they were faster than the peak.
  bool Place(const ShapeWork& work, const UsedUnits& units, ShapeRow* row) const;

 private:
  struct Peaks {  // of one element type, 0 unknown
    double plain = 0;
    double tensor = 0;
    const char* measured = "";  // the fact with what was reached on the tensor cores
  };
  double Fact(const char* name) const;
  Peaks PeaksOf(ElementType type, bool is_tf32) const;
  double Reach(WorkKind kind) const;
  void PlaceGood(const ShapeWork& work, const Peaks& peaks, bool cached, ShapeRow* row) const;

  const Knowledge& knowledge_;
  const Hardware& hardware_;
  const HardwareEntry* entry_;
  double tolerance_;
  double near_;
};

// Why kernels on such sizes may stay below their roof, the most telling first: "fp64-units",
// "fp32-units", "odd-sizes", "few-tiles", "few-uses", "short-sums", "compiled", "depthwise",
// "few-channels", "odd-channels", "grouped", "short-sequence", "one-query", "small", "strided",
// "short-rows", "long-rows", "not-vectorized"; "" where sizes do not tell.
const char* ReasonOf(const ShapeWork& work, const ShapeRow& row, const Knowledge& knowledge,
                     double sm_count);

}  // namespace advise
