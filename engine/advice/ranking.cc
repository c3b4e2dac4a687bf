#include "engine/advice/ranking.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "engine/advice/describe.h"
#include "engine/advice/evidence.h"
#include "engine/base/text.h"

namespace advise {
namespace {

struct Candidate {
  const Verdict* verdict = nullptr;
  Nanos gain = 0;     // of the fix alone
  std::string bound;  // what limits the run after it
  Nanos saving = 0;   // what is left of it once more specific findings took theirs
  Nanos claimed = 0;  // device time claimed at first, summed
  Nanos taken = 0;    // part of it that others had taken
  std::map<const Verdict*, Nanos> taken_by;
  std::vector<std::string> explains, explained_by;
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

class Ranker {
 public:
  Ranker(const std::vector<Verdict>& verdicts, const Analysis& analysis, const Knowledge& knowledge)
      : analysis_(analysis), knowledge_(knowledge), window_(analysis.run.window.Length()) {
    for (const Verdict& verdict : verdicts) {
      if (verdict.outcome != Outcome::kFired) continue;
      Candidate candidate;
      candidate.verdict = &verdict;
      Estimate(&candidate);
      candidates_.push_back(std::move(candidate));
    }
    analysis_.ReleaseReplay();
  }

  std::vector<Finding> Rank(std::vector<ClaimFate>* fates) {
    Serve();
    Explain();
    if (fates != nullptr) Fates(fates);
    std::vector<Finding> findings;
    for (const Candidate& candidate : candidates_) {
      if (!Folded(candidate)) findings.push_back(Describe(candidate));
    }
    OrderFindings(&findings, knowledge_);
    return findings;
  }

 private:
  // What the fix alone would win: by replay where the rule says what the fix changes, else a part
  // of its claim.
  void Estimate(Candidate* candidate) {
    const SavingClaim& saving = candidate->verdict->saving;
    if (!saving.claims || candidate->verdict->rule->kind == RuleKind::kInfo) return;
    candidate->claimed = saving.claims->Total();
    Nanos longest = 0;
    for (const IntervalSet& set : saving.claims->by_device)
      longest = std::max(longest, set.Total());
    if (saving.remedies.empty()) {
      candidate->gain = static_cast<Nanos>(saving.part * static_cast<double>(longest));
      return;
    }
    Remedy remedy;
    for (const auto& part : saving.remedies) remedy.Join(*part);
    candidate->gain = std::min(longest, analysis_.replay().Gain(remedy, &candidate->bound));
  }

  // From the most to the least specific: each takes of its claim what its fix wins, and nobody
  // takes it again.
  void Serve() {
    std::stable_sort(candidates_.begin(), candidates_.end(),
                     [&](const Candidate& a, const Candidate& b) {
                       const RuleInfo& x = *a.verdict->rule;
                       const RuleInfo& y = *b.verdict->rule;
                       if (x.priority != y.priority) return x.priority > y.priority;
                       if (a.gain != b.gain) return a.gain > b.gain;
                       if (PriorOf(x, knowledge_) != PriorOf(y, knowledge_))
                         return PriorOf(x, knowledge_) > PriorOf(y, knowledge_);
                       return x.id < y.id;
                     });
    std::vector<IntervalSet> taken(analysis_.times.size());
    std::vector<std::pair<const Verdict*, std::vector<IntervalSet>>> owners;
    Nanos left = window_;
    for (Candidate& candidate : candidates_) {
      const SavingClaim& saving = candidate.verdict->saving;
      if (!saving.claims || candidate.gain <= 0) continue;
      std::vector<IntervalSet> free(taken.size());
      Nanos most_free = 0;
      for (std::size_t d = 0; d < std::min(free.size(), saving.claims->by_device.size()); ++d) {
        const IntervalSet claim =
            saving.claims->by_device[d].Clip(analysis_.run.window.start, analysis_.run.window.end);
        free[d] = claim.Subtract(taken[d]);
        most_free = std::max(most_free, free[d].Total());
        candidate.taken += claim.Total() - free[d].Total();
        for (const auto& [owner, sets] : owners) {
          const Nanos shared = claim.Intersect(sets[d]).Total();
          if (shared > 0) candidate.taken_by[owner] += shared;
        }
      }
      candidate.saving = std::min({candidate.gain, most_free, left});
      if (candidate.saving <= 0) continue;
      left -= candidate.saving;
      const double part = static_cast<double>(candidate.saving) / static_cast<double>(most_free);
      std::vector<IntervalSet> mine(taken.size());
      for (std::size_t d = 0; d < taken.size(); ++d) {
        mine[d] = Trim(free[d], part);
        taken[d] = taken[d].Union(mine[d]);
      }
      owners.emplace_back(candidate.verdict, std::move(mine));
    }
  }

  void Fates(std::vector<ClaimFate>* fates) const {
    for (const Candidate& candidate : candidates_) {
      if (candidate.claimed <= 0) continue;
      ClaimFate fate{
          candidate.verdict->rule, candidate.claimed, candidate.gain, candidate.saving, {}};
      for (const Candidate& other : candidates_) {  // in the order in which claims were served
        const auto took = candidate.taken_by.find(other.verdict);
        if (took != candidate.taken_by.end())
          fate.taken_by.emplace_back(other.verdict->rule, took->second);
      }
      std::stable_sort(fate.taken_by.begin(), fate.taken_by.end(),
                       [](const auto& a, const auto& b) { return a.second > b.second; });
      fates->push_back(std::move(fate));
    }
  }

  double Share(const Candidate& candidate) const {
    return window_ > 0 ? static_cast<double>(candidate.saving) / static_cast<double>(window_) : 0;
  }
  bool Matters(const Candidate& candidate) const {
    return Share(candidate) >= knowledge_.Number("ranking.info_share");
  }

  // A cause explains what its rule says it explains, and what lost most of its claim to it.
  void Explain() {
    for (Candidate& effect : candidates_) {
      for (Candidate& cause : candidates_) {
        if (&cause == &effect || !Matters(cause) || cause.verdict->rule->kind == RuleKind::kInfo)
          continue;
        const auto& says = cause.verdict->rule->explains;
        const bool said =
            std::find(says.begin(), says.end(), effect.verdict->rule->id) != says.end();
        const auto took = effect.taken_by.find(cause.verdict);
        const bool lost = took != effect.taken_by.end() && 2 * took->second > effect.claimed;
        if (!(said || lost) || cause.saving < effect.saving) continue;
        AddOnce(&effect.explained_by, cause.verdict->rule->id);
        AddOnce(&cause.explains, effect.verdict->rule->id);
      }
    }
  }

  static void AddOnce(std::vector<std::string>* list, const std::string& id) {
    if (std::find(list->begin(), list->end(), id) == list->end()) list->push_back(id);
  }

  // Listed under its cause only: nothing of its own is left.
  bool Folded(const Candidate& candidate) const {
    return !candidate.explained_by.empty() && !Matters(candidate);
  }

  Finding Describe(const Candidate& candidate) const {
    const Verdict& verdict = *candidate.verdict;
    const RuleInfo& rule = *verdict.rule;
    Finding finding;
    finding.rule = &rule;
    finding.saving_s = static_cast<double>(candidate.saving) / kNanosPerSecond;
    finding.saving_share = Share(candidate);
    finding.severity = rule.kind == RuleKind::kInfo
                           ? Severity::kInfo
                           : SeverityOfShare(finding.saving_share, knowledge_);
    if (!analysis_.support.verdict) finding.severity = std::min(finding.severity, Severity::kLow);
    // Without a timeline nothing has a price, and what is wrong is still worth a look.
    if (!analysis_.run.trace.HasTimeline() && rule.kind != RuleKind::kInfo) {
      finding.severity = Severity::kLow;
    }
    finding.comm_share = CommShare(verdict);
    Confidence(verdict, &finding);
    finding.basis = verdict.saving.basis;
    if (candidate.saving > 0 && !candidate.bound.empty()) {
      finding.basis += fmt::format("; after this, {} is the limit", candidate.bound);
    }
    finding.symptom = FilledTemplate(rule.symptom, verdict);
    finding.cause = FilledTemplate(rule.cause, verdict);
    finding.fixes = FilledFixes(verdict, knowledge_);
    finding.evidence = CollectEvidence(verdict, analysis_);
    Locate(verdict, &finding);
    finding.explains = candidate.explains;
    finding.explained_by = candidate.explained_by;
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
    double confidence = verdict.saving.claims ? verdict.saving.confidence : 0.5;
    std::string& from = finding->confidence_from;
    from = verdict.saving.confidence_from;
    if (from.empty()) {
      from = !verdict.saving.claims ? "no time is claimed"
             : confidence >= knowledge_.Number("ranking.recorded_confidence")
                 ? "the report records the cause itself"
             : confidence >= knowledge_.Number("ranking.inferred_confidence")
                 ? "inferred from times and names in the report"
                 : "one of several causes that fit";
    }
    std::size_t unknown = 0;
    for (const std::uint32_t call : analysis_.run.trace.ops.call) unknown += call == kNone ? 1 : 0;
    const std::size_t ops = analysis_.run.trace.ops.size();
    const double missing = ops > 0 ? static_cast<double>(unknown) / static_cast<double>(ops) : 0;
    confidence *= 1 - 0.5 * missing;
    if (missing >= 0.01) {
      from += fmt::format("; lower because the launching calls of {} of the GPU work are missing",
                          FormatQuantity(missing, "share"));
    }
    if (!analysis_.support.verdict) {
      confidence *= 0.5;
      from += "; halved because the capture supports no verdict";
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
      for (std::uint32_t d = 0; d < verdict.saving.claims->by_device.size(); ++d) {
        const IntervalSet& claim = verdict.saving.claims->by_device[d];
        if (claim.empty()) continue;
        place(d);
        for (std::size_t i = run.steps.first_steady; i < run.steps.all.size(); ++i) {
          const Step& step = run.steps.all[i];
          if (claim.OverlapWith(step.start, step.end) * 100 >= step.Length()) {
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
  const Knowledge& knowledge_;
  Nanos window_;
  std::vector<Candidate> candidates_;
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
  return Ranker(verdicts, analysis, knowledge).Rank(fates);
}

}  // namespace advise
