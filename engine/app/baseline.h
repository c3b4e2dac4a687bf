// What makes the exit status 1: findings at or above a level, or such that a baseline does not
// know.
#pragma once

#include <optional>
#include <set>
#include <string>
#include <vector>

#include "engine/advice/report_model.h"
#include "engine/base/error.h"

namespace advise {

// From "info" to "critical".
std::vector<std::string> SeverityNames();

// "medium" → kMedium; nullopt for no such level.
std::optional<Severity> SeverityFromName(const std::string& name);

// The rules that fired in a report of `--format json`.
Result<std::set<std::string>> ReadBaseline(const std::string& path);

// Rule ids of the findings at or above `level` that `known` does not hold, in the report's order.
std::vector<std::string> FindingsAtOrAbove(const Report& report, Severity level,
                                           const std::set<std::string>& known);

}  // namespace advise
