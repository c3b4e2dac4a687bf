// The report as one HTML file that needs nothing else: no network, no server. What matters reads
// without scripts; scripts add charts, timelines, filters and sorting.
#pragma once

#include <string>

#include "engine/advice/report_model.h"

namespace advise {

struct HtmlOptions {
  // The reports as the user would type them again, quoted for the shell; empty: the first input.
  std::string reports_argument;
};

// Charts and timelines are drawn from `report.views`; without them there are none.
std::string RenderHtml(const Report& report, const HtmlOptions& options);

}  // namespace advise
