// The rule catalog for people: the list, and the page of one rule.
#pragma once

#include <string>
#include <vector>

#include "engine/advice/finding.h"
#include "engine/advice/site_source.h"

namespace advise {

// A rule with what its keys stand for, looked up by the caller.
struct RulePage {
  struct Threshold {
    std::string name;  // "min_share"
    double value = 0;
    std::string unit;
    std::string why;
    std::string source;
    std::string set_by;  // "" shipped; else the file or option that changed it
  };
  struct Link {
    std::string title;
    std::string url;
  };
  const RuleInfo* rule = nullptr;  // must outlive the page
  std::vector<Threshold> thresholds;
  std::vector<Link> links;
  std::string suppressed;         // the site's reason for leaving it out; empty: it runs
  std::vector<FactInfo> facts;    // that it reads, with definitions; optional ones last
  std::vector<std::string> rows;  // what its knowledge rows say, "K-A1: …"
  std::string example_name;       // of the test that the example is taken from
  Verdict example;                // the rule's verdict on that test's facts
};

// One line per rule, by area; then what the site adds, and from where.
std::string RenderRulesText(const std::vector<RulePage>& rules,
                            const std::vector<SiteSource>& sources, int width, bool color);
// The reference page of a rule as Markdown, and the index of all pages by area. Links go to pages
// beside: an area's folder holds a page a rule.
std::string RenderRuleMarkdown(const RulePage& item);
std::string RenderRuleIndexMarkdown(const std::vector<RulePage>& rules);
std::string RenderRuleText(const RulePage& item, int width, bool color);

}  // namespace advise
