// What every source file owes its reader.
#include <catch2/catch.hpp>
#include <map>

#include "tests/conventions/source_tree.h"

namespace advise {
namespace {

constexpr std::size_t kLongestFile = 600;
constexpr std::size_t kLongestFunction = 100;

std::size_t IndentOf(const std::string& line) { return line.find_first_not_of(' '); }

bool BeginsWithAny(std::string_view text, std::initializer_list<const char*> words) {
  return std::any_of(words.begin(), words.end(),
                     [&](const char* word) { return text.starts_with(word); });
}

// The line on which the declaration begins whose body opens on line `open`: over parameters and
// initializers, as clang-format breaks them.
std::size_t BeginOf(const std::vector<std::string>& lines, std::size_t open) {
  std::ptrdiff_t unopened = 0;
  for (std::size_t at = open;; --at) {
    const std::string& line = lines[at];
    unopened +=
        std::count(line.begin(), line.end(), ')') - std::count(line.begin(), line.end(), '(');
    const bool goes_on = unopened > 0 || line.find_first_not_of(' ') == line.find(':') ||
                         (at > 0 && lines[at - 1].ends_with(','));
    if (at == 0 || !goes_on) return at;
  }
}

struct Body {
  std::size_t begin, end;  // lines, both included
};

// Bodies of functions, and blocks inside them, of a file that clang-format has laid out.
std::vector<Body> BodiesOf(const std::vector<std::string>& lines) {
  std::vector<Body> bodies;
  for (std::size_t open = 0; open < lines.size(); ++open) {
    if (!lines[open].ends_with(" {") || lines[open].ends_with("= {")) continue;
    const std::size_t begin = BeginOf(lines, open);
    const std::size_t indent = IndentOf(lines[begin]);
    const std::string_view first = std::string_view(lines[begin]).substr(indent);
    if (BeginsWithAny(first, {"namespace", "class ", "struct ", "enum ", "union ", "extern "}))
      continue;
    const auto closes = [&](const std::string& line) {
      return !line.empty() && IndentOf(line) <= indent && line[IndentOf(line)] == '}';
    };
    std::size_t end = open + 1;
    while (end + 1 < lines.size() && !closes(lines[end])) ++end;
    bodies.push_back({begin, end});
  }
  return bodies;
}

TEST_CASE("a body reaches from the first line of its declaration to its closing brace") {
  const std::vector<std::string> lines = {"namespace a {",
                                          "Replay::Replay(const Run& run,",
                                          "               const Idle& idle)",
                                          "    : run_(run),",
                                          "      idle_(idle) {",
                                          "  for (;;) {",
                                          "  }",
                                          "",
                                          "}",
                                          "class B {",
                                          "  int c() const {",
                                          "    return 1;",
                                          "  }",
                                          "};",
                                          "}"};
  const std::vector<Body> bodies = BodiesOf(lines);
  REQUIRE(bodies.size() == 3);
  CHECK(bodies[0].begin == 1);
  CHECK(bodies[0].end == 8);
  CHECK(bodies[1].end - bodies[1].begin == 1);
  CHECK(bodies[2].begin == 10);
  CHECK(bodies[2].end == 12);
}

TEST_CASE("no function is longer than 100 lines") {
  for (const SourceFile& file : SourceFiles({"engine"}, {".cc", ".h"})) {
    for (const Body& body : BodiesOf(file.lines)) {
      INFO(file.path << ":" << body.begin + 1 << " " << file.lines[body.begin]);
      CHECK(body.end - body.begin + 1 <= kLongestFunction);
    }
  }
}

// An exception that leaves the function ends a program whose libgcc is an archive: glibc's code
// between them finds that of the shared one.
TEST_CASE("nothing is called by std::call_once") {
  for (const SourceFile& file : SourceFiles({"engine"}, {".cc", ".h"})) {
    for (const std::string& line : file.lines) {
      INFO(file.path << ": " << line);
      CHECK(line.find("call_once(") == std::string::npos);
    }
  }
}

TEST_CASE("no source file is longer than 600 lines") {
  for (const SourceFile& file : SourceFiles({"engine", "rules", "tests", "fixtures", "scripts"},
                                            {".cc", ".h", ".lua", ".sh", ".py"})) {
    INFO(file.path);
    CHECK(file.lines.size() <= kLongestFile);
  }
}

// The types that a file defines outside unnamed namespaces, qualified; templates and types inside
// others are left out.
std::vector<std::string> TypesOf(const SourceFile& file) {
  std::vector<std::string> types;
  std::string within;
  bool unnamed = false;
  for (std::size_t i = 0; i < file.lines.size(); ++i) {
    std::string_view line = file.lines[i];
    if (line == "namespace {") unnamed = true;
    if (line == "}  // namespace") unnamed = false;
    if (line.starts_with("namespace ") && line.size() > 11)
      within = line.substr(10, line.size() - 12);
    const bool is_template = i > 0 && file.lines[i - 1].starts_with("template");
    if (unnamed || is_template || !line.ends_with('{')) continue;
    for (const std::string_view word : {"struct ", "class ", "enum class "}) {
      if (!line.starts_with(word)) continue;
      const std::string_view name =
          line.substr(word.size(), line.find_first_of(" {<:", word.size()) - word.size());
      if (!line.substr(word.size() + name.size()).starts_with("::"))
        types.push_back(within + "::" + std::string(name));
    }
  }
  return types;
}

// The linker takes one of two definitions for both, without a word.
TEST_CASE("no two types of the engine have one name") {
  std::map<std::string, std::string> defined;  // by name: where
  for (const SourceFile& file : SourceFiles({"engine"}, {".h", ".cc"})) {
    for (const std::string& type : TypesOf(file)) {
      const auto [known, is_new] = defined.emplace(type, file.path);
      INFO(type << " in " << file.path << " and " << known->second);
      CHECK(is_new);
    }
  }
  CHECK(defined.size() > 100);
}

// A reader guesses the file from the question: two of one name are one too many.
TEST_CASE("no two files of the engine have one name") {
  std::map<std::string, std::string> paths;  // by name
  for (const SourceFile& file : SourceFiles({"engine"}, {".h", ".cc"})) {
    const std::string name = file.path.substr(file.path.rfind('/') + 1);
    const auto [known, is_new] = paths.emplace(name, file.path);
    INFO(file.path << " and " << known->second);
    CHECK(is_new);
  }
}

// Those of the C library follow the locale, and end the program for bytes above 127 where `char`
// is signed.
TEST_CASE("letters and digits are those of engine/base/ascii.h") {
  for (const SourceFile& file : SourceFiles({"engine"}, {".h", ".cc"})) {
    for (const std::string& line : file.lines) {
      for (const char* function :
           {"std::isdigit", "std::isalpha", "std::isalnum", "std::isspace", "std::islower",
            "std::isupper", "std::tolower", "std::toupper"}) {
        if (line.find(function) != std::string::npos) FAIL_CHECK(file.path << ": " << function);
      }
    }
  }
}

TEST_CASE("a header opens with what it is, then guards itself") {
  for (const SourceFile& file : SourceFiles({"engine"}, {".h"})) {
    INFO(file.path);
    REQUIRE_FALSE(file.lines.empty());
    CHECK(file.lines.front().starts_with("// "));
    CHECK(std::count(file.lines.begin(), file.lines.end(), "#pragma once") == 1);
  }
}

TEST_CASE("no line ends in white space and no source holds tabs") {
  for (const SourceFile& file : SourceFiles({"engine", "rules", "tests"}, {".cc", ".h", ".lua"})) {
    for (std::size_t i = 0; i < file.lines.size(); ++i) {
      const std::string& line = file.lines[i];
      if (line.ends_with(' ') || line.find('\t') != std::string::npos) {
        FAIL_CHECK(file.path << ":" << i + 1);
      }
    }
  }
}

}  // namespace
}  // namespace advise
