#include "engine/report/check_text.h"

#include <fmt/format.h>

#include <algorithm>

#include "engine/report/shell.h"

namespace advise {
namespace {

// What the statement prints, as a comment of the shell: the line runs as it stands. "" for rows.
std::string ExpectedOutput(const Evidence& item) {
  if (item.sql.starts_with("select start,")) return "";
  return fmt::format("  # expect {:.0f} ({}){}", item.value, item.unit,
                     item.partly ? ": " + item.what : "");
}

template <typename Test>
const Evidence* FirstOf(const Finding& finding, Test test) {
  const auto found = std::find_if(finding.evidence.begin(), finding.evidence.end(), test);
  return found == finding.evidence.end() ? nullptr : &*found;
}

}  // namespace

std::string CheckCommand(const Report& report, const Evidence& item) {
  if (!item.sql.empty()) {
    const std::string path = !item.source.empty()    ? item.source
                             : report.inputs.empty() ? "report.sqlite"
                                                     : report.inputs.front().path;
    return SqliteCommand(path, item.sql) + ExpectedOutput(item);
  }
  if (item.find.empty() || item.source.empty()) return "";
  return GrepCommand(item.source, item.find) + (item.what.empty() ? "" : "  # " + item.what);
}

const Evidence* CheckedByCommand(const Report& report, const Finding& finding) {
  const Evidence* const by_sql =
      FirstOf(finding, [](const Evidence& item) { return !item.sql.empty(); });
  if (by_sql != nullptr) return by_sql;
  return FirstOf(finding,
                 [&](const Evidence& item) { return !CheckCommand(report, item).empty(); });
}

const Evidence* CheckedBySearch(const Finding& finding) {
  return FirstOf(finding, [](const Evidence& item) {
    return item.end_ns > item.start_ns || !item.source.empty();
  });
}

}  // namespace advise
