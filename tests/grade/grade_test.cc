// Marks, on exercises and runs made by hand.
#include "engine/grade/grade.h"

#include "tests/compare/reports.h"

using Catch::Matchers::Contains;

namespace advise {
namespace {

const std::vector<FactInfo> kFacts = {{"steps.median", "ns", "a step"},
                                      {"steps.mean", "ns", "a step"},
                                      {"comm.share", "share", "a share"},
                                      {"input.workers", "count", "workers"},
                                      {"memory.kind", "name", "a kind"}};
const std::vector<std::string> kRules = {"input/no-workers", "launch/bound"};

std::string Wrapped(const std::string& criterion) {
  return "id = \"x\"\ntitle = \"t\"\ntask = \"do\"\n[[criterion]]\n" + criterion +
         "good = \"good\"\nbad = \"bad\"\nhints = [\"a\", \"b\", \"c\", \"d\"]\n";
}

Exercise Read(const std::string& criterion) {
  auto exercise = ReadExercise("x.toml", Wrapped(criterion), kFacts, kRules);
  if (!exercise) {
    for (const Error& error : exercise.error()) UNSCOPED_INFO(error.Line());
  }
  REQUIRE(exercise);
  return *exercise;
}

Mark Marked(const std::string& criterion, const GradeInput& input) {
  return GradeSubmission(Read(criterion), input).marks.at(0);
}

const char* const kStep =
    "id = \"step\"\nkind = \"answer\"\nask = \"?\"\npoints = 4\nfact = \"steps.median\"\nunit = "
    "\"ms\"\nsteps = [[0.05, 1], [0.2, 0.5]]\n";

Mark StepAnswer(const std::string& written) {
  ReportStory story;
  story.Number("steps.median", 40e6);
  GradeInput input;
  input.baseline = &story.Done();
  input.answers = Answers{{"step", written}};
  return Marked(kStep, input);
}

TEST_CASE("an answer near the truth gets all, one less near a part, one far off nothing") {
  CHECK(StepAnswer("40 ms").points == 4);
  CHECK(StepAnswer("41.9").points == 4);
  CHECK(StepAnswer("0.04 s").state == MarkState::kFull);
  CHECK(StepAnswer("45 ms").points == 2);
  CHECK(StepAnswer("45 ms").state == MarkState::kPartial);
  CHECK(StepAnswer("60 ms").points == 0);
  CHECK(StepAnswer("40 s").points == 0);
  CHECK_THAT(StepAnswer("40 GB").text, Contains("unit does not fit"));
  CHECK_THAT(StepAnswer("a lot").text, Contains("Not a number"));
  CHECK(StepAnswer("").state == MarkState::kMissing);
}

TEST_CASE("what another method gives is right, too, and the answer says which was meant") {
  const std::string ask =
      std::string(kStep) + "or_fact = \"steps.mean\"\nor_says = \"the median was meant\"\n";
  ReportStory story;
  story.Number("steps.median", 40e6).Number("steps.mean", 60e6);
  GradeInput input;
  input.baseline = &story.Done();
  const auto answered = [&](const std::string& written) {
    input.answers = Answers{{"step", written}};
    return Marked(ask, input);
  };
  CHECK(answered("40 ms").text == "good");
  CHECK(answered("60 ms").state == MarkState::kFull);
  CHECK(answered("60 ms").text == "the median was meant");
  CHECK(answered("70 ms").points == 2);
  CHECK(answered("70 ms").text == "the median was meant");
  CHECK(answered("47 ms").points == 2);  // nearer to the median
  CHECK(answered("47 ms").text == "bad");
  CHECK(answered("90 ms").state == MarkState::kZero);
  CHECK(answered("90 ms").text == "bad");
}

TEST_CASE("what the run does not show is left to a person, and counts neither way") {
  ReportStory story;
  GradeInput input;
  input.baseline = &story.Done();
  input.answers = Answers{{"step", "40 ms"}};
  const Grade grade = GradeSubmission(Read(kStep), input);
  CHECK(grade.marks[0].state == MarkState::kPerson);
  CHECK(grade.possible == 0);
  CHECK(grade.open == 4);
  CHECK_FALSE(grade.passed);
}

TEST_CASE("a choice is held against a fact, a verdict or a given answer") {
  ReportStory story;
  story.Text("memory.kind", "pageable");
  GradeInput input;
  input.baseline = &story.Done();
  const std::string fact =
      "id = \"c\"\nkind = \"choice\"\nask = \"?\"\npoints = 1\nfact = \"memory.kind\"\nchoices = "
      "[\"pageable\", \"pinned\"]\n";
  input.answers = Answers{{"c", "Pageable "}};
  CHECK(Marked(fact, input).state == MarkState::kFull);
  input.answers = Answers{{"c", "pinned"}};
  CHECK(Marked(fact, input).state == MarkState::kZero);
  // What the run shows is none of the answers that the sheet offers.
  ReportStory other;
  other.Text("memory.kind", "managed");
  GradeInput of_other;
  of_other.baseline = &other.Done();
  of_other.answers = Answers{{"c", "pinned"}};
  CHECK(Marked(fact, of_other).state == MarkState::kPerson);
  const std::string given =
      "id = \"c\"\nkind = \"choice\"\nask = \"?\"\npoints = 1\nexpect = \"a\"\nchoices = [\"a\", "
      "\"b\"]\n";
  input.answers = Answers{{"c", "A"}};
  CHECK(Marked(given, input).state == MarkState::kFull);
  input.answers = Answers{{"c", "z"}};
  CHECK_THAT(Marked(given, input).text, Contains("The answer is none of"));
}

// A report whose rule reached this outcome.
struct Judged {
  RuleInfo rule;
  Report report;
  explicit Judged(Outcome outcome, const std::string& id = "input/no-workers") {
    rule.id = id;
    rule.kind = RuleKind::kRoot;
    Verdict verdict;
    verdict.rule = &rule;
    verdict.outcome = outcome;
    verdict.reason = "no OS calls";
    report.verdicts.push_back(verdict);
    if (outcome != Outcome::kFired) return;
    Finding finding;
    finding.rule = &rule;
    finding.severity = Severity::kHigh;
    report.findings.push_back(finding);
  }
  Judged(const Judged&) = delete;
  Judged& operator=(const Judged&) = delete;
};

const char* const kGone =
    "id = \"g\"\nkind = \"finding\"\nask = \"?\"\npoints = 3\nabsent = [\"input/no-workers\"]\n";

TEST_CASE("an absent finding counts only when its rule could run") {
  const Judged fine(Outcome::kFine), fired(Outcome::kFired), blind(Outcome::kCannotTell),
      idle(Outcome::kNotApplicable), other(Outcome::kFine, "launch/bound");
  const auto state = [](const Judged& judged) {
    GradeInput input;
    input.submission = &judged.report;
    return Marked(kGone, input).state;
  };
  CHECK(state(fine) == MarkState::kFull);
  CHECK(state(idle) == MarkState::kFull);
  CHECK(state(fired) == MarkState::kZero);
  CHECK(state(blind) == MarkState::kPerson);
  CHECK(state(other) == MarkState::kPerson);  // the rule was not among those that ran
  CHECK(Marked(kGone, {}).state == MarkState::kMissing);
}

TEST_CASE("a run of another program is no fix, and right answers alone pass no exercise") {
  const Exercise exercise = Read(std::string(kStep) +
                                 "good = \"good\"\nbad = \"bad\"\nhints = [\"a\", \"b\", "
                                 "\"c\", \"d\"]\n[[criterion]]\n" +
                                 kGone);
  ReportStory before;
  before.Number("steps.median", 40e6);
  const Judged after(Outcome::kFine);
  GradeInput input;
  input.baseline = &before.Done();
  input.answers = Answers{{"step", "40 ms"}};
  const auto graded = [&] { return GradeSubmission(exercise, input); };
  CHECK_FALSE(graded().passed);  // four points of seven, which would do, but no run
  input.submission = &after.report;
  input.improvement = Improvement{};
  input.improvement->comparable = true;
  CHECK(graded().points == 7);
  CHECK(graded().passed);
  input.improvement->speedup = 0.7;
  CHECK(graded().passed);  // within the noise
  input.improvement->certain = true;
  CHECK(graded().points == 4);
  CHECK_FALSE(graded().passed);
  CHECK_THAT(graded().marks[1].text, Contains("1.43 times as long"));
  input.improvement->comparable = false;
  input.improvement->reason = "no kernel is the same";
  CHECK(graded().passed);                // another GPU, say: the finding is gone
  input.improvement->other_work = true;  // a smaller model, say: a person must look
  CHECK(graded().points == 4);
  CHECK(graded().open == 3);
  CHECK(graded().marks[1].state == MarkState::kPerson);
  CHECK_FALSE(graded().passed);
  input.improvement->other_program = true;
  CHECK(graded().points == 4);
  CHECK_FALSE(graded().passed);
  CHECK_THAT(graded().marks[1].text, Contains("no kernel is the same"));
  input.is_baseline = true;
  CHECK_FALSE(graded().passed);
}

TEST_CASE("a no is worth a point only when every rule behind it could run") {
  const std::string ask =
      "id = \"c\"\nkind = \"choice\"\nask = \"?\"\npoints = 1\nyes_when = [\"input/no-workers\"]\n"
      "choices = [\"yes\", \"no\"]\n";
  const auto state = [&](const Judged& judged, const char* written) {
    GradeInput input;
    input.baseline = &judged.report;
    input.answers = Answers{{"c", written}};
    return Marked(ask, input).state;
  };
  const Judged fine(Outcome::kFine), fired(Outcome::kFired), blind(Outcome::kCannotTell);
  CHECK(state(fired, "Yes") == MarkState::kFull);
  CHECK(state(fired, "no") == MarkState::kZero);
  CHECK(state(fine, "false") == MarkState::kFull);
  CHECK(state(blind, "no") == MarkState::kPerson);
}

TEST_CASE("an improvement is graded in steps; the unchanged hand-out gets nothing") {
  const std::string faster =
      "id = \"f\"\nkind = \"improvement\"\nask = \"?\"\npoints = 4\nsteps = [[2, 1], [1.5, 0.5]]\n";
  ReportStory story;
  GradeInput input;
  input.submission = &story.Done();
  CHECK(Marked(faster, input).state == MarkState::kPerson);
  input.improvement = Improvement{true, false, false, "", 2.5, true};
  CHECK(Marked(faster, input).points == 4);
  input.improvement->speedup = 1.6;
  CHECK(Marked(faster, input).points == 2);
  input.improvement->speedup = 1.2;
  CHECK(Marked(faster, input).state == MarkState::kZero);
  input.improvement = Improvement{false, false, false, "other GPUs", 9, true};
  CHECK_THAT(Marked(faster, input).text, Contains("other GPUs"));
  input.is_baseline = true;
  CHECK(Marked(faster, input).state == MarkState::kZero);
}

TEST_CASE("a fact of the submitted run is held against upper or lower bounds") {
  const std::string bound =
      "id = \"f\"\nkind = \"fact\"\nask = \"?\"\npoints = 2\nfact = \"comm.share\"\nat_most = "
      "true\n"
      "steps = [[0.1, 1], [0.3, 0.5]]\n";
  ReportStory low, middle, high;
  low.Number("comm.share", 0.05, "share");
  middle.Number("comm.share", 0.2, "share");
  high.Number("comm.share", 0.6, "share");
  GradeInput input;
  input.submission = &low.Done();
  CHECK(Marked(bound, input).points == 2);
  input.submission = &middle.Done();
  CHECK(Marked(bound, input).points == 1);
  input.submission = &high.Done();
  CHECK(Marked(bound, input).points == 0);
}

TEST_CASE("a given value is compared in its own unit") {
  const std::string ask =
      "id = \"v\"\nkind = \"answer\"\nask = \"?\"\npoints = 1\nexpect = 112\nunit = \"GB\"\nsteps "
      "= "
      "[[0.02, 1]]\n";
  GradeInput input;
  input.answers = Answers{{"v", "112"}};
  CHECK(Marked(ask, input).state == MarkState::kFull);
  input.answers = Answers{{"v", "0.112 TB"}};
  CHECK(Marked(ask, input).state == MarkState::kFull);
  input.answers = Answers{{"v", "104.3 GiB"}};
  CHECK(Marked(ask, input).state == MarkState::kFull);
  input.answers = Answers{{"v", "112 MB"}};
  CHECK(Marked(ask, input).state == MarkState::kZero);
}

TEST_CASE("what a person must judge stays open") {
  const Grade grade =
      GradeSubmission(Read("id = \"p\"\nkind = \"person\"\nask = \"Explain.\"\npoints = 2\n"), {});
  CHECK(grade.open == 2);
  CHECK(grade.possible == 0);
}

TEST_CASE("an exercise with mistakes names each of them by line") {
  const auto bad =
      ReadExercise("x.toml",
                   "id = \"x\"\ntitle = \"t\"\ntask = \"do\"\n[[criterion]]\nid = \"a b\"\nkind = "
                   "\"answer\"\nask "
                   "= \"?\"\npoints = 0\nfact = \"steps.medan\"\nsteps = [[0.1, 2]]\nabsent = "
                   "[\"input/no-worker\"]\nbonus = 1\n",
                   kFacts, kRules);
  REQUIRE_FALSE(bad);
  std::string all;
  for (const Error& error : bad.error()) all += error.Line() + "\n";
  for (const char* part : {"did you mean \"steps.median\"?", "did you mean \"input/no-workers\"?",
                           "bonus", "points", "hints", "x.toml:"}) {
    CHECK_THAT(all, Contains(part));
  }
}

TEST_CASE("answer sheets are read as TOML and CSV, with limits") {
  const auto toml = ReadAnswers("answers.toml",
                                "a = \"12 ms\"\nb = 4\nc = true\nd = {value = 5, unit = \"GB\"}\n");
  REQUIRE(toml);
  CHECK(toml->at("a") == "12 ms");
  CHECK(toml->at("b") == "4");
  CHECK(toml->at("c") == "yes");
  CHECK(toml->at("d") == "5 GB");
  const auto csv = ReadAnswers(
      "answers.csv", "question,value,unit\r\na,12,ms\nb;\"x;y\"\n\n# note\nc,\"1,5\",GB\n");
  REQUIRE(csv);
  CHECK(csv->at("a") == "12 ms");
  CHECK(csv->at("b") == "x;y");
  CHECK(csv->at("c") == "1,5 GB");
  CHECK_FALSE(ReadAnswers("answers.csv", "only one cell\n"));
  CHECK_FALSE(ReadAnswers("answers.toml", "a = \n"));
  CHECK_FALSE(ReadAnswers("answers.toml", std::string(70000, '#')));
  CHECK_FALSE(ReadAnswers("answers.csv", std::string("a,b\0c", 5)));
  CHECK(IsAnswerSheet("my.Answers.CSV"));
  CHECK_FALSE(IsAnswerSheet("notes.toml"));
}

}  // namespace
}  // namespace advise
