#include "engine/advice/report_model.h"

#include <algorithm>

namespace advise {

const NamedFact* FindFact(const Report& report, std::string_view name) {
  for (const NamedFact& fact : report.facts) {
    if (fact.info->name == name) return &fact;
  }
  return nullptr;
}

const Finding* FindingOf(const Report& report, const std::string& rule) {
  const auto found = std::find_if(
      report.findings.begin(), report.findings.end(),
      [&](const Finding& finding) { return finding.rule != nullptr && finding.rule->id == rule; });
  return found == report.findings.end() ? nullptr : &*found;
}

bool HasCare(const Report& report, Care care) {
  return std::any_of(report.read_with_care.begin(), report.read_with_care.end(),
                     [care](const CareNote& note) { return note.care == care; });
}

std::optional<double> FactNumber(const Report& report, std::string_view name) {
  const NamedFact* fact = FindFact(report, name);
  if (fact == nullptr) return std::nullopt;
  if (const auto* number = std::get_if<double>(&fact->fact.value)) return *number;
  if (const auto* flag = std::get_if<bool>(&fact->fact.value)) return *flag ? 1 : 0;
  if (const auto* spans = std::get_if<std::shared_ptr<const Spans>>(&fact->fact.value)) {
    return *spans == nullptr ? 0 : static_cast<double>((*spans)->Total());
  }
  return std::nullopt;
}

std::string FactWord(const Report& report, std::string_view name, std::string_view otherwise) {
  const NamedFact* fact = FindFact(report, name);
  const auto* text = fact == nullptr ? nullptr : std::get_if<std::string>(&fact->fact.value);
  return text == nullptr ? std::string(otherwise) : *text;
}

const Rows* FactRows(const Report& report, std::string_view name) {
  const NamedFact* fact = FindFact(report, name);
  return fact == nullptr ? nullptr : std::get_if<Rows>(&fact->fact.value);
}

}  // namespace advise
