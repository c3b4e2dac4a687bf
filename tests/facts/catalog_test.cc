// The catalogue: every name has a fact in every run, of the kind that its unit says.
#include "engine/facts/catalog.h"

#include <algorithm>
#include <array>

#include "engine/cluster/cluster.h"
#include "engine/facts/fact_writer.h"
#include "tests/facts/runs.h"

namespace advise {
namespace {

// Runs that know little and runs that know much: what a fact is made of may be missing.
std::vector<TraceBuilder> Runs() {
  return {TraceBuilder(), TraceBuilder().Kernel("gemm", {0_us, 10_us}), TrainingRun(1),
          TrainingRun(2)};
}

TEST_CASE("every name of the catalogue has a fact in every run, if only an absent one") {
  for (const TraceBuilder& story : Runs()) {
    const Analysed run(story);
    const auto facts = FactsOf(run);
    for (const FactInfo& info : FactList(ShippedKnowledge())) {
      INFO(info.name);
      CHECK(facts->Find(info.name) != nullptr);
    }
  }
}

TEST_CASE("a fact that is there is of the kind that its unit says") {
  for (const TraceBuilder& story : Runs()) {
    const Analysed run(story);
    const auto facts = FactsOf(run);
    for (const FactInfo& info : FactList(ShippedKnowledge())) {
      const Fact* fact = facts->Find(info.name);
      if (fact == nullptr || std::holds_alternative<Absent>(fact->value)) continue;
      INFO(info.name << " is given in " << info.unit);
      if (info.unit == "flag") {
        CHECK(std::holds_alternative<bool>(fact->value));
      } else if (info.unit == "name") {
        CHECK(std::holds_alternative<std::string>(fact->value));
      } else if (info.unit == "rows") {
        CHECK(std::holds_alternative<Rows>(fact->value));
      } else if (info.unit == "spans") {
        CHECK(std::holds_alternative<std::shared_ptr<const Spans>>(fact->value));
      } else if (info.unit == "remedy") {
        CHECK(std::holds_alternative<std::shared_ptr<const Remedy>>(fact->value));
      } else {
        CHECK(std::holds_alternative<double>(fact->value));
      }
    }
  }
}

TEST_CASE("what is written of ranks is what the catalogue lists of them") {
  std::set<std::string> listed;
  for (const FactInfo& info : facts::ClusterFactList()) listed.insert(info.name);
  for (const std::uint32_t devices : {1U, 2U}) {
    const Analysed run(TrainingRun(devices));
    for (const bool one_report : {true, false}) {
      facts::FactWriter writer;
      facts::WriteClusterFacts(Cluster(SummarizeRanks(*run), ShippedKnowledge()), one_report,
                               &writer);
      std::set<std::string> written;
      for (const auto& [name, fact] : writer.Take()) written.insert(name);
      CHECK(written == listed);
    }
  }
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
    const Analysed run(story);
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

TEST_CASE("a name that the catalogue does not have finds nothing") {
  const Analysed run(TrainingRun(1));
  CHECK(FactsOf(run)->Find("no.such.fact") == nullptr);
  CHECK(FactsOf(run)->Find("") == nullptr);
}

}  // namespace
}  // namespace advise
