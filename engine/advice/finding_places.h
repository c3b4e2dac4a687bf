// Where in a run a finding lies: its devices, ranks, steps and phase.
#pragma once

#include <optional>
#include <vector>

#include "engine/advice/claim_phase.h"
#include "engine/advice/finding.h"
#include "engine/knowledge/knowledge.h"
#include "engine/metrics/analysis.h"

namespace advise {

class FindingPlaces {
 public:
  // What it is given must outlive it.
  FindingPlaces(const Analysis& analysis, const Knowledge& knowledge)
      : analysis_(analysis), knowledge_(knowledge) {}

  // Fills in Finding::where and step_parts: of the time that the verdict claims, of the whole run
  // where it claims none. O(claims x steps).
  void Locate(const Verdict& verdict, Finding* finding) const;

 private:
  bool OthersWait(const std::vector<IntervalSet>& claims) const;
  std::vector<StepPart> StepParts(const std::vector<Nanos>& of_steps, Nanos claimed) const;
  const ClaimPhase& Phases() const { return phases_ ? *phases_ : phases_.emplace(analysis_); }

  const Analysis& analysis_;
  const Knowledge& knowledge_;
  mutable std::optional<ClaimPhase> phases_;  // once a finding has been described
};

}  // namespace advise
