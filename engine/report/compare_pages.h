// Comparisons of runs laid out as text, JSON, Markdown and HTML. No arithmetic but changes and
// shares of what is shown.
#pragma once

#include <string>
#include <vector>

#include "engine/compare/compare.h"
#include "engine/compare/scaling.h"

namespace advise {

// A verdict of the rules of the area "scale", with its texts filled.
struct ScaleFinding {
  std::string rule;
  std::string title;
  std::string run;  // label of the larger run
  std::string symptom;
  std::string cause;
  std::vector<Fix> fixes;
};

std::string CompareText(const RunComparison& comparison, const std::string& before,
                        const std::string& after, int width, bool color);
std::string CompareJson(const RunComparison& comparison, const std::string& before,
                        const std::string& after);
// For a merge request: the verdict as a heading, a table of the time, and lists of findings.
std::string CompareMarkdown(const RunComparison& comparison, const std::string& before,
                            const std::string& after);
// One page: no scripts, nothing fetched.
std::string CompareHtml(const RunComparison& comparison, const std::string& before,
                        const std::string& after);
std::string ScalingText(const Scaling& scaling, const std::vector<ScaleFinding>& findings,
                        int width, bool color);
std::string ScalingJson(const Scaling& scaling, const std::vector<ScaleFinding>& findings);

}  // namespace advise
