// What stands at the end of the page.
#include <fmt/format.h>

#include <map>
#include <set>

#include "engine/base/text.h"
#include "engine/report/html_parts.h"
#include "engine/report/html_text.h"
#include "engine/report/not_checked_text.h"
#include "engine/report/shell.h"

namespace advise {
namespace {

constexpr std::size_t kMostNames = 10;  // of rules in a line

// A panel whose content shows when it is asked for.
std::string Folded(const std::string& title, const std::string& count, const std::string& content,
                   const std::string& always = "") {
  return fmt::format(
      "<section class=\"panel\" aria-label=\"{0}\">\n<details class=\"fold\"><summary><h2>{0}</h2>"
      "<span class=\"muted\">{1}</span></summary>\n{2}</details>\n{3}</section>\n",
      title, count, content, always);
}

// Rules that spoke of nothing, by area: what they look for was not found, or is too small. Without
// GPU work nothing was there to look at.
std::string SilentSection(const Report& report) {
  if (report.devices.empty()) return "";
  std::set<std::string> fine;
  std::set<std::string> others;
  for (const Verdict& verdict : report.verdicts) {
    if (verdict.rule == nullptr || verdict.rule->kind == RuleKind::kInfo) continue;
    if (verdict.outcome == Outcome::kFine) {
      fine.insert(verdict.rule->id);
    } else if (verdict.outcome != Outcome::kNotApplicable) {
      others.insert(verdict.rule->id);
    }
  }
  std::map<std::string, std::vector<std::string>> by_area;
  std::size_t count = 0;
  for (const std::string& id : fine) {
    if (others.contains(id)) continue;
    const std::size_t slash = id.find('/');
    by_area[id.substr(0, slash)].push_back(id.substr(slash + 1));
    ++count;
  }
  if (count == 0) return "";
  std::string list = "<ul>\n";
  for (const auto& [area, names] : by_area) {
    list += fmt::format("<li>{} <span class=\"muted\">{}</span></li>\n", HtmlText(area),
                        HtmlText(fmt::format("{}", fmt::join(names, ", "))));
  }
  return Folded("Looked for, and not found or too small to matter", RuleCount(count),
                list + "</ul>\n");
}

std::string NotCheckedSection(const Report& report) {
  if (report.not_checked.empty()) return "";
  std::map<std::string, std::vector<std::string>> by_reason;
  for (const NotChecked& item : report.not_checked) by_reason[item.reason].push_back(item.rule);
  std::string list = "<ul>\n";
  for (const auto& [reason, rules] : by_reason) {
    const std::string names = HtmlText(fmt::format("{}", fmt::join(rules, ", ")));
    // A wall of names is there for who asks.
    list += rules.size() > kMostNames
                ? fmt::format(
                      "<li><details><summary>{} <span class=\"muted\">{}</span></summary>"
                      "<p class=\"muted\">{}</p></details></li>\n",
                      HtmlText(reason), RuleCount(rules.size()), names)
                : fmt::format("<li>{} <span class=\"muted\">{}: {}</span></li>\n", HtmlText(reason),
                              RuleCount(rules.size()), names);
  }
  std::string how =
      report.capture_command.empty() ? "" : "<p>To check more of them, capture again:</p>\n";
  for (const Piece& piece : PiecesOf(report.capture_command))
    how += HtmlCodeBlock(piece.code, piece.language);
  return Folded("What could not be checked", RuleCount(report.not_checked.size()), list + "</ul>\n",
                how);
}

// A moment of the trace.
std::string MomentText(Nanos time) {
  return fmt::format("{:.6f} s", static_cast<double>(time) / kNanosPerSecond);
}

std::string RunSection(const Report& report) {
  std::string html =
      "<section class=\"panel\" aria-labelledby=\"run-title\">\n"
      "<h2 id=\"run-title\">What was read</h2>\n<ul>\n";
  for (const InputInfo& input : report.inputs) {
    html += fmt::format("<li>{} <span class=\"muted\">{} {}{}</span></li>\n", HtmlText(input.path),
                        HtmlText(input.kind), HtmlText(input.producer),
                        input.host.empty() ? "" : " on " + HtmlText(input.host));
  }
  html += "</ul>\n<p>";
  if (report.window.end_ns > report.window.start_ns) {
    html += HtmlText(fmt::format("Analyzed: {} to {} on the trace's clock (window: {}). ",
                                 MomentText(report.window.start_ns),
                                 MomentText(report.window.end_ns), report.window.mode));
  }
  if (!report.devices.empty())
    html += fmt::format("{} reached a verdict.", RuleCount(report.checked));
  html += "</p>\n";
  std::string notes;
  for (const Diagnostic& item : report.diagnostics) {
    if (item.level == Level::kInfo) continue;
    notes += "<li>" + HtmlText(item.text) +
             (item.count > 1 ? fmt::format(" ({} times)",
                                           FormatQuantity(static_cast<double>(item.count), "count"))
                             : "") +
             "</li>\n";
  }
  if (!notes.empty()) html += "<h3>Problems met while reading</h3>\n<ul>\n" + notes + "</ul>\n";
  if (!report.site_changes.empty()) {
    html += "<h3>Changed by the site</h3>\n<ul>\n";
    for (const std::string& change : report.site_changes)
      html += "<li>" + HtmlText(change) + "</li>\n";
    html += "</ul>\n";
  }
  return html + "</section>\n";
}

}  // namespace

std::string HtmlAbout(const Report& report) {
  return SilentSection(report) + NotCheckedSection(report) + RunSection(report);
}

}  // namespace advise
