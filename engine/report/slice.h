// The surroundings of one finding as Chrome trace JSON, for Perfetto and other trace viewers: host
// threads, streams, gaps with their causes, arrows from launching calls to their work, and the
// findings on tracks of their own.
#pragma once

#include <string>

#include "engine/advice/report_views.h"

namespace advise {

// Times are those of the trace, in microseconds with three decimals, as the format wants.
std::string RenderSlice(const FindingSlice& slice);

}  // namespace advise
