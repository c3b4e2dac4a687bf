#include "engine/app/options.h"

#include <algorithm>
#include <memory>

#include "engine/app/command.h"
#include "engine/base/cores.h"
#include "engine/base/is_in.h"
#include "engine/base/parse_number.h"
#include "engine/base/text.h"
#include "engine/pipeline/inputs.h"
#include "engine/pipeline/selection.h"
#include "engine/pipeline/session.h"

namespace advise {

CLI::Option* AddListOption(CLI::App& app, const std::string& flags,
                           std::vector<std::string>& values, const std::string& type,
                           const std::string& text) {
  return app.add_option(flags, values, text)->allow_extra_args(false)->type_name(type);
}

CLI::Validator OneOf(const std::vector<std::string>& values) {
  std::string list;
  for (const std::string& value : values) list += (list.empty() ? "" : ",") + value;
  const auto check = [values](const std::string& text) -> std::string {
    if (IsIn(text, values)) return "";
    std::string known;
    for (const std::string& value : values) known += (known.empty() ? "" : ", ") + value;
    const std::string near = DidYouMean(text, values);
    return "\"" + text + "\" is none of " + known +
           (near.empty() ? "" : " (did you mean " + near + "?)");
  };
  return CLI::Validator(check, "{" + list + "}", "choice");
}

CLI::Validator WholeNumber(int lowest, int highest) {
  const auto check = [lowest, highest](const std::string& text) -> std::string {
    const auto value = ParseNumber<int>(text);
    if (value && *value >= lowest && *value <= highest) return "";
    return "\"" + text + "\" is not a whole number from " + std::to_string(lowest) + " to " +
           std::to_string(highest);
  };
  return CLI::Validator(check, "", "whole number");
}

void AddJobsOption(CLI::App& app, DiagnoseOptions& options) {
  options.jobs = DefaultJobs();
  app.add_option("--jobs,-j", options.jobs, "number of parallel jobs")
      ->check(WholeNumber(1, 256))
      ->type_name("N");
}

void AddReportOptions(CLI::App& app, RunOptions& options) {
  DiagnoseOptions& diagnose = options.diagnose;
  app.add_option("REPORT", diagnose.reports,
                 "reports of one run, one per rank or node; for a directory, all reports in it")
      ->type_name("");
  app.add_option("--window", diagnose.window,
                 "the part to analyze: all, steady (the default if steps are known), or A:B in "
                 "seconds from the start of the trace")
      ->check(
          CLI::Validator([](const std::string& text) { return CheckWindow(text); }, "", "window"))
      ->type_name("WINDOW");
  app.add_option("--gpu", diagnose.gpu,
                 "the GPU, if the report does not name it; a name or an id of the knowledge base")
      ->type_name("GPU");
  AddJobsOption(app, diagnose);
  app.add_option("--progress", options.progress, "show progress on stderr: auto, always, never")
      ->check(OneOf({"auto", "always", "never"}))
      ->type_name("WHEN");
}

void AddSelectionOptions(CLI::App& app, DiagnoseOptions& options) {
  AddListOption(app, "--only", options.only, "RULE|AREA", "only this rule or area; repeatable")
      ->delimiter(',');
  AddListOption(app, "--skip", options.skip, "RULE|AREA", "not this rule or area; repeatable")
      ->delimiter(',');
}

void AddSiteOptions(CLI::App& app, DiagnoseOptions& options) {
  AddListOption(app, "--rules", options.rule_dirs, "DIR", "a directory of site rules; repeatable");
  app.add_option("--config", options.config, "a file of site settings")->type_name("FILE");
  AddListOption(app, "--set", options.set, "NAME=VALUE",
                "one site setting; repeatable, later wins");
  app.add_flag("--no-site", options.no_site,
               "only the rules and settings that options name: none of /etc/advise, of the user's "
               "configuration, of ADVISE_RULES, of the current folder");
}

void AddFormatOptions(CLI::App& app, OutputOptions& options,
                      const std::vector<std::string>& formats) {
  app.add_option("--format", options.format,
                 "output format; by default the one that the name of the file ends with, or text")
      ->check(OneOf(formats))
      ->type_name("FORMAT");
  app.add_flag("--no-color", options.no_color, "no color (also: NO_COLOR=1)");
}

void AddOutputOptions(CLI::App& app, OutputOptions& options,
                      const std::vector<std::string>& formats) {
  AddFormatOptions(app, options, formats);
  app.add_option("--output,-o", options.path, "write to this file")->type_name("FILE");
  app.parse_complete_callback([&options, formats] {
    if (options.format.empty()) options.format = FormatOfFile(options.path, formats);
  });
}

tl::expected<Session, int> OpenSession(const DiagnoseOptions& options) {
  const auto fail = [](int code) { return tl::unexpected<int>(code); };
  auto session = LoadSession(options);
  if (!session) return fail(Complain(session.error(), kBrokenRules));
  std::vector<std::string> ids;
  for (const RuleInfo* rule : RuleInfos(*session)) ids.push_back(rule->id);
  for (const auto& [name, list] :
       {std::pair{"--only", &options.only}, std::pair{"--skip", &options.skip}}) {
    const auto known = CheckSelection(name, *list, ids);
    if (!known) return fail(Complain(known.error(), kWrongUsage));
  }
  const auto gpu = CheckGpu(options.gpu, *session->knowledge);
  if (!gpu) return fail(Complain(gpu.error(), kWrongUsage));
  return std::move(*session);
}

tl::expected<std::unique_ptr<Diagnosis>, int> RunDiagnosis(const RunOptions& options) {
  const auto fail = [](int code) { return tl::unexpected<int>(code); };
  if (options.diagnose.reports.empty()) {
    return fail(Complain({"no report is named", "", "see: advise --help"}, kWrongUsage));
  }
  // A trace in memory outlives its file.
  auto reports = options.kept != nullptr
                     ? Result<std::vector<std::string>>(options.diagnose.reports)
                     : ExpandReports(options.diagnose.reports);
  if (!reports) return fail(Complain(reports.error(), kUnreadableInput));
  auto session = OpenSession(options.diagnose);
  if (!session) return fail(session.error());

  auto diagnosis = std::make_unique<Diagnosis>(Diagnosis{std::move(*session), Report(), {}});
  Progress progress(options.progress);
  DiagnoseOptions files = options.diagnose;
  files.reports = *reports;
  if (progress.on()) files.progress = [&](const std::string& stage) { progress.Stage(stage); };
  files.how_far = progress.how_far();
  auto saved = options.kept == nullptr ? Diagnose(diagnosis->session, files)
                                       : DiagnoseTrace(diagnosis->session, files,
                                                       options.kept->trace, options.kept->inputs);
  if (!saved) return fail(Complain(saved.error(), kUnreadableInput));
  diagnosis->report = std::move(saved->report);
  diagnosis->ranks = std::move(saved->ranks);
  return diagnosis;
}

}  // namespace advise
