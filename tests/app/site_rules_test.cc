// Rules and settings of a site that no option names: where they are found, and who wins.
#include <catch2/catch.hpp>

#include "tests/app/json.h"
#include "tests/app/program.h"

using Catch::Matchers::Contains;

namespace advise {
namespace {

constexpr const char* kExamples = ADVISE_SOURCE_DIR "/docs/examples/site-rules";

// With `variables` in the environment.
Ran RunWith(const Folder& folder, const std::string& variables, const std::string& arguments) {
  return RunAdvise(folder, variables + " '" ADVISE_PROGRAM "' " + arguments, "/usr/bin/env");
}

std::string ThresholdOf(const std::string& rule) {
  return "[thresholds.\"" + rule +
         "\".min_seconds]\nvalue = 10\nunit = \"s\"\nrange = [0, 100]\nwhy = \"a test\"\n"
         "source = \"tests\"\n";
}

// A rule of the site that only its title tells from another one of the same id.
void WriteRule(const Folder& folder, const std::string& directory, const std::string& title) {
  std::string text = ReadAll(std::string(kExamples) + "/missing-ranges.lua");
  const std::size_t at = text.find("title");
  REQUIRE(at != std::string::npos);
  const std::size_t open = text.find('"', at);
  text.replace(open, text.find('"', open + 1) - open + 1, '"' + title + '"');
  folder.Write(directory + "/missing-ranges.lua", text);
  folder.Write(directory + "/advise.toml", ThresholdOf("site/missing-ranges"));
}

std::string TitleOf(const Ran& listed, const std::string& id) {
  INFO(listed.err);
  REQUIRE(listed.status == 0);
  const Json list = ParseJson(listed.out);
  for (const Json& rule : list["rules"]) {
    if (rule["id"] == id) return rule["title"];
  }
  return "";
}

TEST_CASE("rules of a site are found without an option, with the settings beside them") {
  const Folder folder;
  for (const auto& entry : std::filesystem::directory_iterator(kExamples)) {
    const std::string name = entry.path().filename().string();
    folder.Write("config/advise/rules/" + name, ReadAll(entry.path().string()));
  }
  const Ran list = RunAdvise(folder, "rules list");
  INFO(list.err);
  REQUIRE(list.status == 0);
  CHECK_THAT(list.out, Contains("site/old-fft") && Contains("config/advise/rules: 5 rules") &&
                           Contains("from the user") && Contains("old-fft.lua]"));
  const Ran without = RunAdvise(folder, "rules list --no-site");
  CHECK(without.status == 0);
  CHECK_THAT(without.out, !Contains("site/old-fft") && !Contains("Of the site"));
  CHECK(RunAdvise(folder, "completions --list rules").out.find("site/old-fft") !=
        std::string::npos);
  CHECK(RunAdvise(folder, "why site/old-fft missing.sqlite").status == 3);  // the rule is known
}

TEST_CASE("ADVISE_RULES names folders, and a later folder wins") {
  const Folder folder;
  WriteRule(folder, "config/advise/rules", "Of the user");
  WriteRule(folder, "first", "Of the first");
  WriteRule(folder, "second", "Of the second");
  WriteRule(folder, "mine", "Of the option");
  const std::string id = "site/missing-ranges";
  const std::string json = "rules list --format json";
  const std::string both = "ADVISE_RULES=first:second";
  CHECK(TitleOf(RunAdvise(folder, json), id) == "Of the user");
  CHECK(TitleOf(RunWith(folder, both, json), id) == "Of the second");
  CHECK(TitleOf(RunWith(folder, both, json + " --rules mine"), id) == "Of the option");
  CHECK(TitleOf(RunWith(folder, both, json + " --rules mine --no-site"), id) == "Of the option");
  CHECK(TitleOf(RunWith(folder, both, json + " --no-site"), id).empty());

  const Json site = ParseJson(RunWith(folder, both, json + " --rules mine").out)["site"];
  std::vector<std::string> names;
  for (const Json& source : site) {
    if (source["kind"] == "rules") names.push_back(source["named_by"]);
  }
  CHECK(names == std::vector<std::string>{"the user", "ADVISE_RULES", "ADVISE_RULES", "--rules"});
}

TEST_CASE("a folder that ADVISE_RULES names and that is not there is an error") {
  const Folder folder;
  const Ran ran = RunWith(folder, "ADVISE_RULES=gone", "rules list");
  CHECK(ran.status == 4);
  CHECK_THAT(ran.err, Contains("gone") && Contains("ADVISE_RULES names"));
}

TEST_CASE("two rules of a site that replace the same one are told apart by name") {
  const Folder folder;
  WriteRule(folder, "config/advise/rules", "Of the user");
  std::string text = ReadAll(std::string(kExamples) + "/missing-ranges.lua");
  const std::string id = "site/missing-ranges";
  text.replace(text.find(id), id.size(), "site/other-ranges");
  folder.Write("mine/other-ranges.lua", text);
  folder.Write("mine/advise.toml", ThresholdOf("site/other-ranges"));
  const Ran both = RunAdvise(folder, "rules list --rules mine");
  CHECK(both.status == 4);
  CHECK_THAT(both.err, Contains("another rule replaces") && Contains("--no-site"));
  CHECK(RunAdvise(folder, "rules list --rules mine --no-site").status == 0);
}

}  // namespace
}  // namespace advise
