// The main job: read the reports, print the ranked fix list.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>

#include "engine/advice/views.h"
#include "engine/app/baseline.h"
#include "engine/app/command.h"
#include "engine/app/options.h"
#include "engine/base/text.h"
#include "engine/report/html.h"
#include "engine/report/json.h"
#include "engine/report/markdown.h"
#include "engine/report/sarif.h"
#include "engine/report/shell.h"
#include "engine/report/text_report.h"

namespace advise {
namespace {

// What the report is written with, whatever the format.
struct RenderOptions {
  TextOptions text;
  int json_top = -1;  // findings in the JSON report; -1 all
  bool brief = false;
  bool facts = false;
};

std::string RenderJsonReport(const Report& report, const RenderOptions& options) {
  if (options.brief) return RenderBriefJson(report, options.json_top, kBriefBytes);
  return options.text.quiet ? RenderBriefJson(report, options.json_top, 0)
                            : RenderJson(report, {options.facts, options.json_top});
}

// What the report can be written as.
struct Format {
  const char* name;
  bool draws;  // shows charts and timelines: needs Report::views
  std::string (*render)(const Report& report, const RenderOptions& options);
};

const std::array<Format, 5> kFormats = {{
    {"text", false,
     [](const Report& report, const RenderOptions& options) {
       return RenderText(report, options.text);
     }},
    {"json", false, RenderJsonReport},
    {"markdown", false,
     [](const Report& report, const RenderOptions& options) {
       return RenderMarkdown(report, {options.text.top, options.text.reports_argument});
     }},
    {"html", true,
     [](const Report& report, const RenderOptions& options) {
       return RenderHtml(report, {options.text.reports_argument});
     }},
    {"sarif", true, [](const Report& report, const RenderOptions&) { return RenderSarif(report); }},
}};

std::vector<std::string> FormatNames() {
  std::vector<std::string> names;
  for (const Format& format : kFormats) names.emplace_back(format.name);
  return names;
}

const Format& FormatOf(const OutputOptions& output) {
  return *std::find_if(kFormats.begin(), kFormats.end(),
                       [&](const Format& format) { return output.format == format.name; });
}

// A level of findings, or "slower:5%".
CLI::Validator Conditions() {
  const CLI::Validator levels = OneOf(SeverityNames());
  const auto check = [levels](const std::string& text) {
    return SlowerLimit(text) ? "" : levels(text);
  };
  return CLI::Validator(check, levels.get_description(), "condition");
}

class DiagnoseCommand : public Command {
 public:
  std::string Name() const override { return ""; }
  std::string Summary() const override {
    return "Reads reports of a GPU run and prints what to fix, the most rewarding first.";
  }
  std::string Examples() const override {
    return "advise run.sqlite\n"
           "advise ranks/ --devices --top 10\n"
           "advise run.sqlite --only transfer --window 2:8\n"
           "advise run.sqlite -o run.html -o run.json\n"
           "advise run.sqlite --baseline run.json --fail-on high\n"
           "advise run.sqlite --baseline run.json --fail-on high --fail-on slower:3%";
  }

  void AddOptions(CLI::App& app) override {
    AddReportOptions(app, run_);
    AddFormatOptions(app, run_.output, FormatNames());
    AddListOption(app, "--output,-o", files_, "FILE",
                  "write to this file; repeatable, to have several formats of one analysis");
    top_ = app.add_option("--top", render_.text.top,
                          "number of findings to show in full; the rest get one line each")
               ->check(WholeNumber(0, 1'000'000))
               ->type_name("N");
    app.add_flag("--devices", render_.text.devices, "show where the time went on each GPU");
    app.add_flag("--all-fixes", render_.text.all_fixes,
                 "show every fix, also those for other frameworks and languages");
    app.add_flag("--verbose,-v", render_.text.verbose,
                 "show all that is said of each finding, all notes and all that is missing");
    app.add_flag("--quiet,-q", render_.text.quiet,
                 "show only the verdict and one line per finding");
    app.add_flag("--brief", render_.brief,
                 "JSON in 4 KB: the verdict and what to do, for a coding agent");
    app.add_flag("--facts", render_.facts, "the facts of the run in the JSON report, too");
    AddSelectionOptions(app, run_.diagnose);
    AddSiteOptions(app, run_.diagnose);
    AddListOption(app, "--fail-on", fail_on_, "LEVEL",
                  "exit with 1 when a finding is at least info, low, medium, high, critical; "
                  "slower:3%: when a step takes so much longer than in the baseline; repeatable")
        ->check(Conditions());
    app.add_option("--baseline", baseline_,
                   "exit with 1 only for findings that this JSON report does not have, and when a "
                   "step takes clearly longer than in it; --fail-on slower:3% sets that limit")
        ->type_name("FILE.json");
  }

  int Run() override {
    for (const std::string& condition : fail_on_) {
      if (const auto level = SeverityFromName(condition)) level_ = *level;
      if (const auto limit = SlowerLimit(condition)) slower_ = *limit;
    }
    if (slower_ && baseline_.empty()) {
      return Complain(
          {"slower than what? A baseline is needed", "--fail-on", "name one: --baseline FILE.json"},
          kWrongUsage);
    }
    if (render_.brief) run_.output.format = "json";
    run_.diagnose.all_facts = render_.facts;
    Baseline baseline;
    if (!baseline_.empty()) {
      auto read = ReadBaseline(baseline_);
      if (!read) return Complain(read.error(), kUnreadableInput);
      baseline = std::move(*read);
    }
    if (render_.text.quiet) run_.progress = run_.progress == "auto" ? "never" : run_.progress;
    const std::vector<OutputOptions> outputs = Outputs();
    const auto draws = [](const OutputOptions& output) { return FormatOf(output).draws; };
    if (std::any_of(outputs.begin(), outputs.end(), draws)) {
      run_.diagnose.draw = true;
      run_.diagnose.inspect = [](const Analysis& analysis, Report* report) {
        report->views = std::make_shared<const ReportViews>(BuildViews(analysis, *report));
      };
    }
    auto made = RunDiagnosis(run_);
    if (!made) return made.error();
    // The program ends with it, and never takes it apart: that is a seventh of a short run.
    static const Diagnosis* const diagnosis = made->release();
    const Report& report = diagnosis->report;
    for (const OutputOptions& output : outputs) {
      const auto written = WriteOutput(Render(report, output), output, run_.diagnose.reports);
      if (!written) return Complain(written.error(), kWrongUsage);
    }
    return Judge(*diagnosis, baseline);
  }

 private:
  // One for each file, or standard output. Where --format is not said, the files' names say it.
  std::vector<OutputOptions> Outputs() const {
    const std::vector<std::string> to = files_.empty() ? std::vector<std::string>{"-"} : files_;
    std::vector<OutputOptions> outputs;
    for (const std::string& file : to) {
      outputs.push_back(run_.output);
      outputs.back().path = file;
      if (run_.output.format.empty()) outputs.back().format = FormatOfFile(file, FormatNames());
    }
    return outputs;
  }

  std::string Render(const Report& report, const OutputOptions& output) {
    TextOptions& text = render_.text;
    text.reports_argument.clear();
    for (const std::string& path : run_.diagnose.reports) {
      text.reports_argument += (text.reports_argument.empty() ? "" : " ") + ShellQuote(path);
    }
    if (top_->count() > 0) render_.json_top = text.top;
    text.width = output.Width();
    text.rows = output.Rows();
    text.color = output.Color();
    return FormatOf(output).render(report, render_);
  }

  // A rule that failed is reported even when others fired: its silence means nothing.
  int Judge(const Diagnosis& diagnosis, const Baseline& baseline) const {
    const Report& report = diagnosis.report;
    std::vector<Error> broken;
    for (const Verdict& verdict : report.verdicts) {
      if (verdict.outcome != Outcome::kBroken || verdict.rule == nullptr) continue;
      broken.push_back({"the rule failed: " + verdict.reason, verdict.rule->id,
                        "the other rules ran; leave this one out with --skip " + verdict.rule->id});
    }
    if (!broken.empty()) return Complain(broken, kBrokenRules);
    if (!report.unreadable.empty()) {
      std::vector<Error> errors;
      for (const std::string& line : report.unreadable) errors.push_back({line, "", ""});
      return Complain(errors, kUnreadableInput);
    }
    if (fail_on_.empty() && baseline_.empty()) return kAnalyzed;
    std::vector<Error> met;
    const std::vector<std::string> rules = FindingsAtOrAbove(report, level_, baseline.rules);
    if (!rules.empty()) {
      const std::string what = fmt::format(
          "{} {}finding{} at or above {}: {}", rules.size(), baseline_.empty() ? "" : "new ",
          rules.size() == 1 ? "" : "s", SeverityName(level_), fmt::join(rules, ", "));
      met.push_back({what, baseline_.empty() ? "--fail-on" : "--baseline", ""});
    }
    if (!baseline_.empty()) {
      const double limit = slower_.value_or(diagnosis.session.knowledge->Number("compare.slower"));
      const auto slower = SlowerBy(report, baseline, baseline_);
      if (!slower && slower_) return Complain(slower.error(), kUnreadableInput);
      if (!slower) Complain(NotJudged(slower.error()), kAnalyzed);
      if (slower && *slower > limit) {
        met.push_back(
            {fmt::format("a {} takes {} longer than in the baseline, more than {}", baseline.unit,
                         FormatQuantity(*slower, "share"), FormatQuantity(limit, "share")),
             slower_ ? "--fail-on" : "--baseline",
             slower_ ? "" : "another limit: --fail-on slower:PERCENT%"});
      }
    }
    return met.empty() ? kAnalyzed : Complain(met, kConditionMet);
  }

  // Nobody asked for the time by name: the findings are judged all the same.
  static Error NotJudged(Error reason) {
    reason.what = "whether the run became slower was not judged: " + reason.what;
    return reason;
  }

  RunOptions run_;
  RenderOptions render_;
  CLI::Option* top_ = nullptr;
  std::vector<std::string> files_;
  std::vector<std::string> fail_on_;
  Severity level_ = Severity::kLow;
  std::optional<double> slower_;  // a share
  std::string baseline_;
};

}  // namespace

std::unique_ptr<Command> MakeDiagnoseCommand() { return std::make_unique<DiagnoseCommand>(); }

}  // namespace advise
