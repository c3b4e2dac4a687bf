// The fix list of a run of several reports: findings of the single reports, one for each rule with
// the ranks it holds for, and findings about the ranks together.
//
// A saving on one rank counts for the job only until the next-latest rank decides: what each
// finding takes off its ranks is put into the model of the job's steps (cluster/job.h), from the
// most to the least specific, and a finding saves by how much the job gets shorter beyond what came
// before it.
#pragma once

#include <vector>

#include "engine/advice/finding.h"
#include "engine/cluster/cluster.h"
#include "engine/knowledge/knowledge.h"

namespace advise {

// What one report found, and whose it is.
struct ReportFindings {
  std::vector<Finding> findings;
  std::vector<std::size_t> ranks;  // indices into Cluster::ranks
  std::size_t part = 0;            // its place among the parts of the run
  bool supports_verdict = true;
};

// `together`: verdicts of rules about several ranks; their claims are by rank.
// `only`, when not empty: the rules to plan, as if the others of the list were left undone.
std::vector<Finding> RankRun(const std::vector<Verdict>& together,
                             const std::vector<ReportFindings>& reports, const Cluster& cluster,
                             const Knowledge& knowledge, const std::vector<std::string>& only = {});

}  // namespace advise
