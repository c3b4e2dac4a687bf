// Rules that could not tell: each says what it lacks and how to capture it, and one command
// captures all of it.
#include <algorithm>
#include <catch2/catch.hpp>
#include <map>
#include <set>
#include <sstream>

#include "tests/app/json.h"
#include "tests/app/simulated.h"

namespace advise {
namespace {

// kb/capture.toml: the option of each tag, "" where none helps.
std::map<std::string, std::string> Options() {
  std::map<std::string, std::string> options;
  std::string tag;
  std::istringstream text(ReadAll(ADVISE_SOURCE_DIR "/kb/capture.toml"));
  for (std::string line; std::getline(text, line);) {
    if (line.starts_with("[")) options[tag = line.substr(1, line.find(']') - 1)] = "";
    const std::string start = "option = \"";
    if (line.starts_with(start)) {
      options[tag] = line.substr(start.size(), line.rfind('"') - start.size());
    }
  }
  return options;
}

int CountOf(const std::string& text, const std::string& part) {
  int count = 0;
  for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) {
    ++count;
  }
  return count;
}

// The words of "--trace=a,b" in a command.
std::set<std::string> Traced(const std::string& command) {
  const std::size_t at = command.find("--trace=");
  REQUIRE(at != std::string::npos);
  std::istringstream list(command.substr(at + 8, command.find(' ', at) - at - 8));
  std::set<std::string> words;
  for (std::string word; std::getline(list, word, ',');) CHECK(words.insert(word).second);
  return words;
}

// A rule that needs what is not there says which capture option would make it speak; `options` are
// the simulator's.
void CheckOneCommand(const std::string& scenario) {
  INFO(scenario);
  const Folder folder;
  const std::string trace = Simulated(scenario);
  const Ran ran = RunAdvise(folder, trace + " --format json");
  REQUIRE(ran.status == 0);
  const Json report = ParseJson(ran.out);
  REQUIRE_FALSE(report["not_checked"].empty());
  std::istringstream text(RunAdvise(folder, "-v " + trace).out);
  std::vector<std::string> commands;
  for (std::string line; std::getline(text, line);) {
    if (line.starts_with("  nsys profile ")) commands.push_back(line);
  }
  REQUIRE(commands.size() == 1);
  const auto options = Options();
  std::set<std::string> wanted;
  for (const Json& item : report["not_checked"]) {
    INFO(item.dump());
    CHECK_FALSE(item["how"].get<std::string>().empty());
    CHECK_FALSE(item["needs"].empty());
    for (const std::string tag : item["needs"]) {
      const auto option = options.find(tag);
      CHECK(option != options.end());
      if (option != options.end() && !option->second.empty()) wanted.insert(option->second);
    }
  }
  const std::set<std::string> traced = Traced(commands[0]);
  for (const std::string& option : wanted) {
    INFO(option << " in " << commands[0]);
    if (option.starts_with("--trace=")) {
      CHECK(traced.count(option.substr(8)) == 1);
    } else {
      CHECK(CountOf(commands[0], option) == 1);
    }
  }
}

}  // namespace

TEST_CASE("what rules lack is captured by one command that names each option once") {
  CheckOneCommand("scenarios/healthy/transformer-a100");
  CheckOneCommand("scenarios/healthy/transformer-no-os-calls");
  CheckOneCommand("scenarios/healthy/cnn-t4-no-ranges");
}

TEST_CASE("PyTorch's profiler is asked for what it can record and did not") {
  const Folder folder;
  const auto capture = [&](const std::string& name) {
    const Ran ran = RunAdvise(folder, std::string("--brief ") + ADVISE_SOURCE_DIR +
                                          "/fixtures/workloads/recordings/" + name);
    REQUIRE(ran.status == 0);
    return ParseJson(ran.out)["next"].value("capture", "");
  };
  // Of this recording, it lacks nothing.
  CHECK_THAT(capture("host-bad.pt.trace.json.gz"), Catch::StartsWith("nsys profile "));
  // In this one, no range names a phase.
  CHECK_THAT(capture("fusion-bad.pt.trace.json.gz"),
             Catch::StartsWith("profile(") && Catch::Contains("record_function(\"data_loading\")"));
}

}  // namespace advise
