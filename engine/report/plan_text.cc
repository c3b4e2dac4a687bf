#include "engine/report/plan_text.h"

#include <fmt/format.h>

#include <algorithm>

#include "engine/base/text.h"
#include "engine/report/finding_text.h"

namespace advise {
namespace {

// More of the plan's fixes than this are not named in one sentence.
constexpr std::size_t kMostCauses = 3;
constexpr double kPays = 0.01;  // layout only: of the window

// "4", "4 and 6", "4, 6 and 7".
std::string Numbers(const std::vector<int>& numbers) {
  std::string text;
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    text += i == 0 ? "" : i + 1 == numbers.size() ? " and " : ", ";
    text += std::to_string(numbers[i]);
  }
  return text;
}

// What is compared in one line has one unit, where that leaves a number that can be read.
std::string InUnitOf(double first_ns, double ns) {
  constexpr double kLeast = 0.1;  // layout only: of the unit
  for (const auto& [unit, name] : {std::pair(1e9, "s"), std::pair(1e6, "ms"), {1e3, "µs"}}) {
    if (first_ns < unit) continue;
    if (ns >= unit || ns < kLeast * unit) break;
    return fmt::format("{:.2f} {}", ns / unit, name);
  }
  return FormatQuantity(ns, "ns");
}

// Whether the window is one step after the other. The whole capture has a start, too.
bool IsOfSteps(const Report& report) {
  return report.step_count > 0 && report.window.mode != "all";
}

bool HasNumber(const Finding* finding) { return finding != nullptr && !finding->UnderCause(); }

struct EffectWords {
  const char* one;
  const char* several;
};

// "4 and 6 save little once 1 is fixed; 7 once 2 is fixed." What is told under its cause is not
// said again. `fits`: whether it is true of this finding.
template <typename Fits>
std::string EffectsText(const Report& report, std::vector<std::string> PlanStep::*effects,
                        const EffectWords& words, const Fits& fits) {
  std::vector<std::string> parts;
  for (const PlanStep& step : report.plan) {
    const Finding* cause = FindingOf(report, step.rule);
    std::vector<int> numbers;
    for (const std::string& rule : step.*effects) {
      const Finding* finding = FindingOf(report, rule);
      if (HasNumber(finding) && fits(*finding)) numbers.push_back(finding->rank);
    }
    if (!HasNumber(cause) || numbers.empty() || parts.size() == kMostCauses) continue;
    std::sort(numbers.begin(), numbers.end());
    const char* verb = !parts.empty() ? "" : numbers.size() == 1 ? words.one : words.several;
    parts.push_back(fmt::format("{}{} once {} is fixed", Numbers(numbers), verb, cause->rank));
  }
  return parts.empty() ? "" : fmt::format("{}.", fmt::join(parts, "; "));
}

// Whether the times of the plan, which are of the recording, are not those of a run that nobody
// profiles.
bool ProfilerMatters(const Report& report) {
  return std::any_of(report.plan.begin(), report.plan.end(), [&](const PlanStep& step) {
    const Finding* finding = FindingOf(report, step.rule);
    return HasNumber(finding) && finding->DiffersUnprofiled();
  });
}

}  // namespace

std::vector<PlanStage> ListedPlan(const Report& report) {
  const double units = IsOfSteps(report) ? report.step_count : 1;
  double left = report.window.Seconds();
  double before = left;
  std::vector<PlanStage> stages = {{0, left * kNanosPerSecond / units}};
  for (const PlanStep& step : report.plan) {
    const double saved = before - step.after_seconds;
    before = step.after_seconds;
    const Finding* const finding = FindingOf(report, step.rule);
    if (!HasNumber(finding)) continue;
    left -= saved;
    stages.push_back({finding->rank, left * kNanosPerSecond / units});
  }
  return stages.size() < 3 ? std::vector<PlanStage>() : stages;
}

std::string PlanTimeText(const Report& report, double ns) {
  std::string steps = StepsInWords(report.run);
  steps.pop_back();
  return FormatQuantity(ns, "ns") + (IsOfSteps(report) ? " per " + steps : "");
}

std::string PlanLimit(const Report& report) {
  const auto last =
      std::find_if(report.plan.rbegin(), report.plan.rend(),
                   [&](const PlanStep& step) { return HasNumber(FindingOf(report, step.rule)); });
  return last == report.plan.rend() || last->next_bound.empty()
             ? ""
             : last->next_bound + " is the limit";
}

std::vector<std::string> PlanStages(const Report& report, std::size_t most) {
  const std::vector<PlanStage> plan = ListedPlan(report);
  if (plan.empty()) return {};
  std::vector<std::string> stages = {PlanTimeText(report, plan.front().ns)};
  // A fix that another one makes needless leaves the time as it is.
  std::vector<std::string> times;
  std::string last = FormatQuantity(plan.front().ns, "ns");
  for (std::size_t i = 1; i < plan.size(); ++i) {
    std::string time = InUnitOf(plan.front().ns, plan[i].ns);
    if (time != last) times.push_back("→ " + time);
    last = std::move(time);
  }
  if (times.empty()) return {};
  for (std::size_t i = 0; i < times.size(); ++i) {
    if (i + 1 < most || i + 1 == times.size()) {
      stages.push_back(times[i]);
    } else if (i + 1 == most) {
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
  const auto any = [](const Finding&) { return true; };
  // A fix that wins something by itself pays, and pays more later.
  const auto pays = [](const Finding& finding) { return finding.alone_share >= kPays; };
  const auto pays_only_then = [&](const Finding& finding) { return !pays(finding); };
  add(EffectsText(report, &PlanStep::makes_needless, {" saves little", " save little"}, any));
  add(EffectsText(report, &PlanStep::unlocks, {" pays only", " pay only"}, pays_only_then));
  add(EffectsText(report, &PlanStep::unlocks, {" saves more", " save more"}, pays));
  // The note on what it costs says so, too.
  if (ProfilerMatters(report) && !HasCare(report, Care::kProfilerCost) &&
      !HasCare(report, Care::kMostlyProfiler))
    sentences.emplace_back("These times include what the profiler costs.");
  return sentences;
}

}  // namespace advise
