// Marks of a class as one page: no scripts, nothing fetched, everything from submissions is text.
#include <fmt/format.h>

#include "engine/base/text.h"
#include "engine/report/grade_pages.h"
#include "engine/report/html_text.h"

namespace advise {
namespace {

constexpr const char* kStyle =
    ":root{color-scheme:light dark;--line:#c9d1da;--muted:#54606f;--full:#d9f2d9;--partial:#fff3cc;"
    "--none:#f8d7da;--person:#e8e8e8}\n"
    "@media(prefers-color-scheme:dark){:root{--line:#3a4655;--muted:#9fadbe;--full:#17402a;"
    "--partial:#4a3d10;--none:#4d1f26;--person:#333c48}}\n"
    "body{font:15px/1.4 system-ui,sans-serif;margin:1.2em auto;max-width:90em;padding:0 1em}\n"
    "table{border-collapse:collapse}th,td{border:1px solid var(--line);padding:.3em .6em;"
    "text-align:left;vertical-align:top}.n{text-align:right}.keep{white-space:nowrap}\n"
    ".scroll{overflow-x:auto;margin:1em 0}.muted{color:var(--muted)}\n"
    ".full{background:var(--full)}.partial{background:var(--partial)}"
    ".none,.missing{background:var(--none)}.person{background:var(--person)}\n"
    "details{margin:.4em 0}summary{cursor:pointer;font-weight:600}\n"
    "@media print{details{break-inside:avoid}}\n";

std::string TableCell(const std::string& text, const char* css) {
  return fmt::format("<td class=\"{}\">{}</td>", css, HtmlText(text));
}

// "?" for what a person must judge.
std::string MarkText(const Mark& mark) {
  return mark.state == MarkState::kPerson ? "?" : Points(mark.points);
}

std::string ScrollTable(const char* label, const std::string& head, const std::string& body) {
  return fmt::format(
      "<div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-label=\"{}\"><table><thead><tr>{}"
      "</tr></thead><tbody>\n{}</tbody></table></div>\n",
      label, head, body);
}

std::string Head(const std::string& text, bool number = false) {
  return fmt::format("<th scope=\"col\"{}>{}</th>", number ? " class=\"n\"" : "", HtmlText(text));
}

std::string ClassTable(const GradedClass& graded) {
  std::string head = Head("submission") + Head("verdict") + Head("points", true) +
                     Head("of", true) + Head("left to a person", true) + Head("look at");
  for (const Criterion& one : graded.exercise->criteria) {
    head += fmt::format("<th scope=\"col\" class=\"n\" title=\"{}\">{}</th>", HtmlText(one.ask),
                        HtmlText(one.id));
  }
  std::string body;
  for (std::size_t s = 0; s < graded.submissions.size(); ++s) {
    const GradedSubmission& one = graded.submissions[s];
    const bool is_graded = one.problem.empty();
    const auto points = [&](double value) {
      return TableCell(is_graded ? Points(value) : "", "n keep");
    };
    body += fmt::format("<tr><th scope=\"row\"><a href=\"#submission-{}\">{}</a></th>", s + 1,
                        HtmlText(one.name));
    body += TableCell(VerdictOf(one), "keep") + points(one.grade.points) +
            points(one.grade.possible) + points(one.grade.open) + TableCell(LookAt(one), "");
    for (std::size_t i = 0; i < graded.exercise->criteria.size(); ++i) {
      if (i >= one.grade.marks.size()) {
        body += "<td></td>";
        continue;
      }
      const Mark& mark = one.grade.marks[i];
      body += TableCell(MarkText(mark), fmt::format("n {}", MarkStateName(mark.state)).c_str());
    }
    body += "</tr>\n";
  }
  return ScrollTable("The class", head, body);
}

std::string QuestionTable(const GradedClass& graded) {
  const Exercise& exercise = *graded.exercise;
  std::string head = Head("criterion") + Head("question");
  for (const char* column : {"mean", "full", "part", "none", "missing", "person"}) {
    head += Head(column, true);
  }
  std::string body;
  for (std::size_t i = 0; i < exercise.criteria.size(); ++i) {
    const QuestionStatistics s = StatisticsOf(graded, i);
    body += fmt::format("<tr><th scope=\"row\">{}</th><td>{}</td>",
                        HtmlText(exercise.criteria[i].id), HtmlText(exercise.criteria[i].ask));
    body += TableCell(FormatQuantity(s.mean_share, "share"), "n keep");
    for (const std::size_t count : {s.full, s.partial, s.none, s.missing, s.person}) {
      body += TableCell(std::to_string(count), "n");
    }
    body += "</tr>\n";
  }
  return ScrollTable("The questions", head, body);
}

// Closed until asked for: a class is read as a table, a student's marks one by one.
std::string SubmissionSection(const Exercise& exercise, const GradedSubmission& one,
                              std::size_t number) {
  std::string html = fmt::format("<details id=\"submission-{}\"><summary>{}: {}", number,
                                 HtmlText(one.name), VerdictOf(one));
  if (one.problem.empty()) {
    html += fmt::format(", {} of {}", Points(one.grade.points), Points(one.grade.possible));
  }
  html += "</summary>\n<ul>\n";
  if (!one.problem.empty()) html += "<li>" + HtmlText(one.problem) + "</li>\n";
  for (const auto* list : {&one.flags, &one.notes}) {
    for (const std::string& line : *list) html += "<li>" + HtmlText(line) + "</li>\n";
  }
  html += "</ul>\n";
  if (one.grade.marks.empty()) return html + "</details>\n";
  std::string body;
  for (std::size_t i = 0; i < one.grade.marks.size() && i < exercise.criteria.size(); ++i) {
    const Mark& mark = one.grade.marks[i];
    body += fmt::format("<tr><th scope=\"row\">{}</th>", HtmlText(mark.id));
    body += TableCell(MarkText(mark) + " of " + Points(mark.possible),
                      fmt::format("n keep {}", MarkStateName(mark.state)).c_str());
    body += TableCell(mark.text, "") + TableCell(mark.given, "") + TableCell(mark.wanted, "") +
            "</tr>\n";
  }
  return html +
         ScrollTable(
             "Marks",
             Head("criterion") + Head("points", true) + Head("why") + Head("seen") + Head("wanted"),
             body) +
         "</details>\n";
}

}  // namespace

std::string GradeHtml(const GradedClass& graded) {
  const Exercise& exercise = *graded.exercise;
  std::string body = fmt::format(
      "<p>{}</p>\n", HtmlText(fmt::format("{} points, {} to pass.", Points(exercise.Points()),
                                          FormatQuantity(exercise.pass_share, "share"))));
  body += ClassTable(graded) + "<h2>Questions</h2>\n" + QuestionTable(graded) +
          "<h2>Submissions</h2>\n";
  for (std::size_t i = 0; i < graded.submissions.size(); ++i) {
    body += SubmissionSection(exercise, graded.submissions[i], i + 1);
  }
  return HtmlPage(exercise.title, kStyle, body);
}

}  // namespace advise
