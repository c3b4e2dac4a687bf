#include "engine/pipeline/selection.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <set>

#include "engine/base/ascii.h"
#include "engine/base/text.h"

namespace advise {
namespace {

// "NVIDIA H100" as "nvidiah100".
std::string Letters(const std::string& name) {
  std::string letters;
  for (const char c : name) {
    if (IsAlnum(c)) letters += Lower(c);
  }
  return letters;
}

}  // namespace

bool Selects(const std::string& name, const std::string& rule_id) {
  return rule_id == name || rule_id.starts_with(name + "/");
}

Result<void> CheckSelection(const std::string& option, const std::vector<std::string>& names,
                            const std::vector<std::string>& rule_ids) {
  for (const std::string& name : names) {
    const bool known = std::any_of(rule_ids.begin(), rule_ids.end(),
                                   [&](const std::string& id) { return Selects(name, id); });
    if (known) continue;
    std::vector<std::string> candidates = AreasOf(rule_ids);
    candidates.insert(candidates.end(), rule_ids.begin(), rule_ids.end());
    const std::string near = DidYouMean(name, candidates);
    return Fail("there is no rule or area \"" + name + "\"", option,
                near.empty() ? "all of them: advise rules list" : "did you mean " + near + "?");
  }
  return {};
}

std::vector<std::string> AreasOf(const std::vector<std::string>& rule_ids) {
  std::set<std::string> areas;
  for (const std::string& id : rule_ids) {
    for (std::size_t slash = id.find('/'); slash != std::string::npos;
         slash = id.find('/', slash + 1)) {
      areas.insert(id.substr(0, slash));
    }
  }
  return {areas.begin(), areas.end()};
}

Result<void> CheckGpu(const std::string& name, const Knowledge& knowledge) {
  if (name.empty() || knowledge.FindHardware(name) != nullptr) return {};
  const std::string letters = Letters(name);
  std::vector<std::string> near;
  std::vector<std::string> all;
  // Slices of MIG ("a100-40-sxm-3g.20gb") are many: they are for who names one.
  const bool of_slices = name.find("g.") != std::string::npos;
  for (const HardwareEntry& gpu : knowledge.hardware()) {
    if (!of_slices && gpu.id.find("g.") != std::string::npos) continue;
    all.push_back(gpu.id);
    if (!letters.empty() && Letters(gpu.id).find(letters) != std::string::npos) {
      near.push_back(gpu.id);
    }
  }
  if (near.empty()) {
    const std::string nearest = DidYouMean(name, all);
    near = nearest.empty() ? all : std::vector<std::string>{nearest};
  }
  std::sort(near.begin(), near.end());
  return Fail(
      "there is no GPU \"" + name + "\" in the knowledge base", "--gpu",
      fmt::format("{}: {}", near.size() == all.size() ? "it has" : "near", fmt::join(near, ", ")));
}

std::string CheckWindow(const std::string& text) {
  if (text == "auto" || text == "all" || text == "steady") return "";
  const char* wanted = "is not a window: all, steady, or A:B in seconds from the trace's start";
  const std::size_t colon = text.find(':');
  if (colon == std::string::npos) return wanted;
  double bounds[2] = {0, 0};
  const std::string parts[2] = {text.substr(0, colon), text.substr(colon + 1)};
  for (int i = 0; i < 2; ++i) {
    const char* end = parts[i].data() + parts[i].size();
    const auto [read_to, problem] = std::from_chars(parts[i].data(), end, bounds[i]);
    if (problem != std::errc() || read_to != end || !std::isfinite(bounds[i])) return wanted;
  }
  return bounds[0] >= 0 && bounds[0] < bounds[1]
             ? ""
             : "the window " + text + " is empty: in A:B, A must be less than B";
}

}  // namespace advise
