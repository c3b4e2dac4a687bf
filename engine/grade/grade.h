// Exercise + runs + answers → marks with reasons. Judges only what can be judged: what cannot be
// told is left to a person and counts neither for nor against.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "engine/advice/report_model.h"
#include "engine/grade/answer_sheet.h"
#include "engine/grade/exercise.h"

namespace advise {

// The submitted run against the baseline, as a comparison found it.
struct Improvement {
  bool comparable = false;
  bool other_program = false;  // the submitted run is one of another program
  bool other_work = false;     // of other work per step: another batch, a smaller model
  std::string reason;          // when not comparable
  double speedup = 1;
  bool certain = false;  // larger than the noise
};

struct GradeInput {
  const Report* baseline = nullptr;    // nullptr: none
  const Report* submission = nullptr;  // nullptr: no run was handed in
  std::optional<Answers> answers;      // nullopt: no sheet was handed in
  std::optional<Improvement> improvement;
  bool is_baseline = false;  // the submitted run is the handed-out one, unchanged
};

enum class MarkState { kFull, kPartial, kZero, kMissing, kPerson };
const char* MarkStateName(MarkState state);

struct Mark {
  std::string id;
  MarkState state = MarkState::kZero;
  double points = 0;
  double possible = 0;
  std::string given;   // what was answered or seen
  std::string wanted;  // what it was held against
  std::string text;    // the exercise's text for good or bad, or why a person must look
};

struct Grade {
  std::vector<Mark> marks;  // in the order of the exercise
  double points = 0;
  double possible = 0;  // of what was judged
  double open = 0;      // left to a person
  // Enough points; and, where the exercise asks for a change, a run that shows one, or of which a
  // person must say whether it does. A run of other work does not show one by itself.
  bool passed = false;
};

Grade GradeSubmission(const Exercise& exercise, const GradeInput& input);

}  // namespace advise
