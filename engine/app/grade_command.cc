// `advise grade`: marks for submissions of an exercise, each judged in a process of its own.
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <map>

#include "engine/app/command.h"
#include "engine/app/isolate.h"
#include "engine/app/options.h"
#include "engine/app/submission.h"
#include "engine/base/text.h"
#include "engine/compare/compare.h"
#include "engine/facts/catalog.h"
#include "engine/knowledge/toml_tree.h"
#include "engine/pipeline/inputs.h"
#include "engine/pipeline/session.h"
#include "engine/report/grade_pages.h"
#include "engine/report/json_value.h"

namespace advise {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kMostWarnings = 3;  // of a report, handed on

OrderedJson MarkJson(const Mark& mark) {
  return {{"id", JsonText(mark.id)},       {"state", static_cast<int>(mark.state)},
          {"points", mark.points},         {"possible", mark.possible},
          {"given", JsonText(mark.given)}, {"wanted", JsonText(mark.wanted)},
          {"text", JsonText(mark.text)}};
}

class GradeCommand : public Command {
 public:
  std::string Name() const override { return "grade"; }
  std::string Summary() const override {
    return "Grades submissions of a workshop exercise: points with reasons.";
  }
  std::string Examples() const override {
    return "advise grade loader-no-workers --sheet > answers.toml\n"
           "advise grade loader-no-workers submissions/* --baseline handout.sqlite\n"
           "advise grade exercise.toml submissions/* --format csv -o class.csv\n"
           "advise grade --list";
  }

  void AddOptions(CLI::App& app) override {
    app.add_option("EXERCISE", exercise_, "an exercise's file, or the id of a shipped one")
        ->type_name("");
    app.add_option("SUBMISSION", submissions_,
                   "a report, an answer sheet (….answers.toml, ….answers.csv), or a directory with "
                   "both; one per student")
        ->type_name("");
    app.add_option("--baseline", baseline_, "the run that the students got")->type_name("REPORT");
    app.add_flag("--list", list_, "the shipped exercises");
    app.add_flag("--sheet", sheet_, "an empty answer sheet");
    app.add_flag("--details", details_, "show every point of every submission");
    app.add_option("--hints", hints_,
                   "show this many hints under lost points: symptom, where to look, cause, fix")
        ->check(WholeNumber(0, 4))
        ->type_name("N");
    app.add_option("--time-limit", limits_.seconds, "seconds for one submission")
        ->check(CLI::Range(0.1, 1e6))
        ->type_name("S");
    app.add_option("--size-limit", size_limit_mb_, "megabytes of files in one submission")
        ->check(WholeNumber(1, 1'000'000))
        ->type_name("MB");
    app.add_option("--memory-limit", memory_limit_mb_, "megabytes of memory for one submission")
        ->check(WholeNumber(256, 10'000'000))
        ->type_name("MB");
    app.add_option("--jobs,-j", run_.diagnose.jobs, "number of parallel jobs")
        ->check(WholeNumber(1, 256))
        ->type_name("N");
    app.add_option("--progress", run_.progress, "show progress on stderr: auto, always, never")
        ->check(OneOf({"auto", "always", "never"}))
        ->type_name("WHEN");
    AddSiteOptions(app, run_.diagnose);
    AddOutputOptions(app, run_.output, {"text", "json", "csv", "html"});
  }

  int Run() override {
    // Settings that lie where the submissions do are not the teacher's.
    run_.diagnose.ignore_working_directory = true;
    auto session = OpenSession(run_.diagnose);
    if (!session) return session.error();
    if (list_) return List();
    if (exercise_.empty()) {
      return Complain({"no exercise is named", "", "see: advise grade --list"}, kWrongUsage);
    }
    const int problem = ReadTheExercise(*session);
    if (problem != kAnalyzed) return problem;
    if (sheet_) return Write(AnswerSheet(the_exercise_), kAnalyzed);
    if (submissions_.empty()) {
      return Complain({"no submission is named", "", "see: advise grade --help"}, kWrongUsage);
    }
    return GradeAll(*session);
  }

 private:
  int Write(const std::string& text, int code) const {
    std::vector<std::string> inputs = submissions_;
    inputs.push_back(exercise_);
    if (!baseline_.empty()) inputs.push_back(baseline_);
    return WriteAnswer(text, run_.output, inputs, code);
  }

  int List() const {
    std::string text;
    OrderedJson json = OrderedJson::array();
    for (const Knowledge::File& file : ShippedExercises()) {
      const Result<TomlNode> root = ParseToml(file.path, file.text);
      const TomlNode* title = root ? root->Find("title") : nullptr;
      const std::string id = ExerciseId(file.path);
      const std::string name = title == nullptr ? "" : title->text;
      text += fmt::format("{:<24} {}\n", id, name);
      json.push_back({{"id", JsonText(id)}, {"title", JsonText(name)}});
    }
    return Write(
        run_.output.format == "json" ? PrintJson({{"schema", 1}, {"exercises", json}}) : text,
        kAnalyzed);
  }

  int ReadTheExercise(const Session& session) {
    Knowledge::File file{exercise_, ""};
    std::error_code failed;
    if (fs::is_regular_file(exercise_, failed)) {
      auto text = ReadTextFile(exercise_);
      if (!text) return Complain(text.error(), kUnreadableInput);
      file.text = *text;
    } else {
      std::vector<std::string> ids;
      bool found = false;
      for (const Knowledge::File& known : ShippedExercises()) {
        ids.push_back(ExerciseId(known.path));
        if (ids.back() != exercise_ && known.path != exercise_) continue;
        file = known;
        found = true;
      }
      if (!found) {
        const std::string near = DidYouMean(exercise_, ids);
        return Complain({"no such file, and no shipped exercise of that id", exercise_,
                         near.empty() ? "see: advise grade --list" : "did you mean " + near + "?"},
                        kUnreadableInput);
      }
    }
    std::vector<std::string> rules;
    for (const RuleInfo* rule : RuleInfos(session)) rules.push_back(rule->id);
    auto read = ReadExercise(file.path, file.text, session.facts, rules);
    if (!read) return Complain(read.error(), kBrokenRules);
    the_exercise_ = std::move(*read);
    if (baseline_.empty() && !the_exercise_.baseline.empty()) {
      const std::string beside =
          (fs::path(file.path).parent_path() / the_exercise_.baseline).string();
      if (fs::exists(beside, failed)) baseline_ = beside;
    }
    return kAnalyzed;
  }

  int GradeAll(const Session& session) {
    limits_.memory_bytes = static_cast<std::size_t>(memory_limit_mb_) << 20U;
    Report baseline;
    if (!baseline_.empty()) {
      auto files = ExpandReports({baseline_});
      if (!files) return Complain(files.error(), kUnreadableInput);
      DiagnoseOptions options = run_.diagnose;
      options.reports = *files;
      auto saved = Diagnose(session, options);
      if (!saved) return Complain(saved.error(), kUnreadableInput);
      baseline = std::move(saved->report);
    }
    GradedClass graded{&the_exercise_, {}};
    std::map<std::uint64_t, std::vector<std::size_t>> same;
    Progress progress(run_.progress);
    for (const std::string& path : submissions_) {
      progress.Stage("grading " + path);
      graded.submissions.push_back(
          GradeOne(session, path, baseline_.empty() ? nullptr : &baseline));
      if (fingerprint_ != 0) same[fingerprint_].push_back(graded.submissions.size() - 1);
    }
    for (const auto& [fingerprint, group] : same) {
      for (const std::size_t one : group) {
        std::string others;
        for (const std::size_t other : group) {
          if (other != one) others += (others.empty() ? "" : ", ") + graded.submissions[other].name;
        }
        if (!others.empty()) {
          graded.submissions[one].flags.push_back("the same run was handed in by " + others);
        }
      }
    }
    return Render(graded);
  }

  int Render(const GradedClass& graded) const {
    const std::string& format = run_.output.format;
    GradeTextOptions options{run_.output.Width(), run_.output.Color(), details_, hints_};
    const int code = Write(format == "json"   ? GradeJson(graded)
                           : format == "csv"  ? GradeCsv(graded)
                           : format == "html" ? GradeHtml(graded)
                                              : GradeText(graded, options),
                           kAnalyzed);
    if (code != kAnalyzed) return code;
    std::size_t failed = 0;
    for (const GradedSubmission& one : graded.submissions) {
      failed += one.problem.empty() && one.grade.passed ? 0 : 1;
    }
    return failed == 0 ? kAnalyzed : kConditionMet;
  }

  GradedSubmission GradeOne(const Session& session, const std::string& path,
                            const Report* baseline) {
    GradedSubmission result;
    fingerprint_ = 0;
    const auto submission =
        ReadSubmission(path, static_cast<std::uint64_t>(size_limit_mb_) * 1'000'000);
    if (!submission) {
      result.name = fs::path(path).filename().string();
      result.problem = submission.error().Line();
      return result;
    }
    result.name = submission->name;
    result.notes = submission->notes;
    const auto output =
        RunIsolated(limits_, [&] { return JudgeInChild(session, *submission, baseline); });
    if (!output) {
      result.problem = output.error().Line();
      return result;
    }
    ReadBack(*output, &result);
    return result;
  }

  // Runs in the child: everything that reads what was handed in.
  std::string JudgeInChild(const Session& session, const Submission& submission,
                           const Report* baseline) const {
    OrderedJson json;
    json["notes"] = OrderedJson::array();
    GradeInput input;
    Report run, before;
    const auto read = [&](const std::vector<std::string>& files, Report* report) {
      DiagnoseOptions options = run_.diagnose;
      options.reports = files;
      auto made = Diagnose(session, options);
      if (!made) {
        json["notes"].push_back(JsonText(made.error().Line()));
        return false;
      }
      // What was read of a damaged file is judged, but a teacher must know.
      std::size_t warnings = 0;
      for (const Diagnostic& item : made->report.diagnostics) {
        if (item.level != Level::kInfo && warnings++ < kMostWarnings) {
          json["notes"].push_back(JsonText(item.text));
        }
      }
      *report = std::move(made->report);
      return true;
    };
    if (!submission.answers.empty()) {
      const auto text = ReadTextFile(submission.answers);
      const auto answers =
          text ? ReadAnswers(submission.answers, *text) : tl::make_unexpected(text.error());
      if (answers) {
        input.answers = *answers;
      } else {
        json["notes"].push_back(JsonText(answers.error().Line()));
      }
    }
    input.baseline = baseline;
    if (!submission.reports.empty() && read(submission.reports, &run)) input.submission = &run;
    if (baseline == nullptr && !submission.before.empty() && read(submission.before, &before)) {
      input.baseline = &before;
    }
    if (input.submission != nullptr) {
      const std::uint64_t print = run.work_digest;
      json["fingerprint"] = print;
      if (baseline != nullptr && print != 0 && print == baseline->work_digest) {
        input.is_baseline = true;
      }
      if (input.baseline != nullptr && !input.is_baseline) {
        const RunComparison compared = CompareRuns(*input.baseline, run, *session.knowledge);
        Improvement improvement;
        improvement.comparable = compared.comparable;
        improvement.other_program = compared.other_program;
        improvement.other_work = compared.other_work;
        improvement.reason = fmt::format("{}", fmt::join(compared.reasons, "; "));
        improvement.certain = compared.certain.value_or(false);
        // A change inside the noise is none.
        improvement.speedup =
            compared.certain.has_value() && !*compared.certain ? 1 : compared.speedup;
        input.improvement = improvement;
      }
    }
    if (submission.reports.empty() && submission.answers.empty()) {
      json["notes"].push_back("neither a report nor an answer sheet was found");
    }
    const Grade grade = GradeSubmission(the_exercise_, input);
    json["is_baseline"] = input.is_baseline;
    json["other_program"] = input.improvement && input.improvement->other_program;
    json["not_compared"] = input.improvement && !input.improvement->comparable;
    json["points"] = grade.points;
    json["possible"] = grade.possible;
    json["open"] = grade.open;
    json["passed"] = grade.passed;
    json["marks"] = OrderedJson::array();
    for (const Mark& mark : grade.marks) json["marks"].push_back(MarkJson(mark));
    return PrintJson(json);
  }

  // From the child's answer: what is not as it should be makes the submission one that failed.
  void ReadBack(const std::string& text, GradedSubmission* result) {
    const OrderedJson json = OrderedJson::parse(text, nullptr, /*allow_exceptions=*/false);
    try {
      fingerprint_ = json.value("fingerprint", std::uint64_t{0});
      if (json.at("is_baseline").get<bool>()) {
        result->flags.emplace_back("the handed-out run, unchanged");
      }
      if (json.at("other_program").get<bool>()) {
        result->flags.emplace_back("a run of another program");
      } else if (json.at("not_compared").get<bool>()) {
        result->flags.emplace_back("a run that cannot be compared with the handed-out one");
      }
      for (const auto& note : json.at("notes")) result->notes.push_back(note.get<std::string>());
      result->grade.points = json.at("points").get<double>();
      result->grade.possible = json.at("possible").get<double>();
      result->grade.open = json.at("open").get<double>();
      result->grade.passed = json.at("passed").get<bool>();
      for (const auto& mark : json.at("marks")) {
        const int state = mark.at("state").get<int>();
        result->grade.marks.push_back(
            {mark.at("id").get<std::string>(),
             static_cast<MarkState>(std::clamp(state, 0, static_cast<int>(MarkState::kPerson))),
             mark.at("points").get<double>(), mark.at("possible").get<double>(),
             mark.at("given").get<std::string>(), mark.at("wanted").get<std::string>(),
             mark.at("text").get<std::string>()});
      }
    } catch (const OrderedJson::exception&) {
      result->grade.marks.clear();
    }
    if (result->grade.marks.size() != the_exercise_.criteria.size()) {
      result->grade = Grade();
      result->problem = "could not be graded";
    }
  }

  RunOptions run_;
  IsolateLimits limits_;
  int size_limit_mb_ = 2048;
  int memory_limit_mb_ = 8192;
  std::string exercise_;
  std::vector<std::string> submissions_;
  std::string baseline_;
  bool list_ = false;
  bool sheet_ = false;
  bool details_ = false;
  int hints_ = 0;
  Exercise the_exercise_;
  std::uint64_t fingerprint_ = 0;  // of the submission graded last, 0 none
};

}  // namespace

std::unique_ptr<Command> MakeGradeCommand() { return std::make_unique<GradeCommand>(); }

}  // namespace advise
