#include "engine/report/why.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "engine/base/is_in.h"
#include "engine/base/template.h"
#include "engine/base/text.h"
#include "engine/report/check_text.h"
#include "engine/report/finding_text.h"
#include "engine/report/layout.h"

namespace advise {
namespace {

constexpr int kClaimColumn = 44;  // where the times of "the time it claims" begin
constexpr std::size_t kChecksShown = 3;

Ink InkOf(Outcome outcome) {
  switch (outcome) {
    case Outcome::kFired:
    case Outcome::kBroken:
      return Ink::kRed;
    case Outcome::kCannotTell:
      return Ink::kYellow;
    case Outcome::kFine:
      return Ink::kGreen;
    case Outcome::kNotApplicable:
      break;
  }
  return Ink::kDim;
}

std::string OutcomeText(Outcome outcome) {
  switch (outcome) {
    case Outcome::kFired:
      return "fired";
    case Outcome::kFine:
      return "silent: what it looks for was not found, or is too small to matter";
    case Outcome::kNotApplicable:
      return "does not apply";
    case Outcome::kCannotTell:
      return "cannot tell";
    case Outcome::kBroken:
      break;
  }
  return "the rule failed";
}

// How far the value is from the threshold: "3.2 % to spare", "short by 1.2 %".
std::string MarginText(const Comparison& item) {
  if (!std::isfinite(item.value)) return "";
  double distance = 0;  // to the bound that decides; how much the value would have to change
  if (item.what == "between") {
    distance = item.holds ? std::min(item.value - item.threshold, item.upper - item.value)
                          : std::max(item.threshold - item.value, item.value - item.upper);
  } else {
    distance = std::abs(item.value - item.threshold);
  }
  const std::string words = FormatQuantity(distance, item.unit);
  const bool below =
      item.what == "at_least" || (item.what == "between" && item.value < item.threshold);
  return item.holds ? words + " to spare" : (below ? "short by " : "over by ") + words;
}

std::vector<std::string> ComparisonRow(const Comparison& item, const std::string& rule) {
  // The rule's own thresholds go by their short name.
  const std::string name =
      item.name.starts_with(rule + ".") ? item.name.substr(rule.size() + 1) : item.name;
  const char* sign = item.what == "at_least" ? "≥" : item.what == "at_most" ? "≤" : "in";
  std::string bound = FormatQuantity(item.threshold, item.unit);
  if (item.what == "between") bound += " to " + FormatQuantity(item.upper, item.unit);
  return {item.holds ? "true" : "false",
          FormatQuantity(item.value, item.unit) + " " + sign + " " + bound, name, MarginText(item)};
}

// Evidence has no units of its own; the rule's sentences say how each value reads.
std::map<std::string, std::string> EvidenceKinds(const RuleInfo& rule) {
  std::map<std::string, std::string> kinds;
  for (auto& [name, kind] : TemplatePlaces(rule.symptom)) kinds.emplace(name, kind);
  for (auto& [name, kind] : TemplatePlaces(rule.cause)) kinds.emplace(name, kind);
  return kinds;
}

// As the rule read it of a fact, whose unit is known: what it passes on reads the same. 0 and 1 are
// too common to tell.
std::string AsRead(double number, const Verdict& verdict) {
  std::string plain = FormatQuantity(number, "count");
  if (number == 0 || number == 1) return plain;
  for (const char* unit : {"count", "share", "ns", "bytes", "bytes_per_s", "flop_per_s"}) {
    std::string words = FormatQuantity(number, unit);
    const bool read = std::any_of(verdict.reads.begin(), verdict.reads.end(),
                                  [&](const FactRead& one) { return one.shown == words; });
    if (read) return words;
  }
  return plain;
}

void WriteEvidence(Page& page, const Verdict& verdict) {
  if (verdict.evidence.empty() && verdict.tables.empty()) return;
  page.Line("  " + page.Paint("it found", Ink::kDim));
  const std::map<std::string, std::string> kinds = EvidenceKinds(*verdict.rule);
  for (const auto& [name, cell] : verdict.evidence) {
    const auto* number = std::get_if<double>(&cell);
    const auto kind = kinds.find(name);
    page.Labelled(name, 4, 32,
                  number == nullptr     ? std::get<std::string>(cell)
                  : kind == kinds.end() ? AsRead(*number, verdict)
                                        : FormatQuantity(*number, kind->second));
  }
  for (const auto& [name, rows] : verdict.tables) {
    page.Labelled(
        name, 4, 32,
        fmt::format("{} row{} (all: --format json)", rows.size(), rows.size() == 1 ? "" : "s"));
  }
}

void WriteComparisons(Page& page, const Verdict& verdict, bool of_saving, const char* heading) {
  std::vector<std::vector<std::string>> rows;
  for (const Comparison& item : verdict.comparisons) {
    if (item.of_saving == of_saving) rows.push_back(ComparisonRow(item, verdict.rule->id));
  }
  if (rows.empty()) return;
  page.Line("  " + page.Paint(heading, Ink::kDim));
  WriteTable(page, {"", "value and threshold", "name", "margin"}, rows, 4);
}

void WriteVerdict(Page& page, const Verdict& verdict) {
  page.Blank();
  page.Wrapped(OutcomeText(verdict.outcome), 0, InkOf(verdict.outcome));
  if (!verdict.source.empty()) page.Labelled("in", 2, 11, verdict.source);
  if (!verdict.reason.empty()) page.Labelled("because", 2, 11, verdict.reason);
  if (!verdict.reads.empty()) {
    page.Line("  " + page.Paint("it read", Ink::kDim));
    for (const FactRead& read : verdict.reads)
      page.Labelled(read.name, 4, kClaimColumn, read.shown);
  }
  WriteComparisons(page, verdict, false, "it compared");
  WriteComparisons(page, verdict, true, "for the saving it compared");
  WriteEvidence(page, verdict);
}

// Commands that print what the finding rests on, or where it stands.
void WriteChecks(Page& page, const Report& report, const Finding& finding) {
  std::size_t shown = 0;
  for (const Evidence& item : finding.evidence) {
    const std::string command = CheckCommand(report, item);
    const bool placed = item.end_ns > item.start_ns || !item.source.empty();
    if ((command.empty() && !placed) || shown == kChecksShown) continue;
    if (shown++ == 0) {
      page.Blank();
      page.Line("  " + page.Paint("to check it by hand", Ink::kDim));
    }
    page.Wrapped(command.empty() ? SearchText(item) : item.what, 4);
    page.Verbatim(command, 6, Ink::kGreen);
  }
}

// Facts are of the window: what is said not to be there may be elsewhere in the recording.
void WriteScope(Page& page, const Report& report) {
  if (report.window.Seconds() <= 0 || report.window.mode == "all") return;
  const std::string steps = report.step_count == 1  ? ", 1 step"
                            : report.step_count > 1 ? fmt::format(", {} steps", report.step_count)
                                                    : "";
  page.Wrapped(fmt::format("Facts are of the part analyzed ({}{}); of all: --window all",
                           SecondsText(report.window.Seconds()), steps),
               0, Ink::kDim);
}

// What ranking made of it: the finding, or the rule that took its time.
void WriteClaimResult(Page& page, const Report& report, const std::string& rule, bool fired) {
  bool found = false;
  for (const Finding& finding : report.findings) {
    if (finding.rule == nullptr || finding.rule->id != rule) continue;
    found = true;
    page.Blank();
    if (finding.UnderCause()) {
      page.Wrapped(fmt::format("Explained by {}: the report lists it under that finding.",
                               fmt::join(finding.explained_by, ", ")));
    } else {
      page.Wrapped(fmt::format("Finding {} of the report, {}: {}.", finding.rank,
                               SeverityName(finding.severity), SavingText(report, finding)));
    }
    WriteChecks(page, report, finding);
  }
  if (!fired || found) return;
  page.Blank();
  std::vector<std::string> takers;
  for (const Finding& finding : report.findings) {
    const auto& folded = finding.explains;
    if (finding.rule != nullptr && IsIn(rule, folded)) {
      takers.push_back(finding.rule->id);
    }
  }
  const auto result = std::find_if(
      report.claim_results.begin(), report.claim_results.end(),
      [&](const ClaimResult& one) { return one.rule != nullptr && one.rule->id == rule; });
  if (takers.empty() && result != report.claim_results.end() && !result->taken_by.empty()) {
    for (const auto& [taker, time] : result->taken_by) takers.push_back(taker->id);
    page.Wrapped(fmt::format("It is not in the report: {} took the time it claims.",
                             fmt::join(takers, ", ")));
    return;
  }
  page.Wrapped(takers.empty()
                   ? "It is not in the report: other findings explain all of the time it claims."
                   : fmt::format("Explained by {}: the report lists it under that finding.",
                                 fmt::join(takers, ", ")));
}

// Whose claims came before this rule's, and what was left.
void WriteClaims(Page& page, const Report& report, const std::string& rule) {
  for (const ClaimResult& result : report.claim_results) {
    if (result.rule == nullptr || result.rule->id != rule) continue;
    page.Blank();
    page.Line("  " + page.Paint("the time it claims", Ink::kDim));
    page.Labelled("claimed on GPUs", 4, kClaimColumn,
                  FormatQuantity(static_cast<double>(result.claimed), "ns"));
    for (const auto& [taker, time] : result.taken_by) {
      page.Labelled("of that, for " + taker->id, 4, kClaimColumn,
                    FormatQuantity(static_cast<double>(time), "ns") +
                        (taker->priority > result.rule->priority ? " (more specific)" : ""));
    }
    const auto saves = [&](const char* how, Nanos time) {
      page.Labelled(how, 4, kClaimColumn, FormatQuantity(static_cast<double>(time), "ns"));
    };
    if (result.alone < result.gain) saves("saves with all its changes", result.gain);
    saves(result.alone < result.gain ? "without those of others" : "saves by itself", result.alone);
    saves("saves in its turn", result.saving);
    page.Wrapped("A replay of the run gives the savings: they are no difference of claimed times.",
                 4, Ink::kDim);
  }
}

}  // namespace

std::string RenderWhyText(const Report& report, const std::string& rule, int width, bool color) {
  Page page(width, color);
  bool fired = false;
  bool first = true;
  for (const Verdict& verdict : report.verdicts) {
    if (verdict.rule == nullptr || verdict.rule->id != rule) continue;
    if (first) {
      page.Wrapped(verdict.rule->title, 0, Ink::kBold);
      page.Line(page.Paint(rule, Ink::kDim));
      WriteScope(page, report);
    }
    first = false;
    fired = fired || verdict.outcome == Outcome::kFired;
    WriteVerdict(page, verdict);
  }
  if (first) {
    page.Wrapped(rule + " did not run on this report.");
    return page.text();
  }
  WriteClaims(page, report, rule);
  WriteClaimResult(page, report, rule, fired);
  for (const NotChecked& item : report.not_checked) {
    if (item.rule != rule || item.how.empty()) continue;
    page.Blank();
    page.Wrapped("To check it: " + item.how);
  }
  return page.text();
}

}  // namespace advise
