// Fills the views of a report from the analysis it was made of.
#pragma once

#include "engine/advice/report_model.h"
#include "engine/advice/report_views.h"
#include "engine/metrics/analysis.h"

namespace advise {

// Limits keep a report of 500 findings and a long run at a size that a browser opens at once:
// timelines of the first 60 findings, 500 events each; 5000 kernel names; 600 points a series.
// O(findings x events + events).
ReportViews BuildViews(const Analysis& analysis, const Report& report);

// Operators whose sizes were recorded, under the roofs of the GPU: an estimate. Without points
// where sizes or the peaks of the GPU are not known. At most 300 points, of those with most time.
Roofline RooflineOfShapes(const Report& report);

// Where a finding shows best: the longest time that it claims, or what its evidence points at.
struct WorstExample {
  std::uint32_t device = kNone;
  Nanos start = 0;
  Nanos end = 0;  // not after start: there is none
  std::string what;
};
WorstExample FindWorstExample(const Analysis& analysis, const Report& report,
                              const Finding& finding);

// The stretch around an example that shows what led to it and what came after.
Interval Surroundings(const Analysis& analysis, const WorstExample& example);

// Where in the program each finding's worst example was started: the innermost Python function of
// the user's own code that was open then. Needs traced Python functions; else empty.
std::vector<FindingSource> FindSources(const Analysis& analysis, const Report& report);

// At most this many events go into a slice; the shortest are left out first.
inline constexpr std::size_t kSliceEvents = 200'000;

// The surroundings of a finding's worst example with every event. Empty (no rows) when the finding
// points at no stretch of time.
FindingSlice BuildSlice(const Analysis& analysis, const Report& report, const Finding& finding);

// The same around a time that is given, with what the findings of `report` say of it; `number`: of
// the finding that it is for.
FindingSlice BuildSliceAround(const Analysis& analysis, const Report& report, int number,
                              const WorstExample& worst);

}  // namespace advise
