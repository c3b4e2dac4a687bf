#include "engine/grade/grade.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "engine/base/ascii.h"
#include "engine/base/is_in.h"
#include "engine/base/text.h"
#include "engine/grade/quantity.h"

namespace advise {
namespace {

std::string Normal(std::string_view text) {
  std::string normal;
  for (const char c : text) {
    if (IsAlnum(c) || static_cast<unsigned char>(c) >= 0x80) {
      normal += Lower(c);
    }
  }
  return normal;
}

// A number with its unit, or why there is none.
struct FactValue {
  std::optional<double> number;
  std::string text;
  std::string unit;
  std::string missing;
};

FactValue ValueOf(const Report& report, const std::string& name) {
  FactValue result;
  const NamedFact* fact = FindFact(report, name);
  if (fact == nullptr) {
    result.missing = "the fact " + name + " is not there";
    return result;
  }
  result.unit = fact->info->unit;
  if (const auto* number = std::get_if<double>(&fact->fact.value)) {
    result.number = *number;
  } else if (const auto* flag = std::get_if<bool>(&fact->fact.value)) {
    result.number = *flag ? 1 : 0;
    result.text = *flag ? "yes" : "no";
  } else if (const auto* text = std::get_if<std::string>(&fact->fact.value)) {
    result.text = *text;
  } else if (const auto* spans = std::get_if<std::shared_ptr<const Spans>>(&fact->fact.value)) {
    result.number = *spans == nullptr ? 0 : static_cast<double>((*spans)->Total());
    result.unit = "ns";
  } else if (const auto* absent = std::get_if<Absent>(&fact->fact.value)) {
    result.missing = absent->reason;
  } else {
    result.missing = name + " is a table";
  }
  return result;
}

enum class Fired { kYes, kNo, kCannotTell };

// Whether a rule fired on the report; a finding that wins less than counts (info) did not.
Fired HasFired(const Report& report, const std::string& rule, std::string* why) {
  for (const Finding& finding : report.findings) {
    if (finding.rule != nullptr && finding.rule->id == rule &&
        (finding.severity != Severity::kInfo || finding.rule->kind == RuleKind::kInfo)) {
      return Fired::kYes;
    }
  }
  bool ran = false;
  for (const Verdict& verdict : report.verdicts) {
    if (verdict.rule == nullptr || verdict.rule->id != rule) continue;
    if (verdict.outcome == Outcome::kCannotTell || verdict.outcome == Outcome::kBroken) {
      *why = rule + " could not run: " + verdict.reason;
      return Fired::kCannotTell;
    }
    ran = true;
  }
  if (!ran) {
    *why = rule + " did not run";
    return Fired::kCannotTell;
  }
  // Folded under a cause that has fired: it stands for it.
  for (const Finding& finding : report.findings) {
    if (finding.severity == Severity::kInfo) continue;
    if (IsIn(rule, finding.explains)) return Fired::kYes;
  }
  return Fired::kNo;
}

class Grader {
 public:
  Grader(const Exercise& exercise, const GradeInput& input) : exercise_(exercise), input_(input) {}

  Grade Run() {
    Grade grade;
    for (const Criterion& one : exercise_.criteria) {
      Mark mark = Judge(one);
      mark.id = one.id;
      mark.possible = one.points;
      mark.points = std::round(mark.points * 100) / 100;
      if (mark.text.empty()) {
        mark.text = mark.state == MarkState::kFull     ? one.good
                    : mark.state == MarkState::kPerson ? one.ask
                                                       : one.bad;
      }
      if (mark.state == MarkState::kPerson) {
        grade.open += one.points;
      } else {
        grade.points += mark.points;
        grade.possible += one.points;
      }
      grade.marks.push_back(std::move(mark));
    }
    grade.passed = grade.possible > 0 && ShowsChange(grade) &&
                   grade.points >= exercise_.pass_share * grade.possible - 1e-9;
    return grade;
  }

 private:
  // Whether the criterion looks at what was changed.
  static bool IsOfChange(const Criterion& one) {
    const bool of_run = one.kind == CriterionKind::kFinding || one.kind == CriterionKind::kFact ||
                        one.kind == CriterionKind::kImprovement;
    return of_run && one.on == RunRole::kSubmission;
  }
  // Right answers are no change: true where the exercise asks for none.
  bool ShowsChange(const Grade& grade) const {
    const bool other_work = input_.improvement && input_.improvement->other_work;
    bool asked = false;
    for (std::size_t i = 0; i < grade.marks.size(); ++i) {
      if (!IsOfChange(exercise_.criteria[i])) continue;
      asked = true;
      const bool open = grade.marks[i].state == MarkState::kPerson && !other_work;
      if (grade.marks[i].points > 0 || open) return true;
    }
    return !asked;
  }

  static Mark ToPerson(std::string why) {
    Mark mark;
    mark.state = MarkState::kPerson;
    mark.text = std::move(why);
    return mark;
  }
  static Mark Missing(std::string what) {
    Mark mark;
    mark.state = MarkState::kMissing;
    mark.given = std::move(what);
    return mark;
  }
  static Mark NothingHandedIn() {
    Mark mark = Missing("no report was handed in");
    mark.text = "There is no run to check this against.";
    return mark;
  }
  static void Share(const Criterion& one, double share, Mark* mark) {
    mark->points = one.points * share;
    mark->state = share >= 1  ? MarkState::kFull
                  : share > 0 ? MarkState::kPartial
                              : MarkState::kZero;
  }
  static double StepShare(const Criterion& one, double value, bool upper) {
    for (const auto& [bound, share] : one.steps) {
      if (upper ? value <= bound + 1e-12 : value >= bound - 1e-12) return share;
    }
    return 0;
  }
  const Report* RunOf(const Criterion& one) const {
    return one.on == RunRole::kBaseline ? input_.baseline : input_.submission;
  }

  // Nothing was changed, so nothing was mended: whatever names in the file say by now.
  static Mark Unchanged() {
    Mark mark;
    mark.given = "the handed-out run, unchanged";
    return mark;
  }

  // A run of another program does not show that the fault of this one was fixed.
  Mark OfAnotherProgram() const {
    Mark mark;
    mark.given = "a run of another program";
    mark.text =
        "This is no run of the program that was handed out: " + input_.improvement->reason + ".";
    return mark;
  }

  // The finding is gone, but each step takes longer than before: that is no fix.
  Mark OfSlowerRun() const {
    Mark mark;
    mark.given = fmt::format("a step takes {:.2f} times as long", 1 / input_.improvement->speedup);
    mark.text = "The step of this run is slower than that of the handed-out one: " + mark.given +
                ". A fix makes it faster.";
    return mark;
  }

  Mark Judge(const Criterion& one) const {
    if (IsOfChange(one) && input_.is_baseline) return Unchanged();
    if (IsOfChange(one) && input_.improvement && input_.improvement->other_program)
      return OfAnotherProgram();
    // A finding may be gone from it because it does less.
    if (IsOfChange(one) && input_.submission != nullptr && input_.improvement &&
        input_.improvement->other_work)
      return ToPerson("cannot be compared with the baseline: " + input_.improvement->reason);
    if (one.kind == CriterionKind::kFinding && IsOfChange(one) && input_.improvement &&
        input_.improvement->comparable && input_.improvement->certain &&
        input_.improvement->speedup < 1)
      return OfSlowerRun();
    switch (one.kind) {
      case CriterionKind::kAnswer:
        return Answer(one);
      case CriterionKind::kChoice:
        return Choice(one);
      case CriterionKind::kFinding:
        return FindingGone(one);
      case CriterionKind::kFact:
        return FactBound(one);
      case CriterionKind::kImprovement:
        return Improved(one);
      case CriterionKind::kPerson:
        break;
    }
    return ToPerson("a person judges: " + one.ask);
  }

  // What was written; nullptr when the question was not answered.
  const std::string* Written(const Criterion& one) const {
    if (!input_.answers) return nullptr;
    const auto found = input_.answers->find(one.id);
    return found == input_.answers->end() || found->second.empty() ? nullptr : &found->second;
  }

  // The run that a question is about is not there: the student's fault only when it is theirs.
  static Mark NoRun(const Criterion& one) {
    if (one.on == RunRole::kSubmission) return NothingHandedIn();
    return ToPerson("no baseline was given to check this against");
  }

  Mark Answer(const Criterion& one) const {
    FactValue truth;
    if (one.expect) {
      truth.number = *one.expect;
      truth.unit = one.unit.empty() ? "num" : "";
    } else {
      const Report* run = RunOf(one);
      if (run == nullptr) return NoRun(one);
      truth = ValueOf(*run, one.fact);
      if (!truth.number) return ToPerson("cannot be checked on this run: " + truth.missing);
      *truth.number *= one.scale;
    }
    const std::string* written = Written(one);
    if (written == nullptr) return Missing("no answer");
    Mark mark;
    mark.given = SafeText(*written);
    // A given value has the unit of the exercise: both are compared in its base.
    const bool given = truth.unit.empty();
    std::string base = truth.unit;
    double wanted = *truth.number;
    if (given) {
      for (const char* unit : {"ns", "bytes", "bytes_per_s", "share", "flop_per_s", "num"}) {
        if (UnitsFit(one.unit, unit)) base = unit;
      }
      wanted = ToFactUnit({wanted, one.unit}, base, "").value_or(wanted);
    }
    mark.wanted = FormatQuantity(wanted, base);
    const auto quantity = ParseQuantity(*written);
    const auto value = quantity ? ToFactUnit(*quantity, base, one.unit) : std::nullopt;
    if (!value) {
      mark.text = quantity ? "The unit does not fit. " + one.bad : "Not a number. " + one.bad;
      return mark;
    }
    Share(one, StepShare(one, Error(*value, wanted), true), &mark);
    if (mark.state != MarkState::kFull && !one.or_fact.empty()) TryOther(one, *value, &mark);
    return mark;
  }

  static double Error(double value, double wanted) {
    if (wanted == 0) return value == 0 ? 0 : 1;
    return std::abs(value - wanted) / std::abs(wanted);
  }

  // What another method gives is right where it fits better, and the student learns what was meant.
  void TryOther(const Criterion& one, double value, Mark* mark) const {
    const Report* run = RunOf(one);
    const FactValue other = run == nullptr ? FactValue() : ValueOf(*run, one.or_fact);
    if (!other.number) return;
    const double share = StepShare(one, Error(value, *other.number * one.scale), true);
    if (share * one.points <= mark->points) return;
    Share(one, share, mark);
    mark->text = one.or_says;
  }

  Mark Choice(const Criterion& one) const {
    std::string truth = one.expect_text;
    if (truth.empty()) {
      const Report* run = RunOf(one);
      if (run == nullptr) return NoRun(one);
      if (!one.fact.empty()) {
        const FactValue fact = ValueOf(*run, one.fact);
        if (fact.text.empty()) return ToPerson("cannot be checked on this run: " + fact.missing);
        truth = fact.text;
        const bool offered =
            std::any_of(one.choices.begin(), one.choices.end(),
                        [&](const std::string& choice) { return Normal(choice) == Normal(truth); });
        if (!one.choices.empty() && !offered)
          return ToPerson("cannot be checked on this run: advise says \"" + SafeText(truth) + "\"");
      } else {
        bool any = false;
        std::string why;
        for (const std::string& rule : one.yes_when) {
          const Fired fired = HasFired(*run, rule, &why);
          if (fired == Fired::kYes) any = true;
        }
        // "No" needs every rule to have run.
        if (!any && !why.empty()) return ToPerson("cannot be checked on this run: " + why);
        truth = any ? "yes" : "no";
      }
    }
    const std::string* written = Written(one);
    if (written == nullptr) return Missing("no answer");
    Mark mark;
    mark.given = SafeText(*written);
    mark.wanted = truth;
    std::string given = Normal(*written);
    for (const auto& [word, means] : {std::pair{"true", "yes"},
                                      {"y", "yes"},
                                      {"ja", "yes"},
                                      {"false", "no"},
                                      {"n", "no"},
                                      {"nein", "no"}}) {
      if (given == word) given = means;
    }
    const bool known = std::any_of(one.choices.begin(), one.choices.end(),
                                   [&](const std::string& c) { return Normal(c) == given; });
    if (!known && one.fact.empty()) {
      mark.text =
          fmt::format("The answer is none of: {}. {}", fmt::join(one.choices, ", "), one.bad);
      return mark;
    }
    Share(one, given == Normal(truth) ? 1 : 0, &mark);
    return mark;
  }

  Mark FindingGone(const Criterion& one) const {
    const Report* run = RunOf(one);
    if (run == nullptr) return NoRun(one);
    Mark mark;
    const bool absent = !one.absent.empty();
    std::vector<std::string> fired;
    std::string why;
    for (const std::string& rule : absent ? one.absent : one.present) {
      if (HasFired(*run, rule, &why) == Fired::kYes) fired.push_back(rule);
    }
    mark.wanted = fmt::format("{} {}", absent ? "none of" : "one of",
                              fmt::join(absent ? one.absent : one.present, ", "));
    if (fired.empty() && !why.empty()) return ToPerson("cannot be judged: " + why);
    if (absent && !run->no_verdict_reason.empty() && fired.empty()) {
      return ToPerson("cannot be judged: the capture supports no verdict, " +
                      run->no_verdict_reason);
    }
    mark.given = fired.empty() ? "none" : fmt::format("{}", fmt::join(fired, ", "));
    Share(one, fired.empty() == absent ? 1 : 0, &mark);
    return mark;
  }

  Mark FactBound(const Criterion& one) const {
    const Report* run = RunOf(one);
    if (run == nullptr) return NoRun(one);
    const FactValue fact = ValueOf(*run, one.fact);
    if (!fact.number) return ToPerson("cannot be judged on this run: " + fact.missing);
    Mark mark;
    const double value = *fact.number * one.scale;
    mark.given = FormatQuantity(value, fact.unit);
    mark.wanted = fmt::format("{} {}", one.at_most ? "at most" : "at least",
                              FormatQuantity(one.steps.front().first, fact.unit));
    Share(one, StepShare(one, value, one.at_most), &mark);
    return mark;
  }

  Mark Improved(const Criterion& one) const {
    if (input_.submission == nullptr) return NothingHandedIn();
    if (!input_.improvement) return ToPerson("no baseline was given to compare with");
    if (!input_.improvement->comparable) {
      return ToPerson("cannot be compared with the baseline: " + input_.improvement->reason);
    }
    Mark mark;
    mark.given = fmt::format("{:.2f} times as fast", input_.improvement->speedup);
    mark.wanted = fmt::format("{:.2f} times", one.steps.front().first);
    Share(one, StepShare(one, input_.improvement->speedup, false), &mark);
    return mark;
  }

  const Exercise& exercise_;
  const GradeInput& input_;
};

}  // namespace

const char* MarkStateName(MarkState state) {
  switch (state) {
    case MarkState::kFull:
      return "full";
    case MarkState::kPartial:
      return "partial";
    case MarkState::kZero:
      return "none";
    case MarkState::kMissing:
      return "missing";
    case MarkState::kPerson:
      break;
  }
  return "person";
}

Grade GradeSubmission(const Exercise& exercise, const GradeInput& input) {
  return Grader(exercise, input).Run();
}

}  // namespace advise
