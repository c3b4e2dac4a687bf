// Which of the findings that are gone were fixed in their own right. What a fix changes shows in
// the run: fewer launches, shorter kernels, no waits for data. A finding that is gone without such
// a sign probably went with a fix that shows; where the plan of BEFORE has a fix take it along, it
// did. Internal to compare/.
#pragma once

#include "engine/advice/report_model.h"
#include "engine/compare/compare.h"
#include "engine/knowledge/knowledge.h"

namespace advise {

// A report, and how many units of BEFORE's work its window holds.
struct MeasuredRun {
  const Report& report;
  double units = 1;
};

// Moves from `fixed` to `gone` what was not fixed itself. Where nothing tells, a finding stays.
void FindWhatWentAlong(const MeasuredRun& before, const MeasuredRun& after,
                       const Knowledge& knowledge, RunComparison* comparison);

}  // namespace advise
