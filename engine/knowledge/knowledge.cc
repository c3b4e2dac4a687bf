#include "engine/knowledge/knowledge.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>

namespace advise {

const Threshold* Knowledge::FindThreshold(std::string_view rule, std::string_view name) const {
  std::string full(rule);
  full += '.';
  full += name;
  const auto found = thresholds_.find(full);
  return found == thresholds_.end() ? nullptr : &found->second;
}

const Reference* Knowledge::FindReference(std::string_view key) const {
  const auto found = references_.find(key);
  return found == references_.end() ? nullptr : &found->second;
}

std::string Knowledge::HowToRecord(std::string_view framework) const {
  for (const RunSign& sign : run_signs_) {
    const bool named = sign.about == RunSign::About::kFramework && sign.rule.value == framework;
    if (named && !sign.record.empty()) return sign.record;
  }
  return "";
}

bool Knowledge::IsRecordedByNsys(std::string_view framework) const {
  return std::any_of(run_signs_.begin(), run_signs_.end(), [&](const RunSign& sign) {
    return sign.about == RunSign::About::kFramework && sign.rule.value == framework && sign.by_nsys;
  });
}

std::vector<std::string> Knowledge::LanguagesOf(std::string_view framework) const {
  for (const RunSign& sign : run_signs_) {
    const bool named = sign.about == RunSign::About::kFramework && sign.rule.value == framework;
    if (named) return sign.languages;
  }
  return {};
}

const XidMeaning* Knowledge::FindXid(int code) const {
  const auto found = std::find_if(xids_.begin(), xids_.end(),
                                  [&](const XidMeaning& xid) { return xid.code == code; });
  return found == xids_.end() ? nullptr : &*found;
}

std::size_t Knowledge::XidRank(int code) const {
  const XidMeaning* const known = FindXid(code);
  if (known != nullptr) return static_cast<std::size_t>(known - xids_.data());
  const auto program = std::find_if(xids_.begin(), xids_.end(),
                                    [](const XidMeaning& xid) { return xid.kind == "program"; });
  return static_cast<std::size_t>(program - xids_.begin());
}

const CaptureHint* Knowledge::FindCaptureHint(std::string_view tag) const {
  const auto found = std::find_if(capture_hints_.begin(), capture_hints_.end(),
                                  [&](const CaptureHint& hint) { return hint.tag == tag; });
  return found == capture_hints_.end() ? nullptr : &*found;
}

double Knowledge::NumberOrZero(std::string_view name) const {
  const auto found = numbers_.find(name);
  return found == numbers_.end() ? 0 : found->second.value;
}

const CounterQuantity& Knowledge::Counter(std::string_view quantity) const {
  const auto found = counters_.find(quantity);
  if (found != counters_.end()) return found->second;
  std::fprintf(stderr, "kb/counters.toml has no quantity \"%.*s\"\n",
               static_cast<int>(quantity.size()), quantity.data());
  std::abort();
}

double Knowledge::Number(std::string_view name) const {
  const auto found = numbers_.find(name);
  if (found == numbers_.end()) {
    std::fprintf(stderr, "kb/metrics.toml has no number \"%.*s\"\n", static_cast<int>(name.size()),
                 name.data());
    std::abort();
  }
  return found->second.value;
}

}  // namespace advise
