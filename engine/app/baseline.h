// What makes the exit status 1: findings at or above a level, or such that a baseline does not
// know; a run that takes longer than that of the baseline.
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

// The share in "slower:3%"; nullopt for another text.
std::optional<double> SlowerLimit(const std::string& text);

// What a report of `--format json` says of its run.
struct Baseline {
  std::set<std::string> rules;                   // that fired
  std::string unit;                              // step, token, request …
  double seconds_per_unit = 0;                   // 0: the report does not say
  std::optional<std::vector<std::string>> gpus;  // nothing: a brief report does not name them
};

Result<Baseline> ReadBaseline(const std::string& path);

// By which share the run's unit of work takes longer than the baseline's: negative if it is faster.
// Fails where the two cannot be held against each other, with the reason.
Result<double> SlowerBy(const Report& report, const Baseline& baseline, const std::string& path);

// Rule ids of the findings at or above `level` that `known` does not hold, in the report's order.
std::vector<std::string> FindingsAtOrAbove(const Report& report, Severity level,
                                           const std::set<std::string>& known);

}  // namespace advise
