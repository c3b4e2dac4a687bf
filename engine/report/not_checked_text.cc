#include "engine/report/not_checked_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "engine/base/is_in.h"
#include "engine/base/text.h"

namespace advise {
namespace {

constexpr int kNoLimit = std::numeric_limits<int>::max();

// Reasons why rules could not judge, with the rules of each, the most first.
using Reasons = std::vector<std::pair<std::string, std::vector<std::string>>>;

Reasons ReasonsNotChecked(const Report& report) {
  Reasons groups;
  for (const NotChecked& item : report.not_checked) {
    const auto known = std::find_if(groups.begin(), groups.end(),
                                    [&](const auto& group) { return group.first == item.reason; });
    if (known == groups.end()) {
      groups.push_back({item.reason, {item.rule}});
    } else if (!IsIn(item.rule, known->second)) {
      known->second.push_back(item.rule);
    }
  }
  std::stable_sort(groups.begin(), groups.end(),
                   [](const auto& a, const auto& b) { return a.second.size() > b.second.size(); });
  return groups;
}

std::size_t RulesFrom(const Reasons& groups, std::size_t first) {
  std::size_t rules = 0;
  for (std::size_t i = first; i < groups.size(); ++i) rules += groups[i].second.size();
  return rules;
}

}  // namespace

std::string RuleCount(std::size_t count) {
  return fmt::format("{} rule{}", count, count == 1 ? "" : "s");
}

std::string RulesNotChecked(const Report& report) {
  return RuleCount(RulesFrom(ReasonsNotChecked(report), 0));
}

void WriteNotChecked(Page& page, const Report& report, int column, bool verbose,
                     const MissingRoom& room) {
  if (report.not_checked.empty()) return;
  const std::string& command = report.capture_command;
  const bool wanted = !command.empty() && (verbose || report.next_command.empty());
  const bool has_command = wanted && (verbose || room.capture);
  const int most = verbose ? kNoLimit : has_command ? room.rows - 1 : room.rows;
  const auto groups = ReasonsNotChecked(report);
  Page lines = page.Another();
  std::string label = "Could not be checked";
  std::size_t shown = 0;
  for (; shown < groups.size(); ++shown) {
    const auto& [reason, rules] = groups[shown];
    Page line = page.Another();
    line.Labelled(
        label, 0, column,
        fmt::format("{}{}{}", RuleCount(rules.size()), reason.empty() ? "" : ": ", reason));
    const int left = shown + 1 == groups.size() ? 0 : 1;
    if (lines.rows() + line.rows() > most - left) break;
    lines.Append(line);
    label.clear();
  }
  const std::size_t left = RulesFrom(groups, shown);
  const bool in_one_line = has_command && most == 0;
  if (in_one_line) {
    lines.Labelled(label, 0, column,
                   fmt::format("{} (-v says why); to check more, capture again:", RuleCount(left)));
  } else if (left > 0) {
    const std::size_t reasons = groups.size() - shown;
    lines.Labelled(label, 0, column,
                   fmt::format("{} for {} {}reason{}{}: -v", RuleCount(left), reasons,
                               shown > 0 ? "other " : "", reasons == 1 ? "" : "s",
                               wanted && !has_command ? ", and how to capture more" : ""));
  }
  page.Append(lines);
  if (!has_command) return;
  if (!in_one_line)
    page.Labelled("→", column - 2, column, "to check more of them, capture again with:");
  // The first tells most. A command of another profiler is another way.
  const std::size_t other = command.find("\nnsys ");
  const int indent = in_one_line ? 1 : 2;  // where rows are few, the longest command fits one
  page.Verbatim(command.substr(0, verbose ? other : command.find('\n')), indent);
  if (!verbose || other == std::string::npos) return;
  page.Labelled("", column - 2, column, "or with:");
  page.Verbatim(command.substr(other + 1), 2);
}

}  // namespace advise
