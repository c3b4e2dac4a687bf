#include "engine/facts/declare.h"

namespace advise::facts {

const Absent& NoTimeline() {
  static const Absent kNoTimeline = {"no timeline of the run was given", "cuda"};
  return kNoTimeline;
}

void Subject::Evaluate(const Analysis& analysis, FactMap* facts) const {
  const Absent* absent = nullptr;
  // Zeros would read like measurements.
  if (of_timeline_ && !analysis.run.trace.HasTimeline()) absent = &NoTimeline();
  for (const Requirement& requirement : requirements_) {
    if (absent == nullptr && !requirement.holds(analysis)) absent = &requirement.otherwise;
  }
  if (absent == nullptr) {
    Read(analysis, facts);
    return;
  }
  for (const FactInfo& info : list_) (*facts)[info.name].value = *absent;
}

}  // namespace advise::facts
