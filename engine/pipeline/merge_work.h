// What the reports of one run say of its work, taken together: what a comparison of runs and an
// exercise read. Replaces facts of the run's report that are absent because each report has its
// own.
#pragma once

#include <string>
#include <vector>

#include "engine/advice/report_model.h"

namespace advise {

// `parts`: the reports of single ranks or nodes; `steps`: lengths of the steps that all of them
// have, empty when there are none. Counts are sums, brought to those steps; times and shares are
// means.
void MergeWork(const std::vector<const Report*>& parts, const std::vector<Nanos>& steps,
               Report* run);

// Whether MergeWork() reads that fact of the parts: nobody needs the others.
bool IsMerged(const std::string& fact);

}  // namespace advise
