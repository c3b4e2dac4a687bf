// A comparison of two runs as one page: no scripts, nothing fetched, everything from reports is
// text.
#include <fmt/format.h>

#include <algorithm>
#include <string_view>

#include "engine/report/compare_pages.h"
#include "engine/report/compare_words.h"
#include "engine/report/html_text.h"

namespace advise {
namespace {

constexpr const char* kCompareStyle =
    ":root{color-scheme:light dark;--line:#c9d1da;--muted:#54606f;--compute:#1f8ad1;--comm:#a377e6;"
    "--copy:#e8731a;--memset:#ab880a;--idle:#c3cad3;--good:#1c5a2b;--bad:#b01029}\n"
    "@media(prefers-color-scheme:dark){:root{--line:#3a4655;--muted:#9fadbe;--compute:#4a9fe0;"
    "--comm:#b08cf0;--copy:#f08c3a;--memset:#d8b63c;--idle:#46525f;--good:#a0e0ae;--bad:#ff8090}}\n"
    "body{font:15px/1.45 system-ui,sans-serif;margin:1.2em auto;max-width:62em;padding:0 1em;"
    "overflow-wrap:anywhere}h1{font-size:1.4em}h2{font-size:1.1em;margin:1.4em 0 .4em}"
    "h3{font-size:1em;margin:.9em 0 .2em}ul{margin:.2em 0}\n"
    "table{border-collapse:collapse}th,td{border-bottom:1px solid var(--line);padding:.25em .5em;"
    "text-align:left;vertical-align:top;font-weight:400}thead th{color:var(--muted)}\n"
    ".n{text-align:right;white-space:nowrap;font-variant-numeric:tabular-nums}"
    "tbody th{overflow-wrap:normal}.cause th{padding-left:1.8em;color:var(--muted)}.all th,.all "
    "td{font-weight:600}\n"
    ".scroll{overflow-x:auto}.muted{color:var(--muted)}.good{color:var(--good)}.bad{color:var(--"
    "bad)}"
    "\n.run{display:flex;margin:0 0 .1em}.run b{flex:none;font-weight:400;width:4.2em}"
    ".folders{flex:0 9999 auto;min-width:1.5em;overflow:hidden;text-overflow:ellipsis;"
    "white-space:nowrap}.file{flex:0 1 auto;min-width:0}"
    "\n.bars{margin-top:.7em;display:grid;grid-template-columns:auto 1fr auto;gap:.3em "
    ".7em;align-items:center}"
    ".bar{display:flex;height:1.3em}.bar span{flex:none;width:calc(var(--share)*100%)}\n"
    ".compute{background:var(--compute)}.comm_exposed{background:var(--comm)}"
    ".copy_exposed{background:var(--copy)}.memset_exposed{background:var(--memset)}"
    ".idle{background:var(--idle)}\n"
    ".legend{list-style:none;display:flex;flex-wrap:wrap;gap:.2em 1em;padding:0;color:var(--muted)}"
    ".legend span{display:inline-block;width:.8em;height:.8em;margin-right:.35em}\n"
    "@media(max-width:40em){th,td{padding:.25em .3em;font-size:.9em}.cause th{padding-left:.9em}"
    "tbody th{overflow-wrap:anywhere}}\n";

bool IsCause(const BudgetChange& item) { return item.name.starts_with("idle."); }

// The states of a step or window one after the other, as long as they take.
std::string CompareBar(const RunComparison& c, double BudgetChange::*time) {
  const double longest = std::max({1.0, c.before.ns, c.after.ns});
  std::string html = "<span class=\"bar\" aria-hidden=\"true\">";
  for (const BudgetChange& item : c.budget) {
    if (IsCause(item) || item.*time <= 0) continue;
    html += fmt::format("<span class=\"{}\" style=\"--share:{:.4f}\"></span>", HtmlText(item.name),
                        std::clamp(item.*time / longest, 0.0, 1.0));
  }
  return html + "</span>";
}

std::string CompareBars(const RunComparison& c) {
  std::string html = "<div class=\"bars\">\n";
  const auto row = [&](const char* name, const UncertainTime& time, double BudgetChange::*part) {
    html += fmt::format("<span>{}</span>{}<span class=\"n\">{}</span>\n", name, CompareBar(c, part),
                        HtmlText(CompareTime(time.ns)));
  };
  row("before", c.before, &BudgetChange::before_ns);
  row("after", c.after, &BudgetChange::after_ns);
  html += "</div>\n<ul class=\"legend\">";
  for (const BudgetChange& item : c.budget) {
    if (IsCause(item) || (item.before_ns <= 0 && item.after_ns <= 0)) continue;
    html += fmt::format("<li><span class=\"{}\"></span>{}</li>", HtmlText(item.name),
                        HtmlText(StateInWords(item.name)));
  }
  return html + "</ul>\n";
}

std::string CompareTable(const RunComparison& c) {
  std::string html =
      "<div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-label=\"Where the time went\">"
      "<table><thead><tr><th scope=\"col\">state</th><th scope=\"col\" class=\"n\">before</th>"
      "<th scope=\"col\" class=\"n\">after</th><th scope=\"col\" "
      "class=\"n\">change</th></tr></thead>"
      "<tbody>\n";
  const auto row = [&](const char* css, const std::string& name, double was, double is) {
    html += fmt::format(
        "<tr{}><th scope=\"row\">{}</th><td class=\"n\">{}</td><td class=\"n\">{}</td>"
        "<td class=\"n\">{}</td></tr>\n",
        css, HtmlText(name), HtmlText(CompareTime(was)), HtmlText(CompareTime(is)),
        HtmlText(CompareChange(was, is)));
  };
  for (const BudgetChange& item : c.budget) {
    row(IsCause(item) ? " class=\"cause\"" : "", StateInWords(item.name), item.before_ns,
        item.after_ns);
  }
  row(" class=\"all\"", "all", c.before.ns, c.after.ns);
  return html + "</tbody></table></div>\n";
}

const char* ClassOf(const FindingGroup& group) {
  switch (group.kind) {
    case FindingGroup::Kind::kBetter:
      return "good";
    case FindingGroup::Kind::kWorse:
      return "bad";
    case FindingGroup::Kind::kUnknown:
      return "muted";
    case FindingGroup::Kind::kSame:
      break;
  }
  return "";
}

std::string CompareFindings(const FindingGroup& group) {
  std::string html =
      fmt::format("<h3 class=\"{}\">{}</h3>\n<ul>\n", ClassOf(group), HtmlText(group.title));
  for (const FindingChange& item : group.findings) {
    const std::string along = WentAlong(item);
    html += fmt::format("<li>{} <span class=\"muted\">{}</span>{}</li>\n",
                        HtmlText(TitleWithTime(item)), HtmlText(item.rule),
                        along.empty() ? "" : HtmlText("; " + along));
  }
  return html + "</ul>\n";
}

std::string CompareParagraphs(const std::vector<std::string>& texts) {
  std::string html;
  for (const std::string& text : texts) html += fmt::format("<p>{}.</p>\n", HtmlText(text));
  return html;
}

std::string CompareRun(const char* which, const std::string& path) {
  return fmt::format("<p class=\"muted run\" title=\"{}\"><b>{}</b>{}</p>\n", HtmlText(path), which,
                     HtmlPath(path));
}

std::string CompareFigures(const RunComparison& c) {
  std::string html = CompareBars(c);
  html +=
      fmt::format("<h2>Where the time went, per {}GPU</h2>\n", c.unit == "step" ? "step and " : "");
  html += CompareTable(c) + "<h2>Findings</h2>\n";
  const std::vector<FindingGroup> groups = FindingGroups(c);
  if (groups.empty()) html += "<p>None in either run.</p>\n";
  for (const FindingGroup& group : groups) html += CompareFindings(group);
  if (c.predicted_ns > 0 && !c.forced) {
    html += fmt::format("<p>{} {}.</p>\n", SavedLabel(c), HtmlText(SavedAmount(c)));
  }
  html += "<h2>What was matched, as shares of the kernel time</h2>\n<ul>\n";
  for (const std::string& text : MatchedInWords(c)) html += "<li>" + HtmlText(text) + "</li>\n";
  return html + "</ul>\n";
}

}  // namespace

std::string CompareHtml(const RunComparison& c, const std::string& before,
                        const std::string& after) {
  const bool figures = c.comparable || c.forced;
  const std::string title = figures ? CompareVerdict(c) : "The runs cannot be compared.";
  std::string body = CompareRun("Before", before) + CompareRun("After", after);
  body += CompareParagraphs(c.reasons);
  if (figures) body += CompareFigures(c);
  if (!c.notes.empty()) body += "<h2>Notes</h2>\n" + CompareParagraphs(c.notes);
  return HtmlPage(title, kCompareStyle, body);
}

}  // namespace advise
