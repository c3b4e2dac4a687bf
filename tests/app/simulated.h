// Traces that the simulator makes, once a run of the tests.
#pragma once

#include <algorithm>
#include <catch2/catch.hpp>
#include <string>

#include "tests/app/program.h"

namespace advise {

// Two faults, one behind the other.
constexpr const char* kPair = "scenarios/pairs/loading-over-pageable";

// The trace of fixtures/<scenario>.toml; `options` are the simulator's ("--without all").
inline std::string Simulated(const std::string& scenario, const std::string& options = "") {
  static const Folder traces;
  std::string name = scenario + options;
  std::replace_if(
      name.begin(), name.end(), [](char c) { return c == '/' || c == ' ' || c == '-'; }, '_');
  name += ".sqlite";
  if (!std::filesystem::exists(traces / name)) {
    const Ran made = RunAdvise(
        traces, ADVISE_SOURCE_DIR "/fixtures/" + scenario + ".toml -o " + name + " " + options,
        ADVISE_SIM_PROGRAM);
    INFO(made.err);
    REQUIRE(made.status == 0);
  }
  return traces / name;
}

}  // namespace advise
