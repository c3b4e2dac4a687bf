// The time budget in words and whole percentages, for every format that people read.
#pragma once

#include <string>
#include <vector>

#include "engine/advice/report_model.h"

namespace advise {

struct BudgetPart {
  std::string name;
  Nanos ns = 0;
};

// Compute, communication, copies, memsets, idle: summed over the devices, always these five.
std::vector<BudgetPart> BudgetParts(const std::vector<DeviceBudget>& devices);

// Whole percentages that add up to 100. All but the first are rounded as sentences round them, so
// that a figure of the headline is the same here.
std::vector<int> Percentages(const std::vector<BudgetPart>& parts);

// "data_loading" as people say it.
std::string IdleCauseLabel(const std::string& cause);

// The causes of idle time of these devices, largest first, as shares of the window: "launching
// 4 %". Those below half a percent are left out. What the report says to read with care of a cause
// is in its words.
std::vector<std::string> IdleParts(const Report& report, const std::vector<DeviceBudget>& devices,
                                   std::size_t most);

}  // namespace advise
