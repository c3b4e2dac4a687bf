// One finding in the report for people: in full, or in one line.
#pragma once

#include "engine/advice/report_model.h"
#include "engine/report/layout.h"
#include "engine/report/text.h"

namespace advise {

// Seen, Why, Do, Gain, Check, Rule: what a reader needs to act and to verify, in about a dozen
// lines: the fix that fits best, and how many others there are. With `options.verbose` all fixes
// for the program, the links, where the confidence comes from, and all that the finding explains.
void WriteFinding(Page& page, const Report& report, const Finding& finding,
                  const TextOptions& options);

// " 6  Title …     saves up to 9 ms (1 %)   rule/id"
void WriteFindingLine(Page& page, const Finding& finding);

}  // namespace advise
