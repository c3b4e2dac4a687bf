// The parts of the HTML report that more than one file makes.
#pragma once

#include <string>

#include "engine/advice/report_model.h"
#include "engine/report/html.h"

namespace advise {

// The data of charts and timelines as JSON, safe inside a <script> element.
std::string HtmlData(const Report& report);

// One finding in full, and its line in the ranked list.
std::string HtmlFinding(const Report& report, const Finding& finding, const HtmlOptions& options,
                        bool open);
std::string HtmlFindingLine(const Report& report, const Finding& finding);

// The efficiency tree of several ranks, and each rank; empty for one rank.
std::string HtmlRanks(const Report& report);

// The time that is left after each fix of the plan, as a staircase; empty without a plan.
std::string HtmlPlan(const Report& report);

// What was looked for and not found, what could not be checked, and what was read: folded, but for
// how to capture what is missing.
std::string HtmlAbout(const Report& report);

// Code with a button that copies it.
std::string HtmlCodeBlock(const std::string& code, const std::string& label);

}  // namespace advise
