// `advise slice`: the surroundings of a finding, to open in a trace viewer.
#include <fmt/format.h>

#include "engine/advice/views.h"
#include "engine/app/command.h"
#include "engine/app/options.h"
#include "engine/report/slice.h"

namespace advise {
namespace {

class SliceCommand : public Command {
 public:
  std::string Name() const override { return "slice"; }
  std::string Summary() const override {
    return "Writes the time around a finding's worst example as a trace for Perfetto.";
  }
  std::string Examples() const override {
    return "advise slice run.sqlite --finding 1 -o slice.json\n"
           "advise slice run.sqlite --finding 2 --only transfer -o slice.json";
  }

  void AddOptions(CLI::App& app) override {
    AddReportOptions(app, run_);
    AddListOption(app, "--only", run_.diagnose.only, "RULE|AREA",
                  "only this rule or area; repeatable")
        ->delimiter(',');
    AddListOption(app, "--skip", run_.diagnose.skip, "RULE|AREA",
                  "not this rule or area; repeatable")
        ->delimiter(',');
    AddSiteOptions(app, run_.diagnose);
    app.add_option("--finding,-n", finding_, "the finding's number in the report; 1 if not said")
        ->check(WholeNumber(1, 1'000'000))
        ->type_name("N");
    app.add_option("--output,-o", run_.output.path, "write to this file (default: standard output)")
        ->type_name("FILE");
  }

  int Run() override {
    FindingSlice slice;
    std::size_t findings = 0;
    run_.diagnose.inspect = [&](const Analysis& analysis, Report* report) {
      findings = report->findings.size();
      for (const Finding& finding : report->findings) {
        if (finding.rank == finding_) slice = BuildSlice(analysis, *report, finding);
      }
    };
    const auto diagnosis = RunDiagnosis(run_);
    if (!diagnosis) return diagnosis.error();
    if (static_cast<std::size_t>(finding_) > findings) {
      return Complain({fmt::format("there is no finding {}: the report has {}", finding_, findings),
                       "--finding", "the numbers are those of: advise REPORT"},
                      kWrongUsage);
    }
    if (slice.excerpt.rows.empty()) {
      return Complain({fmt::format("finding {} points at no stretch of time", finding_),
                       "--finding", "take another one"},
                      kWrongUsage);
    }
    const auto written = WriteOutput(RenderSlice(slice), run_.output, run_.diagnose.reports);
    if (!written) return Complain(written.error(), kWrongUsage);
    if (slice.excerpt.left_out > 0) {
      std::fprintf(stderr,
                   "advise: the slice holds the %zu longest events; %zu short ones were left out\n",
                   kSliceEvents, slice.excerpt.left_out);
    }
    return kAnalysed;
  }

 private:
  RunOptions run_;
  int finding_ = 1;
};

}  // namespace

std::unique_ptr<Command> MakeSliceCommand() { return std::make_unique<SliceCommand>(); }

}  // namespace advise
