#include "engine/report/facts_text.h"

#include <fmt/format.h>

#include <algorithm>

#include "engine/base/text.h"
#include "engine/report/layout.h"

namespace advise {
namespace {

constexpr int kWidestName = 40;

int NameColumn(int widest) { return std::min(widest, kWidestName) + 2; }

// Columns of tables carry their unit in the name: "exposed_ns", "bytes", "share".
std::string_view UnitOfColumn(std::string_view column) {
  for (const std::string_view unit : {"bytes_per_s", "flop_per_s", "share", "bytes", "ns", "hz"}) {
    if (column == unit || column.ends_with("_" + std::string(unit))) return unit;
  }
  if (column == "bandwidth" || column == "rate") return "bytes_per_s";
  for (const std::string_view time : {"time", "exposed", "median", "lost", "wait", "idle", "gap",
                                      "start", "end", "duration", "host", "gpu"}) {
    if (column == time) return "ns";
  }
  return "count";
}

std::string CellText(const std::string& column, const Cell& cell) {
  if (const auto* number = std::get_if<double>(&cell)) {
    return FormatQuantity(*number, UnitOfColumn(column));
  }
  return SafeText(std::get<std::string>(cell));
}

void WriteRows(Page& page, const NamedFact& fact, const Rows& rows) {
  page.Blank();
  page.Line(page.Paint(fact.info->name, Ink::kBold));
  page.Wrapped(fact.info->definition, 2, Ink::kDim);
  if (rows.empty()) {
    page.Line("  (no rows)");
    return;
  }
  std::vector<std::string> header;
  for (const auto& [column, cell] : rows.front()) {
    header.push_back(SafeText(column) + (std::holds_alternative<double>(cell) ? ">" : ""));
  }
  std::vector<std::vector<std::string>> cells;
  for (const Row& row : rows) {
    std::vector<std::string> line;
    for (const auto& [column, cell] : row) line.push_back(CellText(column, cell));
    cells.push_back(line);
  }
  WriteTable(page, header, cells, 2);
}

// Name and value on one line, to be found with grep; what they mean below.
void WriteEntry(Page& page, const FactInfo& fact, const std::string& value, int widest, Ink ink) {
  const int column = std::max(NameColumn(widest), DisplayWidth(fact.name) + 2);
  page.Labelled(fact.name, 0, column, value, ink);
  page.Wrapped(fact.definition, 4, Ink::kDim);
}

}  // namespace

std::string FactText(const NamedFact& fact) {
  const Value& value = fact.fact.value;
  if (const auto* absent = std::get_if<Absent>(&value)) return "absent: " + absent->reason;
  if (const auto* number = std::get_if<double>(&value)) {
    return FormatQuantity(*number, fact.info->unit);
  }
  if (const auto* flag = std::get_if<bool>(&value)) return *flag ? "yes" : "no";
  if (const auto* text = std::get_if<std::string>(&value)) return *text;
  if (const auto* rows = std::get_if<Rows>(&value)) {
    return fmt::format("{} row{}", rows->size(), rows->size() == 1 ? "" : "s");
  }
  if (const auto* spans = std::get_if<std::shared_ptr<const Spans>>(&value)) {
    return FormatQuantity(*spans == nullptr ? 0 : static_cast<double>((*spans)->Total()), "ns");
  }
  return "(for the replay)";
}

std::string RenderFactsText(const std::vector<NamedFact>& facts, bool tables, int width,
                            bool color) {
  Page page(width, color);
  if (tables) {
    for (const NamedFact& fact : facts) {
      if (const auto* rows = std::get_if<Rows>(&fact.fact.value)) WriteRows(page, fact, *rows);
    }
    return page.text();
  }
  int widest = 0;
  for (const NamedFact& fact : facts) widest = std::max(widest, DisplayWidth(fact.info->name));
  for (const NamedFact& fact : facts) {
    const bool absent = std::holds_alternative<Absent>(fact.fact.value);
    WriteEntry(page, *fact.info, FactText(fact), widest, absent ? Ink::kDim : Ink::kPlain);
  }
  return page.text();
}

std::string RenderFactCatalog(const std::vector<FactInfo>& catalog, int width, bool color) {
  Page page(width, color);
  int widest = 0;
  for (const FactInfo& fact : catalog) widest = std::max(widest, DisplayWidth(fact.name));
  for (const FactInfo& fact : catalog) WriteEntry(page, fact, fact.unit, widest, Ink::kPlain);
  return page.text();
}

}  // namespace advise
