#include "engine/report/rules.h"

#include <fmt/format.h>

#include "engine/base/template.h"
#include "engine/base/text.h"
#include "engine/report/finding_text.h"
#include "engine/report/layout.h"

namespace advise {
namespace {

constexpr int kRuleColumn = 16;

std::string FolderOf(const std::string& id) { return id.substr(0, id.rfind('/')); }

void List(Page& page, const std::string& label, const std::vector<std::string>& items) {
  if (items.empty()) return;
  page.Labelled(label, 0, kRuleColumn, fmt::format("{}", fmt::join(items, ", ")));
}

// What the evidence fills, as "<name>".
std::string WithPlaces(const std::string& text) {
  return FillTemplate(text, [](std::string_view name, std::string_view) {
    return std::optional<std::string>(fmt::format("<{}>", name));
  });
}

}  // namespace

std::string RenderRulesText(const std::vector<RulePage>& rules,
                            const std::vector<SiteSource>& sources, int width, bool color) {
  Page page(width, color);
  int column = 0;
  for (const RulePage& item : rules) column = std::max(column, DisplayWidth(item.rule->id) + 4);
  std::string area;
  for (const RulePage& item : rules) {
    if (FolderOf(item.rule->id) != area) {
      area = FolderOf(item.rule->id);
      page.Blank();
      page.Wrapped(area, 0, Ink::kBold);
    }
    std::string words = item.rule->title;
    if (item.rule->status != "stable") words += " [" + item.rule->status + "]";
    if (!item.suppressed.empty()) words += " [left out by the site: " + item.suppressed + "]";
    if (!item.rule->replaces.empty()) words += " [replaces " + item.rule->replaces + "]";
    if (item.rule->id.starts_with("site/")) words += " [" + item.rule->path + "]";
    page.Labelled(item.rule->id, 2, column, words);
  }
  page.Blank();
  std::string label = "Of the site";
  for (const SiteSource& source : sources) {
    const std::string what =
        source.kind == SiteSource::kSettings
            ? "settings"
            : fmt::format("{} rule{}", source.rules, source.rules == 1 ? "" : "s");
    page.Labelled(label, 0, kRuleColumn,
                  fmt::format("{}: {}, from {}", source.path, what, source.named_by));
    label.clear();
  }
  page.Line(fmt::format("{} rules. For the page of a rule: advise rules show RULE", rules.size()));
  return page.text();
}

std::string RenderRuleText(const RulePage& item, int width, bool color) {
  const RuleInfo& rule = *item.rule;
  Page page(width, color);
  page.Wrapped(rule.title, 0, Ink::kBold);
  page.Line(page.Paint(fmt::format("{}   {}, since {}, {}", rule.id, rule.status, rule.since,
                                   RuleKindName(rule.kind)),
                       Ink::kDim));
  if (!item.suppressed.empty()) {
    page.Labelled("Left out", 0, kRuleColumn, "by the site: " + item.suppressed, Ink::kYellow);
  }
  page.Blank();
  page.Labelled("Seen", 0, kRuleColumn, WithPlaces(rule.symptom));
  page.Labelled("Why", 0, kRuleColumn, WithPlaces(rule.cause));
  for (std::size_t i = 0; i < rule.fixes.size(); ++i) {
    page.Labelled(i == 0 ? "Do" : "or", 0, kRuleColumn, WithPlaces(rule.fixes[i].action));
    if (!rule.fixes[i].snippet.empty()) {
      page.Verbatim(FillCode(rule.fixes[i].snippet), kRuleColumn + 2, Ink::kGreen);
    }
  }
  if (!rule.effort.empty()) page.Labelled("Effort", 0, kRuleColumn, EffortWords(rule.effort));
  if (!rule.false_positives.empty()) {
    page.Labelled("Wrong when", 0, kRuleColumn, rule.false_positives);
  }
  page.Blank();
  List(page, "Reads", rule.needs);
  List(page, "May read", rule.optional);
  List(page, "Explains", rule.explains);
  List(page, "Knowledge", rule.knowledge);
  std::string label = "Thresholds";
  for (const RulePage::Threshold& threshold : item.thresholds) {
    std::string words =
        fmt::format("{} = {}", threshold.name, FormatQuantity(threshold.value, threshold.unit));
    if (!threshold.set_by.empty()) words += " (set by " + threshold.set_by + ")";
    if (!threshold.why.empty()) words += ": " + threshold.why;
    if (!threshold.source.empty()) words += " [" + threshold.source + "]";
    page.Labelled(label, 0, kRuleColumn, words);
    label.clear();
  }
  label = "See";
  for (const RulePage::Link& link : item.links) {
    page.Labelled(label, 0, kRuleColumn, link.title + " " + link.url);
    label.clear();
  }
  page.Labelled("File", 0, kRuleColumn, rule.path);
  return page.text();
}

}  // namespace advise
