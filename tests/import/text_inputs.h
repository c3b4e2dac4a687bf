// Texts as inputs: written into a folder of their own and imported as a user's file would be.
#pragma once

#include <catch2/catch.hpp>
#include <cmath>
#include <fstream>
#include <string>
#include <vector>

#include "engine/import/importer.h"
#include "tests/import/nsys_builder.h"

namespace advise::testing {

constexpr double kMiB = 1048576;
using Numbers = std::vector<double>;

// The trace of a file with this content. `name` must not matter.
inline Trace ImportedText(const std::string& content, const std::string& name = "input.txt") {
  const TempDir dir;
  std::ofstream(dir.File(name), std::ios::binary) << content;
  Result<Trace> trace = ImportReport(dir.File(name), {});
  INFO((trace ? "" : trace.error().Line()));
  REQUIRE(trace);
  return std::move(*trace);
}

// The error line of a file with this content, without its path.
inline std::string Refused(const std::string& content, const std::string& name = "input.txt") {
  const TempDir dir;
  std::ofstream(dir.File(name), std::ios::binary) << content;
  const Result<Trace> trace = ImportReport(dir.File(name), {});
  REQUIRE_FALSE(trace);
  CHECK(trace.error().where == dir.File(name));
  CHECK_FALSE(trace.error().hint.empty());
  CHECK(trace.error().Line().find('\n') == std::string::npos);
  return trace.error().what;
}

// How often an importer said something of this text; 0 when it did not.
inline std::int64_t Said(const Trace& trace, const std::string& part) {
  std::int64_t count = 0;
  for (const Diagnostic& diagnostic : trace.diagnostics.list()) {
    if (diagnostic.text.find(part) != std::string::npos) count += diagnostic.count;
  }
  return count;
}

// A table of totals; nullptr where the input has none.
inline const ProfileTable* TableOf(const Trace& trace, ProfileOf of) {
  for (const ProfileTable& table : trace.profile.tables) {
    if (table.of == of) return &table;
  }
  return nullptr;
}

inline const ProfileTable& NeededTable(const Trace& trace, ProfileOf of) {
  const ProfileTable* table = TableOf(trace, of);
  REQUIRE(table != nullptr);
  return *table;
}

// The values of one quantity of one GPU, to six digits after the point.
inline std::vector<double> Values(const Trace& trace, std::size_t gpu, const char* quantity) {
  REQUIRE(gpu < trace.monitor.gpus.size());
  const MonitorSeries* series = trace.monitor.gpus[gpu].Find(quantity);
  INFO(quantity);
  REQUIRE(series != nullptr);
  REQUIRE(series->time_s.size() == series->value.size());
  std::vector<double> values = series->value;
  for (double& value : values) value = std::round(value * 1e6) / 1e6;
  return values;
}

}  // namespace advise::testing
