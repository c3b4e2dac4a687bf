// Repeats of GPU work that are parts of one iteration.
#pragma once

#include <cstdint>
#include <vector>

#include "engine/timeline/period.h"
#include "engine/timeline/run.h"

namespace advise {

// Whether a repeat launches a graph, or is part of one. `sequence`: ops, by token.
bool LaunchesGraph(const Run& run, const std::vector<std::uint32_t>& sequence,
                   const Period& period);

// A loop that launches the same few kernels several times (stages, colors, parts of a grid) before
// it meets the host: what lies between two meetings is its iteration. One that is met now and then
// (a check of a solver) keeps its own, and so does a graph, which is captured to be an iteration.
// So is what lies between two sends, whatever it launches: a stage of a pipeline runs all of its
// layers before it passes on what they computed. An engine that captures layers in pieces launches
// the same graph for each of them, and other kernels before it meets the host: these end its steps.
// The period itself where that cannot be told. O((repeats + calls) log repeats).
Period Joined(const Run& run, const std::vector<std::uint32_t>& sequence, const Tokens& tokens,
              const Period& period);

}  // namespace advise
