// What facts that compare ranks share: why they are absent, and how their losses are declared.
#pragma once

#include <string>
#include <utility>

#include "engine/facts/declare.h"

namespace advise::facts {

constexpr const char* kNoCommonSteps = "not every rank has steps";
constexpr const char* kNoWorld = "the reports do not say how many ranks the job has";

inline bool HasCommonSteps(const Cluster& c) { return c.job.has_steps; }

template <typename SubjectOfRanks>
SubjectOfRanks& NeedMany(SubjectOfRanks* subject) {
  subject->Needs([](const Known& known) { return known.ranks.many(); },
                 "one rank only: nothing to compare it with", "ranks");
  return *subject;
}

// A loss of ranks: by rank in a run of several reports. A single one has its devices instead, and
// no remedy: its ranks are replayed together.
std::vector<IntervalSet> LostOf(const RankLoss& loss, const Known& known);
Value RemedyOf(const RankLoss& loss, const Known& known);

// `prefix`lost and `prefix`remedy. `loss`: a member of the subject's source.
template <typename SubjectOfRanks, typename Get>
void AddLoss(SubjectOfRanks* subject, const std::string& prefix, std::string lost,
             std::string remedy, Get loss) {
  using T = typename SubjectOfRanks::T;
  subject->Add(prefix + "lost", "spans", std::move(lost),
               [loss](const T& source, const Known& known) {
                 return LostOf(std::invoke(loss, source), known);
               });
  subject->Add(prefix + "remedy", "remedy", std::move(remedy),
               [loss](const T& source, const Known& known) {
                 return RemedyOf(std::invoke(loss, source), known);
               });
}

}  // namespace advise::facts
