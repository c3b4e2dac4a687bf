// Traces that the simulator makes, once a run of the tests.
#pragma once

#include <algorithm>
#include <catch2/catch.hpp>
#include <string>

#include "tests/app/program.h"

namespace advise {

// Two faults, one behind the other.
constexpr const char* kPair = "scenarios/pairs/loading-over-pageable";

// What the simulator prints when it runs fixtures/<scenario>.toml in the folder.
inline std::string Simulate(const Folder& folder, const std::string& scenario,
                            const std::string& options) {
  const Ran made =
      RunAdvise(folder, "'" ADVISE_SOURCE_DIR "/fixtures/" + scenario + ".toml' " + options,
                ADVISE_SIM_PROGRAM);
  INFO(scenario << ": " << made.err);
  REQUIRE(made.status == 0);
  return made.out;
}

// The trace of fixtures/<scenario>.toml; `options` are the simulator's ("--without all").
inline std::string Simulated(const std::string& scenario, const std::string& options = "") {
  static const Folder traces;
  std::string name = scenario + options;
  std::replace_if(
      name.begin(), name.end(), [](char c) { return c == '/' || c == ' ' || c == '-'; }, '_');
  name += ".sqlite";
  if (!std::filesystem::exists(traces / name)) {
    Simulate(traces, scenario, "-o " + name + " " + options);
  }
  return traces / name;
}

}  // namespace advise
