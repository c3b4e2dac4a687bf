#include "engine/report/plan_text.h"

#include <fmt/format.h>

#include <algorithm>

#include "engine/base/text.h"
#include "engine/report/finding_text.h"

namespace advise {
namespace {

// More of the plan's fixes than this are not named in one sentence.
constexpr std::size_t kMostCauses = 3;

// "4", "4 and 6", "4, 6 and 7".
std::string Numbers(const std::vector<int>& numbers) {
  std::string text;
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    text += i == 0 ? "" : i + 1 == numbers.size() ? " and " : ", ";
    text += std::to_string(numbers[i]);
  }
  return text;
}

struct EffectWords {
  const char* one;
  const char* several;
};

// "4 and 6 save little once 1 is fixed; 7 once 2 is fixed." What is told under its cause is not
// said again.
std::string EffectsText(const Report& report, std::vector<std::string> PlanStep::*effects,
                        const EffectWords& words) {
  std::vector<std::string> parts;
  for (const PlanStep& step : report.plan) {
    const Finding* cause = FindingOf(report, step.rule);
    std::vector<int> numbers;
    for (const std::string& rule : step.*effects) {
      const Finding* finding = FindingOf(report, rule);
      if (finding != nullptr && !finding->UnderCause()) numbers.push_back(finding->rank);
    }
    if (cause == nullptr || numbers.empty() || parts.size() == kMostCauses) continue;
    std::sort(numbers.begin(), numbers.end());
    const char* verb = !parts.empty() ? "" : numbers.size() == 1 ? words.one : words.several;
    parts.push_back(fmt::format("{}{} once {} is fixed", Numbers(numbers), verb, cause->rank));
  }
  return parts.empty() ? "" : fmt::format("{}.", fmt::join(parts, "; "));
}

}  // namespace

const Finding* FindingOf(const Report& report, const std::string& rule) {
  const auto found = std::find_if(
      report.findings.begin(), report.findings.end(),
      [&](const Finding& finding) { return finding.rule != nullptr && finding.rule->id == rule; });
  return found == report.findings.end() ? nullptr : &*found;
}

std::vector<double> PlanTimes(const Report& report) {
  if (report.plan.size() < 2) return {};
  const double units = std::max(1, report.step_count);
  std::vector<double> times = {static_cast<double>(report.window.end_ns - report.window.start_ns) /
                               units};
  for (const PlanStep& step : report.plan)
    times.push_back(step.after_seconds * kNanosPerSecond / units);
  return times;
}

std::string PlanTimeText(const Report& report, double ns) {
  std::string steps = StepsInWords(report.run);
  steps.pop_back();
  return FormatQuantity(ns, "ns") + (report.step_count > 0 ? " per " + steps : "");
}

std::string PlanLimit(const Report& report) {
  if (report.plan.empty() || report.plan.back().next_bound.empty()) return "";
  return report.plan.back().next_bound + " is the limit";
}

std::vector<std::string> PlanStages(const Report& report, std::size_t most) {
  const std::vector<double> times = PlanTimes(report);
  if (times.empty()) return {};
  std::vector<std::string> stages = {PlanTimeText(report, times.front())};
  for (std::size_t i = 1; i < times.size(); ++i) {
    const bool last = i + 1 == times.size();
    if (i < most || last) {
      // What stands under its cause has no number in the list: its rule says what it is.
      const std::string& rule = report.plan[i - 1].rule;
      const Finding* const finding = FindingOf(report, rule);
      const bool unlisted = finding != nullptr && finding->UnderCause();
      stages.push_back(
          fmt::format("→ {}{}", FormatQuantity(times[i], "ns"), unlisted ? " (" + rule + ")" : ""));
    } else if (i == most) {
      stages.emplace_back("→ …");
    }
  }
  const std::string limit = PlanLimit(report);
  if (limit.empty()) return stages;
  stages.back() += ";";
  stages.push_back("then " + limit);
  return stages;
}

std::vector<std::string> PlanEffects(const Report& report) {
  std::vector<std::string> sentences;
  const auto add = [&](const std::string& sentence) {
    if (!sentence.empty()) sentences.push_back(sentence);
  };
  add(EffectsText(report, &PlanStep::makes_needless, {" saves little", " save little"}));
  add(EffectsText(report, &PlanStep::unlocks, {" pays only", " pay only"}));
  return sentences;
}

}  // namespace advise
