// What is kept of a report when the report itself is gone: its diagnosis and its ranks' summaries.
// A facts file holds it, ranks of a parallel run send it, and a run of several reports is judged by
// it alone.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "engine/advice/report_model.h"
#include "engine/cluster/rank_summary.h"

namespace advise {

struct SavedReport {
  Report report;  // spans of facts are kept as totals, remedies are not kept
  std::vector<RankSummary> ranks;
};

// What a saved report names: the rules and facts of this version and this site.
struct Vocabulary {
  std::function<const RuleInfo*(const std::string& id)> find_rule;  // nullptr: not known
  const std::vector<FactInfo>& facts;
};

}  // namespace advise
