// Files that appear whole, or not at all: written beside their place, then moved into it.
#pragma once

#include <string>

#include "engine/base/error.h"

namespace advise {

// Moves a finished file to its place, where a file or a link gives way to it. A device, a pipe or a
// folder does not: that is an error, and the unfinished file is removed, as after any other.
Result<void> MoveIntoPlace(const std::string& finished, const std::string& place);

}  // namespace advise
