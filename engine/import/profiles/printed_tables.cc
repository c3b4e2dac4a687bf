#include "engine/import/profiles/printed_tables.h"

#include <algorithm>
#include <array>
#include <map>
#include <utility>

#include "engine/base/is_in.h"

namespace advise {
namespace {

// What AMD's rocprof and rocprofv3 call the columns, with units that are part of the names.
const PrintedTable::Column* ColumnOfRocprof(const std::string& name) {
  static const std::map<std::string, PrintedTable::Column> kColumns = {
      {"totaldurationns", {"total time", "ns"}},
      {"averagens", {"avg", "ns"}},
      {"percentage", {"time", "%"}},
      {"kernel_name", {"name", ""}},
      {"kernelname", {"name", ""}},
      {"start_timestamp", {"start", "ns"}},
      {"beginns", {"start", "ns"}},
      {"end_timestamp", {"end", "ns"}},
      {"endns", {"end", "ns"}},
      {"durationns", {"duration", "ns"}},
      {"agent_id", {"device", ""}},
      {"gpu-id", {"device", ""}},
      {"stream_id", {"stream", ""}},
      {"queue_id", {"queue", ""}},
      {"queue-id", {"queue", ""}},
      {"workgroup_size_x", {"blkx", ""}},
      {"workgroup_size_y", {"blky", ""}},
      {"workgroup_size_z", {"blkz", ""}},
      {"wgr", {"blkx", ""}},
      {"workgroup_size", {"blkx", ""}},
      {"grid_size", {"threads x", ""}},
      {"grid_size_x", {"threads x", ""}},
      {"grid_size_y", {"threads y", ""}},
      {"grid_size_z", {"threads z", ""}},
      {"grd", {"threads x", ""}},
  };
  const auto found = kColumns.find(name);
  return found == kColumns.end() ? nullptr : &found->second;
}

// "Total Time (ns)", "Time(%)", "Duration [us]", "TotalDurationNs" → name and unit.
PrintedTable::Column ColumnOf(std::string_view cell) {
  PrintedTable::Column column;
  cell = Trimmed(cell);
  if (const PrintedTable::Column* const known = ColumnOfRocprof(Lower(cell))) return *known;
  const bool round = cell.ends_with(')');
  const std::size_t open = cell.rfind(round ? '(' : '[');
  if ((round || cell.ends_with(']')) && open != std::string_view::npos && open > 0) {
    column.unit = cell.substr(open + 1, cell.size() - open - 2);
    cell = Trimmed(cell.substr(0, open));
  }
  column.name = Lower(cell);
  return column;
}

bool IsHeading(const std::vector<std::string>& cells) {
  static constexpr auto kNames = std::to_array<std::string_view>(
      {"name", "operation", "kernel", "range", "api name", "kernel name"});
  static constexpr auto kTimes = std::to_array<std::string_view>(
      {"total time", "time", "duration", "correlation_id", "invocations", "total"});
  if (cells.size() < 3) return false;
  bool names = false, times = false;
  for (const std::string& cell : cells) {
    if (cell.empty() || cell.size() > 60 || NumberOf(cell)) return false;
    const std::string name = ColumnOf(cell).name;
    names = names || IsIn(name, kNames);
    times = times || IsIn(name, kTimes);
  }
  return names && times;
}

// The line below the heading that nvprof writes: nothing but units.
bool IsUnits(const std::vector<std::string>& cells) {
  static constexpr auto kUnits = std::to_array<std::string_view>(
      {"", "%", "ns", "us", "ms", "s", "B", "KB", "MB", "GB", "KB/s", "MB/s", "GB/s", "B/s"});
  return std::all_of(cells.begin(), cells.end(),
                     [](const std::string& cell) { return IsIn(cell, kUnits); });
}

class TablesReader {
 public:
  PrintedTables Read(std::string_view text) {
    const auto lines = LinesOf(text);
    for (line_ = 0; line_ < lines.size(); ++line_) {
      const std::string_view line = lines[line_];
      if (Trimmed(line).empty()) {
        // A blank line follows the dashes of no table.
        End();
      } else if (spans_.empty() || !ReadColumns(line)) {
        if (!BeginColumns(lines)) ReadCommas(line);
      }
    }
    return std::move(result_);
  }

 private:
  PrintedTable* table() { return in_table_ ? &result_.tables.back() : nullptr; }

  void End() {
    in_table_ = false;
    spans_.clear();
  }

  void Begin(const std::vector<std::string>& heading) {
    PrintedTable begun;
    begun.line = line_ + 1;
    for (const std::string& cell : heading) {
      begun.columns.push_back(ColumnOf(cell));
      begun.by_rocprof = begun.by_rocprof || ColumnOfRocprof(Lower(Trimmed(cell))) != nullptr;
    }
    result_.tables.push_back(std::move(begun));
    in_table_ = true;
  }

  void Add(std::vector<std::string> cells) {
    PrintedTable& of = result_.tables.back();
    if (cells.size() != of.columns.size()) {
      ++result_.cut_short;
      return;
    }
    for (const std::string& cell : cells) {
      if (!cell.empty() && cell.size() < 30 &&
          cell.find_first_not_of("0123456789.,'-+") == std::string::npos) {
        result_.style.Learn(cell);
      }
    }
    of.rows.push_back({line_ + 1, std::move(cells)});
  }

  static std::vector<std::string> Cut(std::string_view line,
                                      const std::vector<std::pair<std::size_t, std::size_t>>& at) {
    std::vector<std::string> cells;
    for (std::size_t i = 0; i < at.size(); ++i) {
      const auto [begin, end] = at[i];
      const bool last = i + 1 == at.size();
      cells.emplace_back(
          begin >= line.size()
              ? ""
              : Trimmed(line.substr(begin, last ? std::string_view::npos : end - begin)));
    }
    return cells;
  }

  // A heading above a line of dashes.
  bool BeginColumns(const std::vector<std::string_view>& lines) {
    if (line_ + 1 >= lines.size()) return false;
    auto spans = DashesOf(lines[line_ + 1]);
    if (spans.size() < 3) return false;
    const auto heading = Cut(lines[line_], spans);
    if (!IsHeading(heading)) return false;
    Begin(heading);
    spans_ = std::move(spans);
    ++line_;  // the dashes
    return true;
  }

  bool ReadColumns(std::string_view line) {
    const auto cells = Cut(line, spans_);
    const bool any = std::any_of(cells.begin(), cells.end(), [](const std::string& cell) {
      return !cell.empty() && cell.find_first_of("0123456789") != std::string::npos;
    });
    if (!any || cells.back().empty()) {
      End();
      return false;
    }
    Add(cells);
    return true;
  }

  void ReadCommas(std::string_view line) {
    if (line.starts_with("==") || line.find(',') == std::string_view::npos) {
      End();
      return;
    }
    bool complete = true;
    const auto cells = CellsOf(line, &complete);
    if (!complete) {
      if (in_table_) ++result_.cut_short;
    } else if (IsHeading(cells)) {
      Begin(cells);
    } else if (PrintedTable* of = table()) {
      if (of->rows.empty() && cells.size() == of->columns.size() && IsUnits(cells)) {
        for (std::size_t i = 0; i < cells.size(); ++i) {
          if (!cells[i].empty()) of->columns[i].unit = cells[i];
        }
      } else {
        Add(cells);
      }
    }
  }

  PrintedTables result_;
  bool in_table_ = false;
  std::size_t line_ = 0;
  std::vector<std::pair<std::size_t, std::size_t>> spans_;  // of the table in columns
};

}  // namespace

std::optional<std::size_t> PrintedTable::Find(std::initializer_list<std::string_view> names) const {
  for (const std::string_view name : names) {
    for (std::size_t i = 0; i < columns.size(); ++i) {
      if (columns[i].name == name) return i;
    }
  }
  return std::nullopt;
}

PrintedTables PrintedTablesOf(std::string_view text) { return TablesReader().Read(text); }

std::optional<double> NanosecondsOf(std::string_view unit) {
  if (unit == "ns") return 1;
  if (unit == "us" || unit == "µs") return 1e3;
  if (unit == "ms") return 1e6;
  if (unit == "s" || unit == "sec") return 1e9;
  return std::nullopt;
}

std::optional<double> DurationOf(std::string_view text) {
  const std::size_t unit = text.find_first_not_of("0123456789.");
  if (unit == std::string_view::npos || unit == 0) return std::nullopt;
  const auto number = NumberOf(text.substr(0, unit));
  const auto scale = NanosecondsOf(text.substr(unit));
  if (!number || !scale) return std::nullopt;
  return *number * *scale;
}

}  // namespace advise
