// The plan in words: what is left after each fix, what limits the run then, and what becomes of
// the other findings.
#pragma once

#include <string>
#include <vector>

#include "engine/advice/report_model.h"

namespace advise {

// How long a step takes once this finding and those before it are fixed; of the whole window where
// there are no steps.
struct PlanStage {
  int rank = 0;  // of the finding; 0: now
  double ns = 0;
};

// Now, then after each fix of the plan that has a number in the list. What stands under its cause
// has none and is left out, with what it saves. Empty where nothing is to be put in an order.
std::vector<PlanStage> ListedPlan(const Report& report);

// "79.1 ms per step", of such a time.
std::string PlanTimeText(const Report& report, double ns);

// "the data loader is the limit": at the end of the listed plan; "" where nobody knows.
std::string PlanLimit(const Report& report);

// "96 ms per step", "→ 61 ms", "→ 45 ms;", "then the data loader is the limit": of a longer plan
// the first `most` - 1 fixes and the last. Empty as ListedPlan().
std::vector<std::string> PlanStages(const Report& report, std::size_t most);

// Which of the listed findings save little, pay only or save more once others are fixed, a sentence
// each, by the findings' numbers; and that the times are of a slowed run, where that matters.
std::vector<std::string> PlanEffects(const Report& report);

}  // namespace advise
