// `advise scrub`: a copy of a report that can be given away.
#include <fmt/format.h>

#include "engine/app/command.h"
#include "engine/app/json_value.h"
#include "engine/import/scrub.h"

namespace advise {
namespace {

class ScrubCommand : public Command {
 public:
  std::string Name() const override { return "scrub"; }
  std::string Summary() const override {
    return "Copies a report without names of people, machines, paths and keys.";
  }
  std::string Examples() const override {
    return "advise scrub run.sqlite -o clean.sqlite\n"
           "advise scrub run.sqlite -o clean.sqlite --format json";
  }

  void AddOptions(CLI::App& app) override {
    app.add_option("REPORT", report_, "a SQLite export of Nsight Systems")
        ->required()
        ->type_name("");
    app.add_option("--output,-o", output_, "the copy, a new file")->required()->type_name("FILE");
    app.add_option("--format", format_, "of the summary: text or json")
        ->check(CLI::IsMember({"text", "json"}))
        ->type_name("FORMAT");
  }

  int Run() override {
    const auto done = ScrubReport(report_, output_);
    if (!done) return Complain(done.error(), kUnreadableInput);
    if (format_ == "json") {
      std::fputs(
          PrintJson({{"schema", 1},
                     {"report", JsonText(report_)},
                     {"output", JsonText(output_)},
                     {"tables", {{"kept", done->tables_kept}, {"left_out", done->tables_left_out}}},
                     {"replaced",
                      {{"hosts", done->hosts},
                       {"users", done->users},
                       {"paths", done->paths},
                       {"secrets", done->secrets}}},
                     {"variables_seen", done->variables}})
              .c_str(),
          stdout);
      return kAnalysed;
    }
    std::fputs(fmt::format("{}: {} tables, {} left out; replaced: {} host names, {} user names, {} "
                           "paths, {} keys; of {} environment variables only switches are left\n"
                           "Kept as they are: kernel and range names without paths, GPU names and "
                           "ids, times. Look through it before you give it away.\n",
                           output_, done->tables_kept, done->tables_left_out, done->hosts,
                           done->users, done->paths, done->secrets, done->variables)
                   .c_str(),
               stdout);
    return kAnalysed;
  }

 private:
  std::string report_;
  std::string output_;
  std::string format_ = "text";
};

}  // namespace

std::unique_ptr<Command> MakeScrubCommand() { return std::make_unique<ScrubCommand>(); }

}  // namespace advise
