// Reports and rank summaries as JSON, complete: what the JSON report leaves out is here, too.
#pragma once

#include <nlohmann/json.hpp>

#include "engine/store/saved_report.h"

namespace advise {

nlohmann::json ReportToJson(const Report& report);
nlohmann::json VerdictsToJson(const std::vector<Verdict>& verdicts);
nlohmann::json RanksToJson(const std::vector<RankSummary>& ranks);  // without collectives

// Throw nlohmann::json::exception when a field is of another type. Rules that are not known are
// added to `unknown`.
Report ReportFromJson(const nlohmann::json& json, const FindRuleInfo& find_rule,
                      std::vector<std::string>* unknown);
std::vector<Verdict> VerdictsFromJson(const nlohmann::json& json, const FindRuleInfo& find_rule);
std::vector<RankSummary> RanksFromJson(const nlohmann::json& json);

}  // namespace advise
