// `advise facts`: what is known of a run, by name.
#include <filesystem>

#include "engine/app/command.h"
#include "engine/app/options.h"
#include "engine/facts/catalog.h"
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
           "advise facts run.sqlite --format json -o facts.json\n"
           "advise facts --list";
  }

  void AddOptions(CLI::App& app) override {
    AddReportOptions(app, run_);
    AddSiteOptions(app, run_.diagnose);
    AddOutputOptions(app, run_.output, "text or json");
    app.add_flag("--tables", tables_, "the summaries: kernels, calls, copies, ranges, OS calls");
    app.add_flag("--list", list_, "the catalogue: every fact there is, without a report");
  }

  int Run() override {
    const bool json = run_.output.format == "json";
    if (!json && run_.output.format != "text") {
      return Complain(
          {"there is no format \"" + run_.output.format + "\"", "--format", "text or json"},
          kWrongUsage);
    }
    if (list_) return Write(Catalogue(json));
    if (run_.output.path.ends_with(".facts")) return WriteFacts();
    const auto diagnosis = RunDiagnosis(run_);
    if (!diagnosis) return diagnosis.error();
    const std::vector<NamedFact>& facts = (*diagnosis)->report.facts;
    return Write(json ? RenderFactsJson(facts, tables_)
                      : RenderFactsText(facts, tables_, run_.output.Width(), run_.output.Color()));
  }

 private:
  std::string Catalogue(bool json) const {
    return json ? RenderFactCatalogJson(FactList())
                : RenderFactCatalog(FactList(), run_.output.Width(), run_.output.Color());
  }

  // What every command takes in place of the report.
  int WriteFacts() const {
    const auto diagnosis = RunDiagnosis(run_);
    if (!diagnosis) return diagnosis.error();
    for (const InputInfo& input : (*diagnosis)->report.inputs) {
      std::error_code failed;
      if (std::filesystem::equivalent(input.path, run_.output.path, failed) && !failed) {
        return Complain(
            {"is an input and is never written to", run_.output.path, "name another file with -o"},
            kWrongUsage);
      }
    }
    const SavedReport saved{(*diagnosis)->report, (*diagnosis)->ranks};
    const auto written = WriteFactsFile(saved, run_.output.path);
    return written ? kAnalysed : Complain(written.error(), kWrongUsage);
  }

  int Write(const std::string& text) const {
    const auto written = WriteOutput(text, run_.output, run_.diagnose.reports);
    return written ? kAnalysed : Complain(written.error(), kWrongUsage);
  }

  RunOptions run_;
  bool tables_ = false;
  bool list_ = false;
};

}  // namespace

std::unique_ptr<Command> MakeFactsCommand() { return std::make_unique<FactsCommand>(); }

}  // namespace advise
