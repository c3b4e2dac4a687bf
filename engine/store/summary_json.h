// Reports and rank summaries as JSON, complete: what the JSON report leaves out is here, too.
#pragma once

#include <nlohmann/json.hpp>
#include <stdexcept>
#include <string>
#include <vector>

#include "engine/store/saved_report.h"

namespace advise {

nlohmann::json SummaryToJson(const SavedReport& saved);  // without collectives

struct BadSummary : std::runtime_error {
  using std::runtime_error::runtime_error;
};

// A field that is not there has its default. Throws BadSummary when the text is no JSON, or when a
// field is of another type. Ids of rules that are not known are added to `unknown`; their findings
// are left out.
SavedReport SummaryFromText(const std::string& text, const Vocabulary& known,
                            std::vector<std::string>* unknown);

}  // namespace advise
