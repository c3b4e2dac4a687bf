#include "engine/report/compare_pages.h"

#include <fmt/format.h>

#include "engine/base/text.h"
#include "engine/report/compare_words.h"
#include "engine/report/json_value.h"
#include "engine/report/layout.h"
#include "engine/report/markdown.h"

namespace advise {
namespace {

Ink InkOf(const FindingGroup& group) {
  switch (group.kind) {
    case FindingGroup::Kind::kBetter:
      return Ink::kGreen;
    case FindingGroup::Kind::kWorse:
      return Ink::kRed;
    case FindingGroup::Kind::kSame:
      return Ink::kYellow;
    case FindingGroup::Kind::kUnknown:
      break;
  }
  return Ink::kDim;
}

void WriteFindings(Page& page, const FindingGroup& group) {
  std::string label = group.label;
  for (const FindingChange& item : group.findings) {
    const std::string along = WentAlong(item);
    page.Labelled(label, 1, 10,
                  item.rule + ": " + TitleWithTime(item) + (along.empty() ? "" : "; " + along),
                  InkOf(group));
    label = "";
  }
}

OrderedJson TimeJson(const UncertainTime& time) {
  return {{"mean_ns", JsonNumber(time.ns)},
          {"median_ns", JsonNumber(time.median_ns)},
          {"low_ns", JsonNumber(time.low_ns)},
          {"high_ns", JsonNumber(time.high_ns)}};
}

OrderedJson FindingsJson(const std::vector<FindingChange>& list) {
  OrderedJson array = OrderedJson::array();
  for (const FindingChange& item : list) {
    array.push_back({{"rule", JsonText(item.rule)},
                     {"title", JsonText(item.title)},
                     {"saving_before_ns", JsonNumber(item.before_ns)},
                     {"saving_after_ns", JsonNumber(item.after_ns)}});
    if (item.why.empty()) continue;
    array.back()["went_with"] = JsonTexts(item.went_with);
    array.back()["replayed"] = item.replayed;
    array.back()["why"] = JsonText(item.why);
  }
  return array;
}

}  // namespace

std::string CompareText(const RunComparison& c, const std::string& before, const std::string& after,
                        int width, bool color) {
  Page page(width, color);
  page.Labelled("Before", 0, 10, before);
  page.Labelled("After", 0, 10, after);
  page.Blank();
  if (!c.comparable) {
    page.Wrapped("The runs cannot be compared.", 0, Ink::kRed);
    for (const std::string& reason : c.reasons) page.Labelled("-", 1, 3, reason);
    if (!c.forced) return page.text();
    page.Blank();
  }
  page.Wrapped(CompareVerdict(c), 0, Ink::kBold);
  page.Blank();
  const bool steps = c.unit == "step";
  const std::string name = steps ? "Step" : "Work";
  page.Labelled(name, 0, 10,
                fmt::format("{} → {}{}", CompareInterval(c.before), CompareInterval(c.after),
                            c.before.low_ns ? ", mean and 95 % interval" : ""));
  if (c.speedup_low && c.speedup_high) {
    page.Labelled(
        "Speedup", 0, 10,
        fmt::format("{:.3f} ({:.3f} to {:.3f})", c.speedup, *c.speedup_low, *c.speedup_high));
  } else if (!c.forced) {
    page.Labelled("Speedup", 0, 10, fmt::format("{:.3f}", c.speedup));
  }
  if (steps) page.Labelled("Steps", 0, 10, fmt::format("{} → {}", c.units_before, c.units_after));
  page.Parts("Matched", 10, MatchedInWords(c), ", ");
  page.Blank();
  page.Wrapped(steps      ? "Where the time went, per step and GPU"
               : c.forced ? "Where the time went, per GPU and window"
                          : "Where the time went, per GPU, for the work of BEFORE",
               0, Ink::kBold);
  std::vector<std::vector<std::string>> rows;
  for (const BudgetChange& item : c.budget) {
    const bool cause = item.name.starts_with("idle.");
    rows.push_back({(cause ? "  " : "") + StateInWords(item.name), CompareTime(item.before_ns),
                    CompareTime(item.after_ns), CompareChange(item.before_ns, item.after_ns)});
  }
  rows.push_back({"all", CompareTime(c.before.ns), CompareTime(c.after.ns),
                  CompareChange(c.before.ns, c.after.ns)});
  WriteTable(page, {"state", "before>", "after>", "change>"}, rows, 1);
  page.Blank();
  page.Wrapped("Findings", 0, Ink::kBold);
  const std::vector<FindingGroup> groups = FindingGroups(c);
  if (groups.empty()) page.Wrapped("None in either run.", 1);
  for (const FindingGroup& group : groups) WriteFindings(page, group);
  if (!c.unknown.empty())
    page.Wrapped("Unknown: AFTER was captured without the data for it.", 10, Ink::kDim);
  if (c.predicted_ns > 0 && !c.forced) {
    page.Blank();
    page.Labelled(SavedLabel(c), 0, 10, SavedAmount(c));
  }
  for (const std::string& note : c.notes) {
    page.Blank();
    page.Labelled("Note", 0, 10, note + ".", Ink::kDim);
  }
  return page.text();
}

std::string CompareMarkdown(const RunComparison& c, const std::string& before,
                            const std::string& after) {
  std::string text = "Before: " + MarkdownCode(before) + ", after: " + MarkdownCode(after) + "\n\n";
  if (!c.comparable) {
    text = "### The runs cannot be compared\n\n" + text;
    for (const std::string& reason : c.reasons) text += "- " + MarkdownText(reason) + "\n";
    if (!c.forced) return text;
    text += "\n" + MarkdownText(CompareVerdict(c)) + "\n\n";
  } else {
    text = "### " + MarkdownText(CompareVerdict(c)) + "\n\n" + text;
  }
  const bool steps = c.unit == "step";
  text += fmt::format("| {} | before | after | change |\n|---|--:|--:|--:|\n",
                      steps      ? "per step and GPU"
                      : c.forced ? "per GPU and window"
                                 : "per GPU, for the same work");
  const auto row = [&](const std::string& name, double was, double is) {
    text += fmt::format("| {} | {} | {} | {} |\n", name, CompareTime(was), CompareTime(is),
                        CompareChange(was, is));
  };
  for (const BudgetChange& item : c.budget) {
    const std::string indent = item.name.starts_with("idle.") ? "– " : "";
    row(indent + MarkdownText(StateInWords(item.name)), item.before_ns, item.after_ns);
  }
  row("**all**", c.before.ns, c.after.ns);
  for (const FindingGroup& group : FindingGroups(c)) {
    text += "\n**" + group.title + "**\n";
    for (const FindingChange& item : group.findings) {
      const std::string along = WentAlong(item);
      text += fmt::format("- {} ({}){}\n", MarkdownText(TitleWithTime(item)),
                          MarkdownCode(item.rule), along.empty() ? "" : "; " + MarkdownText(along));
    }
  }
  if (c.predicted_ns > 0 && !c.forced) {
    text += fmt::format("\n{} {}.\n", SavedLabel(c), SavedAmount(c));
  }
  text +=
      "\nMatched: " + MarkdownText(fmt::format("{}", fmt::join(MatchedInWords(c), ", "))) + ".\n";
  for (const std::string& note : c.notes) text += "\nNote: " + MarkdownText(note) + ".\n";
  return text;
}

std::string CompareJson(const RunComparison& c, const std::string& before,
                        const std::string& after) {
  OrderedJson json = {{"schema", 1},
                      {"mode", "change"},
                      {"before", JsonText(before)},
                      {"after", JsonText(after)},
                      {"comparable", c.comparable},
                      {"forced", c.forced},
                      {"reasons", JsonTexts(c.reasons)},
                      {"notes", JsonTexts(c.notes)}};
  if (c.comparable || c.forced) {
    json["unit"] = c.unit;
    json["units"] = {{"before", c.units_before}, {"after", c.units_after}};
    json["work_ratio"] = JsonNumber(c.work_ratio);
    OrderedJson by = OrderedJson::array();
    for (const MatchedPart& part : c.matched) {
      by.push_back({{"by", part.by},
                    {"before", JsonNumber(part.before)},
                    {"after", JsonNumber(part.after)}});
    }
    json["matched"] = {{"before", JsonNumber(c.matched_before)},
                       {"after", JsonNumber(c.matched_after)},
                       {"levels", by}};
    json["time"] = {{"before", TimeJson(c.before)}, {"after", TimeJson(c.after)}};
    json["speedup"] = {{"value", JsonNumber(c.speedup)},
                       {"low", JsonNumber(c.speedup_low)},
                       {"high", JsonNumber(c.speedup_high)},
                       {"certain", c.certain ? OrderedJson(*c.certain) : OrderedJson()}};
    OrderedJson budget = OrderedJson::array();
    for (const BudgetChange& item : c.budget) {
      budget.push_back({{"name", JsonText(item.name)},
                        {"before_ns", JsonNumber(item.before_ns)},
                        {"after_ns", JsonNumber(item.after_ns)}});
    }
    json["budget"] = budget;
    json["findings"] = {{"fixed", FindingsJson(c.fixed)},
                        {"gone", FindingsJson(c.gone)},
                        {"new", FindingsJson(c.added)},
                        {"left", FindingsJson(c.left)},
                        {"unknown", FindingsJson(c.unknown)}};
    json["saving"] = {{"predicted_ns", JsonNumber(c.predicted_ns)},
                      {"achieved_ns", JsonNumber(c.achieved_ns)}};
  }
  return PrintJson(json);
}

std::string ScalingText(const Scaling& scaling, const std::vector<ScaleFinding>& findings,
                        int width, bool color) {
  Page page(width, color);
  std::vector<std::vector<std::string>> rows;
  for (const ScalingRow& row : scaling.rows) {
    const auto seconds = [](double ns) {
      return ns > 0 ? CompareTime(ns) : std::string("unknown");
    };
    rows.push_back({SafeText(row.label), fmt::format("{:.0f}", row.devices),
                    row.batch_bytes > 0 ? FormatQuantity(row.batch_bytes, "bytes") : "unknown",
                    seconds(row.step_ns), seconds(row.time_ns),
                    row.known ? fmt::format("{:.2f}", row.speedup) : "unknown",
                    row.known ? fmt::format("{:.1f} %", 100 * row.efficiency) : "unknown"});
  }
  WriteTable(page,
             {"run", "GPUs>", "upload/step>", "step>", "same work>", "speedup>", "efficiency>"},
             rows, 0);
  page.Blank();
  page.Wrapped(scaling.source == "given"
                   ? "Speedup and efficiency are computed from the given times."
                   : "Same work: the step time for as much work as one step of the first run.",
               0, Ink::kDim);
  for (const std::string& problem : scaling.problems) {
    page.Labelled("Cannot", 0, 8, problem + ".", Ink::kYellow);
  }
  for (const std::string& note : scaling.notes) page.Labelled("Note", 0, 8, note + ".", Ink::kDim);
  for (const ScaleFinding& finding : findings) {
    page.Blank();
    page.Wrapped(finding.run + ": " + finding.title, 0, Ink::kBold);
    page.Labelled("Seen", 2, 9, finding.symptom);
    page.Labelled("Why", 2, 9, finding.cause);
    for (const Fix& fix : finding.fixes) page.Labelled("Do", 2, 9, fix.action);
    page.Labelled("Rule", 2, 9, finding.rule);
  }
  return page.text();
}

std::string ScalingJson(const Scaling& scaling, const std::vector<ScaleFinding>& findings) {
  OrderedJson runs = OrderedJson::array();
  for (const ScalingRow& row : scaling.rows) {
    const auto known = [&](double value) { return row.known ? JsonNumber(value) : OrderedJson(); };
    runs.push_back({{"run", JsonText(row.label)},
                    {"devices", JsonNumber(row.devices)},
                    {"step_ns", row.step_ns > 0 ? JsonNumber(row.step_ns) : OrderedJson()},
                    {"upload_bytes", JsonNumber(row.batch_bytes)},
                    {"work", JsonNumber(row.work)},
                    {"time_ns", row.time_ns > 0 ? JsonNumber(row.time_ns) : OrderedJson()},
                    {"speedup", known(row.speedup)},
                    {"efficiency", known(row.efficiency)}});
  }
  OrderedJson list = OrderedJson::array();
  for (const ScaleFinding& finding : findings) {
    OrderedJson fixes = OrderedJson::array();
    for (const Fix& fix : finding.fixes) fixes.push_back(JsonText(fix.action));
    list.push_back({{"run", JsonText(finding.run)},
                    {"rule", JsonText(finding.rule)},
                    {"title", JsonText(finding.title)},
                    {"symptom", JsonText(finding.symptom)},
                    {"cause", JsonText(finding.cause)},
                    {"fixes", fixes}});
  }
  return PrintJson({{"schema", 1},
                    {"mode", "scaling"},
                    {"source", scaling.source},
                    {"comparable", scaling.problems.empty()},
                    {"reasons", JsonTexts(scaling.problems)},
                    {"notes", JsonTexts(scaling.notes)},
                    {"runs", runs},
                    {"findings", list}});
}

}  // namespace advise
