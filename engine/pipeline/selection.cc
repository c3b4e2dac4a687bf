#include "engine/pipeline/selection.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "engine/base/ascii.h"
#include "engine/base/parse_number.h"
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

// "2:8.5".
std::optional<std::pair<double, double>> BoundsIn(const std::string& text) {
  const std::size_t colon = text.find(':');
  if (colon == std::string::npos) return std::nullopt;
  const auto from = ParseNumber<double>(std::string_view(text).substr(0, colon));
  const auto to = ParseNumber<double>(std::string_view(text).substr(colon + 1));
  if (!from || !to || !std::isfinite(*from) || !std::isfinite(*to)) return std::nullopt;
  return std::pair(*from, *to);
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
  const auto bounds = BoundsIn(text);
  if (!bounds)
    return "\"" + text +
           "\" is not a window: all, steady, or A:B in seconds from the trace's start";
  return bounds->first >= 0 && bounds->first < bounds->second
             ? ""
             : "the window " + text + " is empty: in A:B, A must be less than B";
}

Result<WindowRequest> ParseWindow(const std::string& text) {
  using Mode = WindowRequest::Mode;
  if (text == "auto" || text.empty()) return WindowRequest();
  if (text == "all") return WindowRequest{Mode::kAll, 0, 0};
  if (text == "steady") return WindowRequest{Mode::kSteady, 0, 0};
  if (!CheckWindow(text).empty()) {
    return Fail("'" + text + "' is not a window", "--window",
                "all, steady, or A:B in seconds from the start of the trace");
  }
  const auto [from, to] = *BoundsIn(text);
  return WindowRequest{Mode::kGiven, from, to};
}

}  // namespace advise
