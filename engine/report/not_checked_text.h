// What could not be checked, and the command that captures it, in the text report.
#pragma once

#include <string>

#include "engine/advice/report_model.h"
#include "engine/report/layout.h"

namespace advise {

struct MissingRoom {
  int rows = 3;         // beside the command
  bool capture = true;  // the command that captures what is missing
};

// What is missing matters to the reader; the rules that miss it stand in the JSON report. A few
// lines beside a label of `column`, and one command, of which the one that says what to do next
// goes before. With one row, all rules share the line that leads to the command.
void WriteNotChecked(Page& page, const Report& report, int column, bool verbose,
                     const MissingRoom& room);

// "40 rules"
std::string RuleCount(std::size_t count);
std::string RulesNotChecked(const Report& report);

}  // namespace advise
