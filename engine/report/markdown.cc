#include "engine/report/markdown.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "engine/advice/audience.h"
#include "engine/base/ascii.h"
#include "engine/base/is_in.h"
#include "engine/base/text.h"
#include "engine/report/budget_text.h"
#include "engine/report/finding_text.h"
#include "engine/report/shell.h"
#include "engine/report/where_text.h"

namespace advise {
namespace {

// The longest run of back-ticks in a text.
std::size_t LongestTicks(std::string_view text) {
  std::size_t longest = 0;
  std::size_t run = 0;
  for (const char c : text) {
    run = c == '`' ? run + 1 : 0;
    longest = std::max(longest, run);
  }
  return longest;
}

// A code span inside a table: its pipes end cells unless escaped.
std::string TableCode(std::string_view raw) {
  std::string code = MarkdownCode(raw);
  for (std::size_t at = code.find('|'); at != std::string::npos; at = code.find('|', at + 2)) {
    code.insert(at, "\\");
  }
  return code;
}

std::string Header(const Report& report) {
  std::string text = fmt::format("## {}\n\n", MarkdownText(report.verdict));
  const std::string doubt = DoubtText(report);
  if (!doubt.empty()) text += "*" + MarkdownText(doubt) + "*\n\n";
  if (report.healthy) {
    text += fmt::format("**Healthy:** {} rules were checked and none found anything to fix.\n\n",
                        report.checked);
  }
  std::string run;
  if (!report.inputs.empty()) run = MarkdownCode(report.inputs.front().path);
  if (report.inputs.size() > 1) run += fmt::format(" and {} more", report.inputs.size() - 1);
  const double seconds =
      static_cast<double>(report.window.end_ns - report.window.start_ns) / kNanosPerSecond;
  if (seconds > 0) run += ", " + SecondsText(seconds);
  for (const std::string& part : {RunText(report), EfficiencyText(report.efficiency)}) {
    if (!part.empty()) run += ", " + part;
  }
  text += run + "\n\n";
  if (!report.next_command.empty()) {
    text += "**Next:** " + MarkdownText(report.next_step) + "\n\n";
    for (const Piece& piece : PiecesOf(report.next_command))
      text += MarkdownFence(piece.code, piece.language == "shell" ? "sh" : piece.language) + "\n";
  }
  return text;
}

std::string Budget(const Report& report) {
  if (report.devices.empty()) return "";
  std::string text =
      "| GPU | compute | communication | copies | memsets | idle | idle because of |\n"
      "|---|--:|--:|--:|--:|--:|---|\n";
  const bool ranks = std::any_of(report.devices.begin(), report.devices.end(), [&](const auto& d) {
    return d.rank != report.devices.front().rank;
  });
  const auto row = [&](const std::string& name, const std::vector<DeviceBudget>& devices) {
    text += "| " + name;
    for (const int percent : Percentages(BudgetParts(devices)))
      text += fmt::format(" | {} %", percent);
    text += " | " +
            MarkdownText(fmt::format("{}", fmt::join(IdleParts(report, devices, 2), ", "))) +
            " |\n";
  };
  // More rows than this are no summary.
  constexpr std::size_t kRows = 16;
  if (report.devices.size() > 1) row("all", report.devices);
  for (std::size_t i = 0; i < std::min(kRows, report.devices.size()); ++i) {
    const DeviceBudget& device = report.devices[i];
    const std::string name = ranks ? fmt::format("rank {}, GPU {}", device.rank, device.device)
                                   : fmt::format("{}", device.device);
    row(device.name.empty() ? name : fmt::format("{} ({})", name, MarkdownText(device.name)),
        {device});
  }
  if (report.devices.size() > kRows) {
    text += fmt::format("\n… and {} more GPUs\n", report.devices.size() - kRows);
  }
  return text + "\n";
}

std::string FindingTable(const Report& report, const std::vector<const Finding*>& findings) {
  if (findings.empty()) return "";
  std::string text = "| # | what to fix | saves up to | severity | rule |\n|--:|---|--:|---|---|\n";
  for (const Finding* finding : findings) {
    std::string saving = NeedlessText(report, *finding);
    if (saving.empty()) saving = SavingAmount(*finding);
    if (saving.empty()) saving = "not known";
    const std::string standing = StandingText(*finding);
    text += fmt::format(
        "| {} | {} | {} | {} | {} |\n", finding->rank, MarkdownText(finding->Title()), saving,
        std::string(SeverityName(finding->severity)) + (standing.empty() ? "" : ", ") + standing,
        finding->rule == nullptr ? "" : TableCode(finding->rule->id));
  }
  return text + "\n";
}

std::string Checks(const Report& report, const Finding& finding, const MarkdownOptions& options) {
  std::string text = "<details><summary>Evidence</summary>\n\n";
  for (const Evidence& item : finding.evidence) {
    text += fmt::format("- {}: **{}**\n", MarkdownText(item.what),
                        MarkdownText(FormatQuantity(item.value, item.unit)));
    if (item.sql.empty()) {
      text += "  (" + MarkdownText(SearchText(item)) + ")\n";
      continue;
    }
    const std::string path = !item.source.empty()    ? item.source
                             : report.inputs.empty() ? "report.sqlite"
                                                     : report.inputs.front().path;
    text += "\n" + MarkdownFence(SqliteCommand(path, item.sql), "sh") + "\n";
  }
  if (finding.rule != nullptr) {
    std::string reports = options.reports_argument;
    if (reports.empty() && !report.inputs.empty()) {
      reports = ShellQuote(report.inputs.front().path);
    }
    text += "\nHow the rule decided:\n\n" +
            MarkdownFence(fmt::format("advise why {} {}", finding.rule->id, reports), "sh");
  }
  return text + "\n</details>\n\n";
}

std::string Full(const Report& report, const Finding& finding, const MarkdownOptions& options) {
  std::string text = fmt::format("### {}. {}\n\n{}", finding.rank, MarkdownText(finding.Title()),
                                 MarkdownText(SavingText(report, finding)));
  if (finding.AtStake() > 0) {
    text += "; confidence " + FormatQuantity(finding.confidence, "share");
  } else if (finding.observed != Observed::kInferred) {
    text += "; " + SeverityText(finding);
  }
  const std::string where = WhereText(report, finding.where);
  if (!where.empty()) text += "; " + MarkdownText(where);
  text += "\n\n";
  if (!finding.symptom.empty()) text += "**Seen:** " + MarkdownText(finding.Seen()) + "\n\n";
  if (!finding.cause.empty()) text += "**Why:** " + MarkdownText(finding.cause) + "\n\n";
  if (!finding.fixes.empty()) text += "**What to do:**\n\n";
  std::vector<std::string> links;
  for (const Fix& fix : FixesFor(report.run, finding.fixes)) {
    text += "- " + MarkdownText(fix.action);
    if (const Finding* const same = WithTheSameFix(report, finding, fix); same != nullptr)
      text += fmt::format(" (the fix of {})", same->rank);
    text += "\n";
    if (!fix.snippet.empty()) {
      // Indented, so that the fence belongs to the item of the list.
      const std::string fence = MarkdownFence(fix.snippet, fix.language);
      text += "\n  ";
      for (const char c : fence.substr(0, fence.size() - 1))
        text += c == '\n' ? "\n  " : std::string(1, c);
      text += "\n";
    }
    for (const Link& link : fix.links) {
      if (!IsIn(link.url, links)) links.push_back(link.url);
    }
  }
  text += "\n";
  if (!links.empty()) {
    text += "Read more:";
    for (const std::string& link : links) {
      const bool web = link.starts_with("https://") || link.starts_with("http://");
      const bool whole = link.find_first_of("<> \n") == std::string::npos;
      text += web && whole ? " <" + SafeText(link) + ">" : " " + MarkdownText(link);
    }
    text += "\n\n";
  }
  if (!finding.explains.empty()) {
    text += "This also covers:\n\n";
    for (const std::string& id : finding.explains) {
      text += "- " + MarkdownText(ExplainedText(report, id)) + "\n";
    }
    text += "\n";
  }
  return text + Checks(report, finding, options);
}

std::string Notes(const Report& report) {
  std::string text;
  for (const CareNote& note : report.read_with_care) {
    text += "> Read with care: " + MarkdownText(note.text) + "\n";
  }
  return text.empty() ? "" : text + "\n";
}

std::string NotCheckedText(const Report& report) {
  if (report.not_checked.empty()) return "";
  std::map<std::string, std::vector<std::string>> by_reason;
  for (const NotChecked& item : report.not_checked) by_reason[item.reason].push_back(item.rule);
  std::string text =
      fmt::format("<details><summary>{} rule{} could not be checked</summary>\n\n",
                  report.not_checked.size(), report.not_checked.size() == 1 ? "" : "s");
  for (const auto& [reason, rules] : by_reason) {
    text += fmt::format("- {}: {}\n", MarkdownText(reason),
                        MarkdownText(fmt::format("{}", fmt::join(rules, ", "))));
  }
  if (!report.capture_command.empty()) {
    text += "\nTo check more of them, capture again with:\n";
    for (const Piece& piece : PiecesOf(report.capture_command))
      text += "\n" + MarkdownFence(piece.code, piece.language == "shell" ? "sh" : piece.language);
  }
  return text + "\n</details>\n\n";
}

}  // namespace

std::string MarkdownText(std::string_view raw) {
  std::string text;
  const std::string safe = SafeText(raw);
  for (std::size_t i = 0; i < safe.size(); ++i) {
    const char c = safe[i];
    const char next = i + 1 < safe.size() ? safe[i + 1] : ' ';
    switch (c) {
      case '&':
        text += "&amp;";
        break;
      case '<':
        text += "&lt;";
        break;
      case '>':
        text += "&gt;";
        break;
      case '@':  // no mention of anybody
        text += next == ' ' ? "@" : "@<!-- -->";
        break;
      case '#':  // no reference to an issue, no heading
        text += next == ' ' ? "\\#" : "#<!-- -->";
        break;
      case ':':  // no address that becomes a link, no emoji
        text += next == ' ' ? ":" : "&#58;";
        break;
      case '.':
        text += text.ends_with("www") ? "&#46;" : ".";
        break;
      case '\\':
      case '`':
      case '*':
      case '_':
      case '{':
      case '}':
      case '[':
      case ']':
      case '|':
      case '~':
      case '!':
      case '$':
        text += '\\';
        text += c;
        break;
      default:
        text += c;
    }
  }
  // What opens a list or a heading only does so at the start of a line.
  if (text.starts_with('-') || text.starts_with('+') || text.starts_with('=')) text.insert(0, "\\");
  const std::size_t digits = text.find_first_not_of("0123456789");
  const bool list =
      digits != 0 && digits != std::string::npos && (text[digits] == '.' || text[digits] == ')');
  if (list && (digits + 1 == text.size() || text[digits + 1] == ' ')) {
    text.insert(digits, "\\");
  }
  return text;
}

std::string MarkdownCode(std::string_view raw) {
  const std::string safe = SafeText(raw);
  const std::string ticks(LongestTicks(safe) + 1, '`');
  const bool pad = safe.empty() || safe.front() == '`' || safe.back() == '`';
  return ticks + (pad ? " " : "") + safe + (pad ? " " : "") + ticks;
}

std::string MarkdownFence(std::string_view code, std::string_view language) {
  const std::string ticks(std::max<std::size_t>(3, LongestTicks(code) + 1), '`');
  std::string name;
  for (const char c : language) {
    if (IsAlnum(c) || c == '+' || c == '-') name += c;
  }
  std::string text = ticks + name + "\n";
  std::size_t at = 0;
  while (at < code.size()) {
    const std::size_t end = std::min(code.find('\n', at), code.size());
    text += SafeText(code.substr(at, end - at)) + "\n";
    at = end + 1;
  }
  return text + ticks + "\n";
}

std::string RenderMarkdown(const Report& report, const MarkdownOptions& options) {
  std::vector<const Finding*> advice;
  std::vector<const Finding*> good_to_know;
  for (const Finding& finding : report.findings) {
    if (finding.UnderCause()) continue;
    if (finding.severity != Severity::kInfo) {
      advice.push_back(&finding);
    } else if (!finding.falls_short && !SaysAgain(report, finding)) {
      good_to_know.push_back(&finding);
    }
  }
  std::string text = Header(report) + Notes(report) + Budget(report) + FindingTable(report, advice);
  const auto full = static_cast<std::size_t>(std::max(0, options.top));
  for (std::size_t i = 0; i < std::min(full, advice.size()); ++i) {
    text += Full(report, *advice[i], options);
  }
  if (!good_to_know.empty()) text += "### Good to know\n\n";
  for (const Finding* finding : good_to_know) {
    text +=
        "- " + MarkdownText(finding->symptom.empty() ? finding->Title() : finding->Seen()) + "\n";
  }
  if (!good_to_know.empty()) text += "\n";
  text += NotCheckedText(report);
  return text + fmt::format("<sub>advise {}</sub>\n", MarkdownText(report.tool_version));
}

}  // namespace advise
