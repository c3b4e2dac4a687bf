// One finding in the report for people: in full, or in one line.
#pragma once

#include "engine/advice/report_model.h"
#include "engine/report/layout.h"
#include "engine/report/text_report.h"

namespace advise {

// What a finding gets of the screen.
struct FindingRoom {
  int rows = 12;
  bool commands = true;  // those that check it by hand; `advise why` prints them, too
  bool cause = true;     // also where it does not fit
  bool terse = false;    // of the fix, what to do alone: its first clause where more does not fit
};

// Seen, Why, Do, Gain, Check, Rule: what a reader needs to act and to verify, with the fix that
// fits best. What `room` does not hold is left out, the code of the fix last; findings of low
// severity, and those of a room that does not insist, then do without their cause. With
// `options.verbose` all fixes for the program, the links, where the confidence comes from, and all
// that the finding explains.
void WriteFinding(Page& page, const Report& report, const Finding& finding,
                  const TextOptions& options, const FindingRoom& room);

// " 6  Title …     saves up to 9 ms (1 %)   rule/id"
void WriteFindingLine(Page& page, const Report& report, const Finding& finding);

}  // namespace advise
