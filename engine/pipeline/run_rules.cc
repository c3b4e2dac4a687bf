#include "engine/pipeline/run_rules.h"

#include <algorithm>

#include "engine/base/is_in.h"
#include "engine/facts/catalog.h"

namespace advise {

bool AboutRanks(const RuleInfo& rule) {
  return std::any_of(rule.needs.begin(), rule.needs.end(), IsAboutRanks) ||
         std::any_of(rule.optional.begin(), rule.optional.end(), IsAboutRanks);
}

int Weight(Outcome outcome) {
  switch (outcome) {
    case Outcome::kBroken:
      return 4;
    case Outcome::kFired:
      return 3;
    case Outcome::kFine:
      return 2;
    case Outcome::kNotApplicable:
      return 1;
    default:
      return 0;
  }
}

bool Chosen(const RuleInfo& rule, const DiagnoseOptions& options) {
  const std::string area = rule.id.substr(0, rule.id.find('/'));
  const auto names = [&](const std::vector<std::string>& list) {
    return std::any_of(list.begin(), list.end(),
                       [&](const std::string& n) { return n == rule.id || n == area; });
  };
  return (options.only.empty() || names(options.only)) && !names(options.skip);
}

std::vector<Verdict> ToRank(std::vector<Verdict> verdicts, const DiagnoseOptions& options) {
  if (options.fixes.empty()) return verdicts;
  std::erase_if(verdicts, [&](const Verdict& v) { return !IsIn(v.rule->id, options.fixes); });
  return verdicts;
}

FactNames FactsReadBy(const Session& session, const DiagnoseOptions& options) {
  FactNames names;
  for (const RuleInfo& rule : session.rules.rules()) {
    if (!Chosen(rule, options)) continue;
    names.insert(rule.needs.begin(), rule.needs.end());
    names.insert(rule.optional.begin(), rule.optional.end());
  }
  return names;
}

std::vector<Verdict> RunRules(const Session& session, const DiagnoseOptions& options, Asked asked,
                              const Facts& facts, const std::string& day) {
  const std::vector<SuppressedRule> off = session.knowledge->suppressed(day);
  const auto suppressed = [&](const RuleInfo& rule) {
    return std::any_of(off.begin(), off.end(),
                       [&](const SuppressedRule& s) { return s.id == rule.id; });
  };
  std::vector<Verdict> verdicts;
  for (const RuleInfo& rule : session.rules.rules()) {
    if (!Chosen(rule, options) || rule.status == "retired" || suppressed(rule)) continue;
    if (asked == Asked::kAboutRanks && !AboutRanks(rule)) continue;
    verdicts.push_back(session.rules.Run(rule, facts));
  }
  return verdicts;
}

}  // namespace advise
