// Files of a room can be compiled together (CMAKE_UNITY_BUILD, as the presets `demo` and `package`
// do): what a file keeps to itself has a name that no other file of the room uses.
#include <catch2/catch.hpp>
#include <map>
#include <regex>
#include <vector>

#include "tests/conventions/source_tree.h"

namespace advise {
namespace {

// "const std::string& path = {}" is a "const std::string&".
std::string TypeOfParameter(std::string text) {
  static const std::regex kName(R"(^\s*(.*?[ &*>])?\s*\w*( = .*)?$)");
  return std::regex_replace(text, kName, "$1");
}

std::string TypesOfParameters(const std::string& parameters) {
  std::string types;
  std::size_t at = 0;
  while (at <= parameters.size()) {
    const std::size_t comma = std::min(parameters.find(',', at), parameters.size());
    types += TypeOfParameter(parameters.substr(at, comma - at)) + ",";
    at = comma + 1;
  }
  return types;
}

struct Own {
  std::string name;
  std::string overload;  // what tells functions of one name apart; empty where nothing may
  std::size_t line;
};

// What a file defines in unnamed namespaces, as clang-format lays it out: types, constants,
// functions. Aliases may be said twice.
std::vector<Own> OwnNames(const SourceFile& file) {
  static const std::regex kType(
      R"(^(?:struct|class|enum class|enum) (\w+)(?: final)?(?: : .*)? \{.*)");
  static const std::regex kConstant(
      R"(^(?:constexpr|const) .*?\b(k[A-Z]\w*)(?:\[.*\])?(?: =|\{|;).*)");
  static const std::regex kFunction(R"(^[A-Za-z_][\w:<>,*& ]*?[ *&](\w+)\(([^()]*)\).*)");
  std::vector<Own> names;
  bool unnamed = false;
  for (std::size_t i = 0; i < file.lines.size(); ++i) {
    const std::string& line = file.lines[i];
    if (line == "namespace {") unnamed = true;
    if (line == "}  // namespace") unnamed = false;
    if (!unnamed || line.empty() || line[0] == ' ' || line[0] == '#' || line[0] == '/') continue;
    std::smatch found;
    if (std::regex_match(line, found, kType) || std::regex_match(line, found, kConstant)) {
      names.push_back({found[1], "", i + 1});
      continue;
    }
    std::string whole = line;
    for (std::size_t next = i + 1; whole.find(')') == std::string::npos && next < file.lines.size();
         ++next) {
      const std::string& more = file.lines[next];
      whole += more.substr(std::min(more.find_first_not_of(' ') - 1, more.size()));
      if (next > i + 8) break;
    }
    if (!std::regex_match(whole, found, kFunction)) continue;
    const bool is_template = i > 0 && file.lines[i - 1].starts_with("template");
    names.push_back({found[1], is_template ? "" : TypesOfParameters(found[2]), i + 1});
  }
  return names;
}

// engine/import/ncu/ncu_csv.cc is a file of engine/import.
std::string RoomOfFile(const std::string& path) {
  return path.substr(0, path.find('/', path.find('/') + 1));
}

TEST_CASE("names of parameters do not tell functions apart") {
  const SourceFile file{
      "engine/a/a.cc",
      {"namespace {", "int F(const std::string& one, int two) {", "  return 1;", "struct Row {",
       "constexpr int kMost = 3;", "}  // namespace", "int G();"}};
  const std::vector<Own> names = OwnNames(file);
  REQUIRE(names.size() == 3);
  CHECK(names[0].overload == "const std::string&,int ,");
  CHECK(names[1].name == "Row");
  CHECK(names[2].name == "kMost");
  CHECK(RoomOfFile("engine/import/ncu/ncu_csv.cc") == "engine/import");
}

TEST_CASE("what files of one room keep to themselves has names of its own") {
  struct Known {
    std::string overload, path;
  };
  std::map<std::string, std::map<std::string, std::vector<Known>>> taken;  // by room and name
  for (const SourceFile& file : SourceFiles({"engine", "fixtures"}, {".cc"})) {
    auto& room = taken[RoomOfFile(file.path)];
    for (const Own& own : OwnNames(file)) {
      INFO(file.path << ":" << own.line << ": " << own.name);
      for (const Known& known : room[own.name]) {
        INFO("as in " << known.path);
        // Functions may differ in what they take; a file may declare and define.
        const bool told_apart =
            !own.overload.empty() && !known.overload.empty() && own.overload != known.overload;
        CHECK((told_apart || known.path == file.path));
      }
      room[own.name].push_back({own.overload, file.path});
    }
  }
  CHECK(taken.size() > 15);
}

}  // namespace
}  // namespace advise
