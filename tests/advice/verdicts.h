// Verdicts of rules that a test makes up, on a run that it can add up by hand.
#pragma once

#include <deque>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "engine/advice/ranking.h"
#include "engine/replay/remedy.h"
#include "tests/support/analyzed.h"

namespace advise {

// One rule and its verdict.
struct Fired {
  std::string id = "area/rule";
  int priority = 50;
  std::vector<std::vector<Interval>> claims = {};  // by device
  double part = 1;                                 // of the claims, without a remedy
  std::shared_ptr<const Remedy> remedy = nullptr;
  RuleKind kind = RuleKind::kRoot;
  std::vector<std::string> explains = {};
  double confidence = 0.8;
};

// Keeps rules and verdicts alive as long as the findings that point to them.
class Verdicts {
 public:
  Verdict& Add(const Fired& fired) {
    RuleInfo& rule = rules_.emplace_back();
    rule.id = fired.id;
    rule.title = "Title of " + fired.id;
    rule.priority = fired.priority;
    rule.kind = fired.kind;
    rule.explains = fired.explains;
    rule.effort = "code";
    Verdict verdict;
    verdict.rule = &rule;
    verdict.outcome = Outcome::kFired;
    verdict.saving.part = fired.part;
    verdict.saving.confidence = fired.confidence;
    if (!fired.claims.empty()) {
      auto spans = std::make_shared<Spans>();
      for (const auto& device : fired.claims) spans->by_device.push_back(IntervalSet::Of(device));
      verdict.saving.claims = spans;
    }
    if (fired.remedy) verdict.saving.remedies.push_back(fired.remedy);
    list_.push_back(std::move(verdict));
    return list_.back();
  }
  RuleInfo& rule(std::size_t i) { return rules_[i]; }
  const std::vector<Verdict>& list() const { return list_; }
  std::vector<Finding> Rank(const Analyzed& run) const {
    return advise::Rank(list_, *run, ShippedKnowledge());
  }

 private:
  std::deque<RuleInfo> rules_;
  std::vector<Verdict> list_;
};

// A hundred steps of 200 us, long enough for a verdict: 100 us of work, the rest host code.
inline TraceBuilder HalfIdleSteps() {
  TraceBuilder story;
  for (int i = 0; i < 100; ++i) {
    const Nanos at = i * 200_us;
    story.Range("step " + std::to_string(i), {at, at + 199_us});
    story.Launch("kernel", {at, at + 5_us}, {at + 10_us, at + 110_us});
  }
  return story;
}

inline double Shares(const std::vector<Finding>& findings) {
  double sum = 0;
  for (const Finding& finding : findings) sum += finding.saving_share;
  return sum;
}

inline const Finding* Named(const std::vector<Finding>& findings, const std::string& id) {
  for (const Finding& finding : findings) {
    if (finding.rule->id == id) return &finding;
  }
  return nullptr;
}

// [from, to) of the window in percent.
inline std::vector<Interval> Percent(const Analyzed& run, Nanos from, Nanos to) {
  const Nanos start = run->run.window.start;
  return {{start + run.Window() * from / 100, start + run.Window() * to / 100}};
}

}  // namespace advise
