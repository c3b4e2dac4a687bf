// The files that every HTML report is made of, built into the program: page, style, scripts, and
// the chart library with its license.
#pragma once

#include <string_view>

namespace advise {

// "page.html", "report.css", "d3.js" …; empty for a name that is not embedded.
std::string_view HtmlAsset(std::string_view name);

}  // namespace advise
