// The marks of a class: of each submission, and of all of them by criterion.
#pragma once

#include <string>
#include <vector>

#include "engine/grade/grade.h"

namespace advise {

struct GradedSubmission {
  std::string name;
  std::string problem;  // why it could not be graded; "" graded
  Grade grade;
  std::vector<std::string> flags;  // what a teacher should look at
  std::vector<std::string> notes;
};

struct GradedClass {
  const Exercise* exercise = nullptr;
  std::vector<GradedSubmission> submissions;
};

// How a class did on one criterion.
struct QuestionStatistics {
  std::size_t full = 0, partial = 0, none = 0, missing = 0, person = 0;
  double mean_share = 0;  // of the points, over what was judged
};
QuestionStatistics StatisticsOf(const GradedClass& graded, std::size_t criterion);

}  // namespace advise
