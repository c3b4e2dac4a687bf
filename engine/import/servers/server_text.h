// What the readers of servers' logs and pages share.
#pragma once

#include <optional>
#include <string_view>

#include "engine/trace/server_log.h"

namespace advise {

// What stands behind `key`, without blanks; empty where the line has no such key.
std::string_view Behind(std::string_view line, std::string_view key);

// The number at the start of a text: "99.8%,", "256 reqs", "112,347 tokens".
std::optional<double> LeadingNumber(std::string_view text);

// Whether a text may be a log: it is not empty and does not begin with one of these characters.
// Pages of documentation, notebooks and JSON quote lines of logs.
bool MayBeLog(std::string_view head, std::string_view not_with);

// Counts times from the first sample on; where the log has a clock, samples without a time go.
void CountTimesFromFirst(ServerLog* log);

}  // namespace advise
