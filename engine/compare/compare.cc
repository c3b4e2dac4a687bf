#include "engine/compare/compare.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "engine/base/text.h"
#include "engine/compare/applied_fixes.h"
#include "engine/compare/bootstrap.h"
#include "engine/compare/work_match.h"
#include "engine/facts/rows.h"
#include "engine/trace/idle_cause.h"

namespace advise {
namespace {

// Where the time went, in five parts.
constexpr std::array<const char*, 5> kBudget = {"budget.compute", "budget.comm_exposed",
                                                "budget.copy_exposed", "budget.memset_exposed",
                                                "budget.idle"};

// Steady steps with their outliers: what a fix takes away may be just those. The last one may end
// with the last GPU work and lack the wait for a next step, which only shortens it: where another
// is shorter, nothing says that it was cut.
std::vector<double> StepLengths(const Report& report, std::size_t least) {
  std::vector<double> lengths;
  const Rows* rows = FactRows(report, "work.steps");
  if (rows == nullptr) return lengths;
  for (const Row& row : *rows) {
    if (const auto* time = CellOf<double>(row, "time")) lengths.push_back(*time);
  }
  if (lengths.size() > least &&
      lengths.back() <= *std::min_element(lengths.begin(), lengths.end() - 1))
    lengths.pop_back();
  return lengths;
}

double WindowNs(const Report& report) {
  return static_cast<double>(report.window.end_ns - report.window.start_ns);
}

// How many units of work, each of `ns`, a report's budget covers: of several ranks their whole
// windows, not the steps alone in which they are compared. The parts of a budget add up to its
// time.
double UnitsOfBudget(const Report& report, double ns) {
  double time = 0;
  for (const char* part : kBudget) time += FactNumber(report, part).value_or(0);
  return time > 0 && ns > 0 ? time / ns : 1;
}

bool Speaks(const Finding& finding) { return finding.severity != Severity::kInfo; }

bool WasChecked(const Report& report, const std::string& rule) {
  return std::none_of(report.not_checked.begin(), report.not_checked.end(),
                      [&](const NotChecked& item) { return item.rule == rule; });
}

// The verdict of a rule that fired; null for none.
const Verdict* FiredOf(const Report& report, const std::string& rule) {
  const auto found =
      std::find_if(report.verdicts.begin(), report.verdicts.end(), [&](const Verdict& verdict) {
        return verdict.outcome == Outcome::kFired && verdict.rule != nullptr &&
               verdict.rule->id == rule;
      });
  return found == report.verdicts.end() ? nullptr : &*found;
}

// Whether AFTER still does about as often what the rule found in BEFORE: that its price has fallen
// is the merit of another change.
bool IsAsOften(const Report& before, const Report& after, const std::string& rule, double part) {
  const Verdict* was = FiredOf(before, rule);
  const Verdict* is = FiredOf(after, rule);
  if (was == nullptr || is == nullptr) return false;
  for (const char* key : {"per_step", "count"}) {
    const auto a = was->evidence.find(key);
    const auto b = is->evidence.find(key);
    if (a == was->evidence.end() || b == is->evidence.end()) continue;
    const double* often = std::get_if<double>(&a->second);
    const double* still = std::get_if<double>(&b->second);
    return often != nullptr && still != nullptr && *often > 0 && *still >= part * *often;
  }
  return false;
}

class Comparer {
 public:
  Comparer(const Report& before, const Report& after, const Knowledge& knowledge, bool force)
      : before_(before), after_(after), knowledge_(knowledge), force_(force) {}

  RunComparison Compare() {
    Machines();
    const WorkMatch match = MatchWork(before_, after_, knowledge_);
    result_.matched_before = match.matched_before;
    result_.matched_after = match.matched_after;
    result_.matched = match.levels.parts;
    if (!match.same && !match.problem.empty()) result_.reasons.push_back(match.problem);
    result_.other_program = match.other_program;
    result_.other_work = !match.same && !match.problem.empty() && !match.other_program;
    Times(match);
    result_.comparable = result_.reasons.empty();
    result_.forced = force_ && !result_.comparable;
    if (!result_.comparable && !result_.forced) return std::move(result_);
    if (result_.forced) EachByItself();
    Budgets();
    Findings();
    result_.achieved_ns = result_.before.ns - result_.after.ns;
    Notes(match);
    return std::move(result_);
  }

 private:
  void Machines() {
    const std::string a = FactWord(before_, "hw.name", "");
    const std::string b = FactWord(after_, "hw.name", "");
    if (!a.empty() && !b.empty() && a != b) {
      result_.reasons.push_back(fmt::format("other GPUs: {} before, {} after", a, b));
    } else if (a.empty() || b.empty()) {
      result_.notes.emplace_back(
          "A report does not name its GPU: the comparison assumes that both ran on the same GPU");
    }
    const auto count = [this](const char* fact, const char* what, double least) {
      const auto x = FactNumber(before_, fact);
      const auto y = FactNumber(after_, fact);
      if (!x || !y || *x == *y || *x < least || *y < least) return;
      result_.reasons.push_back(
          fmt::format("other {}: {:.0f} before, {:.0f} after (scaling: advise compare --scaling)",
                      what, *x, *y));
    };
    count("run.devices", "number of GPUs", 0);
    // Without calls, nobody knows which processes launched the work.
    if (result_.reasons.empty()) count("run.processes", "number of ranks", 1);
  }

  void Times(const WorkMatch& match) {
    const auto least = knowledge_.CountOf("compare.least_steps");
    const std::vector<double> a = StepLengths(before_, least);
    const std::vector<double> b = StepLengths(after_, least);
    if (a.empty() || b.empty()) return WindowTimes(match);
    result_.unit = "step";
    result_.units_before =
        static_cast<std::int64_t>(FactNumber(before_, "steps.count").value_or(0));
    result_.units_after = static_cast<std::int64_t>(FactNumber(after_, "steps.count").value_or(0));
    // Both captures may be of any length: what counts is the work in one step.
    const double steps = static_cast<double>(result_.units_after) /
                         static_cast<double>(std::max<std::int64_t>(1, result_.units_before));
    if (match.same && match.even && steps > 0) {
      const double ratio = match.count_ratio / steps;
      const double tolerance = knowledge_.Number("compare.same_work");
      if (ratio > 1 + tolerance || ratio < 1 / (1 + tolerance)) result_.work_ratio = ratio;
    }
    result_.before.ns = MeanOf(a);
    result_.before.median_ns = MedianOf(a);
    result_.after.ns = MeanOf(b) / result_.work_ratio;
    result_.after.median_ns = MedianOf(b) / result_.work_ratio;
    units_before_ = WindowNs(before_) / result_.before.ns;
    units_after_ = WindowNs(after_) / result_.after.ns;
    if (std::min(a.size(), b.size()) >= least) {
      const BootstrapPair pair = Bootstrap(a, b, knowledge_.CountOf("compare.resamples"),
                                           knowledge_.Number("compare.turn_explains"));
      result_.before.low_ns = pair.low_a;
      result_.before.high_ns = pair.high_a;
      result_.after.low_ns = pair.low_b / result_.work_ratio;
      result_.after.high_ns = pair.high_b / result_.work_ratio;
      result_.speedup_low = pair.low_ratio * result_.work_ratio;
      result_.speedup_high = pair.high_ratio * result_.work_ratio;
      result_.certain = *result_.speedup_low > 1 || *result_.speedup_high < 1;
    }
    result_.speedup = result_.after.ns > 0 ? result_.before.ns / result_.after.ns : 1;
  }

  // Without steps the launches that both runs make count the work.
  void WindowTimes(const WorkMatch& match) {
    result_.unit = "window";
    result_.units_before = result_.units_after = 1;
    if (!match.same) return;
    if (!match.even) {
      result_.reasons.emplace_back(
          "no steps were found in both runs, and the kernels that they share were not launched in "
          "the same proportions: the work of the two windows is unknown");
      return;
    }
    result_.work_ratio = match.count_ratio;
    units_before_ = 1;
    units_after_ = match.count_ratio;
    result_.before.ns = result_.before.median_ns = WindowNs(before_);
    result_.after.ns = result_.after.median_ns = WindowNs(after_) / match.count_ratio;
    result_.speedup = result_.after.ns > 0 ? result_.before.ns / result_.after.ns : 1;
    result_.notes.push_back(fmt::format(
        "No steps were found in both runs: compared by the work of BEFORE's window, of which AFTER "
        "holds {:.2f} times as much, counted by the kernels that both launch; how much of the "
        "change is noise is unknown",
        match.count_ratio));
  }

  // Different work, each run by its own steps or window: no figure of one is for the other's work.
  void EachByItself() {
    result_.work_ratio = result_.speedup = 1;
    result_.speedup_low.reset();
    result_.speedup_high.reset();
    result_.certain.reset();
    if (result_.unit == "step") return;
    result_.before.ns = result_.before.median_ns = WindowNs(before_);
    result_.after.ns = result_.after.median_ns = WindowNs(after_);
    units_before_ = units_after_ = 1;
  }

  void Budgets() {
    std::vector<std::string> names(kBudget.begin(), kBudget.end());
    for (const NamedFact& fact : before_.facts) {
      constexpr std::string_view kIdle = "idle.";
      if (!fact.info->name.starts_with(kIdle) || fact.info->unit != "ns") continue;
      // Parts of a cause are in it already.
      const std::string_view cause = std::string_view(fact.info->name).substr(kIdle.size());
      if (WordsOfIdleCause(cause) != nullptr) names.push_back(fact.info->name);
    }
    const double in_before = UnitsOfBudget(before_, result_.before.ns);
    const double in_after = UnitsOfBudget(after_, result_.after.ns);
    for (const std::string& name : names) {
      const double a = FactNumber(before_, name).value_or(0) / in_before;
      const double b = FactNumber(after_, name).value_or(0) / in_after;
      const bool part = name.starts_with("budget.");
      if (!part && a <= 0 && b <= 0) continue;
      result_.budget.push_back({part ? name.substr(7) : name, a, b});
    }
  }

  void Findings() {
    for (const Finding& finding : before_.findings) {
      if (finding.rule == nullptr || !Speaks(finding)) continue;
      const std::string& rule = finding.rule->id;
      const Finding* other = FindingOf(after_, rule);
      FindingChange change{rule, finding.Title(),
                           finding.saving_s * kNanosPerSecond / units_before_, 0, ""};
      const bool stays = IsAsOften(before_, after_, rule, knowledge_.Number("compare.as_often"));
      if (other != nullptr && (Speaks(*other) || stays)) {
        change.after_ns = other->saving_s * kNanosPerSecond / units_after_;
        result_.left.push_back(change);
      } else if (!WasChecked(after_, rule)) {
        result_.unknown.push_back(change);
      } else {
        result_.fixed.push_back(change);
      }
    }
    for (const Finding& finding : after_.findings) {
      if (finding.rule == nullptr || !Speaks(finding)) continue;
      const Finding* other = FindingOf(before_, finding.rule->id);
      if (other != nullptr && Speaks(*other)) continue;
      // What other findings covered in BEFORE was there before they were fixed.
      const bool fired = FiredOf(before_, finding.rule->id) != nullptr;
      (fired ? result_.left : result_.added)
          .push_back({finding.rule->id, finding.Title(),
                      other == nullptr ? 0 : other->saving_s * kNanosPerSecond / units_before_,
                      finding.saving_s * kNanosPerSecond / units_after_, ""});
    }
    if (!result_.forced)
      FindWhatWentAlong({before_, units_before_}, {after_, units_after_}, knowledge_, &result_);
    for (const FindingChange& change : result_.fixed) result_.predicted_ns += change.before_ns;
  }

  // How sure it is that the runs did the same work.
  void MatchNotes(const LevelMatch& match) {
    const double few = knowledge_.Number("compare.few_matched");
    const bool by_graph = std::any_of(match.parts.begin(), match.parts.end(),
                                      [](const MatchedPart& part) { return part.by == "graph"; });
    if (by_graph) {
      result_.notes.emplace_back(
          "CUDA graphs were recorded as a whole in one of the runs: that they do the work of the "
          "other run's kernels is assumed; nsys profile --cuda-graph-trace=node records what runs "
          "inside them");
      return;
    }
    if (std::max(match.all_before, match.all_after) < few) {
      result_.notes.push_back(fmt::format(
          "Kernels of both runs hold only {} of the kernel time before and {} after: "
          "either the fix replaced most kernels, or these are different programs and "
          "the figures mean nothing",
          FormatQuantity(match.all_before, "share"), FormatQuantity(match.all_after, "share")));
    } else if (std::max(match.sure_before, match.sure_after) < few) {
      result_.notes.push_back(fmt::format(
          "Kernels, or operators on the same shapes, of both runs hold only {} of the kernel time "
          "before and {} after; the rest is matched by what other programs have, too: names of "
          "operators and ranges, and places in the step",
          FormatQuantity(match.sure_before, "share"), FormatQuantity(match.sure_after, "share")));
    }
  }

  void Notes(const WorkMatch& match) {
    if (result_.work_ratio != 1 && result_.unit == "step") {
      result_.notes.push_back(fmt::format(
          "A step of AFTER does {:.2f} times the work of a step of BEFORE ({}): all figures of "
          "AFTER are scaled to the work of one step of BEFORE",
          result_.work_ratio,
          match.by_uploads ? "uploads of the same data, and launches of some of the kernels"
                           : "launches of the same kernels"));
    }
    if (match.same && !match.other_pieces &&
        std::abs(match.longer - 1) > knowledge_.Number("compare.slower")) {
      result_.notes.push_back(
          fmt::format("Nearly all kernels take {:.2f} times as long for the same size: look at "
                      "the clock of the GPU, its power limit and other processes on it",
                      match.longer));
    }
    MatchNotes(match.levels);
    if (match.other_pieces) {
      result_.notes.emplace_back(
          "AFTER launches the shared kernels more or less often per step, and each launch does "
          "less or more in proportion: the same work in other pieces, as with micro-batches");
    } else if (!match.even && match.matched_before > 0 && result_.unit == "step") {
      result_.notes.emplace_back(
          "The kernels that both runs share were not launched in the same proportions: the "
          "comparison assumes that a step does the same work");
    }
    for (const auto& [report, name] : {std::pair{&before_, "BEFORE"}, {&after_, "AFTER"}}) {
      if (!report->no_verdict_reason.empty()) {
        result_.notes.push_back(
            fmt::format("{} supports no verdict: {}", name, report->no_verdict_reason));
      }
    }
    if (!result_.forced && !result_.certain.has_value() && result_.unit == "step") {
      result_.notes.emplace_back("There are too few steps to tell the change from noise");
    }
  }

  const Report& before_;
  const Report& after_;
  const Knowledge& knowledge_;
  bool force_;
  RunComparison result_;
  double units_before_ = 1;  // of BEFORE's work, in each window
  double units_after_ = 1;
};

}  // namespace

RunComparison CompareRuns(const Report& before, const Report& after, const Knowledge& knowledge,
                          bool force) {
  return Comparer(before, after, knowledge, force).Compare();
}

}  // namespace advise
