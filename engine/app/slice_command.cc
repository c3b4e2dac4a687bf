// `advise slice`: the surroundings of a finding, to open in a trace viewer.
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <functional>
#include <map>
#include <mutex>

#include "engine/advice/views.h"
#include "engine/app/command.h"
#include "engine/app/command_answers.h"
#include "engine/app/options.h"
#include "engine/report/slice.h"

namespace advise {
namespace {

// Makes the slice of one finding of one run.
class Slicer {
 public:
  Slicer(RunOptions run, int finding) : run_(std::move(run)), finding_(finding) {}

  tl::expected<SliceText, int> Make() {
    const auto fail = [](int code) { return tl::unexpected<int>(code); };
    Seen seen;
    RunOptions run = run_;
    run.diagnose.inspect = [&](const Analysis& analysis, Report* report) {
      seen.Note(analysis, *report, finding_);
    };
    const auto diagnosis = RunDiagnosis(run);
    if (!diagnosis) return fail(diagnosis.error());
    const Report& report = (*diagnosis)->report;
    const auto finding = std::find_if(report.findings.begin(), report.findings.end(),
                                      [&](const Finding& one) { return one.rank == finding_; });
    if (finding == report.findings.end()) {
      return fail(Complain({fmt::format("there is no finding {}: the report has {}", finding_,
                                        report.findings.size()),
                            "--finding", "the numbers are those of: advise REPORT"},
                           kWrongUsage));
    }
    if (seen.reports != 1) {
      // Several reports were judged together: the slice is of the one that shows the finding worst.
      const auto worst = seen.worst.find(finding->rule->id);
      const int found = worst == seen.worst.end()
                            ? SliceAtEvidence(report, *finding, &seen.slice)
                            : SliceOf(report, *finding, worst->second.path, &seen.slice);
      if (found != kAnalyzed) return fail(found);
    }
    const FindingSlice& slice = seen.slice;
    if (slice.excerpt.rows.empty()) return fail(NoTime("take another one"));
    std::size_t events = 0;
    for (const ExcerptRow& row : slice.excerpt.rows) events += row.events.size();
    return SliceText{RenderSlice(slice), events, slice.excerpt.left_out};
  }

 private:
  // What was seen of each report while its analysis was there.
  struct Seen {
    struct Worst {
      std::string path;
      Nanos length = 0;
    };
    std::mutex mutex;
    std::size_t reports = 0;
    FindingSlice slice;                  // of the first report
    std::map<std::string, Worst> worst;  // by rule

    void Note(const Analysis& analysis, const Report& report, int number) {
      const std::lock_guard<std::mutex> lock(mutex);
      ++reports;
      for (const Finding& finding : report.findings) {
        if (finding.rank == number && reports == 1) slice = BuildSlice(analysis, report, finding);
        const WorstExample example = FindWorstExample(analysis, report, finding);
        Worst& known = worst[finding.rule->id];
        const Nanos length = example.end - example.start;
        // Reports come in any order: of equal ones always the same is taken.
        const bool first = length == known.length && analysis.run.trace.path < known.path;
        if (length > known.length || (length > 0 && first)) {
          known = {analysis.run.trace.path, length};
        }
      }
      std::erase_if(worst, [](const auto& one) { return one.second.length == 0; });
    }
  };

  int NoTime(const std::string& hint) const {
    return Complain(
        {fmt::format("finding {} points at no stretch of time", finding_), "--finding", hint},
        kWrongUsage);
  }

  using Inspect = std::function<void(const Analysis& analysis, Report* report)>;

  int ReadAgain(const std::string& path, const Inspect& inspect) const {
    RunOptions one = run_;
    one.diagnose.reports = {path};
    one.diagnose.inspect = inspect;
    const auto diagnosis = RunDiagnosis(one);
    return diagnosis ? static_cast<int>(kAnalyzed) : diagnosis.error();
  }

  // A report by itself numbers its findings in its own way: here those of the run count.
  static void NumberAsIn(const Report& run, Report* report) {
    std::erase_if(report->findings, [&](Finding& finding) {
      const auto same =
          std::find_if(run.findings.begin(), run.findings.end(),
                       [&](const Finding& one) { return one.rule->id == finding.rule->id; });
      if (same == run.findings.end()) return true;
      finding.rank = same->rank;
      return false;
    });
  }

  // The report in which the finding shows worst.
  int SliceOf(const Report& run, const Finding& wanted, const std::string& path,
              FindingSlice* slice) const {
    return ReadAgain(path, [&](const Analysis& analysis, Report* report) {
      NumberAsIn(run, report);
      for (const Finding& finding : report->findings) {
        if (finding.rank == wanted.rank) *slice = BuildSlice(analysis, *report, finding);
      }
    });
  }

  // What concerns the ranks together has evidence in one of their reports.
  int SliceAtEvidence(const Report& run, const Finding& finding, FindingSlice* slice) const {
    std::error_code failed;
    for (const Evidence& item : finding.evidence) {
      const bool points =
          item.end_ns > item.start_ns && std::filesystem::is_regular_file(item.source, failed);
      if (!points) continue;
      return ReadAgain(item.source, [&](const Analysis& analysis, Report* report) {
        NumberAsIn(run, report);
        *slice = BuildSliceAround(analysis, *report, finding_,
                                  {kNone, item.start_ns, item.end_ns, item.what});
        slice->marks.push_back(
            {finding_, finding.Title(), item.what, kNone, item.start_ns, item.end_ns});
      });
    }
    return NoTime("no single report shows it");
  }

  RunOptions run_;
  int finding_;
};

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
    AddSelectionOptions(app, run_.diagnose);
    AddSiteOptions(app, run_.diagnose);
    app.add_option("--finding,-n", finding_, "the finding's number in the report (default: 1)")
        ->check(WholeNumber(1, 1'000'000))
        ->type_name("N");
    app.add_option("--output,-o", run_.output.path, "write to this file (default: standard output)")
        ->type_name("FILE");
  }

  int Run() override {
    const auto slice = SliceAnswer(run_, finding_);
    if (!slice) return slice.error();
    const auto written = WriteOutput(slice->json, run_.output, run_.diagnose.reports);
    if (!written) return Complain(written.error(), kWrongUsage);
    if (slice->left_out > 0) {
      std::fprintf(stderr,
                   "advise: the slice holds the %zu longest events; %zu short ones were left out\n",
                   kSliceEvents, slice->left_out);
    }
    return kAnalyzed;
  }

 private:
  RunOptions run_;
  int finding_ = 1;
};

}  // namespace

tl::expected<SliceText, int> SliceAnswer(RunOptions run, int finding) {
  return Slicer(std::move(run), finding).Make();
}

std::unique_ptr<Command> MakeSliceCommand() { return std::make_unique<SliceCommand>(); }

}  // namespace advise
