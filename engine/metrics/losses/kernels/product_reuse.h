// How often a product uses what it reads: few rows leave tensor cores waiting for memory.
#pragma once

#include <string_view>

#include "engine/trace/tables.h"

namespace advise {

// Of results of few rows or columns, what memory allows at most: the time of the product in FP32,
// as the FP32 units or memory limit it, over the time in which its factors are read in 16 bits.
// Infinite where the name has no tile, the grid is unknown or may be a batch, whose factors a cache
// may hold, or a rate is unknown (0).
double MostByMemory(const KernelShape& shape, std::string_view name, double fp32_flops,
                    double bytes_per_s);

}  // namespace advise
