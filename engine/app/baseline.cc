#include "engine/app/baseline.h"

#include <algorithm>
#include <array>
#include <fstream>
#include <nlohmann/json.hpp>

namespace advise {
namespace {

constexpr std::array<Severity, 5> kSeverities = {Severity::kInfo, Severity::kLow, Severity::kMedium,
                                                 Severity::kHigh, Severity::kCritical};

}  // namespace

std::vector<std::string> SeverityNames() {
  std::vector<std::string> names;
  for (const Severity severity : kSeverities) names.emplace_back(SeverityName(severity));
  return names;
}

std::optional<Severity> SeverityFromName(const std::string& name) {
  for (const Severity severity : kSeverities) {
    if (name == SeverityName(severity)) return severity;
  }
  return std::nullopt;
}

Result<std::set<std::string>> ReadBaseline(const std::string& path) {
  const std::string hint = "make one with: advise REPORT --format json -o " + path;
  std::ifstream file(path, std::ios::binary);
  if (!file) return Fail("the baseline cannot be read", path, hint);
  const auto json = nlohmann::json::parse(file, nullptr, /*allow_exceptions=*/false);
  if (!json.is_object() || (json.value("schema", 0) != 1 && json.value("schema", 0) != 2) ||
      !json.contains("findings") || !json["findings"].is_array()) {
    return Fail("the baseline is not a JSON report of schema 1 or 2", path, hint);
  }
  std::set<std::string> rules;
  for (const auto& finding : json["findings"]) {
    if (finding.is_object() && finding.contains("rule") && finding["rule"].is_string()) {
      rules.insert(finding["rule"].get<std::string>());
    }
  }
  return rules;
}

std::vector<std::string> FindingsAtOrAbove(const Report& report, Severity level,
                                           const std::set<std::string>& known) {
  std::vector<std::string> rules;
  for (const Finding& finding : report.findings) {
    if (finding.rule == nullptr || finding.severity < level || !finding.explained_by.empty()) {
      continue;
    }
    const std::string& id = finding.rule->id;
    const bool listed = std::find(rules.begin(), rules.end(), id) != rules.end();
    if (!listed && !known.contains(id)) rules.push_back(id);
  }
  return rules;
}

}  // namespace advise
