// From what the user named to the reports to read.
#pragma once

#include <string>
#include <vector>

#include "engine/base/error.h"

namespace advise {

// Files as they are; a directory as all reports in it (recognized by content, sorted by name, not
// its subdirectories, not what `advise slice` wrote, and of a capture and its export the export).
// Fails on a path that does not exist and on a directory without reports. A
// file that is named twice counts once.
Result<std::vector<std::string>> ExpandReports(const std::vector<std::string>& paths);

}  // namespace advise
