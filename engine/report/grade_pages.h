// Marks of a class laid out as text, JSON, CSV and HTML.
#pragma once

#include <string>
#include <vector>

#include "engine/grade/graded_class.h"

namespace advise {

std::string Points(double points);                   // "2", "1.2"
std::string VerdictOf(const GradedSubmission& one);  // "passed", "not passed", "not graded"
// Why a teacher should look: what stopped it, or its flags, or else its notes.
std::string LookAt(const GradedSubmission& one);

struct GradeTextOptions {
  int width = 80;
  bool color = false;
  bool details = false;  // show every point of every submission
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
