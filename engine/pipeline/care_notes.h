// What makes figures of a report less certain than they look.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "engine/metrics/analysis.h"

namespace advise {

// Said of counters only where a saving is priced by them.
inline constexpr std::string_view kCountedSavingsNote =
    "savings are shares of the time under the kernel profiler, which runs one kernel at a time at "
    "its own clocks";

// That the report shows `shown` of the `world` ranks of the job; of a run of several reports, the
// run itself says which are missing.
std::string SomeRanksNote(int world, int shown);

std::vector<std::string> ReadWithCare(const Analysis& analysis);

}  // namespace advise
