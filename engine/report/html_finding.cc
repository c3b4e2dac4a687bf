#include <fmt/format.h>

#include <algorithm>

#include "engine/advice/audience.h"
#include "engine/advice/report_views.h"
#include "engine/base/is_in.h"
#include "engine/base/text.h"
#include "engine/report/finding_text.h"
#include "engine/report/html_parts.h"
#include "engine/report/html_text.h"
#include "engine/report/shell.h"
#include "engine/report/where_text.h"

namespace advise {
namespace {

std::string Badge(const std::string& kind, const std::string& words) {
  return fmt::format("<span class=\"badge {}\">{}</span>", HtmlText(kind), HtmlText(words));
}

std::string Meta(const Report& report, const Finding& finding) {
  std::string meta = Badge(SeverityName(finding.severity), SeverityName(finding.severity));
  if (const std::string standing = StandingText(finding);
      !standing.empty() && finding.severity != Severity::kInfo)
    meta += Badge("plain", standing);
  if (finding.rule != nullptr && finding.rule->risk != Risk::kNothing)
    meta += Badge("plain", fmt::format("risk: {}", RiskName(finding.rule->risk)));
  if (const std::string effort = EffortOfFirst(report, finding); !effort.empty())
    meta += Badge("plain", "effort: " + EffortWords(effort));
  if (finding.AtStake() > 0 || finding.observed != Observed::kInferred) {
    meta += Badge("plain", "confidence " + FormatQuantity(finding.confidence, "share"));
  }
  const std::string where = WhereText(report, finding.where);
  if (!where.empty()) meta += Badge("plain", where);
  return "<p class=\"meta\">" + meta + "</p>\n";
}

std::string Word(const char* label, const std::string& text) {
  if (text.empty()) return "";
  return fmt::format("<dt>{}</dt><dd>{}</dd>\n", label, HtmlText(text));
}

// "train.py:12, forward".
std::string SourceText(const Report& report, const Finding& finding) {
  if (report.views == nullptr) return "";
  for (const FindingSource& source : report.views->sources) {
    if (source.finding == finding.rank) {
      return fmt::format("{}:{}, {}", source.file, source.line, source.function);
    }
  }
  return "";
}

std::string Fixes(const Report& report, const Finding& finding) {
  if (finding.fixes.empty()) return "";
  std::string html = "<h4>What to do</h4>\n<ol class=\"fixes\">\n";
  std::vector<std::string> links;
  for (const Fix& fix : FixesFor(report.run, finding.fixes)) {
    html += "<li><p>" + HtmlText(fix.action);
    if (const Finding* const same = WithTheSameFix(report, finding, fix); same != nullptr)
      html += fmt::format(" (the fix of <a href=\"#finding-{0}\">{0}</a>)", same->rank);
    html += "</p>\n";
    if (!fix.snippet.empty()) {
      html += HtmlCodeBlock(fix.snippet, fix.language.empty() ? "snippet" : fix.language);
    }
    html += "</li>\n";
    for (const Link& link : fix.links) {
      if (!IsIn(link.url, links)) links.push_back(link.url);
    }
  }
  html += "</ol>\n";
  if (!links.empty()) {
    html += "<p class=\"links\"><span class=\"label\">Read more</span>";
    for (const std::string& link : links) html += " " + HtmlLink(link);
    html += "</p>\n";
  }
  return html;
}

std::string EvidenceRow(const Report& report, const Evidence& item) {
  std::string row =
      fmt::format("<tr><th scope=\"row\">{}</th><td class=\"num\">{}", HtmlText(item.what),
                  HtmlText(FormatQuantity(item.value, item.unit)));
  if (item.threshold) {
    row += fmt::format(" <span class=\"muted\">(threshold {})</span>",
                       HtmlText(FormatQuantity(*item.threshold, item.unit)));
  }
  row += "</td><td>";
  if (!item.sql.empty()) {
    const std::string path = !item.source.empty()    ? item.source
                             : report.inputs.empty() ? "report.sqlite"
                                                     : report.inputs.front().path;
    row += HtmlCodeBlock(SqliteCommand(path, item.sql), "shell");
  } else if (!item.find.empty() && !item.source.empty()) {
    row += HtmlCodeBlock(GrepCommand(item.source, item.find), "shell");
  } else {
    row += HtmlText(SearchText(item));
  }
  return row + "</td></tr>\n";
}

// Why a finding has no picture; empty when it has one, or when nothing was to be drawn at all.
std::string WithoutTimeline(const Report& report, const Finding& finding) {
  if (report.views == nullptr) return "";
  for (const FindingTimeline& timeline : report.views->timelines) {
    if (timeline.finding == finding.rank) return "";
  }
  std::string reason = "this is about the run as a whole, not about one stretch of time";
  for (const auto& [rank, why] : report.views->without_timeline) {
    if (rank == finding.rank) reason = why;
  }
  return "<p class=\"muted\">No timeline: " + HtmlText(reason) + ".</p>\n";
}

std::string EvidenceSection(const Report& report, const Finding& finding) {
  std::string html = "<h4>Evidence</h4>\n";
  html += fmt::format("<div class=\"timeline\" data-finding=\"{}\"></div>\n", finding.rank);
  html += WithoutTimeline(report, finding);
  if (finding.evidence.empty()) return html;
  html +=
      "<div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-label=\"Evidence to check by "
      "hand\">"
      "<table class=\"evidence\"><thead><tr><th scope=\"col\">What</th><th scope=\"col\">Value</th>"
      "<th scope=\"col\">Check it by hand</th></tr></thead><tbody>\n";
  for (const Evidence& item : finding.evidence) html += EvidenceRow(report, item);
  return html + "</tbody></table></div>\n";
}

std::string Explains(const Report& report, const Finding& finding) {
  if (finding.explains.empty()) return "";
  std::string html = "<h4>This also covers</h4>\n<ul class=\"explains\">\n";
  for (const std::string& id : finding.explains) {
    html += "<li>" + HtmlText(ExplainedText(report, id)) + "</li>\n";
  }
  return html + "</ul>\n";
}

}  // namespace

std::string HtmlCodeBlock(const std::string& code, const std::string& label) {
  return fmt::format(
      "<figure class=\"code\"><figcaption>{}<button type=\"button\" class=\"copy\" "
      "hidden>Copy</button>"
      "</figcaption><pre tabindex=\"0\"><code>{}</code></pre></figure>\n",
      HtmlText(label), HtmlCode(code));
}

std::string HtmlFindingLine(const Report& report, const Finding& finding) {
  std::string saving = NeedlessText(report, finding);
  if (saving.empty()) saving = SavingAmount(finding);
  if (saving.empty()) saving = "saving unknown";
  // A bar as long as the saving: CSS turns the share into a width.
  return fmt::format(
      "<li data-finding=\"{0}\"><a href=\"#finding-{0}\"><span class=\"rank {1}\">{0}</span>"
      "<span class=\"name\">{2}</span><span class=\"amount\">{3}</span>"
      "<span class=\"bar\" aria-hidden=\"true\"><span class=\"{1}\" "
      "style=\"--share:{4:.4f}\"></span>"
      "</span></a></li>\n",
      finding.rank, SeverityName(finding.severity), HtmlText(finding.Title()), HtmlText(saving),
      finding.InTurn());
}

std::string HtmlFinding(const Report& report, const Finding& finding, const HtmlOptions& options,
                        bool open) {
  const std::string id = finding.rule == nullptr ? "" : finding.rule->id;
  const std::string severity = SeverityName(finding.severity);
  std::string html = fmt::format(
      "<details class=\"finding {1}\" id=\"finding-{0}\" data-severity=\"{1}\" "
      "data-area=\"{2}\"{3}>\n"
      "<summary><span class=\"rank {1}\">{0}</span><h3>{4}</h3>"
      "<span class=\"saving\">{5}</span></summary>\n<div class=\"body\">\n",
      finding.rank, severity, HtmlText(id.substr(0, id.find('/'))), open ? " open" : "",
      HtmlText(finding.Title()), HtmlText(SavingText(report, finding)));
  html += Meta(report, finding);
  html += "<dl class=\"words\">\n";
  html += Word("Seen", finding.Seen());
  html += Word("Why", finding.cause);
  html += Word("Code", SourceText(report, finding));
  if (finding.AtStake() > 0) html += Word("Gain", "assumes: " + BasisText(finding));
  html += "</dl>\n";
  html += Fixes(report, finding);
  html += EvidenceSection(report, finding);
  html += Explains(report, finding);
  if (!id.empty()) {
    std::string reports = options.reports_argument;
    if (reports.empty() && !report.inputs.empty()) {
      reports = ShellQuote(report.inputs.front().path);
    }
    html += "<h4>How the rule decided</h4>\n";
    html += HtmlCodeBlock(fmt::format("advise why {} {}", id, reports), "shell");
  }
  return html + "</div>\n</details>\n";
}

}  // namespace advise
