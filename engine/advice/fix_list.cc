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
  Serve();
  Explain();
  std::vector<Finding> findings;
  for (const Candidate& candidate : candidates_) {
    if (!candidate.explained_by.empty() && !Matters(candidate)) continue;
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

void FixList::Serve() {
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
  Nanos left = window_;
  for (Candidate& candidate : candidates_) {
    if (candidate.alone <= 0) continue;
    candidate.saving = Take(candidate, left);
    left -= candidate.saving;
  }
}

// A cause explains what its rule says it explains, and what lost most of its time to it.
void FixList::Explain() {
  for (Candidate& effect : candidates_) {
    for (Candidate& cause : candidates_) {
      if (&cause == &effect || !Matters(cause) || cause.rule->kind == RuleKind::kInfo) continue;
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
  finding->saving_share = Share(candidate);
  finding->severity = candidate.rule->kind == RuleKind::kInfo
                          ? Severity::kInfo
                          : SeverityOfShare(finding->saving_share, knowledge_);
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

double FixList::Share(const Candidate& candidate) const {
  return window_ > 0 ? static_cast<double>(candidate.saving) / static_cast<double>(window_) : 0;
}

bool FixList::Matters(const Candidate& candidate) const {
  return Share(candidate) >= knowledge_.Number("ranking.info_share");
}

}  // namespace advise
