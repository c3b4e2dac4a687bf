// Saving the state of a model in the loop, by the clock and by the name of its range.
#include <catch2/catch.hpp>
#include <string>

#include "tests/app/json.h"
#include "tests/app/program.h"

namespace advise {
namespace {

// The findings on a training loop in which each fifth step has this work at its end.
Json FindingsWith(const std::string& work) {
  const Folder folder;
  folder.Write("run.toml", R"(name = "every-fifth"
area = "step"
kind = "fault"
description = "Each fifth step has more work on the host."

[job]
base = "transformer-training"
gpu = "a100"
layers = 8
steps = 30
seed = 6127

[[fault]]
rule = "step/checkpoint-stall"
)" + work);
  const Ran made = RunAdvise(folder, "run.toml -o run.sqlite", ADVISE_SIM_PROGRAM);
  INFO(made.err);
  REQUIRE(made.status == 0);
  return ParseJson(RunAdvise(folder, "run.sqlite --format json").out)["findings"];
}

std::string Code(const std::string& range, double us) {
  return "[[fault.work]]\nwhat = \"code\"\nphase = \"end\"\nevery = 5\nname = \"" + range +
         "\"\nus = " + std::to_string(us) + "\n";
}

TEST_CASE("a range that covers what each n-th step has more says that it is a checkpoint") {
  const Json findings = FindingsWith(Code("save_checkpoint", 400000));
  REQUIRE(!findings.empty());
  CHECK(findings[0]["rule"] == "step/checkpoint-stall");
}

TEST_CASE("a range of a checkpoint that covers little of it does not") {
  const Json findings = FindingsWith(Code("save_checkpoint", 4000) + Code("housekeeping", 400000));
  REQUIRE(!findings.empty());
  CHECK(findings[0]["rule"] == "step/periodic-stall");
}

TEST_CASE("activations that are computed again are no checkpoint") {
  const Json findings = FindingsWith(Code("activation_checkpointing", 400000));
  REQUIRE(!findings.empty());
  CHECK(findings[0]["rule"] == "step/periodic-stall");
}

}  // namespace
}  // namespace advise
