// Checks of tensors for NaN and infinity: the operators that test and reduce, the answer that the
// host reads, and the anomaly mode of autograd, which checks each gradient and keeps a stack trace
// of each operator of the forward pass.
#pragma once

#include "engine/metrics/losses/loss.h"

namespace advise {

struct ValueChecks {
  Loss loss;                   // kernels that check, by name or by operator, and host time of both
  double reads = 0;            // answers that the host reads, per step
  bool anomaly_mode = false;   // most of the checks are autograd's own
  double stack_traces_ns = 0;  // in its stack traces, summed
};

// O(operators + calls + ops + idle pieces); each distinct name is looked up once.
ValueChecks FindValueChecks(const Basis& basis);

}  // namespace advise
