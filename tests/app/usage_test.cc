// The exit status and the one-line errors that scripts rely on.
#include <algorithm>
#include <catch2/catch.hpp>

#include "tests/app/program.h"

using Catch::Matchers::Contains;
using Catch::Matchers::StartsWith;

namespace advise {
namespace {

bool IsOneLine(const std::string& text) {
  return text.ends_with('\n') && std::count(text.begin(), text.end(), '\n') == 1;
}

TEST_CASE("help and version are no errors") {
  const Folder folder;
  const Ran help = RunAdvise(folder, "--help");
  CHECK(help.status == 0);
  CHECK_THAT(help.out, Contains("advise run.sqlite") && Contains("Exit status"));
  CHECK_THAT(RunAdvise(folder, "--version").out, StartsWith("advise "));
  CHECK(RunAdvise(folder, "facts --help").status == 0);
  CHECK(RunAdvise(folder, "rules new --help").status == 0);
}

TEST_CASE("help of a command is its --help") {
  const Folder folder;
  for (const char* words : {"", "facts", "rules", "rules new", "help"}) {
    const Ran help = RunAdvise(folder, std::string("help ") + words);
    INFO(words);
    CHECK(help.status == 0);
    CHECK(help.out == RunAdvise(folder, std::string(words) + " --help").out);
  }
  const Ran misspelt = RunAdvise(folder, "help cmpare");
  CHECK(misspelt.status == 2);
  CHECK_THAT(misspelt.err, Contains("did you mean compare?"));
  const Ran job = RunAdvise(folder, "help rules lst");
  CHECK(job.status == 2);
  CHECK_THAT(job.err, Contains("did you mean list?"));
  CHECK_THAT(RunAdvise(folder, "rules lst").err,
             StartsWith("advise: lst: there is no such command"));
  CHECK_THAT(RunAdvise(folder, "rules").err, Contains("list, show, new, check, test, docs"));
  CHECK_THAT(RunAdvise(folder, "rules test").err, Contains("see: advise rules test --help"));
}

TEST_CASE("wrong usage exits with 2 and one line that says what to do") {
  const Folder folder;
  folder.Write("run.sqlite", "x");
  const auto arguments = GENERATE(
      "", "--bogus", "run.sqlite --top x", "run.sqlite --jobs 0", "run.sqlite --window 3:1",
      "run.sqlite --window later", "run.sqlite --fail-on severe", "run.sqlite --format htm",
      "run.sqlite --format yaml", "run.sqlite --progress maybe", "rules", "rules show no/such-rule",
      "why", "why no/such-rule run.sqlite", "run.sqlite --only no-such-area", "rules list extra");
  const Ran ran = RunAdvise(folder, arguments);
  INFO(arguments << " → " << ran.err);
  CHECK(ran.status == 2);
  CHECK(ran.out.empty());
  CHECK(IsOneLine(ran.err));
  CHECK_THAT(ran.err, StartsWith("advise: "));
}

TEST_CASE("commands that do not exist are unknown, with the nearest that does") {
  const Folder folder;
  const Ran ran = RunAdvise(folder, "fact run.sqlite");
  CHECK(ran.status == 2);
  CHECK_THAT(ran.err, Contains("unknown command") && Contains("did you mean facts?"));
  CHECK(RunAdvise(folder, "contrast before.sqlite after.sqlite").status == 2);
}

TEST_CASE("a misspelt option is told the right one") {
  const Folder folder;
  CHECK_THAT(RunAdvise(folder, "run.sqlite --formt json").err, Contains("did you mean --format?"));
}

TEST_CASE("misspelt jobs, their options, values and settings are told the right ones") {
  const Folder folder;
  folder.Write("run.sqlite", "x");
  const auto [arguments, near] = GENERATE(table<const char*, const char*>(
      {{"rules lst", "list"},
       {"rules list --ony transfer", "--only"},
       {"run.sqlite --format htm", "html"},
       {"run.sqlite --fail-on hgih", "high"},
       {"completions bsh", "bash"},
       {"run.sqlite --only pageable-copy", "transfer/pageable-copy"},
       {"run.sqlite --set transfer/pageable-copy.min_shar=1", "transfer/pageable-copy.min_share"},
       {"why pageable-copy run.sqlite", "transfer/pageable-copy"},
       {"grade loader-no-worker", "loader-no-workers"}}));
  const Ran ran = RunAdvise(folder, arguments);
  INFO(arguments << " → " << ran.err);
  CHECK(ran.status >= 2);
  CHECK(IsOneLine(ran.err));
  CHECK((ran.err.find(std::string("did you mean ") + near + "?") != std::string::npos ||
         ran.err.find(std::string("did you mean \"") + near + "\"?") != std::string::npos));
}

TEST_CASE("a GPU that nobody knows is refused, with those that come near") {
  const Folder folder;
  folder.Write("run.sqlite", "x");
  const Ran near = RunAdvise(folder, "run.sqlite --gpu H10");
  CHECK(near.status == 2);
  CHECK(IsOneLine(near.err));
  CHECK_THAT(near.err, Contains("h100-pcie, h100-sxm") && !Contains("mi300x"));
  CHECK_THAT(RunAdvise(folder, "run.sqlite --gpu 'RTX 4080 Ti'").err, Contains("rtx-2080-ti"));
  CHECK_THAT(RunAdvise(folder, "run.sqlite --gpu quantum").err, Contains("mi300x"));
  CHECK(RunAdvise(folder, "run.sqlite --gpu MI300X").status == 3);  // known: now the report
}

TEST_CASE("a misspelt rule or area is told the right one") {
  const Folder folder;
  folder.Write("run.sqlite", "x");
  CHECK_THAT(RunAdvise(folder, "run.sqlite --skip inputt").err, Contains("did you mean input?"));
}

TEST_CASE("what cannot be read exits with 3") {
  const Folder folder;
  folder.Write("notes.txt", "no trace at all\n");
  folder.Write("empty/notes.txt", "neither\n");
  const auto path = GENERATE("missing.sqlite", "notes.txt", "empty/", "missing/run.sqlite");
  const Ran ran = RunAdvise(folder, path);
  INFO(path << " → " << ran.err);
  CHECK(ran.status == 3);
  CHECK(IsOneLine(ran.err));
}

TEST_CASE("a baseline that is no report exits with 3") {
  const Folder folder;
  folder.Write("run.sqlite", "x");
  folder.Write("base.json", "{\"schema\": 2}");
  CHECK(RunAdvise(folder, "run.sqlite --baseline base.json").status == 3);
  CHECK(RunAdvise(folder, "run.sqlite --baseline missing.json").status == 3);
}

TEST_CASE("broken settings and rules exit with 4 and say where") {
  const Folder folder;
  folder.Write("run.sqlite", "x");
  folder.Write("bad.toml", "[thresholds\n");
  const Ran config = RunAdvise(folder, "run.sqlite --config bad.toml");
  CHECK(config.status == 4);
  CHECK_THAT(config.err, Contains("bad.toml:"));
  CHECK(RunAdvise(folder, "run.sqlite --config missing.toml").status == 4);
  CHECK(RunAdvise(folder, "run.sqlite --set nonsense=1").status == 4);
  folder.Write("site/broken.lua", "return {");
  const Ran rule = RunAdvise(folder, "run.sqlite --rules site");
  CHECK(rule.status == 4);
  CHECK_THAT(rule.err, Contains("site/broken.lua"));
}

TEST_CASE("site settings are read from the folder, and a broken one is found") {
  const Folder folder;
  folder.Write("advise.toml", "what = is this\n");
  const Ran ran = RunAdvise(folder, "rules list");
  CHECK(ran.status == 4);
  CHECK_THAT(ran.err, Contains("advise.toml:1"));
}

TEST_CASE("a site that turns off a rule that there is not is told so") {
  const Folder folder;
  folder.Write("advise.toml", "[rules.\"comm/strateg\"]\nenabled = false\nreason = \"a trial\"\n");
  const Ran ran = RunAdvise(folder, "rules list");
  CHECK(ran.status == 4);
  CHECK_THAT(ran.err, Contains("advise.toml:1") && Contains("did you mean \"comm/strategy\"?"));
  folder.Write("advise.toml", "[rules.\"site/ours\"]\nenabled = false\nreason = \"a trial\"\n");
  CHECK(RunAdvise(folder, "rules list").status == 0);  // its rules may be named another time
}

}  // namespace
}  // namespace advise
