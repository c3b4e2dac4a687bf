// The version stands in CMakeLists.txt; what cannot take it from there says the same.
#include <catch2/catch.hpp>
#include <fstream>
#include <regex>
#include <sstream>

namespace advise {
namespace {

std::string SourceText(const std::string& path) {
  std::ostringstream text;
  text << std::ifstream(ADVISE_SOURCE_DIR "/" + path).rdbuf();
  return text.str();
}

// What the first group of `pattern` matches first, or "".
std::string FirstMatch(const std::string& text, const std::string& pattern) {
  std::smatch match;
  return std::regex_search(text, match, std::regex(pattern)) ? match[1].str() : "";
}

std::string ProjectVersion() {
  return FirstMatch(SourceText("CMakeLists.txt"), R"(project\(advise VERSION ([0-9.]+) )");
}

TEST_CASE("the version has three numbers") {
  CHECK(std::regex_match(ProjectVersion(), std::regex(R"([0-9]+\.[0-9]+\.[0-9]+)")));
}

TEST_CASE("the newest section of the changelog is of the version, released or not") {
  const std::string newest = FirstMatch(SourceText("CHANGELOG.md"), R"(\n## ([^\n]+))");
  INFO(newest);
  CHECK((newest == ProjectVersion() || newest == ProjectVersion() + " (not released yet)"));
}

TEST_CASE("what is published says the version of the project") {
  CHECK(FirstMatch(SourceText("packaging/spack/packages/advise/package.py"),
                   R"x(version\("([^"]+)"\))x") == ProjectVersion());
  CHECK(FirstMatch(SourceText("packaging/spack/packages/advise/package.py"),
                   R"(advise@([0-9.]+))") == ProjectVersion());
  CHECK(FirstMatch(SourceText("docs/examples/report.md"), R"(<sub>advise ([^<]+)</sub>)") ==
        ProjectVersion());
  CHECK(FirstMatch(SourceText("packaging/easybuild/advise.eb.in"), R"(\nversion = '([^']+)')") ==
        "@version@");
}

}  // namespace
}  // namespace advise
