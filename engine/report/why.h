// `advise why`: how one rule reached its verdict on this run, fired or not.
#pragma once

#include <string>

#include "engine/advice/report_model.h"

namespace advise {

// Every verdict of the rule (one a run or device): outcome, facts read, comparisons with value,
// threshold and margin, what it needed and did not find, and what became of the finding.
std::string RenderWhyText(const Report& report, const std::string& rule, int width, bool color);

}  // namespace advise
