// Of a rule about single ranks, a run of several keeps one verdict: the one that says most, whoever
// was read first.
#include <algorithm>
#include <catch2/catch.hpp>
#include <map>
#include <string>

#include "tests/app/json.h"
#include "tests/app/simulated_ranks.h"

namespace advise {
namespace {

// Reports of a run whose second rank alone has slow loads.
constexpr const char* kOneLoadsSlowly = "scenarios/rank/straggler-loading-x2";

// What a rule says of some reports: "fired", "fine", …
std::string OutcomeOf(const Folder& folder, const std::string& rule, const std::string& reports) {
  const Ran ran = RunAdvise(folder, "why " + rule + " " + reports + " --format json");
  INFO(rule << ": " << ran.err);
  REQUIRE(ran.status == 0);
  const Json verdicts = ParseJson(ran.out)["verdicts"];
  REQUIRE(verdicts.size() == 1);
  return verdicts[0]["outcome"];
}

TEST_CASE("ranks that lose nothing between kernels are told where the kernels to measure stand") {
  const Folder folder;
  const Ran ran = RunAdvise(folder, RanksOf("scenarios/healthy/ddp-overlapped-v100-x4"));
  INFO(ran.out);
  REQUIRE(ran.status == 0);
  CHECK(ran.out.find("Next, analyze one rank alone") != std::string::npos);
  CHECK(ran.out.find("/rank_0.") != std::string::npos);
}

TEST_CASE("a checkpoint that its range names is why a rank is late, also at uneven distances") {
  const Folder folder;
  const Json report = JsonOf(folder, RanksOf("scale/uneven-checkpoints"));
  REQUIRE(!report["findings"].empty());
  CHECK(report["findings"][0]["rule"] == "step/checkpoint-stall");
  CHECK(report["findings"][0]["saving"]["share"].get<double>() == Approx(0.299).margin(0.01));
}

TEST_CASE("of several ranks, the verdict that says most is kept") {
  const Folder folder;
  REQUIRE(RunAdvise(folder, "facts " + RanksOf(kOneLoadsSlowly) + " -o kept/").status == 0);
  const std::string first = "kept/rank_0.facts";
  const std::string second = "kept/rank_1.facts";
  const std::map<std::string, int> weights = {
      {"broken", 4}, {"fired", 3}, {"fine", 2}, {"not applicable", 1}, {"cannot tell", 0}};
  int different = 0;
  for (const char* rule : {"input/too-few-workers", "step/cold-start", "sync/host-busy-wait",
                           "transfer/pageable-copy"}) {
    const std::string one = OutcomeOf(folder, rule, first);
    const std::string other = OutcomeOf(folder, rule, second);
    const std::string most = weights.at(one) >= weights.at(other) ? one : other;
    different += one != other ? 1 : 0;
    INFO(rule);
    CHECK(OutcomeOf(folder, rule, first + " " + second) == most);
    CHECK(OutcomeOf(folder, rule, second + " " + first) == most);
    CHECK(OutcomeOf(folder, rule, second + " " + first + " --jobs 1") == most);
  }
  CHECK(different == 3);
}

TEST_CASE("a rule is asked about the report that its finding speaks of") {
  const Folder folder;
  const std::string ranks = RanksOf("scenarios/mpi/rank0-writes-a100-x4");
  const Ran ran = RunAdvise(folder, ranks + " --format json");
  REQUIRE(ran.status == 0);
  int asked = 0;
  const Json report = ParseJson(ran.out);
  for (const Json& finding : report["findings"]) {
    const std::string rule = finding["rule"];
    if (finding["evidence"].empty() || !finding["evidence"][0].contains("source")) continue;
    const Ran why = RunAdvise(folder, "why " + rule + " " + ranks);
    INFO(why.out);
    if (why.out.find("\n  in       ") == std::string::npos) continue;  // about ranks together
    ++asked;
    CHECK(why.out.find(finding["evidence"][0]["source"].get<std::string>()) != std::string::npos);
  }
  CHECK(asked > 0);
}

// Rank 0 writes files, and the others wait for it in messages: their own time is host code.
TEST_CASE("a finding has its words from the rank where the job wins, not from one that waits") {
  const Folder folder;
  const std::string ranks = RanksOf("scenarios/mpi/rank0-writes-a100-x4");
  const Ran ran = RunAdvise(folder, ranks + " --format json");
  REQUIRE(ran.status == 0);
  const Json first = ParseJson(ran.out)["findings"][0];
  CHECK(first["rule"] == "step/periodic-stall");
  CHECK(first["symptom"].get<std::string>().find("file calls") != std::string::npos);
  CHECK(first["evidence"][0]["source"].get<std::string>().find("rank_0") != std::string::npos);
}

// The network is slower than a rank alone expects, which takes the rest of the time for lateness.
TEST_CASE("messages of ranks that enter MPI together are in transit, and nobody is late") {
  const Folder folder;
  const Json findings = JsonOf(folder, RanksOf("scale/slow-messages"))["findings"];
  REQUIRE_FALSE(findings.empty());
  CHECK(findings[0]["rule"] == "comm/mpi-exposed");
  CHECK(findings[0]["saving"]["share"].get<double>() > 0.1);
  CHECK(std::none_of(findings.begin(), findings.end(),
                     [](const Json& finding) { return finding["rule"] == "comm/mpi-late-rank"; }));
}

TEST_CASE("of ranks in one report, a rule is asked about the one that its finding speaks of") {
  const Folder folder;
  Simulate(folder, "scenarios/mpi/staged-a100-x4", "-o one.sqlite");
  const Ran ran = RunAdvise(folder, "one.sqlite --format json");
  REQUIRE(ran.status == 0);
  int asked = 0;
  const Json report = ParseJson(ran.out);
  for (const Json& finding : report["findings"]) {
    const std::string figures = finding["where"]["figures"];
    if (figures.empty()) continue;
    const Ran why = RunAdvise(folder, "why " + finding["rule"].get<std::string>() + " one.sqlite");
    INFO(finding.dump() << why.out);
    ++asked;
    CHECK(why.out.find("one.sqlite (" + figures + ")") != std::string::npos);
  }
  CHECK(asked > 0);
}

}  // namespace
}  // namespace advise
