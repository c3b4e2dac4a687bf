// Marks of a class laid out as text, JSON, CSV and HTML.
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

std::string Points(double points);                   // "2", "1.2"
std::string VerdictOf(const GradedSubmission& one);  // "passed", "not passed", "not graded"
// Why a teacher should look: what stopped it, or its flags, or else its notes.
std::string LookAt(const GradedSubmission& one);

struct GradeTextOptions {
  int width = 80;
  bool color = false;
  bool details = false;  // every mark of every submission
  int hints = 0;         // levels of hints under a lost mark, 0 to 4
};
std::string GradeText(const GradedClass& graded, const GradeTextOptions& options);
std::string GradeJson(const GradedClass& graded);
// One line a submission. Cells that a spreadsheet would take for a formula are defused.
std::string GradeCsv(const GradedClass& graded);
// The class as a table, the questions, and each submission with its marks and reasons
// (grade_html.cc).
std::string GradeHtml(const GradedClass& graded);

}  // namespace advise
