// `advise facts`: what is known of a run, by name.
#include <filesystem>
#include <set>

#include "engine/app/command.h"
#include "engine/app/options.h"
#include "engine/facts/catalog.h"
#include "engine/pipeline/inputs.h"
#include "engine/pipeline/processes.h"
#include "engine/report/facts_text.h"
#include "engine/report/json.h"
#include "engine/store/facts_file.h"

namespace advise {
namespace {

class FactsCommand : public Command {
 public:
  std::string Name() const override { return "facts"; }
  std::string Summary() const override {
    return "Prints the facts of a run: names, values, units, definitions.";
  }
  std::string Examples() const override {
    return "advise facts run.sqlite\n"
           "advise facts run.sqlite --tables\n"
           "advise facts run.sqlite -o run.facts\n"
           "advise facts run_dir/ -o facts_dir/\n"
           "advise facts run.sqlite -o facts.json\n"
           "advise facts --list";
  }

  void AddOptions(CLI::App& app) override {
    AddReportOptions(app, run_);
    AddSiteOptions(app, run_.diagnose);
    AddOutputOptions(app, run_.output, {"text", "json"});
    app.add_flag("--tables", tables_, "the summaries: kernels, calls, copies, ranges, OS calls");
    app.add_flag("--list", list_, "list every fact that exists; needs no report");
  }

  int Run() override {
    const bool json = run_.output.format == "json";
    if (list_ && Processes::All().number() > 0) return kAnalyzed;
    if (list_) return List(json);
    std::error_code failed;
    const std::string& path = run_.output.path;
    if (path.ends_with('/') || std::filesystem::is_directory(path, failed)) return WriteEach();
    if (path.ends_with(".facts")) return WriteFacts(run_, path);
    const auto diagnosis = RunDiagnosis(run_);
    if (!diagnosis) return diagnosis.error();
    const std::vector<NamedFact>& facts = (*diagnosis)->report.facts;
    return Write(json ? RenderFactsJson(facts, tables_)
                      : RenderFactsText(facts, tables_, run_.output.Width(), run_.output.Color()));
  }

 private:
  int List(bool json) const {
    const auto session = OpenSession(run_.diagnose);
    if (!session) return session.error();
    return Write(json
                     ? RenderFactCatalogJson(session->facts)
                     : RenderFactCatalog(session->facts, run_.output.Width(), run_.output.Color()));
  }

  // What every command takes in place of the report.
  static int WriteFacts(const RunOptions& run, const std::string& path) {
    const auto diagnosis = RunDiagnosis(run);
    if (!diagnosis) return diagnosis.error();
    for (const InputInfo& input : (*diagnosis)->report.inputs) {
      std::error_code failed;
      if (std::filesystem::equivalent(input.path, path, failed) && !failed) {
        return Complain({"is an input and is never written to", path, "name another file with -o"},
                        kWrongUsage);
      }
    }
    const SavedReport saved{(*diagnosis)->report, (*diagnosis)->ranks};
    const auto written = WriteFactsFile(saved, path);
    return written ? kAnalyzed : Complain(written.error(), kWrongUsage);
  }

  // One facts file a report, named after it. Goes on after a report that cannot be read.
  int WriteEach() const {
    const auto reports = ExpandReports(run_.diagnose.reports);
    if (!reports) return Complain(reports.error(), kUnreadableInput);
    std::error_code failed;
    std::filesystem::create_directories(run_.output.path, failed);
    if (failed) return Complain({failed.message(), run_.output.path, ""}, kWrongUsage);
    int worst = kAnalyzed;
    std::set<std::string> names;
    int turn = 0;
    const Processes& processes = Processes::All();
    for (const std::string& report : *reports) {
      const std::filesystem::path file = std::filesystem::path(report).filename();
      const std::string name = file.stem().string() + ".facts";
      if (!names.insert(name).second) {
        worst = Complain(
            {"two reports of this name: " + name, report, "write them to different folders"},
            kWrongUsage);
        continue;
      }
      if (turn++ % processes.count() != processes.number()) continue;
      RunOptions one = run_;
      one.diagnose.by_itself = true;
      one.diagnose.reports = {report};
      const int code = WriteFacts(one, (std::filesystem::path(run_.output.path) / name).string());
      if (code != kAnalyzed) worst = code;
    }
    return worst;
  }

  int Write(const std::string& text) const {
    return WriteAnswer(text, run_.output, run_.diagnose.reports);
  }

  RunOptions run_;
  bool tables_ = false;
  bool list_ = false;
};

}  // namespace

std::unique_ptr<Command> MakeFactsCommand() { return std::make_unique<FactsCommand>(); }

}  // namespace advise
