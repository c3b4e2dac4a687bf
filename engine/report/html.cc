#include "engine/report/html.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "engine/base/text.h"
#include "engine/report/budget_text.h"
#include "engine/report/finding_text.h"
#include "engine/report/html_assets.h"
#include "engine/report/html_parts.h"
#include "engine/report/html_text.h"
#include "engine/report/shell.h"

namespace advise {
namespace {

// Of the parts of a budget, in their order.
const char* const kStates[] = {"compute", "comm", "copy", "memset", "idle"};

// Of more GPUs than these, each one shows when it is asked for.
constexpr std::size_t kMostBudgets = 4;

// Each "{{name}}" of the page is replaced once: what is put in is not searched again.
std::string Fill(std::string_view page,
                 const std::map<std::string, std::string, std::less<>>& parts) {
  std::string html;
  std::size_t at = 0;
  while (true) {
    const std::size_t open = page.find("{{", at);
    const std::size_t close = open == std::string_view::npos ? open : page.find("}}", open);
    if (close == std::string_view::npos) return html.append(page.substr(at));
    html.append(page.substr(at, open - at));
    const auto part = parts.find(page.substr(open + 2, close - open - 2));
    if (part != parts.end()) html += part->second;
    at = close + 2;
  }
}

std::string Chips(const Report& report) {
  std::vector<std::string> chips = GpuModels(report);
  const double seconds =
      static_cast<double>(report.window.end_ns - report.window.start_ns) / kNanosPerSecond;
  if (seconds > 0) chips.push_back(SecondsText(seconds) + " analyzed");
  if (const std::string run = RunText(report); !run.empty()) {
    chips.push_back(
        report.step_count > 0 && report.step_median_ns > 0
            ? fmt::format("{} of {}", run,
                          SecondsText(static_cast<double>(report.step_median_ns) / kNanosPerSecond))
            : run);
  }
  if (const std::string text = EfficiencyText(report.efficiency); !text.empty())
    chips.push_back(text);
  if (!report.inputs.empty() && !report.inputs.front().producer.empty()) {
    chips.push_back(report.inputs.front().producer);
  }
  std::string html;
  for (const std::string& chip : chips) html += "<li>" + HtmlText(chip) + "</li>";
  return html;
}

std::string RunPath(const Report& report) {
  return report.inputs.empty() ? "run" : report.inputs.front().path;
}

// " and 7 more", or "".
std::string RunsBeside(const Report& report) {
  return report.inputs.size() < 2 ? "" : fmt::format(" and {} more", report.inputs.size() - 1);
}

std::string VerdictNotes(const Report& report) {
  std::string html;
  if (const std::string doubt = DoubtText(report); !doubt.empty()) {
    html += "<p class=\"warn\">" + HtmlText(doubt) + "</p>\n";
  }
  if (!report.next_command.empty()) {
    html += "<p>Next: " + HtmlText(report.next_step) + "</p>\n";
    for (const Piece& piece : PiecesOf(report.next_command))
      html += HtmlCodeBlock(piece.code, piece.language);
  }
  if (report.healthy) {
    html += fmt::format(
        "<p class=\"good\">Healthy: {} rules were checked and none found anything to fix.</p>\n",
        report.checked);
  }
  const std::vector<CareNote>& care = report.read_with_care;
  if (care.size() == 1) {
    html += "<p class=\"warn\">Read with care: " + HtmlText(care.front().text) + "</p>\n";
  } else if (!care.empty()) {
    // One line until asked: what to fix comes first.
    html += fmt::format(
        "<details class=\"warn\"><summary>Read with care: {}, and {} more</summary>\n<ul>\n",
        HtmlText(care.front().text), care.size() - 1);
    for (const CareNote& note : care) html += "<li>" + HtmlText(note.text) + "</li>\n";
    html += "</ul></details>\n";
  }
  return html;
}

std::string BudgetRow(const Report& report, const std::string& name,
                      const std::vector<DeviceBudget>& devices) {
  const std::vector<BudgetPart> parts = BudgetParts(devices);
  const std::vector<int> percent = Percentages(parts);
  std::string words;
  std::string segments;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    if (parts[i].ns <= 0) continue;
    const std::string share = fmt::format("{} {} %", parts[i].name, percent[i]);
    if (percent[i] > 0) words += (words.empty() ? "" : ", ") + share;
    segments +=
        fmt::format("<span class=\"{0}\" style=\"flex-grow:{1}\" title=\"{2}\"><i>{3} %</i></span>",
                    kStates[i], parts[i].ns, share, percent[i]);
  }
  const std::vector<std::string> idle = IdleParts(report, devices, 4);
  std::string note = words;
  if (!idle.empty()) note += fmt::format("; idle because of: {}", fmt::join(idle, ", "));
  return fmt::format(
      "<li><span class=\"who\">{0}</span><span class=\"budget\" role=\"img\" aria-label=\"{0}: "
      "{1}\">"
      "{2}</span><span class=\"note\">{3}</span></li>\n",
      HtmlText(name), HtmlText(words), segments, HtmlText(note));
}

std::string BudgetSection(const Report& report) {
  if (report.devices.empty()) return "";
  const bool ranks = std::any_of(report.devices.begin(), report.devices.end(), [&](const auto& d) {
    return d.rank != report.devices.front().rank;
  });
  std::string html =
      "<section aria-labelledby=\"budget-title\" class=\"panel\">\n"
      "<h2 id=\"budget-title\">Where the time went</h2>\n<ul class=\"legend\">";
  const std::vector<BudgetPart> parts = BudgetParts(report.devices);
  for (std::size_t i = 0; i < parts.size(); ++i) {
    html += fmt::format("<li><span class=\"swatch {}\"></span>{}</li>", kStates[i], parts[i].name);
  }
  html += "</ul>\n<ul class=\"budgets\" aria-label=\"Time budget of each GPU\">\n";
  if (report.devices.size() > 1) html += BudgetRow(report, "All GPUs", report.devices);
  const bool many = report.devices.size() > kMostBudgets;
  if (many) html += "</ul>\n<details><summary>Every GPU</summary>\n<ul class=\"budgets\">\n";
  for (const DeviceBudget& device : report.devices) {
    html += BudgetRow(report,
                      ranks ? fmt::format("Rank {}, GPU {}", device.rank, device.device)
                            : fmt::format("GPU {}", device.device),
                      {device});
  }
  return html + (many ? "</ul>\n</details>\n</section>\n" : "</ul>\n</section>\n");
}

struct Sorted {
  std::vector<const Finding*> advice;
  std::vector<const Finding*> good_to_know;
};

// A symptom stands under the cause that explains it.
Sorted SortFindings(const Report& report) {
  Sorted sorted;
  for (const Finding& finding : report.findings) {
    if (finding.UnderCause()) continue;
    if (finding.severity != Severity::kInfo) {
      sorted.advice.push_back(&finding);
    } else if (!finding.falls_short && !SaysAgain(report, finding)) {
      sorted.good_to_know.push_back(&finding);
    }
  }
  return sorted;
}

std::string Ranked(const Report& report, const Sorted& sorted) {
  std::string html =
      "<section aria-labelledby=\"ranked-title\" class=\"panel first\">\n"
      "<h2 id=\"ranked-title\">What to fix</h2>\n";
  if (sorted.advice.empty()) {
    const char* const text = report.healthy             ? "Nothing to fix was found."
                             : report.next_step.empty() ? "This capture does not show what to fix."
                                                        : "No single fix was found. The next step "
                                                          "is the one above.";
    return html + fmt::format("<p>{}</p>\n</section>\n", text);
  }
  html +=
      "<div class=\"order\">\n<ol class=\"ranked\" tabindex=\"0\" aria-label=\"Findings in "
      "this order\">\n";
  for (const Finding* finding : sorted.advice) html += HtmlFindingLine(report, *finding);
  return html + "</ol>\n" + HtmlPlan(report) + "</div>\n</section>\n";
}

std::string Findings(const Report& report, const Sorted& sorted, const HtmlOptions& options) {
  std::string html;
  bool first = true;
  for (const Finding* finding : sorted.advice) {
    html += HtmlFinding(report, *finding, options, first);
    first = false;
  }
  if (!sorted.good_to_know.empty()) {
    html +=
        "<section class=\"panel\" aria-labelledby=\"know-title\"><h3 id=\"know-title\">Good to "
        "know</h3>\n<ul>\n";
    for (const Finding* finding : sorted.good_to_know) {
      const std::string words = !finding->symptom.empty() || finding->rule == nullptr
                                    ? finding->Seen()
                                    : finding->Title();
      html += "<li>" + HtmlText(words);
      if (finding->rule != nullptr) {
        html += " <span class=\"muted\">" + HtmlText(finding->rule->id) + "</span>";
      }
      html += "</li>\n";
    }
    html += "</ul></section>\n";
  }
  return html.empty() ? "<p class=\"muted\">There are none.</p>\n" : html;
}

}  // namespace

std::string RenderHtml(const Report& report, const HtmlOptions& options) {
  const Sorted sorted = SortFindings(report);
  std::string scripts;
  for (const char* name :
       {"base.js", "findings.js", "timeline.js", "charts.js", "kernels.js", "main.js"}) {
    scripts += HtmlAsset(name);
  }
  return Fill(HtmlAsset("page.html"), {{"title", HtmlText(RunPath(report) + RunsBeside(report))},
                                       {"path", HtmlPath(RunPath(report), RunsBeside(report))},
                                       {"css", std::string(HtmlAsset("report.css"))},
                                       {"chips", Chips(report)},
                                       {"verdict", HtmlText(report.verdict)},
                                       {"notes", VerdictNotes(report)},
                                       {"budget", BudgetSection(report)},
                                       {"efficiency", HtmlRanks(report)},
                                       {"ranked", Ranked(report, sorted)},
                                       {"count", std::to_string(sorted.advice.size())},
                                       {"findings", Findings(report, sorted, options)},
                                       {"about", HtmlAbout(report)},
                                       {"version", HtmlText(report.tool_version)},
                                       {"license", HtmlCode(HtmlAsset("d3.license"))},
                                       {"data", HtmlData(report)},
                                       {"d3", std::string(HtmlAsset("d3.js"))},
                                       {"scripts", scripts}});
}

}  // namespace advise
