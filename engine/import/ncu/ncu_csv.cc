// Reads `ncu --csv`: the details page (a row a metric) and the raw page (a row a kernel).
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <tuple>

#include "engine/base/ascii.h"
#include "engine/base/is_in.h"
#include "engine/import/formats.h"
#include "engine/import/ncu/ncu_metrics.h"
#include "engine/import/text_input.h"

namespace advise {
namespace {

bool IsNcuHeader(std::string_view line) {
  return line.starts_with("\"ID\",") && line.find("\"Kernel Name\"") != std::string_view::npos;
}

// One record, which may reach over several lines.
struct Record {
  std::vector<std::string> cells;
  std::size_t line = 0;
};

// "(256, 1, 1)" or "256,1,1".
std::array<std::uint32_t, 3> Extent(std::string_view text) {
  std::array<std::uint32_t, 3> extent{};
  std::size_t at = 0;
  for (std::uint32_t& part : extent) {
    while (at < text.size() && !IsDigit(text[at])) ++at;
    const std::size_t start = at;
    while (at < text.size() && IsDigit(text[at])) ++at;
    part = WholeOf<std::uint32_t>(NumberOf(text.substr(start, at - start)).value_or(0));
  }
  return extent;
}

// Columns that say what a row is of; all others of the raw page are metrics.
bool IsIdentity(std::string_view column) {
  static constexpr auto kIdentity = std::to_array<std::string_view>(
      {"ID", "Process ID", "Process Name", "Host Name", "Kernel Name", "Kernel Time", "Context",
       "Stream", "Block Size", "Grid Size", "Device", "CC", "Section Name"});
  return IsIn(column, kIdentity) || column.find("Range:") != std::string_view::npos;
}

class NcuCsvReader {
 public:
  NcuCsvReader(Trace* trace, std::string path) : trace_(trace), path_(std::move(path)) {}

  void Read(std::string_view text) {
    std::vector<Record> records = Split(text);
    // Numbers are written alike in all of a file.
    for (const Record& record : records) Learn(record);
    columns_.clear();
    for (const Record& record : records) Use(record);
    ncu::DescribeDevice(trace_);
    trace_->table_rows["kernels"] = static_cast<std::int64_t>(trace_->counters.size());
    const std::int64_t others = other_lines_;
    if (others > 0) {
      trace_->diagnostics.Add(Level::kInfo, "lines of the program or the profiler between the rows",
                              "", others);
    }
  }

 private:
  std::vector<Record> Split(std::string_view text) {
    std::vector<Record> records;
    const auto lines = LinesOf(text);
    bool begun = false;
    for (std::size_t i = 0; i < lines.size(); ++i) {
      begun = begun || IsNcuHeader(lines[i]);
      if (!begun || !lines[i].starts_with("\"")) {
        other_lines_ += begun && !Trimmed(lines[i]).empty() ? 1 : 0;
        continue;
      }
      Record record{{}, i + 1};
      bool complete = false;
      record.cells = CellsOf(lines[i], &complete);
      // A kernel's name may hold a line break.
      constexpr std::size_t kMostLines = 20;
      std::string joined;
      for (std::size_t more = 1; !complete && more < kMostLines && i + more < lines.size();
           ++more) {
        if (joined.empty()) joined = lines[i];
        joined += '\n';
        joined += lines[i + more];
        record.cells = CellsOf(joined, &complete);
        if (complete) i += more;
      }
      if (!complete) {
        trace_->diagnostics.Add(Level::kWarning, "rows that were cut short were skipped");
        continue;
      }
      records.push_back(std::move(record));
    }
    return records;
  }

  std::size_t Column(std::string_view name) const {
    const auto found = columns_.find(name);
    return found == columns_.end() ? kNoColumn : found->second;
  }
  static std::string Cell(const Record& record, std::size_t column) {
    return column < record.cells.size() ? record.cells[column] : "";
  }
  std::string Cell(const Record& record, std::string_view column) const {
    return Cell(record, Column(column));
  }

  bool SetHeader(const Record& record) {
    if (record.cells.empty() || record.cells.front() != "ID") return false;
    columns_.clear();
    header_ = record.cells;
    for (std::size_t i = 0; i < header_.size(); ++i) columns_.emplace(header_[i], i);
    units_.assign(header_.size(), "");
    ++epoch_;
    return true;
  }
  bool IsLong() const { return Column("Metric Name") != kNoColumn; }

  void Learn(const Record& record) {
    if (SetHeader(record)) return;
    if (IsLong()) {
      style_.Learn(Cell(record, "Metric Value"));
      return;
    }
    for (std::size_t i = 0; i < std::min(record.cells.size(), header_.size()); ++i) {
      if (!IsIdentity(header_[i])) style_.Learn(record.cells[i]);
    }
  }

  void Use(const Record& record) {
    if (SetHeader(record)) return;
    if (Cell(record, "ID").empty()) {
      units_ = record.cells;  // of the raw page
      units_.resize(header_.size());
    } else if (IsLong() ? record.cells.size() <= Column("Metric Name")
                        : record.cells.size() != header_.size()) {
      trace_->diagnostics.Add(Level::kWarning, "rows that were cut short were skipped");
    } else if (IsLong()) {
      UseLong(record);
    } else {
      UseWide(record);
    }
  }

  KernelCounters& InstanceOf(const Record& record) {
    const auto key = std::tuple(epoch_, Cell(record, "Process ID"), Cell(record, "ID"));
    const auto [found, is_new] = instances_.emplace(key, trace_->counters.size());
    if (is_new) {
      KernelCounters counters;
      counters.kernel = Cell(record, "Kernel Name");
      counters.compute_capability = Cell(record, "CC");
      counters.block = Extent(Cell(record, "Block Size"));
      counters.grid = Extent(Cell(record, "Grid Size"));
      counters.source = fmt::format("{}:{}", path_, record.line);
      trace_->counters.push_back(std::move(counters));
    }
    return trace_->counters[found->second];
  }

  void UseLong(const Record& record) {
    KernelCounters& counters = InstanceOf(record);
    const std::string metric = Cell(record, "Metric Name");
    if (!metric.empty()) {
      ncu::PutMetric(metric, Cell(record, "Metric Unit"), Cell(record, "Metric Value"), style_,
                     &counters);
      return;
    }
    const std::string rule = Cell(record, "Rule Name");
    if (rule.empty()) return;
    CounterAdvice advice;
    advice.section = Cell(record, "Section Name");
    advice.rule = rule;
    advice.text = Cell(record, "Rule Description");
    // A local estimate is of the section's own metric, not of the kernel.
    if (Cell(record, "Estimated Speedup Type") != "local")
      advice.speedup_percent = style_.Read(Cell(record, "Estimated Speedup")).value_or(-1);
    counters.advice.push_back(std::move(advice));
  }

  void UseWide(const Record& record) {
    KernelCounters& counters = InstanceOf(record);
    for (std::size_t i = 0; i < header_.size(); ++i) {
      if (IsIdentity(header_[i])) continue;
      ncu::PutMetric(header_[i], units_[i], record.cells[i], style_, &counters);
    }
    if (counters.compute_capability.empty()) {
      const auto major = counters.metrics.find("device__attribute_compute_capability_major");
      const auto minor = counters.metrics.find("device__attribute_compute_capability_minor");
      if (major != counters.metrics.end() && minor != counters.metrics.end()) {
        counters.compute_capability = fmt::format("{}.{}", major->second, minor->second);
      }
    }
  }

  static constexpr std::size_t kNoColumn = static_cast<std::size_t>(-1);

  Trace* trace_;
  std::string path_;
  NumberStyle style_;
  std::vector<std::string> header_, units_;
  std::map<std::string, std::size_t, std::less<>> columns_;
  std::map<std::tuple<int, std::string, std::string>, std::size_t> instances_;
  int epoch_ = 0;  // headers seen: ids start again with each report
  std::int64_t other_lines_ = 0;
};

// Why a text of the profiler holds no table.
Error WithoutTable(std::string_view text, const std::string& path) {
  for (const std::string_view line : LinesOf(text)) {
    if (line.starts_with("==ERROR==")) {
      return {fmt::format("Nsight Compute wrote no counters: {}", Trimmed(line.substr(9))), path,
              "fix that and profile again"};
    }
  }
  return {"the log of Nsight Compute holds no counters", path,
          "profile again with: ncu --csv --page raw --print-units base"};
}

}  // namespace

bool SniffNcuCsv(std::string_view head) {
  for (const std::string_view line : LinesOf(head)) {
    if (IsNcuHeader(line) || line.starts_with("==PROF== ")) return true;
  }
  return false;
}

std::optional<Error> ReadNcuCsv(std::string_view text, const std::string& path, Trace* trace) {
  trace->producer = "Nsight Compute";
  NcuCsvReader(trace, path).Read(text);
  if (!trace->counters.empty()) return std::nullopt;
  // The program's own output may fill the head of the file.
  if (SniffNcuText(text)) return ReadNcuText(text, path, trace);
  return WithoutTable(text, path);
}

}  // namespace advise
