// The plan in words: what is left after each fix, what holds the run back then, and what becomes of
// the other findings.
#pragma once

#include <string>
#include <vector>

#include "engine/advice/report_model.h"

namespace advise {

// The finding of that rule; null: it is not listed.
const Finding* FindingOf(const Report& report, const std::string& rule);

// How long a step takes, in nanoseconds: now, then after each fix of the plan and those before it;
// of the whole window where there are no steps. Empty where nothing is to be put in an order.
std::vector<double> PlanTimes(const Report& report);

// "79.1 ms per step", of such a time.
std::string PlanTimeText(const Report& report, double ns);

// "the data loader is the limit": at the end of the plan; "" where nobody knows.
std::string PlanLimit(const Report& report);

// "96 ms per step", "→ 61 ms", "→ 45 ms;", "then the data loader is the limit": of a longer plan
// the first `most` - 1 fixes and the last. Empty as PlanTimes().
std::vector<std::string> PlanStages(const Report& report, std::size_t most);

// Which of the listed findings save little or become worthwhile once others are fixed: at most two
// sentences, by the findings' numbers.
std::vector<std::string> PlanEffects(const Report& report);

}  // namespace advise
