#include "engine/advice/fix_list.h"

#include <algorithm>

#include "engine/advice/describe.h"

namespace advise {
namespace {

void AddOnce(std::vector<std::string>* list, const std::string& id) {
  if (std::find(list->begin(), list->end(), id) == list->end()) list->push_back(id);
}

}  // namespace

std::vector<Finding> FixList::Rank() {
  Specify();
  OnSpecified();
  Plan();
  Explain();
  std::vector<Finding> findings;
  for (const Candidate& candidate : candidates_) {
    if (!candidate.explained_by.empty() && !Matters(candidate.saving)) continue;
    findings.push_back(Describe(candidate));
    Price(candidate, &findings.back());
  }
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
  struct Open {
    Candidate* candidate;
    Nanos worth;
  };
  std::vector<Open> open;  // from the most to the least specific
  for (Candidate& candidate : candidates_) {
    if (candidate.priced) open.push_back({&candidate, candidate.own});
  }
  // Of fixes that are worth the same, the most specific that wins what it claims.
  const double lead = knowledge_.Number("ranking.clear_lead");
  const auto best = [&] {
    Nanos most = 0;
    for (const Open& one : open) most = std::max(most, one.worth);
    const auto enough = static_cast<Nanos>(static_cast<double>(most) / lead);
    const auto first = [&](bool indirect) {
      return std::find_if(open.begin(), open.end(), [&](const Open& one) {
        return one.worth >= enough && (indirect || !one.candidate->indirect);
      });
    };
    const auto direct = first(false);
    return direct != open.end() ? direct : first(true);
  };
  Nanos left = window_;
  int turn = 0;
  while (!open.empty()) {
    const auto next = best();
    const Nanos expected = next->worth;
    next->worth = Worth(*next->candidate, left);
    if (next->worth < expected && best() != next) continue;
    Candidate& candidate = *next->candidate;
    candidate.saving = next->worth;
    if (candidate.saving > 0) {
      candidate.turn = ++turn;
      Take(candidate, candidate.saving);
    }
    left -= candidate.saving;
    open.erase(next);
  }
}

// A cause explains what its rule says it explains, and what lost most of its time to it.
void FixList::Explain() {
  for (Candidate& effect : candidates_) {
    for (Candidate& cause : candidates_) {
      if (&cause == &effect || !Matters(cause.saving) || cause.rule->kind == RuleKind::kInfo)
        continue;
      if (cause.saving < effect.saving) continue;
      const auto& says = cause.rule->explains;
      const bool said = std::find(says.begin(), says.end(), effect.rule->id) != says.end();
      if (!said && !LostTo(effect, cause)) continue;
      AddOnce(&effect.explained_by, cause.rule->id);
      AddOnce(&cause.explains, effect.rule->id);
    }
  }
}

void FixList::Price(const Candidate& candidate, Finding* finding) const {
  finding->rule = candidate.rule;
  finding->saving_s = static_cast<double>(candidate.saving) / kNanosPerSecond;
  finding->saving_share = Share(candidate.saving);
  finding->alone_share = Share(ByItself(candidate));
  finding->turn = candidate.turn;
  finding->severity = candidate.rule->kind == RuleKind::kInfo
                          ? Severity::kInfo
                          : SeverityInPlan(*finding, knowledge_);
  const Footing footing = FootingOf(candidate);
  finding->tentative = !footing.supports_verdict;
  if (!footing.has_timeline && candidate.rule->kind != RuleKind::kInfo) {
    finding->severity = Severity::kLow;
  }
  CompareWithSaving(knowledge_, finding);
  RaiseByRisk(knowledge_, finding);
  finding->explains = candidate.explains;
  finding->explained_by = candidate.explained_by;
}

double FixList::Share(Nanos time) const {
  return window_ > 0 ? static_cast<double>(time) / static_cast<double>(window_) : 0;
}

bool FixList::Matters(Nanos time) const {
  return Share(time) >= knowledge_.Number("ranking.info_share");
}

}  // namespace advise
