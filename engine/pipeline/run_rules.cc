#include "engine/pipeline/run_rules.h"

#include <algorithm>
#include <string_view>

#include "engine/facts/catalog.h"

namespace advise {
namespace {

constexpr const char* kWholeGraphs = "graph.whole.share";

// Whether the rule judges by what single kernels are and do.
bool AboutKernels(const RuleInfo& rule) {
  static constexpr std::string_view kOfKernels[] = {"kernel.",     "family.",     "precision.",
                                                    "roofline.",   "efficiency.", "launch.kernel.",
                                                    "convolution."};
  return std::any_of(rule.needs.begin(), rule.needs.end(), [](const std::string& need) {
    return std::any_of(std::begin(kOfKernels), std::end(kOfKernels),
                       [&](std::string_view group) { return need.starts_with(group); });
  });
}

// Where most of the compute time is inside graphs that were recorded as a whole, a rule about
// kernels that speaks of nothing saw next to nothing: it cannot tell.
void DoubtInWholeGraphs(const Knowledge& knowledge, const Facts& facts,
                        std::vector<Verdict>* verdicts) {
  const Fact* const fact = facts.Find(kWholeGraphs);
  const auto* const share = fact == nullptr ? nullptr : std::get_if<double>(&fact->value);
  if (share == nullptr || *share <= knowledge.Number("verdict.mostly")) return;
  for (Verdict& verdict : *verdicts) {
    const bool silent =
        verdict.outcome == Outcome::kFine || verdict.outcome == Outcome::kNotApplicable;
    if (!silent || !AboutKernels(*verdict.rule)) continue;
    verdict.outcome = Outcome::kCannotTell;
    verdict.reason =
        "most of the compute time is inside CUDA graphs whose kernels were not recorded";
    verdict.missing = {"cuda-graph-node"};
  }
}

}  // namespace

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

FactNames FactsReadBy(const Session& session, const DiagnoseOptions& options) {
  FactNames names = {kWholeGraphs};
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
  DoubtInWholeGraphs(*session.knowledge, facts, &verdicts);
  return verdicts;
}

}  // namespace advise
