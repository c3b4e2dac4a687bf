// Reports and rank summaries as JSON, complete: what the JSON report leaves out is here, too.
#pragma once

#include <nlohmann/json.hpp>

#include "engine/store/saved_report.h"

namespace advise {

nlohmann::json SummaryToJson(const SavedReport& saved);  // without collectives

// A field that is not there has its default. Throws nlohmann::json::exception when one is of
// another type. Ids of rules that are not known are added to `unknown`; their findings are left
// out.
SavedReport SummaryFromJson(const nlohmann::json& json, const Vocabulary& known,
                            std::vector<std::string>* unknown);

}  // namespace advise
