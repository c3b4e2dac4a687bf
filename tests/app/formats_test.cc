// Each output format, slices, completions and the manual page, through the program itself.
#include <catch2/catch.hpp>

#include "tests/app/json.h"
#include "tests/app/program.h"
#include "tests/app/simulated.h"

using Catch::Matchers::Contains;
using Catch::Matchers::StartsWith;

namespace advise {
namespace {

TEST_CASE("completions are programs that their shells accept") {
  const Folder folder;
  for (const char* shell : {"bash", "zsh", "fish"}) {
    const Ran ran = RunAdvise(folder, std::string("completions ") + shell + " -o completions");
    INFO(shell << ": " << ran.err);
    REQUIRE(ran.status == 0);
    const std::string text = ReadAll(folder / "completions");
    CHECK_THAT(text, Contains("slice") && Contains("format") && Contains("markdown"));
    if (std::system((std::string("command -v ") + shell + " >/dev/null 2>&1").c_str()) != 0) {
      WARN(shell << " is not installed: its completions were not tried");
      continue;
    }
    CHECK(RunAdvise(folder, "-n completions", shell).status == 0);
  }
  CHECK(RunAdvise(folder, "completions tcsh").status == 2);
  CHECK(RunAdvise(folder, "completions").status == 2);
}

TEST_CASE("bash completes commands, formats and rules") {
  const Folder folder;
  REQUIRE(RunAdvise(folder, "completions bash -o advise.bash").status == 0);
  const auto complete = [&](const std::string& words, int at) {
    folder.Write("try.sh", "PATH=\"$(dirname '" ADVISE_PROGRAM
                           "'):$PATH\"\nsource ./advise.bash\nCOMP_WORDS=(" +
                               words + ")\nCOMP_CWORD=" + std::to_string(at) +
                               "\n_advise\nprintf '%s\\n' \"${COMPREPLY[@]}\"\n");
    return RunAdvise(folder, "try.sh", "/bin/bash").out;
  };
  CHECK_THAT(complete("advise sl", 1), Contains("slice"));
  CHECK(complete("advise run.sqlite --format h", 3) == "html\n");
  CHECK_THAT(complete("advise why transfer/pag", 2), StartsWith("transfer/pageable-copy"));
  CHECK_THAT(complete("advise slice run.sqlite --fi", 3), Contains("--finding"));
  CHECK_THAT(complete("advise rules s", 2), Contains("show"));
  CHECK_THAT(complete("advise run.sqlite adv", 2), Contains("advise.bash"));
  CHECK(complete("advise run.sqlite --fail-on h", 3) == "high\n");
  CHECK(complete("advise compare a b --fail-on s", 5) == "slower:3%\n");
  CHECK(complete("advise run.sqlite --format = h", 4) == "html\n");
  CHECK(complete("advise run.sqlite --progress = ''", 4) == "auto\nalways\nnever\n");
  CHECK(complete("advise run.sqlite --only sync,transfer/pag", 3) ==
        "sync,transfer/pageable-copy\n");
  CHECK(complete("advise whatif run.sqlite --fix input/no-w", 4) == "input/no-workers\n");
  CHECK(complete("advise whatif a --fix input/no-workers,transfer/pag", 4) ==
        "input/no-workers,transfer/pageable-copy\n");
  folder.Write("two words.sqlite", "x");
  CHECK(complete("advise two", 1) == "two words.sqlite\n");
  CHECK(complete("advise help comp", 2) == "compare\ncompletions\n");
  CHECK_THAT(complete("advise rules list --only trans", 4),
             Contains("transfer\n") && Contains("transfer/pageable-copy\n"));
  CHECK_THAT(complete("advise rules show input/no-w", 3), StartsWith("input/no-workers"));
  CHECK_THAT(complete("advise rules list --no", 3), Contains("--no-site"));
  CHECK(complete("advise run.sqlite --set transfer/pageable-copy.min_sh", 3) ==
        "transfer/pageable-copy.min_share=\n");
  CHECK(complete("advise run.sqlite --gpu mi30", 3) == "mi300a\nmi300x\n");
  CHECK_THAT(complete("advise grade loader-no-w", 2), StartsWith("loader-no-workers"));
}

TEST_CASE("the manual page names every command and every option of the help text") {
  const Folder folder;
  const Ran manual = RunAdvise(folder, "manual");
  REQUIRE(manual.status == 0);
  CHECK_THAT(manual.out,
             Contains(".TH ADVISE 1") && Contains(".SH SYNOPSIS") && Contains(".SH EXIT STATUS"));
  std::string plain;
  for (const char c : manual.out) {
    if (c != '\\') plain += c;
  }
  for (const char* words :
       {"", "facts", "why", "slice", "rules", "rules list", "rules new", "completions", "help"}) {
    const std::string help = RunAdvise(folder, std::string(words) + " --help").out;
    CHECK_THAT(help, Contains("Examples:"));
    for (std::size_t at = help.find("--"); at != std::string::npos; at = help.find("--", at + 2)) {
      const std::size_t end = help.find_first_not_of("abcdefghijklmnopqrstuvwxyz-", at);
      const std::string option = help.substr(at, end - at);
      if (option.size() < 4 || option == "--help") continue;
      INFO(words << " " << option);
      CHECK(plain.find(option) != std::string::npos);
    }
  }
}

// GitHub refuses a whole log for one result without a place, or with one outside of the checkout.
TEST_CASE("every result of a SARIF log stands in one of the reports") {
  const Folder folder;
  Simulate(folder, kPair, "-o nsys.sqlite");
  Simulate(folder, kPair, "--format kineto -o kineto.json");
  Simulate(folder, "scenarios/one-pass/forward-transformer-a100", "-o pass.sqlite");
  Simulate(folder, kPair, "--ranks 2 --per-rank job");
  for (const std::string input : {"nsys.sqlite", "kineto.json", "pass.sqlite", "job"}) {
    const Json run = ParseJson(RunAdvise(folder, input + " --format sarif").out)["runs"][0];
    REQUIRE_FALSE(run["results"].empty());
    for (const Json& result : run["results"]) {
      INFO(input << " " << result["ruleId"]);
      REQUIRE(result["locations"].size() == 1);
      const Json& place = result["locations"][0]["physicalLocation"];
      const std::string uri = place["artifactLocation"]["uri"];
      CHECK((uri == input || uri.starts_with(input + "/rank_")));
      CHECK(std::filesystem::is_regular_file(folder / uri));
      CHECK(place["region"]["startLine"] == 1);
    }
  }
}

TEST_CASE("every format says the same findings") {
  const Folder folder;
  const std::string run = "run.sqlite";
  Simulate(folder, kPair, "-o " + run);
  const Json json = ParseJson(RunAdvise(folder, run + " --format json").out);
  const Json sarif = ParseJson(RunAdvise(folder, run + " --format sarif").out);
  const Ran html = RunAdvise(folder, run + " --format html");
  const Ran markdown = RunAdvise(folder, run + " --format markdown --top 50");
  REQUIRE(html.status == 0);
  REQUIRE(markdown.status == 0);
  REQUIRE(json["findings"].size() >= 2);
  REQUIRE(sarif["runs"][0]["results"].size() == json["findings"].size());
  for (std::size_t i = 0; i < json["findings"].size(); ++i) {
    const Json& finding = json["findings"][i];
    const std::string rule = finding["rule"];
    INFO(rule);
    CHECK(sarif["runs"][0]["results"][i]["ruleId"] == rule);
    if (finding["severity"] == "info" || !finding["explained_by"].empty()) continue;
    CHECK_THAT(html.out, Contains("advise why " + rule + " run.sqlite"));
    CHECK_THAT(markdown.out, Contains("advise why " + rule + " run.sqlite"));
  }
  CHECK(RunAdvise(folder, run + " --format html").out == html.out);
}

TEST_CASE("a file's name says its format, and one run writes several") {
  const Folder folder;
  const std::string run = "run.sqlite";
  Simulate(folder, kPair, "-o " + run);
  const auto printed = [&](const std::string& format) {
    return RunAdvise(folder, run + " --format " + format).out;
  };
  const std::string files = " -o a.html -o b.json -o c.md -o d.sarif -o e.txt -o f";
  REQUIRE(RunAdvise(folder, run + files).status == 0);
  CHECK(ReadAll(folder / "a.html") == printed("html"));
  CHECK(ReadAll(folder / "b.json") == printed("json"));
  CHECK(ReadAll(folder / "c.md") == printed("markdown"));
  CHECK(ReadAll(folder / "d.sarif") == printed("sarif"));
  CHECK(ReadAll(folder / "e.txt") == printed("text"));
  CHECK(ReadAll(folder / "f") == printed("text"));
  CHECK(RunAdvise(folder, run + " -o a.json -o -").out == printed("text"));
  REQUIRE(RunAdvise(folder, run + " --format markdown -o b.json").status == 0);
  CHECK(ReadAll(folder / "b.json") == printed("markdown"));
  REQUIRE(RunAdvise(folder, "why transfer/pageable-copy " + run + " -o why.json").status == 0);
  CHECK(ParseJson(ReadAll(folder / "why.json"))["rule"] == "transfer/pageable-copy");
  const Ran over_input = RunAdvise(folder, run + " -o g.json -o " + run);
  CHECK(over_input.status == 2);
  CHECK_THAT(over_input.err, Contains("is an input"));
}

TEST_CASE("the report says what --gpu replaces") {
  const Folder folder;
  const std::string run = "run.sqlite";
  Simulate(folder, kPair, "-o " + run);
  const auto report = [&](const std::string& gpu) {
    return RunAdvise(folder, run + " --format markdown --gpu " + gpu).out;
  };
  const std::string said = "the report names NVIDIA A100-SXM4-80GB";
  CHECK_THAT(report("h100-sxm"), Contains(said) && Contains("h100-sxm, given with --gpu"));
  CHECK_THAT(report("a100-80-sxm"), !Contains(said));
}

TEST_CASE("a slice holds the GPU work of its window, counted in SQL") {
  const Folder folder;
  const std::string run = "run.sqlite";
  Simulate(folder, kPair, "-o " + run);
  REQUIRE(RunAdvise(folder, "slice " + run + " --finding 2 -o slice.json").status == 0);
  const Json slice = ParseJson(ReadAll(folder / "slice.json"));
  const std::string start = slice["otherData"]["start_ns"].dump();
  const std::string end = slice["otherData"]["end_ns"].dump();
  const auto count = [&](const std::string& table) {
    const Ran ran = RunAdvise(folder,
                              run + " 'select count(*) from " + table + " where start < " + end +
                                  " and \"end\" > " + start + "'",
                              "/usr/bin/sqlite3");
    REQUIRE(ran.status == 0);
    return std::stoul(ran.out);
  };
  std::map<std::string, std::size_t> events;
  std::size_t arrows = 0;
  for (const Json& event : slice["traceEvents"]) {
    if (event["ph"] == "X") ++events[event["cat"].get<std::string>()];
    if (event["ph"] == "f") ++arrows;
  }
  CHECK(events["compute"] == count("CUPTI_ACTIVITY_KIND_KERNEL"));
  CHECK(events["copy"] == count("CUPTI_ACTIVITY_KIND_MEMCPY"));
  CHECK(events["memset"] == count("CUPTI_ACTIVITY_KIND_MEMSET"));
  CHECK(arrows == events["compute"] + events["copy"] + events["memset"]);
  CHECK(events["range"] > 0);
  CHECK(events["finding"] > 0);
}

TEST_CASE("a finding that is not there is a wrong usage") {
  const Folder folder;
  const std::string run = "run.sqlite";
  Simulate(folder, kPair, "-o " + run);
  const Ran ran = RunAdvise(folder, "slice " + run + " --finding 99");
  CHECK(ran.status == 2);
  CHECK(ran.out.empty());
  CHECK_THAT(ran.err, StartsWith("advise: --finding: there is no finding 99"));
  CHECK(RunAdvise(folder, "slice " + run + " --finding 0").status == 2);
  CHECK(RunAdvise(folder, "slice").status == 2);
}

}  // namespace
}  // namespace advise
