// Which directive of the source a call belongs to, where the report has directives of OpenACC.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "engine/trace/tables.h"

namespace advise {

// Calls and what each weighs.
using WeighedCalls = std::vector<std::pair<std::uint32_t, double>>;

// The directive that holds most of the calls by weight: "OpenACC upload of a at solver.f90:42". Of
// those around a call, the innermost counts. "" where none holds any.
// O(ranges + calls log ranges).
std::string DirectiveOf(const Trace& trace, const WeighedCalls& calls);

}  // namespace advise
