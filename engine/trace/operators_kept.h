// Traces that somebody thinned out after they were recorded.
#pragma once

#include <string_view>

#include "engine/trace/tables.h"

namespace advise {

// Note on a trace that holds fewer than half of the operators that the program ran, as their
// numbers tell. Its count: of those that are not there.
inline constexpr std::string_view kOperatorsLeftOut =
    "most operators were left out of the trace: their numbers have gaps";

// The part of the operators that such a trace kept; 1 of others.
double OperatorsKept(const Trace& trace);

}  // namespace advise
