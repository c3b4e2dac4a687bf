// The rule catalog as Markdown pages.
#include <fmt/format.h>

#include <algorithm>

#include "engine/base/is_in.h"
#include "engine/base/template.h"
#include "engine/base/text.h"
#include "engine/report/finding_text.h"
#include "engine/report/layout.h"
#include "engine/report/rules.h"

namespace advise {
namespace {

std::string AreaOf(const std::string& id) { return id.substr(0, id.find('/')); }

// Braces of templates are places that the evidence fills: shown as such.
std::string NameWords(std::string_view text) {
  std::string words;
  for (std::size_t at = 0; at < text.size(); ++at) {
    const std::size_t end = text[at] == '{' ? text.find('}', at) : std::string_view::npos;
    if (end == std::string_view::npos) {
      words += text[at];
      continue;
    }
    const std::string_view place = text.substr(at + 1, end - at - 1);
    words += fmt::format("*{}*", place.substr(0, place.find(':')));
    at = end;
  }
  return words;
}

std::string Filled(const std::string& text, const Verdict& verdict) {
  return FillTemplate(
      text, [&](std::string_view name, std::string_view kind) -> std::optional<std::string> {
        const auto found = verdict.evidence.find(std::string(name));
        if (found == verdict.evidence.end()) return std::nullopt;
        if (const auto* number = std::get_if<double>(&found->second)) {
          return FormatQuantity(*number, kind);
        }
        return TextInPlace(std::get<std::string>(found->second), kind);
      });
}

const char* KindWords(RuleKind kind) {
  switch (kind) {
    case RuleKind::kRoot:
      return "a *root*: it names a cause that can be changed";
    case RuleKind::kSymptom:
      return "a *symptom*: rules that name causes explain it";
    case RuleKind::kInfo:
      break;
  }
  return "*info*: it only informs, and claims no time";
}

void Measured(const RulePage& item, std::string* page) {
  if (item.facts.empty()) return;
  *page += "\n## How it is measured\n\n| fact | unit | definition |\n|---|---|---|\n";
  for (const FactInfo& fact : item.facts) {
    const auto& optional = item.rule->optional;
    const bool may = IsIn(fact.name, optional);
    *page += fmt::format("| `{}`{} | {} | {} |\n", fact.name, may ? " (may be absent)" : "",
                         fact.unit, MarkdownCell(fact.definition));
  }
}

void Thresholds(const RulePage& item, std::string* page) {
  if (item.thresholds.empty()) return;
  *page += "\n## Thresholds\n\n| name | value | why | source |\n|---|---|---|---|\n";
  for (const RulePage::Threshold& one : item.thresholds) {
    *page += fmt::format("| `{}` | {} | {} | {} |\n", one.name, FormatQuantity(one.value, one.unit),
                         MarkdownCell(one.why), MarkdownCell(one.source));
  }
  *page += fmt::format("\nA site changes one with `--set {}.{}=VALUE` or in its settings file.\n",
                       item.rule->id, item.thresholds.front().name);
}

void Example(const RulePage& item, std::string* page) {
  if (item.example_name.empty()) return;
  const RuleInfo& rule = *item.rule;
  *page += fmt::format("\n## Example\n\nFrom the rule's own tests, \"{}\":\n\n```text\n",
                       item.example_name);
  *page += fmt::format("Seen   {}\n", Filled(rule.symptom, item.example));
  *page += fmt::format("Why    {}\n", Filled(rule.cause, item.example));
  if (!rule.fixes.empty())
    *page += fmt::format("Do     {}\n", Filled(rule.fixes.front().action, item.example));
  for (const Comparison& one : item.example.comparisons) {
    const char* sign = one.what == "at_most" ? "<=" : one.what == "between" ? "in" : ">=";
    const std::string name =
        one.name.starts_with(rule.id + ".") ? one.name.substr(rule.id.size() + 1) : one.name;
    *page += fmt::format("       {} {} {}  {}\n", FormatQuantity(one.value, one.unit), sign,
                         FormatQuantity(one.threshold, one.unit), name);
  }
  *page += "```\n";
}

}  // namespace

std::string RenderRuleMarkdown(const RulePage& item) {
  const RuleInfo& rule = *item.rule;
  std::string page =
      fmt::format("# {}\n\n`{}`, {} since {}: {}; the fix is {}.\n", rule.title, rule.id,
                  rule.status, rule.since, KindWords(rule.kind), EffortWords(rule.effort));
  page += fmt::format("\n## Symptom\n\n{}\n\n## Cause\n\n{}\n", NameWords(rule.symptom),
                      NameWords(rule.cause));
  page += "\n## Fixes\n";
  for (std::size_t i = 0; i < rule.fixes.size(); ++i) {
    const Fix& fix = rule.fixes[i];
    page += fmt::format("\n{}. {}\n", i + 1, NameWords(fix.action));
    if (fix.snippet.empty()) continue;
    page += fmt::format("\n   ```{}\n", fix.language);
    const std::string code = FillCode(fix.snippet);
    std::size_t at = 0;
    while (at <= code.size()) {
      const std::size_t end = std::min(code.find('\n', at), code.size());
      const std::string line = SafeText(std::string_view(code).substr(at, end - at));
      page += line.empty() ? "\n" : "   " + line + "\n";
      at = end + 1;
    }
    page += "   ```\n";
  }
  page += fmt::format("\n## When the advice is wrong\n\n{}\n", rule.false_positives);
  Example(item, &page);
  Measured(item, &page);
  Thresholds(item, &page);
  if (!rule.explains.empty()) {
    page += "\n## What it explains\n\n";
    for (const std::string& id : rule.explains) {
      const std::string name = id.substr(id.find('/') + 1);
      page += AreaOf(id) == AreaOf(rule.id) ? fmt::format("- [`{}`]({}.md)\n", id, name)
                                            : fmt::format("- [`{}`](../{}.md)\n", id, id);
    }
  }
  page += "\n## Background\n\n";
  for (const std::string& row : item.rows) page += fmt::format("- {}\n", row);
  for (const RulePage::Link& link : item.links)
    page += fmt::format("- [{}]({})\n", link.title, link.url);
  page += fmt::format("- The rule itself: `{}`\n", rule.path);
  return page;
}

std::string RenderRuleIndexMarkdown(const std::vector<RulePage>& rules) {
  std::string page;
  std::string area;
  for (const RulePage& item : rules) {
    const RuleInfo& rule = *item.rule;
    if (AreaOf(rule.id) != area) {
      area = AreaOf(rule.id);
      page += fmt::format("\n## {}\n\n| rule | kind | effort | what to do |\n|---|---|---|---|\n",
                          area);
    }
    page += fmt::format("| [`{0}`](rules/{0}.md) | {1} | {2} | {3} |\n", rule.id,
                        RuleKindName(rule.kind), rule.effort, MarkdownCell(rule.title));
  }
  return page;
}

}  // namespace advise
