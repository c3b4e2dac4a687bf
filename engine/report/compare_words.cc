#include "engine/report/compare_words.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <string_view>

#include "engine/base/text.h"
#include "engine/report/budget_text.h"

namespace advise {

std::string CompareTime(double ns) { return FormatQuantity(ns, "ns"); }

std::string CompareChange(double before, double after) {
  const double change = after - before;
  if (CompareTime(before) == CompareTime(after)) return CompareTime(0);  // no digit shows it
  const std::string sign = change < 0 ? "−" : "+";
  return sign + CompareTime(std::abs(change));
}

std::string CompareInterval(const UncertainTime& time) {
  if (!time.low_ns || !time.high_ns) return CompareTime(time.ns);
  return fmt::format("{} ({} to {})", CompareTime(time.ns), CompareTime(*time.low_ns),
                     CompareTime(*time.high_ns));
}

std::string CompareVerdict(const RunComparison& c) {
  if (c.forced) {
    return fmt::format("Different work: {} before and {} after, per {}.", CompareTime(c.before.ns),
                       CompareTime(c.after.ns), c.unit);
  }
  const std::string unit = c.unit == "step" ? "A step" : "The same work";
  if (c.certain.has_value() && !*c.certain) {
    return fmt::format("No change beyond noise: {} → {}.", CompareTime(c.before.ns),
                       CompareTime(c.after.ns));
  }
  if (c.speedup >= 1) {
    return fmt::format("{} is {:.2f} times as fast: {} → {}.", unit, c.speedup,
                       CompareTime(c.before.ns), CompareTime(c.after.ns));
  }
  return fmt::format("{} is slower: {} → {}, {:.2f} times as long.", unit, CompareTime(c.before.ns),
                     CompareTime(c.after.ns), 1 / c.speedup);
}

std::string SavedLabel(const RunComparison& c) { return c.achieved_ns < 0 ? "Lost" : "Saved"; }

std::string SavedAmount(const RunComparison& c) {
  return fmt::format("{} ({}: {})", CompareTime(std::abs(c.achieved_ns)),
                     c.achieved_ns < 0 ? "predicted saving" : "predicted",
                     CompareTime(c.predicted_ns));
}

// "comm_exposed" and "idle.host_compute" as reports name them.
std::string StateInWords(const std::string& name) {
  static const std::map<std::string, std::string> kNames = {
      {"comm_exposed", "communication"}, {"copy_exposed", "copies"}, {"memset_exposed", "memsets"}};
  constexpr std::string_view kIdle = "idle.";
  if (name.starts_with(kIdle)) return IdleCauseLabel(name.substr(kIdle.size()));
  const auto found = kNames.find(name);
  return found == kNames.end() ? name : found->second;
}

std::string TitleWithTime(const FindingChange& item) {
  if (item.before_ns > 0 && item.after_ns > 0) {
    return fmt::format("{} ({} → {})", item.title, CompareTime(item.before_ns),
                       CompareTime(item.after_ns));
  }
  const double ns = item.before_ns > 0 ? item.before_ns : item.after_ns;
  return ns > 0 ? fmt::format("{} ({})", item.title, CompareTime(ns)) : item.title;
}

std::string WentAlong(const FindingChange& item) {
  if (item.why.empty()) return "";
  const std::string with = item.went_with.empty()
                               ? "nothing shows its fix"
                               : fmt::format("{}because of {}", item.replayed ? "" : "probably ",
                                             fmt::join(item.went_with, ", "));
  return with + ": " + item.why;
}

std::vector<FindingGroup> FindingGroups(const RunComparison& c) {
  using Kind = FindingGroup::Kind;
  std::vector<FindingGroup> groups;
  if (c.forced) {
    std::vector<FindingChange> before = c.fixed;
    before.insert(before.end(), c.gone.begin(), c.gone.end());
    groups = {{Kind::kSame, "Before", "Only BEFORE", std::move(before)},
              {Kind::kSame, "After", "Only AFTER", c.added},
              {Kind::kSame, "Both", "Both runs", c.left}};
  } else {
    groups = {{Kind::kBetter, "Fixed", "Fixed", c.fixed},
              {Kind::kBetter, "Gone", "Gone without their own fix", c.gone},
              {Kind::kWorse, "New", "New", c.added},
              {Kind::kSame, "Left", "Left", c.left}};
  }
  groups.push_back(
      {Kind::kUnknown, "Unknown", "Unknown: AFTER was captured without the data", c.unknown});
  std::erase_if(groups, [](const FindingGroup& group) { return group.findings.empty(); });
  return groups;
}

std::vector<std::string> MatchedInWords(const RunComparison& comparison) {
  static const std::map<std::string, std::string> kLevels = {
      {"kernel", "kernel and size"},
      {"name", "kernel name"},
      {"shapes", "operator on the same shapes"},
      {"operator", "operator"},
      {"fused", "operators that a fused kernel names"},
      {"range", "range or module"},
      {"place", "place in the step"},
      {"graph", "whole CUDA graphs"}};
  std::vector<std::string> texts;
  double before = 1, after = 1;
  const auto add = [&](const std::string& by, double a, double b) {
    texts.push_back(
        fmt::format("{} {} → {}", by, FormatQuantity(a, "share"), FormatQuantity(b, "share")));
  };
  for (const MatchedPart& part : comparison.matched) {
    const auto words = kLevels.find(part.by);
    add("by " + (words == kLevels.end() ? part.by : words->second), part.before, part.after);
    before -= part.before;
    after -= part.after;
  }
  constexpr double kNothing = 0.005;  // layout only
  if (std::max(before, after) >= kNothing)
    add("not matched", std::max(0.0, before), std::max(0.0, after));
  return texts;
}

}  // namespace advise
