// The findings as SARIF 2.1.0, for code-scanning views and editors: one result a finding, with the
// rule's own words, and a source line where the capture has one.
#pragma once

#include <string>

#include "engine/advice/report_model.h"

namespace advise {

// Source lines come from `report.views`; without them results have no physical location.
std::string RenderSarif(const Report& report);

// A path as a URI reference: percent-encoded, "file:///…" when absolute.
std::string PathUri(const std::string& path);

}  // namespace advise
