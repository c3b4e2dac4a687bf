// Options that several commands share.
#pragma once

#include <CLI/CLI.hpp>
#include <memory>
#include <string>
#include <vector>

#include "engine/app/output.h"
#include "engine/cluster/rank_summary.h"
#include "engine/pipeline/diagnose.h"

namespace advise {

// A trace that was read before, and the files that it was made of.
struct KeptTrace {
  Trace trace;
  std::vector<InputInfo> inputs;
};

// REPORT… and what changes how reports are read: --window, --gpu, --jobs, --progress.
struct RunOptions {
  DiagnoseOptions diagnose;
  OutputOptions output;
  std::string progress = "auto";
  std::shared_ptr<const KeptTrace> kept;  // judged in place of the reports; null: they are read
};

void AddReportOptions(CLI::App& app, RunOptions& options);
// --jobs.
void AddJobsOption(CLI::App& app, DiagnoseOptions& options);
// --rules, --config, --set, --no-site: what rules and settings are in force.
void AddSiteOptions(CLI::App& app, DiagnoseOptions& options);
// --format (one of `formats`), --no-color.
void AddFormatOptions(CLI::App& app, OutputOptions& options,
                      const std::vector<std::string>& formats);
// The same, and -o for one file, whose name says the format where --format does not.
void AddOutputOptions(CLI::App& app, OutputOptions& options,
                      const std::vector<std::string>& formats);

// "--only a,b --only c" as one list; an option never takes the reports that follow it.
CLI::Option* AddListOption(CLI::App& app, const std::string& flags,
                           std::vector<std::string>& values, const std::string& type,
                           const std::string& text);

// --only and --skip.
void AddSelectionOptions(CLI::App& app, DiagnoseOptions& options);

// One of few values; a check for CLI::Option::check that names the nearest one.
CLI::Validator OneOf(const std::vector<std::string>& values);

// A whole number from `lowest` to `highest`; a check for CLI::Option::check with a short message.
CLI::Validator WholeNumber(int lowest, int highest);

// The rules and settings of these options; --only, --skip and --gpu name what there is. Or the exit
// code, the complaint being printed already.
tl::expected<Session, int> OpenSession(const DiagnoseOptions& options);

// A finished diagnosis, with the session that its verdicts point into; or the exit code, the
// complaint being printed already.
struct Diagnosis {
  Session session;
  Report report;
  std::vector<RankSummary> ranks;
};
tl::expected<std::unique_ptr<Diagnosis>, int> RunDiagnosis(const RunOptions& options);

}  // namespace advise
