// Runs of many ranks that the simulator writes one report a rank, once a run of the tests.
#pragma once

#include <algorithm>
#include <catch2/catch.hpp>
#include <string>

#include "tests/app/json.h"
#include "tests/app/program.h"
#include "tests/app/simulated.h"

namespace advise {

// No finding above info.
inline bool NothingToFix(const Json& report) {
  return std::all_of(report["findings"].begin(), report["findings"].end(),
                     [](const Json& finding) { return finding["severity"] == "info"; });
}

// A folder with the ranks of fixtures/<scenario>.toml; `options` are the simulator's.
inline std::string RanksOf(const std::string& scenario, const std::string& options = "") {
  static const Folder folder;
  std::string name = scenario + options;
  for (char& c : name) {
    if (c == '/' || c == ' ') c = '-';
  }
  const std::string path = folder / name;
  if (!std::filesystem::exists(path)) {
    Simulate(folder, scenario, "--per-rank " + name + " " + options);
  }
  return path;
}

// What the program says of them with --format json.
inline Json JsonOf(const Folder& folder, const std::string& arguments, int status = 0) {
  const Ran ran = RunAdvise(folder, arguments + " --format json --facts");
  INFO(ran.err);
  REQUIRE(ran.status == status);
  return ParseJson(ran.out);
}

}  // namespace advise
