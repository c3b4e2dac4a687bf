// From verdicts to a ranked fix list whose savings never overlap.
//
// Each fired rule names the time it claims on devices. Claims are settled from the most to the
// least specific evidence (RuleInfo::priority); what one took, the next cannot claim again. What a
// finding saves is what the replay of its fix wins until the next bound shows.
#pragma once

#include <vector>

#include "engine/advice/finding.h"
#include "engine/knowledge/knowledge.h"
#include "engine/metrics/analysis.h"

namespace advise {

// Findings in the order to work on them; those of severity info come last. Pointers into `verdicts`
// are kept (Finding::rule), not the verdicts themselves. O(findings x claims + one replay a
// finding).
// `claim_results`, when given, gets one entry a fired rule that claims time.
// `only`, when not empty: the rules to plan, as if the others of the list were left undone.
std::vector<Finding> Rank(const std::vector<Verdict>& verdicts, const Analysis& analysis,
                          const Knowledge& knowledge,
                          std::vector<ClaimResult>* claim_results = nullptr,
                          const std::vector<std::string>& only = {});

}  // namespace advise
