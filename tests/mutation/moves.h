// Thresholds of kb/thresholds that are moved by a third: do the tests of their rule notice?
#pragma once

#include <algorithm>
#include <cstdio>
#include <optional>
#include <string>
#include <vector>

#include "engine/knowledge/knowledge.h"
#include "engine/script/tester.h"

namespace advise {

constexpr double kUp = 4.0 / 3, kDown = 2.0 / 3;

// Another value of the threshold, within its range; none where the range leaves nothing to move.
inline std::optional<double> Moved(const Threshold& threshold, double factor) {
  const double value = std::clamp(threshold.shipped * factor, threshold.lowest, threshold.highest);
  return value == threshold.shipped ? std::nullopt : std::optional(value);
}

// The threshold has another value for as long as this lives; rules see it at their next run.
class OtherValue {
 public:
  OtherValue(Knowledge* knowledge, const Threshold& threshold, double value)
      : knowledge_(knowledge), name_(threshold.name), shipped_(threshold.shipped) {
    Set(value);
  }
  ~OtherValue() { Set(shipped_); }
  OtherValue(const OtherValue&) = delete;
  OtherValue& operator=(const OtherValue&) = delete;

 private:
  void Set(double value) {
    char text[64];
    std::snprintf(text, sizeof text, "%.17g", value);
    knowledge_->ApplySetting(name_ + "=" + text);
  }
  Knowledge* knowledge_;
  std::string name_;
  double shipped_;
};

inline bool TestsPass(const RuleSet& rules, const RuleInfo& rule) {
  const std::vector<TestResult> results = RunTests(rules, rule);
  return std::all_of(results.begin(), results.end(),
                     [](const TestResult& result) { return result.passed; });
}

// Whether no test of the rule notices the move.
inline bool Survives(Knowledge* knowledge, const RuleSet& rules, const RuleInfo& rule,
                     const Threshold& threshold, double factor) {
  const std::optional<double> value = Moved(threshold, factor);
  if (!value) return false;
  const OtherValue other(knowledge, threshold, *value);
  return TestsPass(rules, rule);
}

}  // namespace advise
