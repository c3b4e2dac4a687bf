// Steps of a loop that take longer than the others, and those in which the host pauses: what fills
// the time beyond that of usual steps, and whether they come at a regular distance.
#pragma once

#include "engine/metrics/losses/steps/step_stats.h"

namespace advise {

// Fills the fields of outliers and of stalls. Needs known steps. Slow are those that the run holds
// for unusually long. Where these show no rhythm, steps count whose GPU idles longer than in usual
// ones by `step.pause_share` of a step: many short pauses make no step unusually long.
// O((steps + ops + gaps) log gaps).
// `link_bytes_per_s`: as for FindStepStats.
void FindSlowSteps(const Basis& basis, const Phases& phases, double link_bytes_per_s,
                   StepStats* stats);

}  // namespace advise
