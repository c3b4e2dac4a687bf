// `advise whatif`: the new step time if these findings were fixed.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <optional>

#include "engine/app/command.h"
#include "engine/app/command_answers.h"
#include "engine/app/options.h"
#include "engine/base/is_in.h"
#include "engine/base/text.h"
#include "engine/pipeline/inputs.h"
#include "engine/pipeline/session.h"
#include "engine/report/finding_text.h"
#include "engine/report/json_value.h"
#include "engine/report/layout.h"
#include "engine/report/plan_text.h"
#include "engine/store/facts_file.h"

namespace fs = std::filesystem;

namespace advise {
namespace {

constexpr double kWorthSaying = 0.005;  // of the window: layout only

// What some fixes would win together: where the plan that holds them alone ends. Not the sum of
// what each wins by itself: fixes share time, and the next bound stops them.
struct WhatIf {
  Nanos window_ns = 0;
  Nanos gain_ns = 0;       // of all fixes together
  std::string next_bound;  // what limits the run then
  int steps = 0;           // in the window, 0 unknown
  struct Part {
    std::string rule;
    std::string title;
    Nanos alone_ns = 0;     // gain of this fix by itself
    Nanos whole_ns = 0;     // the same with what more specific findings change, too; 0 not known
    bool replayed = false;  // else a part of the time it claims
  };
  std::vector<Part> parts;  // as the fixes were named
};

// Of a report whose findings are those of these rules alone.
WhatIf WhatIfOf(const Report& report, const std::vector<std::string>& fixes) {
  WhatIf result;
  result.window_ns = report.window.end_ns - report.window.start_ns;
  result.steps = report.step_count;
  const auto window = static_cast<double>(result.window_ns);
  if (!report.plan.empty()) {
    result.gain_ns =
        result.window_ns - std::llround(report.plan.back().after_seconds * kNanosPerSecond);
    result.next_bound = report.plan.back().next_bound;
  }
  for (const std::string& fix : fixes) {
    const Finding* finding = FindingOf(report, fix);
    WhatIf::Part part{fix, "", 0, false};
    if (finding != nullptr) {
      part.title = finding->Title();
      part.alone_ns = std::llround(finding->alone_share * window);
      part.replayed = !finding->changes.empty();
    }
    for (const ClaimResult& claim : report.claim_results) {
      if (claim.rule->id == fix) part.whole_ns = std::max(part.whole_ns, claim.gain);
    }
    result.parts.push_back(std::move(part));
  }
  return result;
}

// A bound, not a measurement: no more digits than it deserves.
std::string TimesAsFast(double speedup) {
  const int digits = speedup >= 10 ? 0 : speedup >= 2 ? 1 : 2;  // layout only
  return fmt::format("up to {:.{}f} times as fast", speedup, digits);
}

double PerStep(const WhatIf& result, Nanos ns) {
  return static_cast<double>(ns) / static_cast<double>(std::max(1, result.steps));
}

double Share(const WhatIf& result, Nanos ns) {
  return result.window_ns > 0 ? static_cast<double>(ns) / static_cast<double>(result.window_ns) : 0;
}

std::string Text(const WhatIf& result, int width, bool color) {
  Page page(width, color);
  const Nanos after = result.window_ns - result.gain_ns;
  const auto time = [&](Nanos ns) { return FormatQuantity(PerStep(result, ns), "ns"); };
  const double speedup =
      after > 0 ? static_cast<double>(result.window_ns) / static_cast<double>(after) : 0;
  page.Wrapped(
      fmt::format("{} {} → {}: {} saved ({}), {}.", result.steps > 0 ? "Step" : "Window",
                  time(result.window_ns), time(after), time(result.gain_ns),
                  FormatQuantity(Share(result, result.gain_ns), "share"), TimesAsFast(speedup)),
      0, Ink::kBold);
  page.Blank();
  std::vector<std::vector<std::string>> rows;
  for (const WhatIf::Part& part : result.parts) {
    rows.push_back({part.rule, time(part.alone_ns),
                    FormatQuantity(Share(result, part.alone_ns), "share"),
                    part.replayed ? "replayed" : "part of its time"});
  }
  WriteTable(page, {"fix", "alone>", "share>", "how"}, rows, 1);
  page.Blank();
  if (!result.next_bound.empty()) {
    page.Labelled("Then", 0, 6, result.next_bound + " is the limit.");
  }
  for (const WhatIf::Part& part : result.parts) {
    const double more = Share(result, part.whole_ns - part.alone_ns);
    if (more < kWorthSaying) continue;
    page.Wrapped(
        fmt::format("More specific findings make some of the changes of {}, too. With "
                    "these changes it saves {}.",
                    part.rule, time(part.whole_ns)));
  }
  page.Wrapped(result.steps > 0
                   ? fmt::format("Mean of {} steps. Fixes share time: together they save less than "
                                 "the sum, or more if one exposes the gain of the other.",
                                 result.steps)
                   : "No steps were found, so this is the whole window. Fixes share time: together "
                     "they save less than the sum, or more if one exposes the gain of the other.",
               0, Ink::kDim);
  return page.text();
}

std::string Json(const WhatIf& result) {
  const Nanos after = result.window_ns - result.gain_ns;
  OrderedJson parts = OrderedJson::array();
  for (const WhatIf::Part& part : result.parts) {
    parts.push_back(
        {{"rule", JsonText(part.rule)},
         {"title", JsonText(part.title)},
         {"alone", {{"ns", part.alone_ns}, {"share", JsonNumber(Share(result, part.alone_ns))}}},
         {"basis", part.replayed ? "replay" : "part of the claimed time"}});
  }
  return PrintJson(
      {{"schema", 1},
       {"window", {{"before_ns", result.window_ns}, {"after_ns", after}}},
       {"steps", result.steps},
       {"step", result.steps == 0
                    ? OrderedJson()
                    : OrderedJson{{"before_ns", JsonNumber(PerStep(result, result.window_ns))},
                                  {"after_ns", JsonNumber(PerStep(result, after))}}},
       {"saving",
        {{"seconds", JsonNumber(static_cast<double>(result.gain_ns) / kNanosPerSecond)},
         {"share", JsonNumber(Share(result, result.gain_ns))}}},
       {"next_bound", JsonText(result.next_bound)},
       {"fixes", parts}});
}

std::string PlanText(const Report& report, int width, bool color) {
  Page page(width, color);
  if (report.plan.empty()) {
    page.Wrapped("No finding of this report has a known saving, so there is no plan.");
    return page.text();
  }
  const double window = report.window.Seconds();
  const int units = std::max(1, report.step_count);
  const auto time = [&](double seconds) {
    return FormatQuantity(seconds * kNanosPerSecond / units, "ns");
  };
  const double after = report.plan.back().after_seconds;
  page.Wrapped(
      fmt::format("{} {} → {} with {}{}.", report.step_count > 0 ? "Step" : "Window", time(window),
                  time(after), report.plan.size() == 1 ? "this fix" : "these fixes",
                  after > 0 ? ", " + TimesAsFast(window / after) : ""),
      0, Ink::kBold);
  page.Blank();
  std::vector<std::vector<std::string>> rows;
  bool profiler_matters = false;
  for (const PlanStep& step : report.plan) {
    const Finding* finding = FindingOf(report, step.rule);
    // The table's own times are of the recording, and per step where there are any.
    const std::string saves =
        finding == nullptr ? ""
        : finding->DiffersUnprofiled() || finding->saving_s <= 0
            ? SavingShares(*finding)
            : fmt::format("{} ({})", time(finding->saving_s), SavingShares(*finding));
    rows.push_back({std::to_string(rows.size() + 1), step.rule, time(step.after_seconds), saves});
    profiler_matters = profiler_matters || (finding != nullptr && finding->DiffersUnprofiled());
  }
  WriteTable(page, {"", "fix", "then>", "saves>"}, rows, 1);
  page.Blank();
  if (const std::string& limit = report.plan.back().next_bound; !limit.empty())
    page.Labelled("Then", 0, 6, limit + " is the limit.");
  for (const PlanStep& step : report.plan) {
    if (!step.makes_needless.empty())
      page.Wrapped(fmt::format("After {}, little is left to win by {}.", step.rule,
                               fmt::join(step.makes_needless, ", ")));
    if (!step.unlocks.empty())
      page.Wrapped(fmt::format("After {}, more can be won by {}.", step.rule,
                               fmt::join(step.unlocks, ", ")));
  }
  page.Wrapped(
      fmt::format("{}Each line counts the fixes above it as done.{}",
                  report.step_count > 1 ? fmt::format("Mean of {} steps. ", report.step_count) : "",
                  profiler_matters ? " Times include what the profiler costs." : ""),
      0, Ink::kDim);
  return page.text();
}

std::string PlanJson(const Report& report) {
  const double window = report.window.Seconds();
  const double after = report.plan.empty() ? window : report.plan.back().after_seconds;
  const double units = std::max(1, report.step_count);
  OrderedJson steps = OrderedJson::array();
  for (const PlanStep& step : report.plan) {
    const Finding* finding = FindingOf(report, step.rule);
    OrderedJson saving = {{"seconds", JsonNumber(finding == nullptr ? 0 : finding->saving_s)},
                          {"share", JsonNumber(finding == nullptr ? 0 : finding->saving_share)},
                          {"alone", JsonNumber(finding == nullptr ? 0 : finding->alone_share)}};
    if (finding != nullptr && finding->unprofiled_share)
      saving["unprofiled"] = JsonNumber(*finding->unprofiled_share);
    steps.push_back({{"rule", JsonText(step.rule)},
                     {"title", JsonText(finding == nullptr ? "" : finding->Title())},
                     {"after_seconds", JsonNumber(step.after_seconds)},
                     {"saving", saving},
                     {"unlocks", JsonTexts(step.unlocks)},
                     {"makes_needless", JsonTexts(step.makes_needless)},
                     {"next_bound", JsonText(step.next_bound)}});
  }
  return PrintJson(
      {{"schema", 1},
       {"window",
        {{"before_ns", std::llround(window * kNanosPerSecond)},
         {"after_ns", std::llround(after * kNanosPerSecond)}}},
       {"steps", report.step_count},
       {"step", report.step_count == 0
                    ? OrderedJson()
                    : OrderedJson{{"before_ns", JsonNumber(window * kNanosPerSecond / units)},
                                  {"after_ns", JsonNumber(after * kNanosPerSecond / units)}}},
       {"saving",
        {{"seconds", JsonNumber(window - after)},
         {"share", JsonNumber(window > 0 ? (window - after) / window : 0)}}},
       {"plan", steps}});
}

// The first named rule that did not fire, and why not; "" when all did.
std::string NotFired(const Report& report, const std::vector<std::string>& fixes) {
  for (const std::string& fix : fixes) {
    const Verdict* last = nullptr;
    bool fired = false;
    for (const Verdict& verdict : report.verdicts) {
      if (verdict.rule->id != fix) continue;
      last = &verdict;
      fired = fired || verdict.outcome == Outcome::kFired;
    }
    if (fired) continue;
    if (last == nullptr) return fix + " was not run: the site or --only, --skip left it out";
    const std::string why = last->reason.empty() ? OutcomeName(last->outcome) : last->reason;
    return last->outcome == Outcome::kFine ? fix + " found nothing to fix in this report"
                                           : fix + " found nothing in this report: " + why;
  }
  return "";
}

std::string Fired(const Report& report) {
  std::string list;
  for (const Verdict& verdict : report.verdicts) {
    if (verdict.outcome != Outcome::kFired || verdict.rule->kind == RuleKind::kInfo) continue;
    list += (list.empty() ? "" : ", ") + verdict.rule->id;
  }
  return list.empty() ? "this report has no finding to fix" : "findings: " + list;
}

class WhatIfCommand : public Command {
 public:
  std::string Name() const override { return "whatif"; }
  std::string Summary() const override {
    return "Replays a run with findings fixed: the new step time; without --fix, the whole plan.";
  }
  std::string Examples() const override {
    return "advise whatif run.sqlite\n"
           "advise whatif run.sqlite --fix input/no-workers\n"
           "advise whatif run.sqlite --fix input/no-workers,transfer/pageable-copy --format json";
  }

  void AddOptions(CLI::App& app) override {
    AddReportOptions(app, run_);
    AddListOption(app, "--fix", fixes_, "RULE[,RULE…]",
                  "findings to fix; repeatable (default: all, as the plan that wins most first)")
        ->delimiter(',');
    AddSiteOptions(app, run_.diagnose);
    AddOutputOptions(app, run_.output, {"text", "json"});
  }

  int Run() override {
    for (const std::string& report : run_.diagnose.reports) {
      if (const auto error = RuleAsReport(report)) return Complain(*error, kWrongUsage);
    }
    const Answer answer = fixes_.empty() ? Plan() : WhatIfAnswer(run_, fixes_);
    if (!answer) return answer.error();
    return WriteAnswer(*answer, run_.output, run_.diagnose.reports);
  }

 private:
  // The findings of the report in the order to work on them.
  Answer Plan() const {
    const auto diagnosis = RunDiagnosis(run_);
    if (!diagnosis) return tl::unexpected<int>(diagnosis.error());
    return PlanAnswer((*diagnosis)->report, run_.output);
  }

  // What to say of the id of a rule where a report should stand.
  std::optional<Error> RuleAsReport(const std::string& name) const {
    std::error_code failed;
    if (name.find('/') == std::string::npos || fs::exists(name, failed)) return std::nullopt;
    const auto session = OpenSession(run_.diagnose);
    if (!session || !FindRule(*session, name)) return std::nullopt;
    return Error{fmt::format("{} is a rule, and no report", name), "",
                 fmt::format("advise whatif REPORT --fix {}", name)};
  }

  RunOptions run_;
  std::vector<std::string> fixes_;
};

}  // namespace

std::string PlanAnswer(const Report& report, const OutputOptions& output) {
  return output.format == "json" ? PlanJson(report)
                                 : PlanText(report, output.Width(), output.Color());
}

Answer WhatIfAnswer(RunOptions run, const std::vector<std::string>& fixes) {
  const auto fail = [](int code) { return tl::unexpected<int>(code); };
  const auto session = OpenSession(run.diagnose);
  if (!session) return fail(session.error());
  for (const std::string& fix : fixes) {
    const auto rule = FindRule(*session, fix);
    if (!rule) return fail(Complain(rule.error(), kWrongUsage));
  }
  const auto files = ExpandReports(run.diagnose.reports);
  if (files && std::any_of(files->begin(), files->end(), IsFactsFileAt)) {
    return fail(Complain({"a facts file holds no run to replay", "",
                          "name the reports themselves, not their facts files"},
                         kWrongUsage));
  }
  run.diagnose.fixes = fixes;
  const auto diagnosis = RunDiagnosis(run);
  if (!diagnosis) return fail(diagnosis.error());
  const Report& report = (*diagnosis)->report;
  const std::string problem = NotFired(report, fixes);
  if (!problem.empty()) return fail(Complain({problem, "--fix", Fired(report)}, kWrongUsage));
  const WhatIf result = WhatIfOf(report, fixes);
  return run.output.format == "json" ? Json(result)
                                     : Text(result, run.output.Width(), run.output.Color());
}

std::unique_ptr<Command> MakeWhatIfCommand() { return std::make_unique<WhatIfCommand>(); }

}  // namespace advise
