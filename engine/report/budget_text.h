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
std::string IdleCauseWords(const std::string& cause);

// The causes of idle time, largest first, as shares of the window: "launching 4 %". Those below
// half a percent are left out.
std::vector<std::string> IdleParts(const std::vector<DeviceBudget>& devices, std::size_t most);

}  // namespace advise
