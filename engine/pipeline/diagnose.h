// The main job as one call: from report paths to the finished report. No printing, no exit codes.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "engine/advice/report_model.h"
#include "engine/advice/site_source.h"
#include "engine/base/error.h"
#include "engine/base/how_far.h"
#include "engine/knowledge/knowledge.h"
#include "engine/metrics/analysis.h"
#include "engine/script/runner.h"
#include "engine/store/saved_report.h"
#include "engine/trace/tables.h"

namespace advise {

struct DiagnoseOptions {
  std::vector<std::string> reports;  // files and directories, as the user named them
  std::string window = "auto";       // auto | all | steady | A:B in seconds from the trace's start
  std::string gpu;                   // the GPU when the report does not say, "" unknown
  std::optional<std::int64_t> steady_since;  // of one rank: as the others found, on its own clock
  std::vector<std::string> only;             // rule ids or areas; empty: all
  std::vector<std::string> skip;             // rule ids or areas
  std::vector<std::string> fixes;            // rules to plan, the others left undone; empty: all
  std::string why;                     // the rule that is asked for: every part keeps its verdict
  bool all_facts = false;              // with `only`: those that no such rule reads, too
  std::vector<std::string> rule_dirs;  // site rules
  bool no_site = false;                // no rules and settings but those that options name
  std::vector<std::string> set;        // "NAME=VALUE", later wins
  std::string config;                  // one more site file, "" none
  bool ignore_working_directory = false;  // leave ./advise.toml out
  int jobs = 2;
  bool by_itself = false;  // this process does all of it, whatever others do
  bool draw = false;       // fill Report::views of runs of several reports, and of facts files
  // Called with a short text when a stage begins; may be empty. Never called from two threads.
  std::function<void(const std::string& stage)> progress;
  HowFar* how_far = nullptr;  // of the stage, where that is known; null: nobody asks
  // Gets each trace that was read, when it is judged; may be empty. Of several reports: from
  // several threads at a time.
  std::function<void(Trace&& trace, const std::vector<InputInfo>& inputs)> keep;
  // Called with the finished report while the analysis behind it still lives; may be empty. Of
  // several reports: with each of them, from several threads at a time, before they are judged
  // together.
  std::function<void(const Analysis& analysis, Report* report)> inspect;
};

// What every diagnosis needs and no report changes: built-in or installed knowledge and rules, with
// the site's files and options applied.
struct Session {
  std::unique_ptr<const Knowledge> knowledge;  // never null; the rules point to it
  RuleSet rules;
  std::vector<FactInfo> facts;  // every fact that there is
  std::vector<SiteSource> site;
};

// All problems of rules and configuration at once (exit 4).
tl::expected<Session, std::vector<Error>> LoadSession(const DiagnoseOptions& options);

// The life of a trace, from files to the finished report. `options.reports` holds files only (see
// ExpandReports). A report that cannot be read is left out and named as long as others can be read;
// errors are of inputs (exit 3). Verdicts point into the session's rules: the session must outlive
// the result.
Result<SavedReport> Diagnose(const Session& session, const DiagnoseOptions& options);

// The same of one trace that is in memory. `inputs`: the files it was made of. The trace may go
// afterwards.
Result<SavedReport> DiagnoseTrace(const Session& session, const DiagnoseOptions& options,
                                  const Trace& trace, const std::vector<InputInfo>& inputs);

}  // namespace advise
