// What a communication kernel does for its ranks, as far as its report or its name says.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "engine/timeline/run.h"

namespace advise {

// By op: its row of trace.collectives, kNone where no report describes it. Empty where none is
// described. O(ops + rows).
std::vector<std::uint32_t> RowsOfCollectives(const Trace& trace);

// "allreduce", "alltoall" … of a communication kernel: what the report calls it in `row`, which may
// be kNone, or else what its name says; "" unknown. NCCL's kernels that exchange blocks among all
// ranks are named like those that send to one, so what the report says comes first. "sendrecv"
// stands for both sides of a message.
std::string KindOfCollective(const Run& run, std::uint32_t op, std::uint32_t row);

// Whether a communication kernel may sum gradients up: by its name, or because that hides the kind.
bool ReducesGradients(const Run& run, std::uint32_t op);

}  // namespace advise
