// The rule catalogue for people: the list, and the page of one rule.
#pragma once

#include <string>
#include <vector>

#include "engine/advice/finding.h"

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
  RuleInfo rule;
  std::vector<Threshold> thresholds;
  std::vector<Link> links;
  std::string suppressed;  // the site's reason for leaving it out; empty: it runs
};

// One line a rule, by area.
std::string RenderRulesText(const std::vector<RulePage>& rules, int width, bool color);
std::string RenderRuleText(const RulePage& item, int width, bool color);

}  // namespace advise
