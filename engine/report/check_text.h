// How a person checks a finding by hand: a command of the shell, or what to search for.
#pragma once

#include <string>

#include "engine/advice/report_model.h"

namespace advise {

// The command that prints the evidence, and after "#" what it prints; "" where none can.
std::string CheckCommand(const Report& report, const Evidence& item);

// The first piece of evidence that a command prints; nullptr where there is none.
const Evidence* CheckedByCommand(const Report& report, const Finding& finding);

// The first that a person can search for; nullptr where there is none.
const Evidence* CheckedBySearch(const Finding& finding);

}  // namespace advise
