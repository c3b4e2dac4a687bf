#include "engine/advice/plan.h"

#include <algorithm>

namespace advise {

void FillPlan(Report* report) {
  double left =
      static_cast<double>(report->window.end_ns - report->window.start_ns) / kNanosPerSecond;
  report->plan.clear();
  for (const Finding& finding : report->findings) {
    if (finding.severity == Severity::kInfo || finding.saving_s <= 0) continue;
    left = std::max(0.0, left - finding.saving_s);
    report->plan.push_back(
        {finding.rule->id, left, finding.unlocks, finding.makes_needless, finding.next_bound});
  }
}

}  // namespace advise
