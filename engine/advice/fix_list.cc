#include "engine/advice/fix_list.h"

#include <algorithm>

#include "engine/advice/describe.h"
#include "engine/base/is_in.h"

namespace advise {
namespace {

// Whether the fix of the plan comes before the other one, if that is in the plan at all.
bool ComesBefore(const PlannedFix& fix, const Candidate& other) {
  return other.turn == 0 || fix.candidate->turn < other.turn;
}

std::vector<std::string>* ListOf(Effect effect, Finding* finding) {
  return effect == Effect::kNeedless ? &finding->makes_needless : &finding->unlocks;
}

// The first fix of the plan of which single parts know that it has this effect; null: none.
Finding* KnownCause(const std::vector<PlannedFix>& plan, const Candidate& of, Effect effect) {
  for (const PlannedFix& fix : plan) {
    const Candidate& cause = *fix.candidate;
    const auto& known = effect == Effect::kNeedless ? cause.makes_needless : cause.unlocks;
    if (ComesBefore(fix, of) && IsIn(of.rule->id, known)) return fix.finding;
  }
  return nullptr;
}

// The first fix of the plan that explains it; null: none.
Finding* Explanation(const std::vector<PlannedFix>& plan, const Candidate& of) {
  for (const PlannedFix& fix : plan) {
    if (IsIn(fix.finding->rule->id, of.explained_by)) return fix.finding;
  }
  return nullptr;
}

// What wins only while somebody profiles has no turn in the plan.
void LeaveOutProfiled(std::vector<Finding>* findings) {
  std::vector<Finding*> plan;
  for (Finding& finding : *findings) {
    if (finding.turn > 0) plan.push_back(&finding);
  }
  std::sort(plan.begin(), plan.end(),
            [](const Finding* a, const Finding* b) { return a->turn < b->turn; });
  int turn = 0;
  for (Finding* finding : plan) {
    const bool told = !finding->unprofiled_share || finding->severity != Severity::kInfo;
    finding->turn = told ? ++turn : 0;
  }
}

void AddOnce(std::vector<std::string>* list, const std::string& id) {
  if (!IsIn(id, *list)) list->push_back(id);
}

}  // namespace

std::vector<Finding> FixList::Rank(const std::vector<std::string>& only) {
  Specify();
  OnSpecified();
  if (!only.empty())
    std::erase_if(candidates_, [&](const Candidate& c) { return !IsIn(c.rule->id, only); });
  Plan();
  Explain();
  PartAlternatives();
  std::vector<Finding> findings;
  for (const Candidate& candidate : candidates_) {
    if (IsFolded(candidate)) continue;
    findings.push_back(Describe(candidate));
    Price(candidate, &findings.back());
  }
  TellEffects(&findings);
  LeaveOutProfiled(&findings);
  OrderFindings(&findings, knowledge_);
  return findings;
}

Candidate& FixList::Add(const RuleInfo* rule) {
  candidates_.emplace_back();
  candidates_.back().id = candidates_.size() - 1;
  candidates_.back().rule = rule;
  return candidates_.back();
}

void FixList::Specify() {
  std::stable_sort(candidates_.begin(), candidates_.end(),
                   [&](const Candidate& a, const Candidate& b) {
                     const RuleInfo& x = *a.rule;
                     const RuleInfo& y = *b.rule;
                     if (x.priority != y.priority) return x.priority > y.priority;
                     if (a.alone != b.alone) return a.alone > b.alone;
                     const double prior_x = PriorOf(x, knowledge_);
                     const double prior_y = PriorOf(y, knowledge_);
                     if (prior_x != prior_y) return prior_x > prior_y;
                     return x.id < y.id;
                   });
  RootsFirst();
  for (Candidate& candidate : candidates_) {
    if (candidate.priced) candidate.own = std::min(candidate.alone, Own(candidate));
  }
}

// What is at the root of another makes the change, whatever the evidence for the other.
void FixList::RootsFirst() {
  for (std::size_t effect = 0; effect < candidates_.size(); ++effect) {
    for (std::size_t cause = effect + 1; cause < candidates_.size(); ++cause) {
      if (!IsRootOf(candidates_[cause], candidates_[effect])) continue;
      const auto first = candidates_.begin();
      std::rotate(first + static_cast<std::ptrdiff_t>(effect),
                  first + static_cast<std::ptrdiff_t>(cause),
                  first + static_cast<std::ptrdiff_t>(cause) + 1);
      ++effect;
    }
  }
}

// What a fix is worth is asked again only when it may be the next: others seldom make it worth
// more.
void FixList::Plan() {
  std::vector<Open> open;  // from the most to the least specific
  for (Candidate& candidate : candidates_) {
    if (!candidate.priced) continue;
    open.push_back({&candidate, Unprofiled(candidate, candidate.own), candidate.own});
  }
  Nanos left = window_;
  const auto ask = [&](Open* one) {
    one->saving = Worth(*one->candidate, left);
    one->worth = Unprofiled(*one->candidate, one->saving);
  };
  int turn = 0;
  bool asked = false;  // all that are open, since the last fix that matters
  while (!open.empty()) {
    Open* next = Next(&open);
    if (!Matters(next->worth) && !asked) {
      for (Open& one : open) ask(&one);
      asked = true;
      next = Next(&open);
    }
    // Notes make room for no finding: a fix that wins only once they are fixed is a note, too.
    const bool noted = asked && !Matters(next->worth);
    const Open expected = *next;
    ask(next);
    if (noted) {
      next->worth = std::min(next->worth, expected.worth);
      next->saving = std::min(next->saving, expected.saving);
    }
    if (next->worth < expected.worth && Next(&open) != next) continue;
    if (!noted) asked = false;
    Candidate& candidate = *next->candidate;
    if (!noted && next->worth == next->saving)
      next->worth = next->saving = std::max(next->saving, Settled(candidate, left));
    candidate.saving = next->saving;
    candidate.unprofiled = next->worth;
    if (std::max(candidate.saving, candidate.unprofiled) > 0) {
      candidate.turn = ++turn;
      Take(candidate, candidate.saving);
      candidate.next_bound = NextBound();
      for (Open& one : open) {
        if (IsIn(one.candidate->rule->id, candidate.unlocks)) one.worth = one.candidate->own;
      }
    }
    left -= candidate.saving;
    open.erase(open.begin() + (next - open.data()));
  }
}

// Of fixes that are worth the same, the most specific that wins what it claims. A cause also before
// one that wins little more, most of it elsewhere, unless that one is a setting, which is tried
// within minutes. What wins clearly more of the window is worth more, whatever part of both that
// is.
FixList::Open* FixList::Next(std::vector<Open>* open) {
  Nanos most = 0;
  for (const Open& one : *open) most = std::max(most, one.worth);
  const auto least_apart =
      static_cast<Nanos>(knowledge_.Number("ranking.clear_points") * static_cast<double>(window_));
  const auto first = [&](double lead, bool indirect) {
    const auto enough =
        std::max(static_cast<Nanos>(static_cast<double>(most) / lead), most - least_apart);
    const auto found = std::find_if(open->begin(), open->end(), [&](const Open& one) {
      return one.worth >= enough && (indirect || !one.candidate->indirect);
    });
    return found == open->end() ? nullptr : &*found;
  };
  const double clear_lead = knowledge_.Number("ranking.clear_lead");
  if (Open* const same = first(clear_lead, false)) return Easiest(Surer(same, open), open);
  Open* const indirect = first(clear_lead, true);
  if (indirect->candidate->effort == "flag") return indirect;
  Open* const direct = first(knowledge_.Number("ranking.direct_lead"), false);
  const bool cause = direct != nullptr && direct->candidate->rule->kind != RuleKind::kSymptom;
  return Easiest(cause ? direct : indirect, open);
}

// The fix that was chosen; of a symptom, which names no fix to begin with, a cause that is surer
// and wins as much, wherever it wins it. Not of what single steps lose, or of code of the host:
// other fixes may hide these, and do not explain them. But where the host waits for the GPU and
// wins as much without, the wait explains why its code does not run beside the GPU.
FixList::Open* FixList::Surer(Open* chosen, std::vector<Open>* open) const {
  const RuleInfo& rule = *chosen->candidate->rule;
  if (rule.kind != RuleKind::kSymptom || rule.topic == Topic::kSingleSteps) return chosen;
  const auto enough = static_cast<Nanos>(static_cast<double>(chosen->worth) /
                                         knowledge_.Number("ranking.clear_lead"));
  const double sure = ConfidenceOf(*chosen->candidate);
  const auto root = std::find_if(open->begin(), open->end(), [&](const Open& one) {
    const RuleInfo& cause = *one.candidate->rule;
    return cause.kind == RuleKind::kRoot && one.worth >= enough &&
           (rule.topic != Topic::kHostCode || cause.topic == Topic::kWaits) &&
           ConfidenceOf(*one.candidate) > sure;
  });
  return root != open->end() ? &*root : chosen;
}

// A setting before a change of code or design that wins little more and is no surer, or no more
// where the setting wins most of it by letting the host get ahead and does not explain it; a switch
// of the environment also before what its rule explains, if that wins little more once the switch
// is off: only then is it seen what is left. Or if that would make the switch needless: nobody
// would learn that it is on, and it holds up whatever is measured next.
FixList::Open* FixList::Easiest(Open* chosen, std::vector<Open>* open) {
  if (chosen->candidate->effort == "flag") return chosen;
  const double easier_lead = knowledge_.Number("ranking.easier_lead");
  const double needless_part = knowledge_.Number("ranking.needless");
  const auto little_more = [&](Nanos than, Nanos worth) {
    return static_cast<double>(than) * easier_lead >= static_cast<double>(worth);
  };
  const auto setting = std::find_if(open->begin(), open->end(), [&](const Open& one) {
    const RuleInfo& rule = *one.candidate->rule;
    if (one.candidate->effort != "flag" || one.worth <= 0) return false;
    const bool explains = IsIn(chosen->candidate->rule->id, rule.explains);
    if (one.candidate->indirect && one.worth < chosen->worth && !explains) return false;
    if (ConfidenceOf(*one.candidate) < ConfidenceOf(*chosen->candidate)) return false;
    if (little_more(one.worth, chosen->worth)) return true;
    if (rule.topic != Topic::kSwitch || !Matters(one.worth) || !explains) return false;
    const auto needless = static_cast<Nanos>(needless_part * static_cast<double>(one.worth));
    return little_more(one.worth, WorthAfter(*one.candidate, *chosen->candidate)) ||
           WorthAfter(*chosen->candidate, *one.candidate) < needless;
  });
  return setting != open->end() ? &*setting : chosen;
}

// A cause explains what its rule says it explains, and what lost most of its time to it.
void FixList::Explain() {
  for (Candidate& effect : candidates_) {
    for (Candidate& cause : candidates_) {
      if (&cause == &effect || !Matters(cause.unprofiled) || cause.rule->kind == RuleKind::kInfo)
        continue;
      if (cause.unprofiled < effect.unprofiled) continue;
      // What is lost in all steps is no part of what single ones lose.
      if (cause.rule->topic == Topic::kSingleSteps && Matters(effect.unprofiled)) continue;
      const bool said = IsIn(effect.rule->id, cause.rule->explains) && MayExplain(cause, effect);
      if (!said && !LostTo(effect, cause)) continue;
      AddOnce(&effect.explained_by, cause.rule->id);
      AddOnce(&cause.explains, effect.rule->id);
    }
  }
}

// Three causes may each hold up the host for a third of the time: once two are fixed, the third
// wins nothing. None of them explains another, and whoever finds the third easiest to fix should
// know that it is as good.
void FixList::PartAlternatives() {
  const double part = knowledge_.Number("ranking.alternative");
  Restart();
  for (Candidate& effect : candidates_) {
    const auto alone = static_cast<double>(ByItself(effect));
    if (effect.explained_by.empty() || Matters(effect.unprofiled) || !Matters(ByItself(effect)))
      continue;
    const bool alternative =
        std::all_of(candidates_.begin(), candidates_.end(), [&](const Candidate& cause) {
          if (!IsIn(cause.rule->id, effect.explained_by)) return true;
          return alone >= part * static_cast<double>(cause.unprofiled) &&
                 EffectOn(effect, WorthAfter(cause, effect)) != Effect::kNeedless;
        });
    if (!alternative) continue;
    effect.explained_by.clear();
    for (Candidate& cause : candidates_) std::erase(cause.explains, effect.rule->id);
  }
}

// The fixes of the plan name what they make needless and what becomes worthwhile only after them.
void FixList::TellEffects(std::vector<Finding>* findings) {
  std::vector<PlannedFix> plan;
  std::vector<AffectedFix> affected;
  auto next = findings->begin();
  for (const Candidate& candidate : candidates_) {
    if (IsFolded(candidate)) {
      if (candidate.rule->kind != RuleKind::kInfo)
        affected.push_back({&candidate, Effect::kNeedless});
      continue;
    }
    Finding* const finding = &*next++;
    if (finding->severity == Severity::kInfo) continue;
    if (candidate.turn > 0) plan.push_back({&candidate, finding});
    const Effect effect = EffectOn(candidate, candidate.saving);
    if (effect != Effect::kNothing) affected.push_back({&candidate, effect});
  }
  std::sort(plan.begin(), plan.end(), [](const PlannedFix& a, const PlannedFix& b) {
    return a.candidate->turn < b.candidate->turn;
  });
  for (AffectedFix& one : affected) one.by = KnownCause(plan, *one.candidate, one.effect);
  FindCauses(plan, &affected);
  for (const AffectedFix& one : affected) {
    Finding* by = one.by;
    if (by == nullptr && IsFolded(*one.candidate)) by = Explanation(plan, *one.candidate);
    if (by != nullptr) AddOnce(ListOf(one.effect, by), one.candidate->rule->id);
  }
}

// What becomes of each affected fix along the plan: its cause is the fix since which it has been
// as it is in the end.
void FixList::FindCauses(const std::vector<PlannedFix>& plan, std::vector<AffectedFix>* affected) {
  std::vector<AffectedFix*> open;
  for (AffectedFix& one : *affected) {
    if (one.by == nullptr && EffectOn(*one.candidate, one.candidate->saving) == one.effect)
      open.push_back(&one);
  }
  if (open.empty()) return;
  Restart();
  Nanos left = window_;
  for (AffectedFix* one : open)
    one->before = EffectOn(*one->candidate, Remaining(*one->candidate, left));
  for (const PlannedFix& fix : plan) {
    std::erase_if(open, [&](const AffectedFix* one) { return !ComesBefore(fix, *one->candidate); });
    if (open.empty()) return;
    Take(*fix.candidate, fix.candidate->saving);
    left -= fix.candidate->saving;
    for (AffectedFix* one : open) {
      const Effect now = EffectOn(*one->candidate, Remaining(*one->candidate, left));
      if (now != one->effect) one->by = nullptr;
      if (now == one->effect && one->before != now) one->by = fix.finding;
      one->before = now;
    }
  }
}

// What single parts tell under a cause, and the run of all does not list.
std::vector<std::string> FixList::OfNoCandidate(std::vector<std::string> rules) const {
  std::erase_if(rules, [&](const std::string& rule) {
    return std::any_of(candidates_.begin(), candidates_.end(),
                       [&](const Candidate& candidate) { return candidate.rule->id == rule; });
  });
  return rules;
}

// By what the fix still wins, against what it wins by itself.
Effect FixList::EffectOn(const Candidate& candidate, Nanos worth) const {
  const double part = knowledge_.Number("ranking.needless");
  const Nanos alone = ByItself(candidate);
  const auto less_than_part = [&](Nanos a, Nanos b) {
    return Matters(b) && static_cast<double>(a) < part * static_cast<double>(b);
  };
  if (less_than_part(worth, alone)) return Effect::kNeedless;
  return less_than_part(alone, worth) ? Effect::kUnlocked : Effect::kNothing;
}

// Nothing of its own is left: it is told under its cause only.
bool FixList::IsFolded(const Candidate& candidate) const {
  if (Matters(candidate.unprofiled)) return false;
  return std::any_of(candidates_.begin(), candidates_.end(), [&](const Candidate& cause) {
    return IsIn(cause.rule->id, candidate.explained_by) && Covers(cause, candidate);
  });
}

void FixList::Price(const Candidate& candidate, Finding* finding) const {
  finding->rule = candidate.rule;
  finding->saving_s = static_cast<double>(candidate.saving) / kNanosPerSecond;
  finding->saving_share = Share(candidate.saving);
  finding->alone_share = Share(ByItself(candidate));
  finding->own_share = Share(candidate.own);
  finding->turn = candidate.turn;
  finding->severity = candidate.rule->kind == RuleKind::kInfo
                          ? Severity::kInfo
                          : SeverityInPlan(*finding, knowledge_);
  const Footing footing = FootingOf(candidate);
  finding->tentative = IsTentative(candidate);
  finding->observed = ObservedOf(candidate);
  if (!footing.has_timeline && !candidate.priced && finding->basis.empty())
    finding->basis = "unknown: there is no timeline of the run";
  if (!footing.has_timeline && candidate.rule->kind != RuleKind::kInfo)
    finding->severity = std::max(finding->severity, Severity::kLow);
  CompareWithSaving(knowledge_, finding);
  RaiseByRisk(knowledge_, finding);
  finding->explains = candidate.explains;
  finding->explained_by = candidate.explained_by;
  finding->next_bound = candidate.next_bound;
  finding->makes_needless = OfNoCandidate(candidate.makes_needless);
  finding->unlocks.clear();
}

double FixList::UnclaimedConfidence(const RuleInfo& rule) const {
  switch (rule.observed) {
    case Observed::kRecorded:
      return knowledge_.Number("ranking.written_confidence");
    case Observed::kMeasured:
      return knowledge_.Number("ranking.measured_confidence");
    case Observed::kInferred:
      break;
  }
  return knowledge_.Number("ranking.unclaimed_confidence");
}

double FixList::Share(Nanos time) const {
  return window_ > 0 ? static_cast<double>(time) / static_cast<double>(window_) : 0;
}

bool FixList::Matters(Nanos time) const {
  return Share(time) >= knowledge_.Number("ranking.info_share");
}

}  // namespace advise
