// One finding in the report for people: in full, or in one line.
#pragma once

#include <string>

#include "engine/advice/report_model.h"
#include "engine/report/layout.h"
#include "engine/report/text.h"

namespace advise {

// "0.90 s", "42.0 s", "830 us": two numbers that are compared in one line get the same unit.
std::string SecondsText(double seconds);

// Seen, Why, Do, Check, Rule: the finding with everything a reader needs to act and to verify.
void WriteFinding(Page& page, const Report& report, const Finding& finding,
                  const TextOptions& options);

// " 6  Title …     saves up to 9 ms (1 %)   rule/id"
void WriteFindingLine(Page& page, const Finding& finding);

}  // namespace advise
