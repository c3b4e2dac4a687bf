// How many blocks of a kernel run at once: on the whole GPU, as a kernel profiler counted it, and
// on an SM, as far as its registers tell.
#pragma once

#include <vector>

#include "engine/trace/tables.h"

namespace advise {

class Knowledge;

// Blocks a wave of each of the trace's shapes; 0 where no counted launch tells: one of the same
// kernel and block size, on a GPU of the same name, and of the same grid where launches differ.
// O(counted launches + shapes).
std::vector<double> CountedBlocksPerWave(const Trace& trace, const Knowledge& knowledge);

// By shape: how many blocks the registers of an SM hold; infinite where the shape does not say how
// many a thread has, and on AMD's GPUs. O(shapes + devices).
std::vector<double> BlocksByRegisters(const Trace& trace, const Knowledge& knowledge);

}  // namespace advise
