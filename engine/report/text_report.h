// The report for people: what matters first, readable at 80 columns.
#pragma once

#include <string>

#include "engine/advice/report_model.h"

namespace advise {

struct TextOptions {
  int width = 80;
  int rows = 30;  // of a screen: one finding fits one screen, four fit two
  bool color = false;
  int top = 5;             // number of findings to show in full; the rest get one line each
  bool devices = false;    // where the time went for each GPU, not only the average
  bool all_fixes = false;  // also those for other programs than the one that was captured
  bool quiet = false;      // the verdict and one line per finding, nothing else
  bool verbose = false;    // everything that is said: all fixes, links, notes and reasons
  // The reports as the user would type them again, quoted for the shell; empty: the first input.
  std::string reports_argument;
};

// The whole report, ending in a line break. A run without findings is said to be healthy in plain
// words; a capture that supports no verdict says why.
std::string RenderText(const Report& report, const TextOptions& options);

}  // namespace advise
