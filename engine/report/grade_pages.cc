#include "engine/report/grade_pages.h"

#include <fmt/format.h>

#include "engine/base/text.h"
#include "engine/report/json_value.h"
#include "engine/report/layout.h"

namespace advise {
namespace {

std::string Sign(MarkState state) {
  switch (state) {
    case MarkState::kFull:
      return "+";
    case MarkState::kPartial:
      return "~";
    case MarkState::kPerson:
      return "?";
    case MarkState::kZero:
    case MarkState::kMissing:
      break;
  }
  return "-";
}

Ink InkOf(MarkState state) {
  return state == MarkState::kFull      ? Ink::kGreen
         : state == MarkState::kPerson  ? Ink::kDim
         : state == MarkState::kPartial ? Ink::kYellow
                                        : Ink::kRed;
}

std::string SumOf(const GradedSubmission& one) {
  if (!one.problem.empty()) return "";
  std::string text = Points(one.grade.points) + " of " + Points(one.grade.possible);
  if (one.grade.open > 0) text += ", " + Points(one.grade.open) + " left to a person";
  return text;
}

void WriteSubmission(Page& page, const Exercise& exercise, const GradedSubmission& one,
                     const GradeTextOptions& options) {
  page.Blank();
  page.Wrapped(fmt::format("{}: {}{}", one.name, VerdictOf(one),
                           one.problem.empty() ? ", " + SumOf(one) : ": " + one.problem),
               0, Ink::kBold);
  for (const std::string& flag : one.flags) page.Labelled("!", 1, 3, flag, Ink::kYellow);
  for (const std::string& note : one.notes) page.Labelled(".", 1, 3, note, Ink::kDim);
  for (std::size_t i = 0; i < one.grade.marks.size(); ++i) {
    const Mark& mark = one.grade.marks[i];
    std::string line =
        fmt::format("{} {}/{}: {}", mark.id, Points(mark.points), Points(mark.possible), mark.text);
    if (!mark.given.empty()) line += " Seen: " + mark.given + ".";
    if (!mark.wanted.empty() && mark.state != MarkState::kFull)
      line += " Wanted: " + mark.wanted + ".";
    page.Labelled(Sign(mark.state), 1, 3, line, InkOf(mark.state));
    const bool lost = mark.state == MarkState::kZero || mark.state == MarkState::kMissing ||
                      mark.state == MarkState::kPartial;
    const auto& hints = exercise.criteria[i].hints;
    for (std::size_t h = 0; lost && h < hints.size() && h < static_cast<std::size_t>(options.hints);
         ++h) {
      page.Labelled(fmt::format("hint {}", h + 1), 5, 12, hints[h], Ink::kDim);
    }
  }
}

// RFC 4180; a leading =, +, -, @ would be a formula to a spreadsheet.
std::string CsvCell(const std::string& raw) {
  std::string text = SafeText(raw);
  if (!text.empty() && std::string("=+-@").find(text.front()) != std::string::npos) {
    text.insert(0, "'");
  }
  std::string quoted = "\"";
  for (const char c : text) quoted += c == '"' ? std::string("\"\"") : std::string(1, c);
  return quoted + "\"";
}

std::string Joined(const std::vector<std::string>& list) {
  return fmt::format("{}", fmt::join(list, "; "));
}

}  // namespace

std::string Points(double points) { return fmt::format("{:.15g}", points); }

std::string VerdictOf(const GradedSubmission& one) {
  if (!one.problem.empty()) return "not graded";
  return one.grade.passed ? "passed" : "not passed";
}

std::string LookAt(const GradedSubmission& one) {
  if (!one.problem.empty()) return one.problem;
  return one.flags.empty() ? Joined(one.notes) : Joined(one.flags);
}

std::string GradeText(const GradedClass& graded, const GradeTextOptions& options) {
  const Exercise& exercise = *graded.exercise;
  Page page(options.width, options.color);
  page.Wrapped(fmt::format("{}  ({} points, {} to pass)", exercise.title, Points(exercise.Points()),
                           FormatQuantity(exercise.pass_share, "share")),
               0, Ink::kBold);
  const bool many = graded.submissions.size() > 1;
  if (many) {
    page.Blank();
    std::vector<std::vector<std::string>> rows;
    for (const GradedSubmission& one : graded.submissions) {
      rows.push_back({SafeText(one.name), VerdictOf(one),
                      one.problem.empty() ? Points(one.grade.points) : "",
                      one.problem.empty() ? Points(one.grade.possible) : "",
                      one.problem.empty() ? Points(one.grade.open) : "", SafeText(LookAt(one))});
    }
    WriteTable(page, {"submission", "verdict", "points>", "of>", "open>", "look at"}, rows, 0);
    page.Blank();
    rows.clear();
    for (std::size_t i = 0; i < exercise.criteria.size(); ++i) {
      const QuestionStatistics s = StatisticsOf(graded, i);
      rows.push_back({exercise.criteria[i].id, FormatQuantity(s.mean_share, "share"),
                      std::to_string(s.full), std::to_string(s.partial), std::to_string(s.none),
                      std::to_string(s.missing), std::to_string(s.person)});
    }
    WriteTable(page, {"criterion", "mean>", "full>", "part>", "none>", "missing>", "person>"}, rows,
               0);
  }
  if (!many || options.details) {
    for (const GradedSubmission& one : graded.submissions) {
      WriteSubmission(page, exercise, one, options);
    }
  }
  return page.text();
}

std::string GradeJson(const GradedClass& graded) {
  const Exercise& exercise = *graded.exercise;
  OrderedJson submissions = OrderedJson::array();
  for (const GradedSubmission& one : graded.submissions) {
    OrderedJson marks = OrderedJson::array();
    for (const Mark& mark : one.grade.marks) {
      marks.push_back({{"id", JsonText(mark.id)},
                       {"state", MarkStateName(mark.state)},
                       {"points", JsonNumber(mark.points)},
                       {"possible", JsonNumber(mark.possible)},
                       {"given", JsonText(mark.given)},
                       {"wanted", JsonText(mark.wanted)},
                       {"text", JsonText(mark.text)}});
    }
    submissions.push_back({{"submission", JsonText(one.name)},
                           {"status", one.problem.empty() ? "graded" : "failed"},
                           {"problem", JsonText(one.problem)},
                           {"points", JsonNumber(one.grade.points)},
                           {"possible", JsonNumber(one.grade.possible)},
                           {"open", JsonNumber(one.grade.open)},
                           {"passed", one.problem.empty() && one.grade.passed},
                           {"flags", JsonTexts(one.flags)},
                           {"notes", JsonTexts(one.notes)},
                           {"marks", marks}});
  }
  OrderedJson questions = OrderedJson::array();
  for (std::size_t i = 0; i < exercise.criteria.size(); ++i) {
    const QuestionStatistics s = StatisticsOf(graded, i);
    questions.push_back({{"id", JsonText(exercise.criteria[i].id)},
                         {"ask", JsonText(exercise.criteria[i].ask)},
                         {"points", JsonNumber(exercise.criteria[i].points)},
                         {"mean_share", JsonNumber(s.mean_share)},
                         {"full", s.full},
                         {"partial", s.partial},
                         {"none", s.none},
                         {"missing", s.missing},
                         {"person", s.person}});
  }
  return PrintJson({{"schema", 1},
                    {"exercise",
                     {{"id", JsonText(exercise.id)},
                      {"title", JsonText(exercise.title)},
                      {"points", JsonNumber(exercise.Points())},
                      {"pass_share", JsonNumber(exercise.pass_share)}}},
                    {"submissions", submissions},
                    {"questions", questions}});
}

std::string GradeCsv(const GradedClass& graded) {
  std::string csv = "submission,verdict,points,possible,open,flags";
  for (const Criterion& one : graded.exercise->criteria) csv += "," + CsvCell(one.id);
  csv += "\r\n";
  for (const GradedSubmission& one : graded.submissions) {
    csv += CsvCell(one.name) + "," + CsvCell(VerdictOf(one)) + "," + Points(one.grade.points) +
           "," + Points(one.grade.possible) + "," + Points(one.grade.open) + "," +
           CsvCell(one.problem.empty() ? Joined(one.flags) : one.problem);
    for (std::size_t i = 0; i < graded.exercise->criteria.size(); ++i) {
      csv += ",";
      if (i >= one.grade.marks.size()) continue;
      const Mark& mark = one.grade.marks[i];
      csv += mark.state == MarkState::kPerson ? CsvCell("?") : Points(mark.points);
    }
    csv += "\r\n";
  }
  return csv;
}

}  // namespace advise
