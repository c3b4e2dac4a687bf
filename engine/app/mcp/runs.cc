#include "engine/app/mcp/runs.h"

#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <filesystem>

#include "engine/advice/views.h"
#include "engine/pipeline/inputs.h"
#include "engine/pipeline/parts.h"
#include "engine/pipeline/selection.h"

namespace advise {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kMostRuns = 16;
constexpr std::size_t kMostTraces = 2;

// What tells a file from the one that was there before: a clock that ticks every few milliseconds
// does not, when both are as long.
std::string IdentityOf(const std::string& file) {
  std::error_code failed;
  struct stat found = {};
  const bool exists = stat(file.c_str(), &found) == 0;
  return fmt::format("|{}|{}|{}|{}|{}", fs::absolute(file, failed).string(),
                     exists ? found.st_ino : 0, found.st_size, found.st_mtim.tv_sec,
                     found.st_mtim.tv_nsec);
}

std::string IdentityOf(const std::vector<std::string>& files, const DiagnoseOptions& options) {
  std::string identity = options.window + "|" + options.gpu;
  for (const std::string& file : files) {
    identity += IdentityOf(file);
  }
  return identity;
}

}  // namespace

OpenRuns::OpenRuns(Session session, RunOptions base)
    : session_(std::move(session)), base_(std::move(base)) {}

Result<const OpenRun*> OpenRuns::Open(
    const std::vector<std::string>& paths, const std::string& window, const std::string& gpu,
    const std::function<void(const std::string& stage)>& progress) {
  OpenRun run;
  run.options = base_;
  DiagnoseOptions& options = run.options.diagnose;
  if (!window.empty()) options.window = window;
  if (!gpu.empty()) options.gpu = gpu;
  if (const auto known = CheckGpu(options.gpu, *session_.knowledge); !known) {
    return Fail(known.error().what, "gpu", known.error().hint);
  }
  const auto files = ExpandReports(paths);
  if (!files) return tl::unexpected(files.error());
  options.reports = *files;
  run.identity = IdentityOf(*files, options);
  for (const OpenRun& known : runs_) {
    if (known.identity == run.identity) return &known;
  }

  DiagnoseOptions reading = options;
  reading.progress = progress;
  reading.draw = true;
  const bool one_trace = AreOneTrace(*files);
  reading.inspect = [&](const Analysis& analysis, Report* report) {
    ReportViews views;
    if (one_trace) {
      views.sources = FindSources(analysis, *report);
    } else {
      views = BuildViews(analysis, *report);
    }
    report->views = std::make_shared<const ReportViews>(std::move(views));
  };
  if (one_trace) {
    reading.keep = [&](Trace&& trace, const std::vector<InputInfo>& inputs) {
      run.options.kept = std::make_shared<const KeptTrace>(KeptTrace{std::move(trace), inputs});
    };
  }
  auto saved = Diagnose(session_, reading);
  if (!saved) return tl::unexpected(saved.error());
  run.report = std::move(saved->report);
  run.name = fmt::format("r{}", ++opened_);
  runs_.push_back(std::move(run));
  if (runs_.size() > kMostRuns) runs_.pop_front();
  std::size_t traces = 0;
  for (auto one = runs_.rbegin(); one != runs_.rend(); ++one) {
    if (one->options.kept != nullptr && ++traces > kMostTraces) one->options.kept.reset();
  }
  return &runs_.back();
}

Result<const OpenRun*> OpenRuns::Find(const std::string& name) const {
  std::string open;
  for (const OpenRun& run : runs_) {
    if (run.name == name) return &run;
    open += (open.empty() ? "" : ", ") + run.name;
  }
  return Fail("there is no open run \"" + name + "\"", "run",
              open.empty() ? "call open first" : "open: " + open);
}

}  // namespace advise
