// What the fixes of a run of several reports are made of: verdicts about several ranks, and what
// single reports found, one item for each rule, with what its fix takes off the ranks.
#pragma once

#include <cstddef>
#include <set>
#include <utility>
#include <vector>

#include "engine/advice/rank_cuts.h"
#include "engine/advice/rank_run.h"

namespace advise {

struct JobItem {
  const RuleInfo* rule = nullptr;
  const Verdict* verdict = nullptr;  // of a rule about several ranks
  std::vector<std::pair<const Finding*, const ReportFindings*>> found;  // of single parts
  Cuts cuts;            // as much as in the plans of the ranks
  Cuts by_itself;       // if only this were fixed
  double own_part = 1;  // of what single parts win by itself: by changes of its own
  Nanos limit = 0;      // the job wins no more than this
  bool fixed = false;   // no cuts: `limit` is what the job wins
  bool first = false;   // some rank plans it before what overlaps with it
  // Of single parts: the one whose words tell it, where the job wins most. A rank that waits for
  // the others may save more by itself, and then sees no more than the wait. Effects on other ranks
  // add to what the cause costs, and have words of their own.
  std::pair<const Finding*, const ReportFindings*> words{nullptr, nullptr};
  std::set<std::size_t> ranks;
};

// Verdicts that fired in their order, then what single reports found, in the order in which rules
// appear. The items point into `together` and `reports`. O(findings^2 + findings x ranks x steps).
std::vector<JobItem> JobItemsOf(const std::vector<Verdict>& together,
                                const std::vector<ReportFindings>& reports, const Cluster& cluster,
                                const CutsOfJob& cuts, const Knowledge& knowledge);

}  // namespace advise
