// `advise compare`: two runs as before and after of one change, or several runs on different
// numbers of GPUs as a scaling table.
#include <fmt/format.h>

#include <cmath>
#include <optional>
#include <set>

#include "engine/advice/describe.h"
#include "engine/app/baseline.h"
#include "engine/app/command.h"
#include "engine/app/several_runs.h"
#include "engine/base/parse_number.h"
#include "engine/base/text.h"
#include "engine/report/compare_pages.h"

namespace advise {
namespace {

// File names where they tell the runs apart, else whole paths.
std::vector<std::string> Labels(const std::vector<std::string>& paths) {
  std::vector<std::string> names;
  for (const std::string& path : paths) {
    const std::size_t end = path.find_last_not_of('/') + 1;
    const std::size_t slash = end == 0 ? std::string::npos : path.rfind('/', end - 1);
    names.push_back(slash == std::string::npos ? path.substr(0, end)
                                               : path.substr(slash + 1, end - slash - 1));
  }
  const std::set<std::string> distinct(names.begin(), names.end());
  return distinct.size() == names.size() ? names : paths;
}

class CompareCommand : public Command {
 public:
  std::string Name() const override { return "compare"; }
  std::string Summary() const override {
    return "Shows what got better or worse between runs, or how they scale.";
  }
  std::string Examples() const override {
    return "advise compare before.sqlite after.sqlite\n"
           "advise compare before/ after/ -o change.json\n"
           "advise compare main.sqlite branch.sqlite --fail-on slower:3% --format markdown\n"
           "advise compare before.sqlite after.sqlite -o change.html\n"
           "advise compare 1gpu.sqlite 2gpu/ 4gpu/\n"
           "advise compare 1gpu.sqlite 4gpu/ --seconds 217,179";
  }

  void AddOptions(CLI::App& app) override {
    AddReportOptions(app, run_);
    app.get_option("REPORT")->description(
        "BEFORE and AFTER, or several runs; a run is a report or a directory of the reports of its "
        "ranks");
    app.add_flag("--scaling", scaling_,
                 "print a scaling table (automatic for more than two runs, or for different "
                 "numbers of GPUs)");
    AddListOption(app, "--seconds", seconds_, "S,S,...",
                  "measured time of the same work in each run, for example one epoch")
        ->delimiter(',');
    AddSiteOptions(app, run_.diagnose);
    app.add_option("--fail-on", fail_on_,
                   "exit with 1 when AFTER is certainly slower by more than this: slower:3%")
        ->check(CLI::Validator(
            [](const std::string& text) -> std::string {
              return SlowerLimit(text) ? ""
                                       : "\"" + text + "\" is no condition, wanted slower:PERCENT%";
            },
            "", "condition"))
        ->type_name("slower:P%");
    app.add_flag("--force", force_,
                 "show the figures of runs of different work instead of refusing them");
    AddOutputOptions(app, run_.output, {"text", "json", "markdown", "html"});
  }

  int Run() override {
    const std::vector<std::string>& runs = run_.diagnose.reports;
    if (runs.size() < 2) {
      return Complain({"two runs are needed", "", "see: advise compare --help"}, kWrongUsage);
    }
    std::vector<double> seconds;
    for (const std::string& text : seconds_) {
      const auto value = ParseNumber<double>(text);
      if (!value || !std::isfinite(*value) || *value <= 0) {
        return Complain({"\"" + text + "\" is not a time in seconds", "--seconds", ""},
                        kWrongUsage);
      }
      seconds.push_back(*value);
    }
    if (!seconds.empty() && seconds.size() != runs.size()) {
      return Complain(
          {std::to_string(seconds.size()) + " times for " + std::to_string(runs.size()) + " runs",
           "--seconds", "give one per run, in the same order"},
          kWrongUsage);
    }
    const auto several = DiagnoseRuns(run_, runs);
    if (!several) return several.error();
    const bool other_gpus = FactNumber((*several)->reports[0], "run.devices") !=
                            FactNumber((*several)->reports[1], "run.devices");
    if (scaling_ || runs.size() > 2 || !seconds.empty() || (other_gpus && !force_)) {
      const std::string& format = run_.output.format;
      if (!fail_on_.empty() || force_ || format == "markdown" || format == "html") {
        return Complain({"a scaling table has no --fail-on, no --force, no Markdown and no HTML",
                         "", "compare two runs on the same number of GPUs"},
                        kWrongUsage);
      }
      return Scale(**several, seconds);
    }
    return Change(**several);
  }

 private:
  int Write(const std::string& text, int code) const {
    return WriteAnswer(text, run_.output, run_.diagnose.reports, code);
  }

  int Change(const SeveralRuns& several) const {
    const std::vector<std::string>& runs = run_.diagnose.reports;
    const RunComparison comparison =
        CompareRuns(several.reports[0], several.reports[1], *several.session.knowledge, force_);
    const std::string& format = run_.output.format;
    const std::string text =
        format == "json"       ? CompareJson(comparison, runs[0], runs[1])
        : format == "markdown" ? CompareMarkdown(comparison, runs[0], runs[1])
        : format == "html"
            ? CompareHtml(comparison, runs[0], runs[1])
            : CompareText(comparison, runs[0], runs[1], run_.output.Width(), run_.output.Color());
    const int code = Write(text, kAnalyzed);
    if (code != kAnalyzed) return code;
    if (comparison.comparable) return Judge(comparison);
    if (comparison.forced && fail_on_.empty()) return kAnalyzed;
    std::string reasons;
    for (const std::string& reason : comparison.reasons) {
      reasons += (reasons.empty() ? "" : "; ") + reason;
    }
    return Complain({"the runs cannot be compared: " + reasons, "", ""}, kUnreadableInput);
  }

  // Slower by more than the limit, however the noise fell: the whole interval lies beyond it.
  int Judge(const RunComparison& comparison) const {
    if (fail_on_.empty()) return kAnalyzed;
    const double limit = SlowerLimit(fail_on_).value_or(0);
    const double fastest = comparison.speedup_high.value_or(comparison.speedup);
    if (fastest * (1 + limit) >= 1) return kAnalyzed;
    return Complain({fmt::format("AFTER takes {} longer, more than {}",
                                 FormatQuantity(1 / comparison.speedup - 1, "share"),
                                 FormatQuantity(limit, "share")),
                     "--fail-on", ""},
                    kConditionMet);
  }

  int Scale(const SeveralRuns& several, const std::vector<double>& seconds) const {
    std::vector<ScalingRun> runs;
    const std::vector<std::string> labels = Labels(run_.diagnose.reports);
    for (std::size_t i = 0; i < several.reports.size(); ++i) {
      runs.push_back({labels[i], &several.reports[i], std::nullopt});
      if (!seconds.empty()) runs.back().given_s = seconds[i];
    }
    Scaling scaling = ScaleRuns(runs, *several.session.knowledge);
    if (!scaling_ && runs.size() == 2 && seconds.empty()) {
      scaling.notes.emplace_back(
          "The runs use different numbers of GPUs, so this is a scaling table, not a "
          "before-and-after comparison");
    }
    std::vector<ScaleFinding> findings;
    for (std::size_t i = 1; i < runs.size(); ++i) {
      const std::unique_ptr<Facts> facts = ScaleFacts(scaling, i, runs);
      for (const RuleInfo& rule : several.session.rules.rules()) {
        if (!JudgesScaling(rule) || rule.status == "retired") continue;
        const Verdict verdict = several.session.rules.Run(rule, *facts);
        if (verdict.outcome != Outcome::kFired) continue;
        ScaleFinding finding{rule.id,
                             rule.title,
                             runs[i].label,
                             FilledTemplate(rule.symptom, verdict),
                             FilledTemplate(rule.cause, verdict),
                             {}};
        for (Fix fix : rule.fixes) {
          fix.action = FilledTemplate(fix.action, verdict);
          finding.fixes.push_back(std::move(fix));
        }
        findings.push_back(std::move(finding));
      }
    }
    const std::string text =
        run_.output.format == "json"
            ? ScalingJson(scaling, findings)
            : ScalingText(scaling, findings, run_.output.Width(), run_.output.Color());
    const int code = Write(text, kAnalyzed);
    if (code != kAnalyzed || scaling.problems.empty()) return code;
    return Complain({"the runs cannot be compared: " + scaling.problems.front(), "", ""},
                    kUnreadableInput);
  }

  RunOptions run_;
  bool scaling_ = false;
  bool force_ = false;
  std::string fail_on_;
  std::vector<std::string> seconds_;
};

}  // namespace

std::unique_ptr<Command> MakeCompareCommand() { return std::make_unique<CompareCommand>(); }

}  // namespace advise
