// `advise grade` from end to end: every shipped exercise with a good and a bad submission, and what
// hostile submissions do.
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <csignal>
#include <set>
#include <sstream>

#include "engine/app/isolate.h"
#include "engine/facts/catalog.h"
#include "engine/grade/exercise.h"
#include "tests/app/json.h"
#include "tests/app/simulated.h"
#include "tests/support/analyzed.h"

using Catch::Matchers::Contains;

namespace advise {
namespace {

std::string Stem(const std::string& handout) {
  const std::string rest = handout.substr(std::string("fixtures/").size());
  return rest.substr(0, rest.size() - std::string(".toml").size());
}

Exercise Shipped(const std::string& id) {
  const std::string path = ADVISE_SOURCE_DIR "/kb/exercises/" + id + ".toml";
  // Ids of rules are checked by the program itself; here every one that is named is taken.
  const std::string text = ReadAll(path);
  std::vector<std::string> rules;
  for (const auto& entry :
       std::filesystem::recursive_directory_iterator(ADVISE_SOURCE_DIR "/rules")) {
    if (entry.path().extension() == ".lua") {
      rules.push_back(entry.path().parent_path().filename().string() + "/" +
                      entry.path().stem().string());
    }
  }
  auto exercise = ReadExercise(path, text, FactList(ShippedKnowledge()), rules);
  REQUIRE(exercise);
  return *exercise;
}

std::vector<std::string> ShippedIds() {
  std::vector<std::string> ids;
  for (const auto& entry : std::filesystem::directory_iterator(ADVISE_SOURCE_DIR "/kb/exercises")) {
    ids.push_back(entry.path().stem().string());
  }
  std::sort(ids.begin(), ids.end());
  return ids;
}

Json FactsAnswered(const Folder& folder, const std::string& report) {
  const Json list = ParseJson(RunAdvise(folder, "facts " + report + " --format json").out)["facts"];
  Json facts;
  for (const Json& fact : list) facts[fact["name"].get<std::string>()] = fact;
  return facts;
}

Json RuleOf(const Folder& folder, const std::string& report) {
  const Json report_json = ParseJson(RunAdvise(folder, report + " --format json").out);
  Json fired;
  for (const Json& finding : report_json["findings"]) {
    if (finding["severity"] == "info") continue;
    fired[finding["rule"].get<std::string>()] = true;
    for (const Json& rule : finding["explains"]) fired[rule.get<std::string>()] = true;
  }
  return fired;
}

std::string InQuotes(const std::string& text) { return "\"" + text + "\""; }

// What is true of the run that was handed out and of the one that is handed in.
struct Truth {
  Json facts[2], fired[2];
  Truth(const Folder& folder, const std::string& baseline, const std::string& submission) {
    if (baseline.empty()) return;
    facts[0] = FactsAnswered(folder, baseline);
    fired[0] = RuleOf(folder, baseline);
    facts[1] = FactsAnswered(folder, submission);
    fired[1] = RuleOf(folder, submission);
  }
};

// What a student who reads everything right writes, and one who reads everything wrong.
std::string Sheet(const Exercise& exercise, const Truth& truth_of_runs, bool right) {
  const auto& [facts, fired] = truth_of_runs;
  std::string sheet;
  for (const Criterion& one : exercise.criteria) {
    const int run = one.on == RunRole::kBaseline ? 0 : 1;
    std::string answer;
    if (one.kind == CriterionKind::kAnswer) {
      if (one.expect) {
        answer = std::to_string(right ? *one.expect : *one.expect * 3 + 1) + " " + one.unit;
      } else {
        INFO(exercise.id << ": " << one.fact);
        REQUIRE(facts[run].at(one.fact).contains("value"));
        const double value = facts[run].at(one.fact).at("value");
        const std::string unit = facts[run].at(one.fact).at("unit");
        const double shown = (right ? value : value * 9 + 7) * one.scale;
        answer = unit == "ns"            ? std::to_string(shown / 1e6) + " ms"
                 : unit == "share"       ? std::to_string(shown * 100) + " %"
                 : unit == "bytes"       ? std::to_string(shown / 1048576) + " MiB"
                 : unit == "bytes_per_s" ? std::to_string(shown / 1e6) + " MB/s"
                                         : std::to_string(shown);
      }
    } else if (one.kind == CriterionKind::kChoice) {
      std::string truth = one.expect_text;
      if (!one.fact.empty()) {
        INFO(exercise.id << ": " << one.fact);
        REQUIRE(facts[run].at(one.fact).contains("value"));
        truth = facts[run].at(one.fact).at("value");
      } else if (!one.yes_when.empty()) {
        truth = "no";
        for (const std::string& rule : one.yes_when) {
          if (fired[run].contains(rule)) truth = "yes";
        }
      }
      answer = truth;
      if (!right) {
        for (const std::string& choice : one.choices) {
          if (choice != truth) answer = choice;
        }
      }
    } else {
      continue;
    }
    sheet += one.id + " = " + InQuotes(answer) + "\n";
  }
  return sheet;
}

// A folder as scripts/make-exercises.sh makes it: the run, and NCCL's log where there are nodes.
void MakeRun(const std::string& handout, const std::string& options, const std::string& run) {
  std::filesystem::create_directories(run);
  std::filesystem::copy(Simulated(Stem(handout), options), run + "/run.sqlite");
  if (ReadAll(ADVISE_SOURCE_DIR "/" + handout).find("\nnodes = ") == std::string::npos) return;
  const Folder folder;
  Simulate(folder, Stem(handout), "-o run.sqlite --nccl-log '" + run + "/nccl.log' " + options);
}

// Every second answer of a sheet, as one who stopped there would hand it in.
std::string HalfOf(const std::string& sheet) {
  std::istringstream lines(sheet);
  std::string half;
  bool take = true;
  for (std::string line; std::getline(lines, line); take = !take) {
    if (take) half += line + "\n";
  }
  return half;
}

TEST_CASE("every shipped exercise passes its solution, and no one who changed nothing") {
  for (const std::string& id : ShippedIds()) {
    INFO(id);
    const Folder folder;
    const Exercise exercise = Shipped(id);
    const bool traced = exercise.handout.ends_with(".toml");
    std::string handout, solution, with;
    if (traced) {
      handout = folder / "handout";
      solution = folder / "solution";
      MakeRun(exercise.handout, "", handout);
      if (id == "zero2-zero3") {
        MakeRun("fixtures/exercises/zero3.toml", "", solution);
      } else {
        MakeRun(exercise.handout, "--without all", solution);
      }
      with = " --baseline " + handout;
      std::filesystem::copy(solution, folder / "good", std::filesystem::copy_options::recursive);
      std::filesystem::copy(handout, folder / "same", std::filesystem::copy_options::recursive);
      folder.Write("other/notes.txt", "");
      std::filesystem::copy(Simulated("scenarios/healthy/stencil-a100"),
                            folder / "other/run.sqlite");
    }
    // All right; the run as it was handed out, with answers copied from who has them; a healthy run
    // of another program with the same; half of the answers; wrong ones.
    const Truth truth(folder, handout, solution);
    const std::string right = Sheet(exercise, truth, true);
    for (const char* who : {"good", "same", "other"})
      folder.Write(std::string(who) + "/answers.toml", right);
    folder.Write("half/answers.toml", HalfOf(right));
    folder.Write("wrong/answers.toml", Sheet(exercise, truth, false));
    const Ran ran =
        RunAdvise(folder, "grade " + id + " good same other half wrong --format json" + with);
    INFO(ran.err << ran.out);
    CHECK(ran.status == 1);  // some failed
    const Json json = ParseJson(ran.out)["submissions"];
    const auto points = [&](std::size_t who) { return json[who]["points"].get<double>(); };
    const auto passed = [&](std::size_t who) { return json[who]["passed"].get<bool>(); };
    CHECK(passed(0));
    CHECK(points(0) == json[0]["possible"]);
    // Only what is meant for a person is left to one.
    double person = 0;
    for (const Criterion& one : exercise.criteria) {
      if (one.kind == CriterionKind::kPerson) person += one.points;
    }
    CHECK(json[0]["open"] == person);
    CHECK(points(3) > 0);
    CHECK(points(3) < points(0));
    CHECK(points(4) == 0);
    CHECK_FALSE(passed(4));
    if (!traced) continue;
    CHECK_FALSE(passed(1));
    CHECK_THAT(json[1]["flags"].dump(), Contains("unchanged"));
    CHECK_FALSE(passed(2));
    CHECK_THAT(json[2]["flags"].dump(), Contains("another program"));
    CHECK_FALSE(passed(3));
    for (const Json& mark : json[2]["marks"]) {
      for (const Criterion& one : exercise.criteria) {
        const bool of_run = one.kind == CriterionKind::kFinding ||
                            one.kind == CriterionKind::kFact ||
                            one.kind == CriterionKind::kImprovement;
        if (of_run && mark["id"] == one.id) CHECK(mark["points"] == 0);
      }
    }
  }
}

TEST_CASE("the questions K-N1 to K-N19 are all asked") {
  std::set<std::string> asked;
  for (const std::string& id : ShippedIds()) {
    for (const Criterion& one : Shipped(id).criteria) {
      asked.insert(one.knowledge.begin(), one.knowledge.end());
    }
  }
  for (int n = 1; n <= 19; ++n) {
    INFO(n);
    CHECK(asked.count("K-N" + std::to_string(n)) == 1);
  }
}

const char* const kExercise = "loader-no-workers";
std::string Handout() { return Simulated("exercises/loader-no-workers"); }
std::string Solution() { return Simulated("exercises/loader-no-workers", "--without all"); }

TEST_CASE("hostile submissions are refused or graded, and never stop the class") {
  const Folder folder;
  std::filesystem::create_directories(folder / "link");
  std::filesystem::create_symlink("/etc/passwd", folder / "link/answers.toml");
  std::filesystem::create_symlink(Solution(), folder / "link/run.sqlite");
  std::filesystem::create_symlink("/etc", folder / "outside");
  folder.Write("junk/run.sqlite", "SQLite format 3\0 and then nothing" + std::string(5000, 'x'));
  folder.Write("rules/advise.toml", "[disable]\n\"input/no-workers\" = \"mine\"\n");
  folder.Write("rules/site/mine.lua", "error('run me')");
  folder.Write("=cmd()/answers.csv", "iteration,<script>alert(1)</script>\nworkers,\"=1+1\"\n");
  folder.Write("big/run.sqlite", std::string(3'000'000, 'x'));
  mkfifo((folder / "junk/pipe.sqlite").c_str(), 0600);
  std::filesystem::create_directories(folder / "fine");
  std::filesystem::copy(Solution(), folder / "fine/run.sqlite");
  const std::string all = "link outside junk rules '=cmd()' big nothing fine";
  const Ran ran = RunAdvise(folder, std::string("grade ") + kExercise + " " + all +
                                        " --size-limit 2 --format json --baseline " + Handout());
  INFO(ran.err);
  CHECK(ran.status == 1);
  const Json json = ParseJson(ran.out)["submissions"];
  REQUIRE(json.size() == 8);
  CHECK_THAT(json[0]["notes"].dump(), Contains("is a link"));
  CHECK(json[0]["points"] == 0);
  CHECK_THAT(json[1]["problem"].get<std::string>(), Contains("is a link"));
  CHECK_THAT(json[2]["notes"].dump(), Contains("no plain file"));
  CHECK_THAT(json[5]["problem"].get<std::string>(), Contains("--size-limit"));
  CHECK_THAT(json[6]["problem"].get<std::string>(), Contains("no such file"));
  CHECK(json[7]["points"].get<double>() >= 6);
  for (const char* format : {"csv", "html"}) {
    const std::string out =
        RunAdvise(folder, std::string("grade ") + kExercise + " " + all + " --format " + format +
                              " --baseline " + Handout())
            .out;
    CHECK(out.find("<script>alert") == std::string::npos);
    CHECK(out.find(",=cmd") == std::string::npos);
    CHECK(out.find("\"=cmd") == std::string::npos);
  }
}

TEST_CASE("settings that lie beside the submissions have no say") {
  const Folder folder;
  folder.Write("advise.toml", "this is no setting\n");
  std::filesystem::copy(Solution(), folder / "run.sqlite");
  CHECK(RunAdvise(folder, "run.sqlite").status == 4);
  const Ran ran =
      RunAdvise(folder, std::string("grade ") + kExercise + " run.sqlite --baseline " + Handout());
  INFO(ran.err);
  CHECK_FALSE(ran.out.empty());
}

TEST_CASE("a run that two hand in is told to both, under any name and with any other bytes") {
  const Folder folder;
  for (const char* name : {"ann", "ben", "cid"}) std::filesystem::create_directories(folder / name);
  std::filesystem::copy(Solution(), folder / "ann/run.sqlite");
  std::filesystem::copy(Solution(), folder / "ben/mine.db");
  REQUIRE(RunAdvise(folder, "ben/mine.db 'create table note (text); insert into note values (1)'",
                    "sqlite3")
              .status == 0);
  std::filesystem::copy(Simulated("exercises/loader-no-workers", "--without all --seed 5"),
                        folder / "cid/run.sqlite");
  const Json json =
      ParseJson(RunAdvise(folder, std::string("grade ") + kExercise +
                                      " ann ben cid --format json --baseline " + Handout())
                    .out)["submissions"];
  CHECK_THAT(json[0]["flags"].dump(), Contains("ben"));
  CHECK_THAT(json[1]["flags"].dump(), Contains("ann"));
  CHECK(json[2]["flags"].empty());
}

TEST_CASE("other names of ranges, kernels and hosts do not hide a run that was handed out") {
  const Folder folder;
  std::filesystem::create_directories(folder / "eve");
  std::filesystem::copy(Handout(), folder / "eve/run.sqlite");
  folder.Write("edit.sql",
               "UPDATE NVTX_EVENTS SET text = 'other ' || rowid; "
               "UPDATE StringIds SET value = value || ' of eve'; "
               "UPDATE TARGET_INFO_SYSTEM_ENV SET value = 'eve' WHERE name = 'Hostname'; VACUUM;");
  REQUIRE(RunAdvise(folder, "eve/run.sqlite '.read edit.sql'", "sqlite3").status == 0);
  const Ran ran = RunAdvise(folder, std::string("grade ") + kExercise + " eve --format json" +
                                        " --baseline " + Handout());
  INFO(ran.err);
  const Json json = ParseJson(ran.out);
  CHECK(json["submissions"][0]["flags"].dump().find("unchanged") != std::string::npos);
  CHECK(json["submissions"][0]["points"] == 0);
  for (const Json& mark : json["submissions"][0]["marks"]) {
    if (mark["id"] == "faster") CHECK(mark["state"] == "none");
  }
}

TEST_CASE("a pair of before and after needs no baseline of the teacher's") {
  const Folder folder;
  folder.Write("ann/notes.md", "hello");
  std::filesystem::copy(Handout(), folder / "ann/before.sqlite");
  std::filesystem::copy(Solution(), folder / "ann/after.sqlite");
  const Json json =
      ParseJson(RunAdvise(folder, std::string("grade ") + kExercise + " ann --format json").out);
  for (const Json& mark : json["submissions"][0]["marks"]) {
    if (mark["id"] == "faster" || mark["id"] == "fixed") CHECK(mark["state"] == "full");
  }
}

TEST_CASE("text, hints and the answer sheet") {
  const Folder folder;
  folder.Write("answers.toml", "iteration = \"1 s\"\n");
  const Ran plain = RunAdvise(
      folder, std::string("grade ") + kExercise + " answers.toml --baseline " + Handout());
  CHECK_THAT(plain.out, Contains("not passed") && !Contains("hint 1"));
  const Ran hints = RunAdvise(folder, std::string("grade ") + kExercise +
                                          " answers.toml --hints 2 --baseline " + Handout());
  CHECK_THAT(hints.out, Contains("hint 2") && !Contains("hint 3"));
  const Ran sheet = RunAdvise(folder, std::string("grade ") + kExercise + " --sheet");
  CHECK_THAT(sheet.out, Contains("iteration = \"\"") && Contains("How long is one iteration?"));
  CHECK_THAT(RunAdvise(folder, "grade --list").out, Contains(kExercise));
  CHECK_THAT(RunAdvise(folder, "grade loader-no-worker x").err, Contains("did you mean"));
}

TEST_CASE("work in a process of its own: results come back, and what goes wrong is told") {
  IsolateLimits limits;
  limits.seconds = 0.5;
  const auto fine = RunIsolated(limits, [] { return std::string(200'000, 'x'); });
  REQUIRE(fine);
  CHECK(fine->size() == 200'000);
  const auto crash = RunIsolated(limits, []() -> std::string {
    raise(SIGSEGV);
    return "";
  });
  REQUIRE_FALSE(crash);
  CHECK_THAT(crash.error().what, Contains("signal 11"));
  const auto hang = RunIsolated(limits, []() -> std::string {
    for (;;) pause();
  });
  REQUIRE_FALSE(hang);
  CHECK_THAT(hang.error().what, Contains("longer than 0.5 s"));
  limits.memory_bytes = std::size_t{1} << 30U;
  limits.seconds = 20;
  const auto greedy =
      RunIsolated(limits, []() -> std::string { return std::string(std::size_t{2} << 30U, 'x'); });
  REQUIRE_FALSE(greedy);
  CHECK_THAT(greedy.error().what, Contains("memory"));
  limits.output_bytes = 1000;
  CHECK_FALSE(RunIsolated(limits, [] { return std::string(200'000, 'x'); }));
}

}  // namespace
}  // namespace advise
