// The names by which kernels are looked for when they are measured.
#include "engine/pipeline/measure_command.h"

#include <catch2/catch.hpp>

#include "tests/support/analyzed.h"
#include "tests/support/fact_infos.h"

namespace advise {
namespace {

TEST_CASE("each process counts its own launches") {
  const auto command = [](double processes) {
    Report report;
    const auto tell = [&](const char* fact) -> Fact& {
      report.facts.emplace_back();
      report.facts.back().info = InfoOf(fact);
      return report.facts.back().fact;
    };
    tell("summary.kernels").value = Rows{{{"name", Cell(std::string("stencil27(int*)"))},
                                          {"share", Cell(1.0)},
                                          {"count", Cell(1664.0)}}};
    tell("run.processes").value = processes;
    return CommandToMeasure(report, ShippedKnowledge());
  };
  CHECK_THAT(command(1).command, Catch::Contains("--launch-skip 832 --launch-count 3 "));
  CHECK_THAT(command(1).command, Catch::Contains("'regex:^(stencil27$)'"));
  CHECK_THAT(command(4).command, Catch::Contains("--launch-skip 208 --launch-count 3 "));
  CHECK(command(4).step == "Measure this kernel with Nsight Compute in one process.");
}

}  // namespace
}  // namespace advise
