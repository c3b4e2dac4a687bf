// Number formats: double precision, bfloat16 products without tensor cores, and how far short
// formats are used.
#pragma once

#include <cstdint>
#include <vector>

#include "engine/metrics/losses/loss.h"

namespace advise {

struct NumberFormats {
  Loss fp64;           // double-precision matrix kernels; fix: as many numbers of half the size
  Loss doubles;        // all kernels on double-precision tensors of PyTorch; fix: half the bytes
  Loss bf16;           // bfloat16 matrix kernels that are not known to use tensor cores
  double half_ns = 0;  // matrix products in 16-bit formats; convolutions are rarely made shorter
  double fp8_ns = 0;   // and in 8-bit formats
};

// `kernels`: of the window, in time order, without communication. `fp64_ratio`: of the device's
// FP64 rate to its FP32 rate, 0 where it is not known. O(kernels).
NumberFormats FindNumberFormats(const Basis& basis, const std::vector<std::uint32_t>& kernels,
                                double fp64_ratio);

}  // namespace advise
