// An exercise of a course: questions about a run, and what a submitted run must show. Read from one
// TOML file; every number of judgment (tolerances, steps of partial marks) stands there.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "engine/base/error.h"
#include "engine/facts/facts.h"

namespace advise {

// What a criterion looks at.
enum class CriterionKind {
  kAnswer,       // a number in the answer sheet against a fact or a given value
  kChoice,       // one of several answers against a fact, a verdict or a given one
  kFinding,      // findings that must be gone (or be there)
  kFact,         // a fact of the submitted run against bounds
  kImprovement,  // the submitted run against the baseline
  kPerson,       // what only a person can judge
};

// Which run a criterion reads.
enum class RunRole { kBaseline, kSubmission };

struct Criterion {
  std::string id;
  CriterionKind kind = CriterionKind::kAnswer;
  std::string ask;  // the question, or what is looked at
  double points = 1;
  RunRole on = RunRole::kBaseline;
  std::string fact;              // of answers, choices and facts
  std::string or_fact;           // of answers: what a common other method gives, as right
  std::string or_says;           // what to say then
  std::optional<double> expect;  // a given number instead of a fact
  std::string expect_text;       // a given choice instead of a fact
  std::string unit;              // that a bare number is read in; of `expect`, its unit
  double scale = 1;              // the fact is multiplied by this first
  std::vector<std::string> choices;
  std::vector<std::string> yes_when;  // choices "yes", "no": yes when one of these rules fired
  std::vector<std::string> absent;    // rules that must not fire
  std::vector<std::string> present;   // rules of which one must fire
  // Partial marks: (bound, share of the points), the best first. Of answers the largest relative
  // error; of facts and improvements the bound to reach.
  std::vector<std::pair<double, double>> steps;
  bool at_most = false;  // of facts: the bound is an upper one
  std::string good, bad;
  std::vector<std::string> hints;  // four: symptom, where to look, cause, fix
  std::vector<std::string> knowledge;
};

struct Exercise {
  std::string id;
  std::string title;
  std::string task;      // what to do, for the student
  std::string handout;   // how the shipped trace is made: "fixtures/exercises/x.toml"
  std::string baseline;  // path of the baseline report, relative to the exercise; may be empty
  double pass_share = 0.5;
  std::vector<std::string> knowledge;
  std::vector<Criterion> criteria;  // in the order of the file

  double Points() const;
};

// Checks every field; all problems at once, as "file:line". `rules`: the ids of all rules.
tl::expected<Exercise, std::vector<Error>> ReadExercise(const std::string& path,
                                                        const std::string& text,
                                                        const std::vector<FactInfo>& facts,
                                                        const std::vector<std::string>& rules);

// An empty answer sheet (TOML) with the questions as comments.
std::string AnswerSheet(const Exercise& exercise);

}  // namespace advise
