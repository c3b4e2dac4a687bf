// The catalog: every name has a fact in every run, of the kind that its unit says.
#include "engine/facts/catalog.h"

#include <algorithm>
#include <array>

#include "engine/cluster/cluster.h"
#include "tests/facts/runs.h"

namespace advise {
namespace {

// Runs that know little and runs that know much: what a fact is made of may be missing.
std::vector<TraceBuilder> Runs() {
  return {TraceBuilder(), TraceBuilder().Kernel("gemm", {0_us, 10_us}), TrainingRun(1),
          TrainingRun(2)};
}

bool IsOfUnit(const Value& value, const std::string& unit) {
  if (unit == "flag") return std::holds_alternative<bool>(value);
  if (unit == "name") return std::holds_alternative<std::string>(value);
  if (unit == "rows") return std::holds_alternative<Rows>(value);
  if (unit == "spans") return std::holds_alternative<std::shared_ptr<const Spans>>(value);
  if (unit == "remedy") return std::holds_alternative<std::shared_ptr<const Remedy>>(value);
  return std::holds_alternative<double>(value);
}

TEST_CASE("every name of the catalog has a fact in every run, if only an absent one") {
  for (const TraceBuilder& story : Runs()) {
    const Analyzed run(story);
    const auto facts = FactsOf(run);
    for (const FactInfo& info : FactList(ShippedKnowledge())) {
      INFO(info.name);
      CHECK(facts->Find(info.name) != nullptr);
    }
  }
}

TEST_CASE("a fact that is there is of the kind that its unit says") {
  for (const TraceBuilder& story : Runs()) {
    const Analyzed run(story);
    const auto facts = FactsOf(run);
    for (const FactInfo& info : FactList(ShippedKnowledge())) {
      INFO(info.name << " is given in " << info.unit);
      CHECK((IsAbsent(*facts, info.name) || IsOfUnit(facts->Find(info.name)->value, info.unit)));
    }
  }
}

TEST_CASE("every name of the catalog has a fact in a run of several reports, too") {
  const std::vector<FactInfo> list = FactList(ShippedKnowledge());
  for (const std::uint32_t devices : {1U, 2U}) {
    const Analyzed run(TrainingRun(devices));
    const Cluster ranks(SummarizeRanks(*run), ShippedKnowledge());
    const auto facts = MakeRunFacts(ranks, ShippedKnowledge());
    for (const FactInfo& info : list) {
      INFO(info.name);
      const Fact* fact = facts->Find(info.name);
      REQUIRE(fact != nullptr);
      CHECK((IsAbsent(*facts, info.name) || IsOfUnit(fact->value, info.unit)));
    }
  }
}

TEST_CASE("of several reports a fact of one of them is absent, unless it has a meaning for all") {
  const Analyzed run(TrainingRun(2));
  const Cluster ranks(SummarizeRanks(*run), ShippedKnowledge());
  const auto facts = MakeRunFacts(ranks, ShippedKnowledge());
  CHECK(IsAbsent(*facts, "sync.count"));
  CHECK(Number(*facts, "run.devices") == 2);
  CHECK(Number(*facts, "window.device_time") == 2 * Number(*facts, "window.time"));
  // Ten steps of one all-reduce of 400 us on each of two ranks.
  CHECK(Number(*facts, "comm.count") == 20);
  CHECK(Number(*facts, "comm.time") == 10 * 400_us);
  CHECK(Number(*facts, "comm.median") == 400_us);
  CHECK(IsAbsent(*facts, "comm.same_stream"));
}

TEST_CASE("ranks that are compared have spans by device in one report, and a remedy in several") {
  const Analyzed run(TrainingRun(2));
  const Cluster ranks(SummarizeRanks(*run), ShippedKnowledge());
  const auto one = MakeFacts(*run, ranks);
  const auto several = MakeRunFacts(ranks, ShippedKnowledge());
  CHECK(IsAbsent(*one, "rank.imbalance.compute.remedy"));
  CHECK_FALSE(IsAbsent(*several, "rank.imbalance.compute.remedy"));
  CHECK(Lost(*one, "rank.imbalance.compute.lost") == Lost(*several, "rank.imbalance.compute.lost"));
  CHECK(Number(*one, "cluster.window") == Number(*several, "cluster.window"));
}

TEST_CASE("names of facts are unique, dotted, lower-case words with a unit and a sentence") {
  std::set<std::string> seen;
  const std::set<std::string> units = {"ns",    "share", "bytes", "bytes_per_s", "flop_per_s",
                                       "count", "hz",    "num",   "name",        "flag",
                                       "rows",  "spans", "remedy"};
  for (const FactInfo& info : FactList(ShippedKnowledge())) {
    INFO(info.name);
    CHECK(seen.insert(info.name).second);
    CHECK(info.name.find('.') != std::string::npos);
    CHECK(std::all_of(info.name.begin(), info.name.end(), [](char c) {
      return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_' || c == '.';
    }));
    CHECK(units.count(info.unit) == 1);
    CHECK(info.definition.size() > 5);
  }
}

TEST_CASE("an absent fact says why") {
  for (const TraceBuilder& story : Runs()) {
    const Analyzed run(story);
    const auto facts = FactsOf(run);
    for (const FactInfo& info : FactList(ShippedKnowledge())) {
      const Fact* fact = facts->Find(info.name);
      if (fact == nullptr) continue;
      const auto* absent = std::get_if<Absent>(&fact->value);
      INFO(info.name);
      if (absent != nullptr) CHECK_FALSE(absent->reason.empty());
    }
  }
}

TEST_CASE("a name that the catalog does not have finds nothing") {
  const Analyzed run(TrainingRun(1));
  CHECK(FactsOf(run)->Find("no.such.fact") == nullptr);
  CHECK(FactsOf(run)->Find("") == nullptr);
}

}  // namespace
}  // namespace advise
