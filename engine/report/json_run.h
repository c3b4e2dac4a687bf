// What the full and the brief JSON report share. Internal to report/.
#pragma once

#include "engine/advice/report_model.h"
#include "engine/report/json_value.h"

namespace advise {

// What is not finite prints as 0; callers leave such values out where they may.
OrderedJson FiniteNumber(double value);

OrderedJson RunObject(const RunInfo& run, const std::string& why_tentative);
OrderedJson EfficiencyObject(const EfficiencyInfo& efficiency);

}  // namespace advise
