// What the program says of real captures. Many tests put the same question to the same capture, so
// each is asked once a run of the tests.
#pragma once

#include <map>
#include <string>

#include "engine/base/units.h"
#include "tests/app/json.h"
#include "tests/app/program.h"

namespace advise {

inline const Ran& AskedOnce(const std::string& arguments) {
  static std::map<std::string, Ran> runs;
  const auto at = runs.find(arguments);
  return at != runs.end() ? at->second
                          : runs.emplace(arguments, RunAdvise(Folder(), arguments)).first->second;
}

// The whole report as JSON; `options` end with a blank ("--window all ").
inline const Ran& ReportOfCapture(const std::string& path, const std::string& options = "") {
  return AskedOnce(options + "--format json --facts '" + path + "'");
}

// A part of the budget of one device of a report.
inline Nanos Part(const Json& device, const char* name) {
  return device["budget"][name].get<Nanos>();
}

// As it stands in a terminal.
inline const Ran& TextOfCapture(const std::string& path) { return AskedOnce("'" + path + "'"); }

}  // namespace advise
