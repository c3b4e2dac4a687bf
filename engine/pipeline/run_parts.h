// The reports of a run, read and judged one by one: what the run is then judged by.
#pragma once

#include <optional>
#include <set>
#include <string>
#include <vector>

#include "engine/base/error.h"
#include "engine/pipeline/judge.h"
#include "engine/pipeline/session.h"
#include "engine/store/saved_report.h"

namespace advise {

enum class FileKind : std::uint8_t { kTimeline, kFacts, kSide };

// Facts files, reports with a timeline (also what no importer knows: its reader says what is wrong
// with it), and what stands beside one: logs and counters.
FileKind KindOf(const std::string& path);

// One report or facts file: what was found in it, or why it could not be read.
struct Part {
  std::string path;
  FileKind kind = FileKind::kTimeline;
  std::optional<SavedReport> saved;
  std::optional<Error> error;
  std::set<std::string> took;  // see SideInputs::Join
};

// Reads all parts, several at a time, and in a parallel run each process its own. Files without a
// timeline are joined to the reports that they are about (see side_inputs.h). The error is that of
// a side file; those of parts stay with them. In a parallel run only process 0 returns: the others
// hand in what they have, and PartHandedIn is thrown.
Result<void> ReadParts(const Session& session, const DiagnoseOptions& options,
                       const WindowRequest& window, const std::vector<std::string>& side_files,
                       std::vector<Part>* parts);

}  // namespace advise
