// `advise scrub`: a copy of a report that can be given away.
#include <fmt/format.h>

#include <optional>

#include "engine/app/command.h"
#include "engine/app/options.h"
#include "engine/app/output.h"
#include "engine/report/json_value.h"
#include "engine/scrub/scrub.h"

namespace advise {
namespace {

class ScrubCommand : public Command {
 public:
  std::string Name() const override { return "scrub"; }
  std::string Summary() const override {
    return "Writes a copy of a report without names of people, machines, paths and keys.";
  }
  std::string Examples() const override {
    return "advise scrub run.sqlite -o clean.sqlite\n"
           "advise scrub trace.json.gz -o clean.json.gz\n"
           "advise scrub run.sqlite -o clean.sqlite --format json";
  }

  void AddOptions(CLI::App& app) override {
    app.add_option("REPORT", report_,
                   "a SQLite export of Nsight Systems, or a trace of PyTorch's profiler")
        ->required()
        ->type_name("");
    app.add_option("--output,-o", output_, "the copy, a new file")->required()->type_name("FILE");
    app.add_option("--format", format_, "of the summary")
        ->check(OneOf({"text", "json"}))
        ->type_name("FORMAT");
    app.add_option("--progress", progress_, "show progress on stderr: auto, always, never")
        ->check(OneOf({"auto", "always", "never"}));
  }

  int Run() override {
    std::optional<Progress> progress(progress_);
    progress->Stage("scrubbing " + report_);
    const auto done = ScrubReport(report_, output_);
    progress.reset();
    if (!done) return Complain(done.error(), kUnreadableInput);
    std::fputs((format_ == "json" ? Json(*done) : Text(*done)).c_str(), stdout);
    return kAnalyzed;
  }

 private:
  std::string Json(const ScrubSummary& done) const {
    OrderedJson json = {
        {"schema", 1}, {"report", JsonText(report_)}, {"output", JsonText(output_)}};
    if (done.is_trace) {
      json["events"] = {{"kept", done.events_kept},
                        {"left_out", done.events_left_out},
                        {"broken", done.events_broken}};
    }
    json["tables"] = {{"kept", done.tables_kept}, {"left_out", done.tables_left_out}};
    json["replaced"] = {{"hosts", done.hosts},
                        {"users", done.users},
                        {"paths", done.paths},
                        {"secrets", done.secrets}};
    json["variables_seen"] = done.variables;
    return PrintJson(json);
  }

  std::string Text(const ScrubSummary& done) const {
    const std::string what = done.is_trace ? fmt::format(
                                                 "{} events, {} left out (arrows and copies of "
                                                 "ranges{}); {} other values, {} left out",
                                                 done.events_kept, done.events_left_out,
                                                 done.events_broken > 0 ? ", broken ones" : "",
                                                 done.tables_kept, done.tables_left_out)
                                           : fmt::format("{} tables, {} left out", done.tables_kept,
                                                         done.tables_left_out);
    const std::string variables =
        done.is_trace
            ? ""
            : fmt::format("; of {} environment variables only switches are left", done.variables);
    return fmt::format(
        "{}: {}; replaced: {} host names, {} user names, {} paths, {} keys{}\n"
        "Kept as they are: kernel and range names without paths, GPU names and ids, times. Check "
        "it before you share it.\n",
        output_, what, done.hosts, done.users, done.paths, done.secrets, variables);
  }

  std::string report_;
  std::string output_;
  std::string format_ = "text";
  std::string progress_ = "auto";
};

}  // namespace

std::unique_ptr<Command> MakeScrubCommand() { return std::make_unique<ScrubCommand>(); }

}  // namespace advise
