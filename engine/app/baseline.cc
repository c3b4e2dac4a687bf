#include "engine/app/baseline.h"

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>

#include "engine/base/is_in.h"
#include "engine/base/parse_number.h"
#include "engine/pipeline/session.h"

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

std::optional<double> SlowerLimit(const std::string& text) {
  constexpr std::string_view kSlower = "slower:";
  if (!text.starts_with(kSlower) || !text.ends_with('%')) return std::nullopt;
  std::string_view number(text);
  number.remove_prefix(kSlower.size());
  number.remove_suffix(1);
  const auto percent = ParseNumber<double>(number);
  const bool fits = percent && *percent >= 0 && *percent < 1e6;
  return fits ? std::optional(*percent / 100) : std::nullopt;
}

namespace {

// A baseline may have been edited by hand: what does not fit is taken as not said.
void ReadTime(const nlohmann::json& json, Baseline* baseline) {
  const auto part = [&](const char* name, const char* field) {
    return json.contains(name) && json[name].is_object() && json[name].contains(field)
               ? json[name][field]
               : nlohmann::json();
  };
  const auto unit = part("run", "unit");
  const auto units = part("run", "units");
  const auto seconds = part("window", "seconds");
  if (unit.is_string() && units.is_number() && seconds.is_number() && units > 0 && seconds > 0) {
    baseline->unit = unit.get<std::string>();
    baseline->seconds_per_unit = seconds.get<double>() / units.get<double>();
  }
  if (!json.contains("devices") || !json["devices"].is_array()) return;
  baseline->gpus.emplace();
  for (const auto& device : json["devices"]) {
    const bool named = device.is_object() && device.contains("name") && device["name"].is_string();
    baseline->gpus->push_back(named ? device["name"].get<std::string>() : "");
  }
}

}  // namespace

Result<Baseline> ReadBaseline(const std::string& path) {
  const std::string hint = "make one with: advise REPORT --format json -o " + path;
  const auto text = ReadTextFile(path);
  if (!text) return Fail(text.error().what, path, hint);
  const auto json = nlohmann::json::parse(*text, nullptr, /*allow_exceptions=*/false);
  if (!json.is_object() || (json.value("schema", 0) != 1 && json.value("schema", 0) != 2) ||
      !json.contains("findings") || !json["findings"].is_array()) {
    return Fail("the baseline is not a JSON report of schema 1 or 2", path, hint);
  }
  Baseline baseline;
  for (const auto& finding : json["findings"]) {
    if (finding.is_object() && finding.contains("rule") && finding["rule"].is_string()) {
      baseline.rules.insert(finding["rule"].get<std::string>());
    }
  }
  ReadTime(json, &baseline);
  return baseline;
}

Result<double> SlowerBy(const Report& report, const Baseline& baseline, const std::string& path) {
  const std::string hint = "compare the reports themselves: advise compare BEFORE AFTER";
  if (baseline.seconds_per_unit <= 0) {
    return Fail("the baseline does not say how long a step takes", path,
                "make it again, of a run with steps: advise REPORT --format json -o " + path);
  }
  if (report.run.units == 0 || report.run.unit != baseline.unit) {
    const auto plural = [](const std::string& unit) {
      return unit + (unit.ends_with('s') ? "es" : "s");
    };
    return Fail("the baseline counts in " + plural(baseline.unit) + ", this run in " +
                    (report.run.units == 0 ? "none" : plural(report.run.unit)),
                path, hint);
  }
  std::vector<std::string> gpus;
  for (const DeviceBudget& device : report.devices) gpus.push_back(device.name);
  if (baseline.gpus && gpus != *baseline.gpus)
    return Fail("the baseline ran on other GPUs", path, hint);
  const double seconds = static_cast<double>(report.window.end_ns - report.window.start_ns) * 1e-9 /
                         static_cast<double>(report.run.units);
  return seconds / baseline.seconds_per_unit - 1;
}

std::vector<std::string> FindingsAtOrAbove(const Report& report, Severity level,
                                           const std::set<std::string>& known) {
  std::vector<std::string> rules;
  for (const Finding& finding : report.findings) {
    if (finding.rule == nullptr || finding.severity < level || finding.UnderCause()) {
      continue;
    }
    const std::string& id = finding.rule->id;
    const bool listed = IsIn(id, rules);
    if (!listed && !known.contains(id)) rules.push_back(id);
  }
  return rules;
}

}  // namespace advise
