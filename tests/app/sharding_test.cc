// Sharded optimizers and gradients from end to end: named, left alone when they are well, and their
// faults found.
#include <catch2/catch.hpp>

#include "tests/app/json.h"
#include "tests/app/simulated_ranks.h"

namespace advise {
namespace {

using Catch::Matchers::Contains;

const std::string kRanks = "scenarios/ranks/";

TEST_CASE("how far a job shards is told by what is reduced, gathered, and when") {
  const Folder folder;
  struct Case {
    std::string scenario;
    const char* options;
    const char* name;
    int stage;
  };
  for (const Case& one : std::vector<Case>{
           // DeepSpeed's stage 1, and its stage 2 as the papers have it.
           {"healthy-zero1-x4", "", "zero-1", 1},
           {"healthy-zero2-x4", "", "zero-2", 2},
           // Megatron's distributed optimizer: gradients of four passes are scattered once.
           {"healthy-distributed-optimizer-x4", "", "zero-1", 1},
           // FSDP that keeps gathered weights for the backward pass (SHARD_GRAD_OP), and that does
           // not (FULL_SHARD).
           {"zero3-overhead-x4", "--without all", "zero-2", 2},
           {"zero3-overhead-x4", "", "zero-3", 3},
           {"zero2-overlap-off-x4", "", "zero-2", 2},
           {"zero2-serial-x4", "", "zero-2", 2},
           {"zero2-serial-x4", "--format kineto", "zero-2", 2},
           {"healthy-zero1-x4", "--format kineto", "zero-1", 1}}) {
    const Json facts = JsonOf(folder, RanksOf(kRanks + one.scenario, one.options))["facts"];
    INFO(one.scenario << " " << one.options << ": " << facts["strategy.evidence"]["value"]);
    CHECK(facts["strategy.name"]["value"] == one.name);
    CHECK(facts["strategy.zero_stage"]["value"] == one.stage);
    CHECK(facts["strategy.data"]["value"] == 4);
  }
}

TEST_CASE("healthy sharded jobs raise no alarm") {
  const Folder folder;
  for (const char* scenario :
       {"healthy-zero1-x4", "healthy-zero2-x4", "healthy-distributed-optimizer-x4"}) {
    const Json report = JsonOf(folder, RanksOf(kRanks + scenario));
    INFO(scenario << " " << report["findings"].dump());
    for (const Json& finding : report["findings"]) CHECK(finding["severity"] == "info");
    CHECK(NothingToFix(report));
  }
}

TEST_CASE("sharded gradients that nothing overlaps are named, at their true price") {
  const Folder folder;
  for (const char* scenario : {"zero2-overlap-off-x4", "zero2-serial-x4"}) {
    const Json fault = ParseJson(Simulate(folder, kRanks + scenario, "--truth"))["faults"][0];
    const Json report = JsonOf(folder, RanksOf(kRanks + scenario));
    INFO(scenario << " " << report["findings"].dump());
    REQUIRE_FALSE(report["findings"].empty());
    const Json& first = report["findings"][0];
    CHECK(first["rule"] == fault["rule"]);
    CHECK(first["saving"]["share"].get<double>() ==
          Approx(fault["saving_share"].get<double>()).margin(0.04));
    CHECK_THAT(report["facts"]["strategy.evidence"]["value"].get<std::string>(),
               Contains("reduce-scatters") && Contains("gradients are sharded"));
  }
}

}  // namespace
}  // namespace advise
