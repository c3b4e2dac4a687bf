#include "engine/pipeline/run_of_ranks.h"

#include <algorithm>

#include "engine/cluster/cluster.h"
#include "engine/pipeline/run_judge.h"
#include "engine/pipeline/run_parts.h"
#include "engine/pipeline/run_views.h"

namespace advise {

bool NeedsReduction(const std::vector<std::string>& files) {
  std::size_t timelines = 0;
  for (const std::string& file : files) {
    const FileKind kind = KindOf(file);
    if (kind == FileKind::kFacts) return true;
    timelines += kind == FileKind::kTimeline ? 1 : 0;
  }
  return timelines > 1;
}

Result<SavedReport> DiagnoseRun(const Session& session, const DiagnoseOptions& options,
                                const WindowRequest& window) {
  std::vector<Part> parts;
  std::vector<std::string> side_files;
  for (const std::string& file : options.reports) {
    const FileKind kind = KindOf(file);
    if (kind == FileKind::kSide) {
      side_files.push_back(file);
    } else {
      parts.push_back({file, kind, std::nullopt, std::nullopt, {}});
    }
  }
  const Result<void> read = ReadParts(session, options, window, side_files, &parts);
  if (!read) return tl::unexpected(read.error());
  const auto readable = std::count_if(parts.begin(), parts.end(),
                                      [](const Part& part) { return part.saved.has_value(); });
  if (readable == 0) return tl::unexpected(*parts.front().error);
  if (parts.size() == 1) {
    SavedReport saved = std::move(*parts.front().saved);
    if (options.window != "auto" || !options.gpu.empty()) {
      saved.report.diagnostics.push_back(
          {Level::kWarning,
           "a facts file keeps the window and the GPU that it was written with: --window and --gpu "
           "change nothing",
           "", 1});
    }
    if (options.draw && saved.report.views == nullptr) {
      const Cluster cluster(saved.ranks, *session.knowledge);
      saved.report.views = MergeViews({}, cluster, saved.report);
    }
    return saved;
  }
  return JudgeRun(session, options, &parts);
}

}  // namespace advise
