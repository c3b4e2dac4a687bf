// What the full and the brief JSON report share. Internal to report/.
#pragma once

#include "engine/advice/report_model.h"
#include "engine/report/json_parts.h"

namespace advise::json {

Json RunObject(const RunInfo& run, const std::string& why_tentative);
Json EfficiencyObject(const EfficiencyInfo& efficiency);

}  // namespace advise::json
