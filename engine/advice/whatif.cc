#include "engine/advice/whatif.h"

#include <cmath>

#include "engine/advice/ranking.h"

namespace advise {
namespace {

struct Won {
  Nanos gain_ns = 0;
  std::string next_bound;
};

// What the plan of these fixes alone wins in its end.
Won PlanOf(const std::vector<const Verdict*>& verdicts, const Analysis& analysis) {
  std::vector<Verdict> fixed;
  for (const Verdict* verdict : verdicts) fixed.push_back(*verdict);
  double saved_s = 0;
  Won won;
  for (const Finding& finding : Rank(fixed, analysis, analysis.run.knowledge)) {
    if (finding.saving_s <= 0) continue;
    saved_s += finding.saving_s;
    won.next_bound = finding.next_bound;
  }
  won.gain_ns = std::llround(saved_s * kNanosPerSecond);
  return won;
}

}  // namespace

WhatIf ReplayFixes(const std::vector<const Verdict*>& verdicts, const Analysis& analysis) {
  WhatIf result;
  result.window_ns = analysis.run.window.Length();
  result.steps = analysis.run.steps.known() ? analysis.run.steps.steady_count() : 0;
  const Won together = PlanOf(verdicts, analysis);
  result.gain_ns = together.gain_ns;
  result.next_bound = together.next_bound;
  for (const Verdict* verdict : verdicts) {
    result.parts.push_back(
        {verdict->rule->id, verdict->rule->title,
         verdicts.size() == 1 ? result.gain_ns : PlanOf({verdict}, analysis).gain_ns,
         !verdict->saving.remedies.empty()});
  }
  return result;
}

}  // namespace advise
