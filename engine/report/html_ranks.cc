// How several ranks work together: the efficiency tree and the table of ranks, from the facts of
// the run.
#include <fmt/format.h>

#include <algorithm>

#include "engine/base/text.h"
#include "engine/report/html_parts.h"
#include "engine/report/html_text.h"

namespace advise {
namespace {

// A factor of the tree: its name, its share as a bar, what it means.
std::string Factor(const Report& report, const std::string& name, const char* words) {
  const std::optional<double> share = FactNumber(report, name);
  if (!share) return "";
  const std::string percent = FormatQuantity(*share, "share");
  return fmt::format(
      "<span class=\"factor\"><span class=\"name\">{}</span> <strong>{}</strong>"
      "<span class=\"bar\" aria-hidden=\"true\"><span class=\"compute\" style=\"--share:{:.4f}\">"
      "</span></span><span class=\"note\">{}</span></span>",
      words, HtmlText(percent), std::clamp(*share, 0.0, 1.0),
      HtmlText(FindFact(report, name)->info->definition));
}

struct Column {
  const char* key;
  const char* title;
  const char* unit;  // "" text
};
constexpr Column kColumns[] = {{"rank", "Rank", "count"},     {"host", "Host", ""},
                               {"step", "Step", "ns"},        {"compute", "Compute", "ns"},
                               {"loading", "Loading", "ns"},  {"idle", "Idle", "ns"},
                               {"waited", "Waited", "ns"},    {"late", "Comes last", "share"},
                               {"lateness", "Lateness", "ns"}};

std::string CellText(const Row& row, const Column& column) {
  const auto cell = std::find_if(row.begin(), row.end(),
                                 [&](const auto& named) { return named.first == column.key; });
  if (cell == row.end()) return "";
  if (const auto* number = std::get_if<double>(&cell->second)) {
    return HtmlText(FormatQuantity(*number, column.unit));
  }
  return HtmlText(std::get<std::string>(cell->second));
}

// Without those that say nothing of any rank.
std::vector<const Column*> ColumnsOf(const Rows& rows) {
  std::vector<const Column*> columns;
  for (const Column& column : kColumns) {
    const bool says = std::any_of(rows.begin(), rows.end(),
                                  [&](const Row& row) { return !CellText(row, column).empty(); });
    if (says) columns.push_back(&column);
  }
  return columns;
}

std::string RankTable(const Report& report) {
  const NamedFact* fact = FindFact(report, "cluster.table");
  const Rows* rows = fact == nullptr ? nullptr : std::get_if<Rows>(&fact->fact.value);
  if (rows == nullptr || rows->empty()) return "";
  std::string html =
      "<details><summary>Every rank</summary>\n<div class=\"scroll\" tabindex=\"0\" "
      "role=\"region\" "
      "aria-label=\"Every rank, times per step\"><table class=\"each\"><thead><tr>";
  const std::vector<const Column*> columns = ColumnsOf(*rows);
  for (const Column* column : columns) {
    html += fmt::format("<th scope=\"col\"{}>{}</th>",
                        *column->unit == '\0' ? "" : " class=\"num\"", column->title);
  }
  html += "</tr></thead><tbody>\n";
  for (const Row& row : *rows) {
    html += "<tr>";
    for (const Column* column : columns) {
      html += fmt::format("<td data-name=\"{}\"{}>{}</td>", column->title,
                          *column->unit == '\0' ? "" : " class=\"num\"", CellText(row, *column));
    }
    html += "</tr>\n";
  }
  return html + "</tbody></table></div></details>\n";
}

}  // namespace

std::string HtmlRanks(const Report& report) {
  if (!FactNumber(report, "cluster.efficiency.parallel")) return "";
  const std::optional<double> ranks = FactNumber(report, "cluster.ranks");
  if (ranks && *ranks < 2) return "";
  return "<section aria-labelledby=\"ranks-title\" class=\"panel\" id=\"efficiency\">\n"
         "<h2 id=\"ranks-title\">How the ranks work together</h2>\n<ul class=\"tree\">\n<li>" +
         Factor(report, "cluster.efficiency.parallel", "Parallel efficiency") + "\n<ul>\n<li>" +
         Factor(report, "cluster.efficiency.load_balance", "Load balance") + "</li>\n<li>" +
         Factor(report, "cluster.efficiency.communication", "Communication") + "</li>\n<li>" +
         Factor(report, "cluster.efficiency.orchestration", "Host keeping up") +
         "</li>\n</ul></li></ul>\n" + RankTable(report) + "</section>\n";
}

}  // namespace advise
