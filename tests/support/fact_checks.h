// What must hold for all facts of a run when it is told differently.
#pragma once

#include <fmt/format.h>

#include <cmath>
#include <memory>
#include <string>
#include <vector>

#include "engine/cluster/cluster.h"
#include "engine/cluster/summarize.h"
#include "engine/facts/catalog.h"
#include "tests/support/analyzed.h"

namespace advise {

inline std::unique_ptr<Facts> FactsOf(const Analysis& run) {
  return MakeFacts(run, Cluster(SummarizeRanks(run), run.run.knowledge));
}

inline const std::vector<FactInfo>& AllFacts() {
  static const std::vector<FactInfo> list = FactList(ShippedKnowledge());
  return list;
}

// As short as tells two facts apart: "3", "true", "12 ns lost"; what is no number or name has none.
inline std::string WordsOf(const Fact& fact) {
  if (const auto* number = std::get_if<double>(&fact.value)) return fmt::format("{:.10g}", *number);
  if (const auto* flag = std::get_if<bool>(&fact.value)) return *flag ? "true" : "false";
  if (const auto* name = std::get_if<std::string>(&fact.value)) return *name;
  if (const auto* spans = std::get_if<std::shared_ptr<const Spans>>(&fact.value))
    return fmt::format("{} ns lost", (*spans)->Total());
  return std::holds_alternative<Absent>(fact.value) ? "absent" : "";
}

// Asks of each fact whether it is right in both runs. One check for all: there are many.
template <class IsRight>
void CheckFacts(const Facts& a, const Facts& b, IsRight is_right) {
  std::string wrong;
  for (const FactInfo& info : AllFacts()) {
    const Fact* before = a.Find(info.name);
    const Fact* after = b.Find(info.name);
    if (before == nullptr || after == nullptr || is_right(info, *before, *after)) continue;
    wrong += fmt::format("{}: {}, then {}; ", info.name, WordsOf(*before), WordsOf(*after));
  }
  CHECK(wrong == "");
}

// Facts of the run that tell no single device from another, and count none that does nothing.
inline void CheckSameFacts(const Facts& a, const Facts& b) {
  CheckFacts(a, b, [](const FactInfo& info, const Fact& before, const Fact& after) {
    for (const char* of_devices : {"rank.late.device", "run.devices_listed", "rank.idle.devices"})
      if (info.name == of_devices) return true;
    // Moments are told by the clock of the report.
    if (info.name.starts_with("host.input.between_")) return true;
    const auto* number = std::get_if<double>(&before.value);
    if (number == nullptr) return WordsOf(before) == WordsOf(after);
    const auto* other = std::get_if<double>(&after.value);
    return other != nullptr && *other == Approx(*number);
  });
}

// Numbers are numbers: shares lie between nothing and all, times and counts are not negative.
inline void CheckSoundFacts(const Facts& facts) {
  CheckFacts(facts, facts, [](const FactInfo& info, const Fact& fact, const Fact&) {
    const auto* number = std::get_if<double>(&fact.value);
    if (number == nullptr) return true;
    const bool is_share = info.unit == "share" && info.name != "steps.jitter";
    return std::isfinite(*number) && (!is_share || (*number >= 0 && *number <= 1 + 1e-9)) &&
           (info.unit != "ns" || *number >= 0) && (info.unit != "count" || *number >= 0);
  });
}

// What two processes are not twice of one: numbers of GPUs, what can only be told of a rank that is
// alone, what a program that launches little is called and what follows from that, and sentences
// that count kernels or ranks.
inline bool IsOfOneProcess(const std::string& fact) {
  for (const char* name : {"rank.late.device", "run.kind", "run.kind_why", "run.request_waits",
                           "run.unit", "run.units", "window.reason", "strategy.evidence",
                           "input.batch.slow_part", "kernel.repeated.kernels"})
    if (fact == name) return true;
  return fact.starts_with("rank.unseen.");
}

// The same program once more, on other GPUs and at the same time: what is counted in all is twice
// as much, and what is said of a device, a step or a second is what it was.
inline void CheckFactsTwice(const Facts& once, const Facts& twice) {
  // More launches may show a loop that fewer do not.
  if (once.Find("steps.count")->value.index() != twice.Find("steps.count")->value.index()) return;
  // What a launch costs, and which kernels are small beside that, is known from enough launches.
  const auto* launches = std::get_if<double>(&once.Find("launch.count")->value);
  const double least = 2 * ShippedKnowledge().Number("launch.latency_count");
  const bool few = launches == nullptr || *launches < least;
  CheckFacts(once, twice, [few](const FactInfo& info, const Fact& one, const Fact& two) {
    if (one.value.index() != two.value.index() || IsOfOneProcess(info.name)) return true;
    if (few && (info.name.starts_with("launch.") || info.name.starts_with("kernel.repeated.")))
      return true;
    if (std::holds_alternative<std::shared_ptr<const Spans>>(one.value)) return true;
    const auto* number = std::get_if<double>(&one.value);
    if (number == nullptr) return WordsOf(one) == WordsOf(two);
    const double both = std::get<double>(two.value);
    return both == Approx(*number) || both == Approx(2 * *number);
  });
}

}  // namespace advise
