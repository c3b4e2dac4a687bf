#include "engine/advice/ranking.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "engine/advice/describe.h"
#include "engine/advice/evidence.h"
#include "engine/advice/fix_list.h"
#include "engine/base/text.h"

namespace advise {
namespace {

// The time of a verdict, and what became of it.
struct Claim {
  const Verdict* verdict = nullptr;
  std::string bound;                      // what limits the run after the fix
  Nanos claimed = 0;                      // device time claimed at first, summed
  std::map<std::size_t, Nanos> taken_by;  // part of it that others had taken, by candidate
};

// The first `part` of each interval.
IntervalSet Trim(const IntervalSet& set, double part) {
  if (part >= 1) return set;
  std::vector<Interval> trimmed = set.intervals();
  for (Interval& i : trimmed) {
    i.end = i.start + static_cast<Nanos>(std::llround(static_cast<double>(i.Length()) * part));
  }
  return IntervalSet::Of(std::move(trimmed));
}

// Fixes take time on the devices of one trace.
class TraceFixes : public FixList {
 public:
  TraceFixes(const std::vector<Verdict>& verdicts, const Analysis& analysis,
             const Knowledge& knowledge)
      : FixList(analysis.run.window.Length(), knowledge),
        analysis_(analysis),
        taken_(analysis.times.size()) {
    for (const Verdict& verdict : verdicts) {
      if (verdict.outcome != Outcome::kFired) continue;
      Candidate& candidate = Add(verdict.rule);
      claims_.push_back({&verdict, "", 0, {}});
      Estimate(&candidate, &claims_.back());
    }
    analysis_.ReleaseReplay();
  }

  // Of ranked candidates, in the order in which they were served.
  std::vector<ClaimFate> Fates() const {
    std::vector<ClaimFate> fates;
    for (const Candidate& candidate : candidates()) {
      const Claim& claim = ClaimOf(candidate);
      if (claim.claimed <= 0) continue;
      ClaimFate fate{candidate.rule, claim.claimed, candidate.alone, candidate.saving, {}};
      for (const Candidate& other : candidates()) {
        const auto took = claim.taken_by.find(other.id);
        if (took != claim.taken_by.end()) fate.taken_by.emplace_back(other.rule, took->second);
      }
      std::stable_sort(fate.taken_by.begin(), fate.taken_by.end(),
                       [](const auto& a, const auto& b) { return a.second > b.second; });
      fates.push_back(std::move(fate));
    }
    return fates;
  }

 private:
  const Claim& ClaimOf(const Candidate& candidate) const { return claims_[candidate.id]; }

  // What the fix alone would win: by replay where the rule says what the fix changes, else a part
  // of its claim.
  void Estimate(Candidate* candidate, Claim* claim) {
    const SavingClaim& saving = claim->verdict->saving;
    if (!saving.claims || candidate->rule->kind == RuleKind::kInfo) return;
    claim->claimed = saving.claims->Total();
    Nanos longest = 0;
    for (const IntervalSet& set : saving.claims->by_device)
      longest = std::max(longest, set.Total());
    if (saving.remedies.empty()) {
      candidate->alone = static_cast<Nanos>(saving.part * static_cast<double>(longest));
      return;
    }
    Remedy remedy;
    for (const auto& part : saving.remedies) remedy.Join(*part);
    candidate->alone = std::min(longest, analysis_.replay().Gain(remedy, &claim->bound));
  }

  // Of its claim, what its fix wins.
  Nanos Take(const Candidate& candidate, Nanos left) override {
    Claim& claim = claims_[candidate.id];
    const SavingClaim& saving = claim.verdict->saving;
    if (!saving.claims) return 0;
    // The same change wins once, also where its claim is larger than what it wins.
    const bool made = !saving.remedies.empty() &&
                      std::all_of(saving.remedies.begin(), saving.remedies.end(),
                                  [&](const auto& part) { return made_.contains(part.get()); });
    std::vector<IntervalSet> free(taken_.size());
    Nanos most_free = 0;
    for (std::size_t d = 0; d < std::min(free.size(), saving.claims->by_device.size()); ++d) {
      const IntervalSet claimed =
          saving.claims->by_device[d].Clip(analysis_.run.window.start, analysis_.run.window.end);
      free[d] = claimed.Subtract(taken_[d]);
      most_free = std::max(most_free, free[d].Total());
      for (const auto& [owner, sets] : owners_) {
        const Nanos shared = claimed.Intersect(sets[d]).Total();
        if (shared > 0) claim.taken_by[owner] += shared;
      }
    }
    const Nanos won = std::min({candidate.alone, most_free, left});
    if (won <= 0 || made) return 0;
    for (const auto& part : saving.remedies) made_.insert(part.get());
    const double part = static_cast<double>(won) / static_cast<double>(most_free);
    std::vector<IntervalSet> mine(taken_.size());
    for (std::size_t d = 0; d < taken_.size(); ++d) {
      mine[d] = Trim(free[d], part);
      taken_[d] = taken_[d].Union(mine[d]);
    }
    owners_.emplace_back(candidate.id, std::move(mine));
    return won;
  }

  bool LostTo(const Candidate& effect, const Candidate& cause) const override {
    const Claim& claim = ClaimOf(effect);
    const auto took = claim.taken_by.find(cause.id);
    return took != claim.taken_by.end() && 2 * took->second > claim.claimed;
  }

  Footing FootingOf(const Candidate&) const override {
    return {analysis_.support.verdict, analysis_.run.trace.HasTimeline()};
  }

  Finding Describe(const Candidate& candidate) const override {
    const Verdict& verdict = *ClaimOf(candidate).verdict;
    const RuleInfo& rule = *candidate.rule;
    Finding finding;
    finding.touched_share = static_cast<double>(ClaimOf(candidate).claimed) /
                            static_cast<double>(std::max<Nanos>(1, analysis_.basis().Device()));
    finding.comm_share = CommShare(verdict);
    Confidence(verdict, &finding);
    finding.basis = verdict.saving.basis;
    const std::string& bound = ClaimOf(candidate).bound;
    if (candidate.saving > 0 && !bound.empty()) {
      finding.basis += fmt::format("; then {} is the limit", bound);
    }
    finding.symptom = FilledTemplate(rule.symptom, verdict);
    finding.cause = FilledTemplate(rule.cause, verdict);
    finding.fixes = FilledFixes(verdict, knowledge());
    finding.evidence = CollectEvidence(verdict, analysis_);
    Locate(verdict, &finding);
    return finding;
  }

  // Of the claimed time, the share in which only communication runs.
  double CommShare(const Verdict& verdict) const {
    if (!verdict.saving.claims) return 0;
    const std::vector<IntervalSet>& claims = verdict.saving.claims->by_device;
    Nanos exposed = 0;
    for (std::size_t d = 0; d < std::min(claims.size(), analysis_.times.size()); ++d) {
      exposed += claims[d].Intersect(analysis_.times[d].comm_exposed).Total();
    }
    const Nanos all = verdict.saving.claims->Total();
    return all > 0 ? static_cast<double>(exposed) / static_cast<double>(all) : 0;
  }

  // The rule's own confidence, less what the capture leaves open; and what it rests on.
  void Confidence(const Verdict& verdict, Finding* finding) const {
    double confidence = verdict.saving.claims ? verdict.saving.confidence
                                              : knowledge().Number("ranking.unclaimed_confidence");
    std::string& from = finding->confidence_from;
    from = verdict.saving.confidence_from;
    if (from.empty()) {
      from = !verdict.saving.claims ? "no time is claimed"
             : confidence >= knowledge().Number("ranking.recorded_confidence")
                 ? "the report records the cause itself"
             : confidence >= knowledge().Number("ranking.inferred_confidence")
                 ? "inferred from times and names in the report"
                 : "other causes are possible";
    }
    std::size_t unknown = 0;
    for (const std::uint32_t call : analysis_.run.trace.ops.call) unknown += call == kNone ? 1 : 0;
    const std::size_t ops = analysis_.run.trace.ops.size();
    const double missing = ops > 0 ? static_cast<double>(unknown) / static_cast<double>(ops) : 0;
    confidence *= 1 - knowledge().Number("ranking.unlinked_weight") * missing;
    if (missing >= 0.01) {
      from += fmt::format("; lower because the launching calls of {} of the GPU work are missing",
                          FormatQuantity(missing, "share"));
    }
    if (!analysis_.support.verdict) {
      confidence *= knowledge().Number("ranking.tentative");
    }
    finding->confidence = std::round(confidence * 100) / 100;
  }

  void Locate(const Verdict& verdict, Finding* finding) const {
    const Run& run = analysis_.run;
    std::set<int> ranks;
    const auto place = [&](std::uint32_t d) {
      finding->where.devices.push_back(static_cast<int>(run.trace.devices[d].ordinal));
      for (const Stream& stream : run.trace.streams) {
        if (stream.device != d || stream.process == kNone) continue;
        if (run.trace.processes[stream.process].rank >= 0)
          ranks.insert(run.trace.processes[stream.process].rank);
      }
    };
    if (!verdict.saving.claims) {
      for (const std::uint32_t d : run.active_devices) place(d);
    } else {
      std::map<Phase, Nanos> phases;
      const double in_step = knowledge().Number("ranking.in_step");
      for (std::uint32_t d = 0; d < verdict.saving.claims->by_device.size(); ++d) {
        const IntervalSet& claim = verdict.saving.claims->by_device[d];
        if (claim.empty()) continue;
        place(d);
        for (std::size_t i = run.steps.first_steady; i < run.steps.all.size(); ++i) {
          const Step& step = run.steps.all[i];
          const auto inside = static_cast<double>(claim.OverlapWith(step.start, step.end));
          if (inside >= in_step * static_cast<double>(step.Length())) {
            finding->where.steps.push_back(static_cast<int>(i));
          }
        }
      }
      for (const GapPiece piece : analysis_.idle.pieces) {
        const IntervalSet& claim = verdict.saving.claims->by_device[piece.device];
        if (piece.phase != Phase::kUnnamed)
          phases[piece.phase] += claim.OverlapWith(piece.start, piece.end);
      }
      Nanos most = 0;
      for (const auto& [phase, time] : phases) {
        if (time > most) most = time, finding->where.phase = PhaseName(phase);
      }
    }
    auto& steps = finding->where.steps;
    std::sort(steps.begin(), steps.end());
    steps.erase(std::unique(steps.begin(), steps.end()), steps.end());
    auto& devices = finding->where.devices;
    std::sort(devices.begin(), devices.end());
    devices.erase(std::unique(devices.begin(), devices.end()), devices.end());
    finding->where.ranks.assign(ranks.begin(), ranks.end());
  }

  const Analysis& analysis_;
  std::vector<Claim> claims_;                                             // by candidate
  std::vector<IntervalSet> taken_;                                        // by device
  std::set<const Remedy*> made_;                                          // changes of fixes served
  std::vector<std::pair<std::size_t, std::vector<IntervalSet>>> owners_;  // candidate, by device
};

}  // namespace

const char* SeverityName(Severity severity) {
  switch (severity) {
    case Severity::kCritical:
      return "critical";
    case Severity::kHigh:
      return "high";
    case Severity::kMedium:
      return "medium";
    case Severity::kLow:
      return "low";
    case Severity::kInfo:
      break;
  }
  return "info";
}

const char* RuleKindName(RuleKind kind) {
  switch (kind) {
    case RuleKind::kRoot:
      return "root";
    case RuleKind::kSymptom:
      return "symptom";
    case RuleKind::kInfo:
      break;
  }
  return "info";
}

const char* RiskName(Risk risk) {
  switch (risk) {
    case Risk::kOutOfMemory:
      return "out-of-memory";
    case Risk::kWrongResults:
      return "wrong-results";
    case Risk::kHardware:
      return "hardware";
    case Risk::kLimit:
      return "limit";
    case Risk::kNothing:
      break;
  }
  return "none";
}

const char* OutcomeName(Outcome outcome) {
  switch (outcome) {
    case Outcome::kFired:
      return "fired";
    case Outcome::kFine:
      return "fine";
    case Outcome::kNotApplicable:
      return "not applicable";
    case Outcome::kCannotTell:
      return "cannot tell";
    case Outcome::kBroken:
      break;
  }
  return "broken";
}

std::vector<Finding> Rank(const std::vector<Verdict>& verdicts, const Analysis& analysis,
                          const Knowledge& knowledge, std::vector<ClaimFate>* fates) {
  TraceFixes fixes(verdicts, analysis, knowledge);
  std::vector<Finding> findings = fixes.Rank();
  if (fates != nullptr) *fates = fixes.Fates();
  return findings;
}

}  // namespace advise
