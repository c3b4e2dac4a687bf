// What every source file owes its reader.
#include <catch2/catch.hpp>

#include "tests/conventions/source_tree.h"

namespace advise {
namespace {

constexpr std::size_t kLongestFile = 600;

TEST_CASE("no source file is longer than 600 lines") {
  for (const SourceFile& file : SourceFiles({"engine", "rules", "tests", "fixtures", "scripts"},
                                            {".cc", ".h", ".lua", ".sh", ".py"})) {
    INFO(file.path);
    CHECK(file.lines.size() <= kLongestFile);
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
