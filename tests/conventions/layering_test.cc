// Dependencies point down only, and each package is seen by the rooms that own it. The two tables
// below are the architecture: a new arrow is a decision, made here.
#include <catch2/catch.hpp>
#include <map>
#include <regex>
#include <set>

#include "tests/conventions/source_tree.h"

namespace advise {
namespace {

using Rooms = std::set<std::string>;

// Room → the rooms it may include, beside itself.
const std::map<std::string, Rooms> kMayInclude = {
    {"base", {}},
    {"trace", {"base"}},
    {"knowledge", {"base"}},
    {"lookup", {"base", "trace"}},
    {"import", {"base", "trace", "lookup"}},
    {"scrub", {"base", "trace", "import"}},
    {"timeline", {"base", "trace", "knowledge"}},
    {"replay", {"base", "trace", "knowledge", "timeline"}},
    {"metrics", {"base", "trace", "knowledge", "timeline", "replay"}},
    {"cluster", {"base", "trace", "knowledge", "timeline", "replay", "metrics"}},
    {"facts", {"base", "trace", "knowledge", "timeline", "replay", "metrics", "cluster"}},
    {"advice",
     {"base", "trace", "lookup", "knowledge", "timeline", "replay", "metrics", "cluster", "facts"}},
    {"store",
     {"base", "trace", "knowledge", "timeline", "replay", "metrics", "cluster", "facts", "advice"}},
    {"script", {"base", "trace", "knowledge", "facts", "advice"}},
    {"grade", {"base", "trace", "knowledge", "facts", "advice"}},
    {"compare", {"base", "trace", "knowledge", "facts", "advice"}},
    {"report", {"base", "trace", "facts", "advice", "compare", "grade"}},
    {"pipeline",
     {"base", "trace", "lookup", "knowledge", "import", "timeline", "replay", "metrics", "cluster",
      "facts", "advice", "store", "script"}},
    {"app",
     {"base", "trace", "knowledge", "import", "scrub", "timeline", "replay", "metrics", "cluster",
      "facts", "advice", "store", "script", "report", "compare", "grade", "pipeline"}},
    {"library", {"base", "knowledge", "advice", "script", "report", "pipeline"}}};

// Package (the start of the include) → the rooms that may see it. fmt and expected are everyone's.
const std::map<std::string, Rooms> kPackages = {{"SQLiteCpp/", {"import", "scrub", "store"}},
                                                {"sqlite3.h", {"import", "scrub"}},
                                                {"simdjson", {"import", "scrub", "store"}},
                                                {"toml++/", {"knowledge"}},
                                                {"lua.h", {"script"}},
                                                {"lauxlib.h", {"script"}},
                                                {"lualib.h", {"script"}},
                                                {"CLI/", {"app"}},
                                                {"nlohmann/", {"report", "app", "store"}},
                                                {"fmt/", {"*"}},
                                                {"tl/expected.hpp", {"*"}},
                                                {"malloc.h", {"app"}},
                                                {"sys/", {"*"}},
                                                {"unistd.h", {"*"}},
                                                {"sched.h", {"*"}},
                                                {"time.h", {"*"}},
                                                {"fcntl.h", {"*"}},
                                                {"isa-l/", {"import", "scrub"}},
                                                {"zlib.h", {"import", "store"}},
                                                {"zstd.h", {"store"}},
                                                {"mpi.h", {"pipeline"}},
                                                {"dlfcn.h", {"pipeline"}},
                                                {"link.h", {"pipeline"}},
                                                {"google/protobuf/", {"import"}},
                                                {"spawn.h", {"import"}},
                                                {"stddef.h", {"library"}}};

// "engine/report/text_report.cc" → "report".
std::string RoomOf(const std::string& path) {
  const std::size_t start = path.find('/') + 1;
  return path.substr(start, path.find('/', start) - start);
}

// What is wrong with an include, or "".
std::string ProblemOf(const std::string& room, const std::string& included, bool own) {
  if (own) {
    if (!included.starts_with("engine/")) return "includes stand from the root: \"engine/…\"";
    const std::string target = RoomOf(included);
    const bool allowed = target == room || kMayInclude.at(room).contains(target);
    return allowed ? "" : room + " must not know " + target;
  }
  const bool standard =
      included.find('/') == std::string::npos && included.find('.') == std::string::npos;
  if (standard) return "";
  for (const auto& [package, rooms] : kPackages) {
    if (!included.starts_with(package)) continue;
    return rooms.contains("*") || rooms.contains(room) ? "" : room + " must not see " + package;
  }
  return "a package that the table does not know";
}

TEST_CASE("every room stands in the table of dependencies") {
  for (const SourceFile& file : SourceFiles({"engine"}, {".cc", ".h"})) {
    INFO(file.path);
    CHECK(kMayInclude.count(RoomOf(file.path)) == 1);
  }
}

// The rooms that can be reached from `room` by the table's arrows.
Rooms Reachable(const std::string& room) {
  Rooms seen;
  std::vector<std::string> next = {room};
  while (!next.empty()) {
    const std::string at = next.back();
    next.pop_back();
    for (const std::string& below : kMayInclude.at(at)) {
      if (seen.insert(below).second) next.push_back(below);
    }
  }
  return seen;
}

TEST_CASE("the table has no cycles of any length") {
  for (const auto& [room, below] : kMayInclude) {
    INFO(room);
    CHECK(!Reachable(room).contains(room));
  }
}

TEST_CASE("includes point down, and packages stay in their room") {
  const std::regex include("^\\s*#\\s*include\\s*([<\"])([^>\"]+)[>\"].*");
  for (const SourceFile& file : SourceFiles({"engine"}, {".cc", ".h"})) {
    const std::string room = RoomOf(file.path);
    if (!kMayInclude.contains(room)) continue;
    for (std::size_t i = 0; i < file.lines.size(); ++i) {
      std::smatch match;
      if (!std::regex_match(file.lines[i], match, include)) continue;
      INFO(file.path << ":" << i + 1 << ": " << file.lines[i]);
      CHECK(ProblemOf(room, match[2], match[1] == "\"") == "");
    }
  }
}

TEST_CASE("the check itself notices a wrong arrow and a strayed package") {
  CHECK(ProblemOf("base", "engine/trace/tables.h", true) == "base must not know trace");
  CHECK(ProblemOf("metrics", "engine/report/text_report.h", true) ==
        "metrics must not know report");
  CHECK(ProblemOf("report", "toml++/toml.h", false) == "report must not see toml++/");
  CHECK(ProblemOf("report", "boost/any.hpp", false) == "a package that the table does not know");
  CHECK(ProblemOf("script", "engine/advice/finding.h", true).empty());
  CHECK(ProblemOf("import", "sqlite3.h", false).empty());
}

}  // namespace
}  // namespace advise
