// The views of a run of several reports: timelines from the report in which each finding shows
// worst, steps and lateness of the ranks together, and the other charts of the first report.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "engine/advice/report_model.h"
#include "engine/advice/report_views.h"
#include "engine/cluster/cluster.h"

namespace advise {

struct PartViews {
  std::string label;  // "rank 3"
  std::shared_ptr<const ReportViews> views;
};

// `parts`: of the reports that have views, in the order of the run; facts files have none, and what
// ranks' summaries do not hold is said to be not drawn. `report.findings` are those of the run:
// each takes the longest example that a report has of its rule, those about several ranks a picture
// of the ranks.
std::shared_ptr<const ReportViews> MergeViews(const std::vector<PartViews>& parts,
                                              const Cluster& cluster, const Report& report);

// Keeps of a report's views only what the run needs of all reports but the first.
void TrimViews(Report* report);

// How long after the first member of each collective the ranks began theirs: mean by step. Of more
// than `most_rows` ranks the latest.
LatenessMatrix JointLateness(const Cluster& cluster, std::size_t most_columns,
                             std::size_t most_rows);

}  // namespace advise
