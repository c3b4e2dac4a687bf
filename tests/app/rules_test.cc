// `advise rules`: the catalog and the author's tools.
#include <catch2/catch.hpp>

#include "tests/app/json.h"
#include "tests/app/program.h"

using Catch::Matchers::Contains;

namespace advise {
namespace {

TEST_CASE("every rule that is listed has a page") {
  const Folder folder;
  const Ran list = RunAdvise(folder, "rules list --format json");
  REQUIRE(list.status == 0);
  const auto rules = ParseJson(list.out)["rules"];
  REQUIRE(rules.size() > 10);
  const std::string id = rules[0]["id"];
  const Ran page = RunAdvise(folder, "rules show " + id);
  CHECK(page.status == 0);
  CHECK_THAT(page.out, Contains(id));
}

TEST_CASE("--only narrows the list to an area") {
  const Folder folder;
  const Ran list = RunAdvise(folder, "rules list --only input --format json");
  const auto rules = ParseJson(list.out)["rules"];
  REQUIRE(rules.size() > 3);
  for (const auto& rule : rules) {
    CHECK(rule["id"].get<std::string>().starts_with("input/"));
  }
}

TEST_CASE("a new rule of a site passes its own check and tests at once") {
  const Folder folder;
  const Ran made = RunAdvise(folder, "rules new site/my-rule");
  INFO(made.err);
  REQUIRE(made.status == 0);
  const Ran check = RunAdvise(folder, "rules check my-rule.lua");
  INFO(check.err);
  CHECK(check.status == 0);
  const Ran test = RunAdvise(folder, "rules test my-rule.lua");
  INFO(test.out << test.err);
  CHECK(test.status == 0);
  CHECK_THAT(test.out, Contains("all passed"));
}

TEST_CASE("a new rule is never written over another") {
  const Folder folder;
  REQUIRE(RunAdvise(folder, "rules new site/my-rule").status == 0);
  CHECK(RunAdvise(folder, "rules new site/my-rule").status == 2);
  CHECK(RunAdvise(folder, "rules new Not_An_Id").status == 2);
}

TEST_CASE("a failing test is shown and exits with 4") {
  const Folder folder;
  REQUIRE(RunAdvise(folder, "rules new site/my-rule").status == 0);
  std::string text = ReadAll(folder / "my-rule.lua");
  const std::string from = "expect = { share = 0.5 }";
  REQUIRE(text.find(from) != std::string::npos);
  text.replace(text.find(from), from.size(), "expect = { share = 0.7 }");
  folder.Write("my-rule.lua", text);
  const Ran test = RunAdvise(folder, "rules test my-rule.lua");
  CHECK(test.status == 4);
  CHECK_THAT(test.out, Contains("1 failed") && Contains("0.7"));
}

TEST_CASE("a new rule of a source tree is judged with the thresholds that stand there") {
  const Folder folder;
  std::filesystem::create_directories(folder / "tree");
  for (const char* part : {"rules", "kb"}) {
    std::filesystem::copy(std::string(ADVISE_SOURCE_DIR "/") + part,
                          folder / (std::string("tree/") + part),
                          std::filesystem::copy_options::recursive);
  }
  const Ran made = RunAdvise(folder, "rules new transfer/brand-new --dir tree");
  INFO(made.err);
  REQUIRE(made.status == 0);
  const Ran test = RunAdvise(folder, "rules test tree/rules/transfer/brand-new.lua");
  INFO(test.out << test.err);
  CHECK(test.status == 0);
}

TEST_CASE("check finds a field that does not exist, with file and line or field") {
  const Folder folder;
  REQUIRE(RunAdvise(folder, "rules new site/my-rule").status == 0);
  std::string text = ReadAll(folder / "my-rule.lua");
  text.replace(text.find("status"), 6, "statos");
  folder.Write("my-rule.lua", text);
  const Ran check = RunAdvise(folder, "rules check my-rule.lua");
  CHECK(check.status == 4);
  CHECK_THAT(check.err, Contains("my-rule.lua") && Contains("statos"));
}

TEST_CASE("the shipped rules pass their check") {
  const Folder folder;
  const Ran check = RunAdvise(folder, "rules check '" ADVISE_SOURCE_DIR "/rules'");
  INFO(check.err);
  CHECK(check.status == 0);
}

}  // namespace
}  // namespace advise
