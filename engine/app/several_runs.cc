#include "engine/app/several_runs.h"

#include "engine/app/command.h"
#include "engine/pipeline/inputs.h"

namespace advise {

tl::expected<std::unique_ptr<SeveralRuns>, int> DiagnoseRuns(const RunOptions& options,
                                                             const std::vector<std::string>& runs) {
  const auto fail = [](int code) { return tl::unexpected<int>(code); };
  // A path that does not exist is told before a large report is read.
  std::vector<std::vector<std::string>> files;
  for (const std::string& run : runs) {
    auto reports = ExpandReports({run});
    if (!reports) return fail(Complain(reports.error(), kUnreadableInput));
    files.push_back(std::move(*reports));
  }
  auto session = OpenSession(options.diagnose);
  if (!session) return fail(session.error());
  auto made = std::make_unique<SeveralRuns>(SeveralRuns{std::move(*session), {}});
  Progress progress(options.progress);
  for (std::size_t i = 0; i < runs.size(); ++i) {
    DiagnoseOptions one = options.diagnose;
    one.reports = files[i];
    if (progress.on()) {
      one.progress = [&](const std::string& stage) { progress.Stage(runs[i] + ": " + stage); };
    }
    one.how_far = progress.how_far();
    auto saved = Diagnose(made->session, one);
    if (!saved) return fail(Complain(saved.error(), kUnreadableInput));
    made->reports.push_back(std::move(saved->report));
  }
  return made;
}

}  // namespace advise
