// Convolutions that try algorithms out: cuDNN in benchmark mode (MIOpen's search) runs each
// candidate alone, waits for it and takes its time, before the convolution itself runs. It does so
// once for each new size.
#pragma once

#include "engine/metrics/losses/loss.h"

namespace advise {

struct AlgorithmTrials {
  Loss loss;        // convolutions of the loop that do so: the trials, and what prepares them
  double mean = 0;  // algorithms that one of them tries
};

// Recognized by the waits inside one operator: a convolution that only computes waits for nothing.
// Where no operators were recorded, from series of kernels that run twice in a row and are waited
// for. O(operators + calls + ops + idle pieces).
AlgorithmTrials FindAlgorithmTrials(const Basis& basis);

}  // namespace advise
