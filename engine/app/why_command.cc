// `advise why`: how one rule reached its verdict on a run.
#include <utility>
#include <vector>

#include "engine/app/command.h"
#include "engine/app/options.h"
#include "engine/pipeline/session.h"
#include "engine/report/json.h"
#include "engine/report/why.h"

namespace advise {
namespace {

class WhyCommand : public Command {
 public:
  std::string Name() const override { return "why"; }
  std::string Summary() const override {
    return "Shows how a rule reached its verdict, fired or not: facts, comparisons, margins.";
  }
  std::string Examples() const override {
    return "advise why transfer/pageable-copy run.sqlite\n"
           "advise why transfer/pageable-copy run.sqlite --format json";
  }

  void AddOptions(CLI::App& app) override {
    app.add_option("RULE", rule_, "the rule's id")->required()->type_name("");
    AddReportOptions(app, run_);
    AddSiteOptions(app, run_.diagnose);
    AddOutputOptions(app, run_.output, {"text", "json"});
  }

  int Run() override {
    const bool json = run_.output.format == "json";
    // A misspelt rule is told before a large report is read.
    const auto session = OpenSession(run_.diagnose);
    if (!session) return session.error();
    // `advise why REPORT RULE` is as clear.
    std::vector<std::string>& reports = run_.diagnose.reports;
    if (reports.size() == 1 && !FindRule(*session, rule_) && FindRule(*session, reports.front()))
      std::swap(rule_, reports.front());
    const auto rule = FindRule(*session, rule_);
    if (!rule) return Complain(rule.error(), kWrongUsage);
    run_.diagnose.why = rule_;
    const auto diagnosis = RunDiagnosis(run_);
    if (!diagnosis) return diagnosis.error();
    const Report& report = (*diagnosis)->report;
    const std::string text =
        json ? RenderWhyJson(report, rule_)
             : RenderWhyText(report, rule_, run_.output.Width(), run_.output.Color());
    return WriteAnswer(text, run_.output, run_.diagnose.reports);
  }

 private:
  RunOptions run_;
  std::string rule_;
};

}  // namespace

std::unique_ptr<Command> MakeWhyCommand() { return std::make_unique<WhyCommand>(); }

}  // namespace advise
