// The tools of `advise mcp`: each asks what a command asks, of a run that is open, and answers in a
// few kilobytes; what is longer comes in pages.
#pragma once

#include <vector>

#include "engine/app/mcp/protocol.h"
#include "engine/app/mcp/runs.h"

namespace advise {

// `runs` must outlive the tools.
std::vector<McpTool> McpTools(OpenRuns* runs);

}  // namespace advise
