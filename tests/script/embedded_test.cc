// Rules that are built into the program are those of the source tree without their tests.
#include "engine/knowledge/embedded.h"

#include <catch2/catch.hpp>
#include <fstream>
#include <sstream>

namespace advise {
namespace {

std::string SourceText(const std::string& path) {
  std::ifstream file(std::string(ADVISE_SOURCE_DIR) + "/" + path, std::ios::binary);
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

TEST_CASE("tests of rules are left out when the program is built, and nothing else") {
  int rules = 0;
  for (const Knowledge::File& file : EmbeddedFiles()) {
    INFO(file.path);
    const std::string source = SourceText(file.path);
    const bool is_rule = file.path.starts_with("rules/") && !file.path.starts_with("rules/lib/") &&
                         file.path.find("/_") == std::string::npos;
    if (!is_rule) {
      CHECK(file.text == source);
      continue;
    }
    ++rules;
    CHECK(file.text.find("\n  tests = ") == std::string::npos);
    REQUIRE(file.text.ends_with("\n}\n"));
    const std::string head = file.text.substr(0, file.text.size() - 2);
    CHECK(source.starts_with(head + "  tests = {\n"));
  }
  CHECK(rules > 200);
}

}  // namespace
}  // namespace advise
