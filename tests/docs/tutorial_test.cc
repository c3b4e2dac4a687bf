// The tutorial for rule authors is a program: its blocks are run in order, in one folder. And the
// rules of the examples pass their checks and tests, and run.
#include <catch2/catch.hpp>
#include <filesystem>
#include <sstream>

#include "tests/app/program.h"

namespace advise {
namespace {

namespace fs = std::filesystem;

struct Block {
  std::string language;
  std::string text;
  int line = 0;
};

std::vector<Block> BlocksOf(const std::string& page) {
  std::vector<Block> blocks;
  std::istringstream text(page);
  bool inside = false;
  int number = 0;
  for (std::string line; std::getline(text, line);) {
    ++number;
    if (line.starts_with("```")) {
      inside = !inside;
      if (inside) blocks.push_back({line.substr(3), "", number});
    } else if (inside) {
      blocks.back().text += line + "\n";
    }
  }
  return blocks;
}

// "site/idle-gpu.lua" of a block that begins with "-- file: site/idle-gpu.lua", or "".
std::string FileOf(const Block& block) {
  const std::string first = block.text.substr(0, block.text.find('\n'));
  const std::size_t at = first.find("file: ");
  const bool comment = first.starts_with("-- ") || first.starts_with("# ");
  return comment && at != std::string::npos ? first.substr(at + 6) : "";
}

// In one line, however the report was broken into lines.
std::string Joined(const std::string& text) {
  std::string joined;
  for (const char c : text) {
    const bool space = c == ' ' || c == '\n';
    if (!space || (!joined.empty() && joined.back() != ' ')) joined += space ? ' ' : c;
  }
  return joined;
}

void MakeReport(const Folder& folder) {
  const Ran made = RunAdvise(folder,
                             ADVISE_SOURCE_DIR
                             "/fixtures/scenarios/pairs/loading-over-pageable.toml -o run.sqlite",
                             ADVISE_SIM_PROGRAM);
  INFO(made.err);
  REQUIRE(made.status == 0);
}

TEST_CASE("the tutorial does what it says, block by block") {
  const Folder folder;
  MakeReport(folder);
  fs::create_directory(folder / "bin");
  fs::create_symlink(ADVISE_PROGRAM, folder / "bin/advise");
  std::string last;  // what the last commands printed
  int commands = 0;
  int files = 0;
  int outputs = 0;
  for (const Block& block : BlocksOf(ReadAll(ADVISE_SOURCE_DIR "/docs/howto/first-rule.md"))) {
    INFO("docs/howto/first-rule.md:" << block.line << "\n" << block.text);
    const std::string file = FileOf(block);
    if (!file.empty()) {
      folder.Write(file, block.text);
      ++files;
    } else if (block.language == "sh") {
      folder.Write("block.sh", "set -e\nPATH='" + (folder / "bin") + "':\"$PATH\"\n" + block.text);
      const Ran ran = RunAdvise(folder, "block.sh", "/bin/sh");
      INFO(ran.err);
      CHECK(ran.status == 0);
      last = ran.out + ran.err;
      ++commands;
    } else if (block.language == "text") {
      INFO("printed: " << last);
      CHECK(last.find(block.text.substr(0, block.text.find('\n'))) != std::string::npos);
      ++outputs;
    } else {
      FAIL_CHECK("a block that nothing runs: " + block.language);
    }
  }
  CHECK(commands >= 8);
  CHECK(files == 4);
  CHECK(outputs == 2);
}

TEST_CASE("the rule of the tutorial speaks on a report that idles, and why shows its comparison") {
  const Folder folder;
  MakeReport(folder);
  fs::create_directory(folder / "site");
  for (const Block& block : BlocksOf(ReadAll(ADVISE_SOURCE_DIR "/docs/howto/first-rule.md"))) {
    if (!FileOf(block).empty()) folder.Write(FileOf(block), block.text);
  }
  const std::string site = " --rules site --config site/advise.toml";
  const Ran low =
      RunAdvise(folder, "run.sqlite --only site --set site/idle-gpu.min_idle=0.01" + site);
  INFO(low.err);
  CHECK(low.out.find("(site/idle-gpu)") != std::string::npos);
  const Ran high =
      RunAdvise(folder, "run.sqlite --only site --set site/idle-gpu.min_idle=1" + site);
  CHECK(high.out.find("(site/idle-gpu)") == std::string::npos);
  const Ran why =
      RunAdvise(folder, "why site/idle-gpu run.sqlite --set site/idle-gpu.min_idle=1" + site);
  CHECK(why.out.find("short by") != std::string::npos);
}

TEST_CASE("the example rules of a site pass, and run on a report") {
  const Folder folder;
  MakeReport(folder);
  const std::string rules = ADVISE_SOURCE_DIR "/docs/examples/site-rules";
  const std::string config = " --config " + rules + "/advise.toml";
  for (const char* job : {"check ", "test "}) {
    const Ran ran = RunAdvise(folder, "rules " + (job + rules) + config);
    INFO(ran.out << ran.err);
    CHECK(ran.status == 0);
    CHECK(ran.out.starts_with("5 rules"));
  }
  const Ran ran = RunAdvise(folder, "run.sqlite --format json --rules " + rules + config);
  INFO(ran.err);
  CHECK(ran.status == 0);
  const Ran list = RunAdvise(folder, "rules list --rules " + rules + config);
  CHECK(list.out.find("site/missing-ranges") != std::string::npos);
  CHECK(list.out.find("\n  capture/no-ranges") == std::string::npos);  // replaced
}

TEST_CASE("the epilog for Slurm writes the fix list once, as the job's user, and never fails") {
  const Folder folder;
  MakeReport(folder);
  // In the place of runuser, which only root may call: notes the user, and runs the command.
  folder.Write("bin/runuser", "#!/bin/sh\necho \"$2\" >>'" + folder.path() +
                                  "/users.txt'\nshift 3\nexec \"$@\"\n");
  fs::permissions(folder / "bin/runuser", fs::perms::owner_all);
  const auto epilog = [&](const std::string& job, const std::string& program) {
    const std::string environment = "PATH='" + folder.path() + "/bin:/usr/bin:/bin' ADVISE='" +
                                    program + "' SLURM_JOB_USER=ada SLURM_JOB_WORK_DIR='" +
                                    folder.path() + "' SLURM_JOB_ID=" + job;
    return RunAdvise(folder,
                     environment + " sh " ADVISE_SOURCE_DIR "/docs/examples/slurm/epilog.sh",
                     "/usr/bin/env")
        .status;
  };
  fs::create_directory(folder / "advise-7");
  fs::copy_file(folder / "run.sqlite", folder / "advise-7/rank_0.sqlite");
  CHECK(epilog("7", ADVISE_PROGRAM) == 0);
  const std::string written = ReadAll(folder / "advise-7/advise.txt");
  CHECK(written.find("Where the time went") != std::string::npos);
  const std::string users = ReadAll(folder / "users.txt");
  CHECK(users == "ada\nada\nada\n");
  fs::remove(folder / "advise-7/advise.txt");
  CHECK(epilog("7", ADVISE_PROGRAM) == 0);
  CHECK_FALSE(fs::exists(folder / "advise-7/advise.txt"));  // another node has done it

  CHECK(epilog("8", ADVISE_PROGRAM) == 0);  // no folder
  fs::create_directory(folder / "advise-9");
  CHECK(epilog("9", ADVISE_PROGRAM) == 0);  // no report in it
  CHECK_FALSE(fs::exists(folder / "advise-9/advise.txt"));
  fs::create_directory(folder / "advise-10");
  CHECK(epilog("10", "/no/such/program") == 0);
  // Called by hand, or by a Slurm that says less.
  CHECK(RunAdvise(folder, "-i /bin/sh " ADVISE_SOURCE_DIR "/docs/examples/slurm/epilog.sh",
                  "/usr/bin/env")
            .status == 0);
}

TEST_CASE("a rule that is off until a day is judged by the day of the capture") {
  const Folder folder;
  MakeReport(folder);
  // The simulator says that it captured on 2025-10-09; the clock of this machine says something
  // later.
  folder.Write("past.toml",
               "[rules.\"capture/missing-data\"]\nenabled = false\nreason = \"a trial\"\nuntil = "
               "2025-10-08\n");
  folder.Write("future.toml",
               "[rules.\"capture/missing-data\"]\nenabled = false\nreason = \"a trial\"\nuntil = "
               "2025-10-09\n");
  const Ran past = RunAdvise(folder, "run.sqlite --config past.toml");
  CHECK(Joined(past.out).find("capture/missing-data is on again: it was off until 2025-10-08") !=
        std::string::npos);
  const Ran future = RunAdvise(folder, "run.sqlite --config future.toml");
  CHECK(Joined(future.out).find("capture/missing-data is off until 2025-10-09: a trial") !=
        std::string::npos);
  CHECK(RunAdvise(folder, "run.sqlite --config past.toml").out == past.out);
}

}  // namespace
}  // namespace advise
