// Reads totals by name, which have no times of single events:
//
//   nsys stats, nsys profile --stats=true   as CSV and as printed columns, also several in a file
//   nvprof                                  as CSV and as printed
//   rocprof --stats, rocprofv3 --stats      as CSV
//
//   Time (%),Total Time (ns),Instances,Avg (ns),Med (ns),Min (ns),Max (ns),StdDev (ns),Name
//   "Name","Calls","TotalDurationNs","AverageNs","Percentage"
//   "Type","Time(%)","Time","Calls","Avg","Min","Max","Name"
//    GPU activities:   60.00%  1.2345ms       100  12.345us  1.0000us  20.000us  kernel(int*)
#include "engine/import/profiles/totals.h"

#include <algorithm>
#include <array>
#include <map>

#include "engine/base/ascii.h"
#include "engine/base/call_name.h"
#include "engine/base/median.h"
#include "engine/import/formats.h"

namespace advise {
namespace {

bool IsMemoryWork(std::string_view name) {
  return name.starts_with("[") && (name.find("emcpy") != std::string_view::npos ||
                                   name.find("emset") != std::string_view::npos);
}

// Of OpenACC, with its place in the source: "Enqueue Upload@solver.f90:112".
bool IsConstruct(std::string_view name) {
  const std::size_t at = name.find('@');
  if (at == std::string_view::npos || name.find(':', at) == std::string_view::npos) return false;
  for (const std::string_view word :
       {"Enqueue", "Wait", "Compute Construct", "Enter Data", "Exit Data", "Update", "Alloc",
        "Create", "Delete", "Free", "Device Init", "Device Shutdown", "Runtime Shutdown"}) {
    if (name.starts_with(word)) return true;
  }
  return false;
}

// What a row is of: told by a column that says so, else by the columns and the name.
ProfileOf SubjectOf(const PrintedTable& table, const PrintedTable::Row& row,
                    std::string_view name) {
  if (const auto column = table.Find({"category", "type"})) {
    const std::string& of = row.cells[*column];
    if (of == "API calls" || of == "CUDA_API") return ProfileOf::kCalls;
    return IsMemoryWork(name) || of == "MEMORY_OPER" ? ProfileOf::kCopies : ProfileOf::kKernels;
  }
  if (IsMemoryWork(name) || table.Has("operation")) return ProfileOf::kCopies;
  if (name.starts_with("MPI_") || IsConstruct(name)) return ProfileOf::kOsCalls;
  if (table.Has("range") || table.Has("style")) return ProfileOf::kRanges;
  if (table.by_rocprof && name.starts_with("MEMORY_COPY")) return ProfileOf::kCopies;
  if (table.by_rocprof) {
    const bool call = IsGpuCall(name) || name.starts_with("__hip") || name.starts_with("hsa_");
    return call ? ProfileOf::kCalls : ProfileOf::kKernels;
  }
  if (table.Find({"num calls", "calls"})) {
    return IsGpuCall(name) ? ProfileOf::kCalls : ProfileOf::kOsCalls;
  }
  return table.Has("instances") ? ProfileOf::kKernels : ProfileOf::kCalls;
}

// The column of times: "Time(%)" of nvprof is named as its time is.
std::optional<std::size_t> TimeColumn(const PrintedTable& table) {
  for (std::size_t i = 0; i < table.columns.size(); ++i) {
    const PrintedTable::Column& column = table.columns[i];
    if ((column.name == "total time" || column.name == "time") && column.unit != "%") return i;
  }
  return std::nullopt;
}

class TotalsReader {
 public:
  explicit TotalsReader(Trace* trace) : trace_(trace) {}

  std::size_t Read(const PrintedTables& printed) {
    for (const PrintedTable& table : printed.tables) {
      if (IsTotals(table)) ReadTable(table, printed.style);
    }
    return rows_;
  }

  void Add(ProfileOf of, ProfileRow row) {
    if (of == ProfileOf::kCalls || of == ProfileOf::kOsCalls) {
      row.name = WithoutVersionSuffix(row.name);
    }
    const auto [found, is_new] = tables_.emplace(of, trace_->profile.tables.size());
    if (is_new) trace_->profile.tables.push_back({of, {}});
    trace_->profile.tables[found->second].rows.push_back(std::move(row));
    ++rows_;
  }

  // The printed summary of nvprof, whose columns are not ruled off.
  void ReadPrinted(std::string_view text) {
    bool calls = false;
    for (const std::string_view line : LinesOf(text)) {
      std::string_view rest = Trimmed(line);
      if (rest.starts_with("GPU activities:")) {
        calls = false;
        rest = Trimmed(rest.substr(15));
      } else if (rest.starts_with("API calls:")) {
        calls = true;
        rest = Trimmed(rest.substr(10));
      }
      ReadPrintedRow(rest, calls);
    }
  }

 private:
  void ReadPrintedRow(std::string_view rest, bool calls) {
    const auto words = WordsOf(rest);
    if (words.size() < 7 || !words[0].ends_with('%') ||
        !NumberOf(words[0].substr(0, words[0].size() - 1))) {
      return;
    }
    const auto total = DurationOf(words[1]);
    const auto count = NumberOf(words[2]);
    if (!total || !count || !DurationOf(words[3]) || !DurationOf(words[5])) return;
    const std::string_view name =
        rest.substr(static_cast<std::size_t>(words[6].data() - rest.data()));
    Add(calls                ? ProfileOf::kCalls
        : IsMemoryWork(name) ? ProfileOf::kCopies
                             : ProfileOf::kKernels,
        {std::string(name), *total, *count, -1});
  }

  void ReadTable(const PrintedTable& table, const NumberStyle& style) {
    const auto name = table.Find({"name", "operation", "range"});
    const std::size_t time = *TimeColumn(table);
    const double scale = NanosecondsOf(table.columns[time].unit).value_or(1);
    const auto count = table.Find({"instances", "num calls", "calls", "count"});
    const auto median = table.Find({"med"});
    for (const PrintedTable::Row& row : table.rows) {
      const auto value = style.Read(row.cells[time]);
      if (!value || row.cells[*name].empty()) {
        trace_->diagnostics.Add(Level::kWarning, "rows without a time or a name were dropped");
        continue;
      }
      const auto of_median = median ? style.Read(row.cells[*median]) : std::nullopt;
      Add(SubjectOf(table, row, row.cells[*name]),
          {row.cells[*name], *value * scale, count ? style.Read(row.cells[*count]).value_or(0) : 0,
           of_median ? *of_median * scale : -1});
    }
  }

  Trace* trace_;
  std::map<ProfileOf, std::size_t> tables_;
  std::size_t rows_ = 0;
};

// Calls with a start each, and nothing of the GPU: read as totals.
bool IsCallTrace(const PrintedTable& table) {
  return table.Has("start") && table.Has("duration") && table.Has("name") && !table.Has("device");
}

void AddCallTrace(const PrintedTable& table, const NumberStyle& style, TotalsReader* totals) {
  std::map<std::string, std::vector<double>> lengths;
  const auto name = table.Find({"name"});
  const auto duration = table.Find({"duration"});
  const double scale = NanosecondsOf(table.columns[*duration].unit).value_or(1);
  for (const PrintedTable::Row& row : table.rows) {
    if (const auto length = style.Read(row.cells[*duration])) {
      lengths[row.cells[*name]].push_back(*length * scale);
    }
  }
  for (auto& [call, all] : lengths) {
    double sum = 0;
    for (const double length : all) sum += length;
    const auto count = static_cast<double>(all.size());
    totals->Add(IsGpuCall(call) ? ProfileOf::kCalls : ProfileOf::kOsCalls,
                {call, sum, count, Median(std::move(all))});
  }
}

bool IsPrintedSummary(std::string_view text) {
  const auto lines = LinesOf(text);
  return std::any_of(lines.begin(), lines.end(), [](std::string_view line) {
    const std::string_view words = Trimmed(line);
    return (words.starts_with("GPU activities:") || words.starts_with("API calls:")) &&
           words.find('%') != std::string_view::npos;
  });
}

}  // namespace

bool IsGpuCall(std::string_view name) {
  for (const std::string_view prefix : {"cuda", "hip", "cu"}) {
    if (name.starts_with(prefix) && name.size() > prefix.size() && IsUpper(name[prefix.size()])) {
      return true;
    }
  }
  return false;
}

bool IsTotals(const PrintedTable& table) {
  return table.Find({"name", "operation", "range"}) && TimeColumn(table) &&
         table.Find({"instances", "num calls", "calls", "count"}) && !table.Has("start") &&
         !table.Has("nvtx range");
}

// How much is copied, without the time: "Total (MB),Count,Avg (MB),…,Operation" of nsys stats.
bool IsSizes(const PrintedTable& table) {
  return table.Has("operation") && table.Has("total") && table.Has("count") && !TimeColumn(table);
}

std::size_t AddTotals(const PrintedTables& printed, Trace* trace) {
  return TotalsReader(trace).Read(printed);
}

bool SniffTotals(std::string_view head) {
  if (IsPrintedSummary(head)) return true;
  const PrintedTables printed = PrintedTablesOf(head);
  return std::any_of(printed.tables.begin(), printed.tables.end(), [](const PrintedTable& t) {
    return IsTotals(t) || IsSizes(t) || IsCallTrace(t);
  });
}

std::optional<Error> ReadTotals(std::string_view text, const std::string& path, Trace* trace) {
  const PrintedTables printed = PrintedTablesOf(text);
  const bool nvprof =
      IsPrintedSummary(text) ||
      std::any_of(printed.tables.begin(), printed.tables.end(),
                  [](const PrintedTable& t) { return t.Has("type") || t.Has("correlation_id"); });
  const bool rocprof = std::any_of(printed.tables.begin(), printed.tables.end(),
                                   [](const PrintedTable& t) { return t.by_rocprof; });
  trace->producer = rocprof ? "rocprof" : nvprof ? "nvprof" : "nsys stats";
  TotalsReader reader(trace);
  reader.Read(printed);
  for (const PrintedTable& table : printed.tables) {
    if (IsCallTrace(table)) AddCallTrace(table, printed.style, &reader);
  }
  if (nvprof) reader.ReadPrinted(text);
  std::size_t rows = 0;
  for (const ProfileTable& table : trace->profile.tables) rows += table.rows.size();
  if (printed.cut_short > 0) {
    trace->diagnostics.Add(Level::kWarning, "rows that were cut short were skipped", "",
                           printed.cut_short);
  }
  if (rows == 0 && std::any_of(printed.tables.begin(), printed.tables.end(), IsSizes)) {
    trace->diagnostics.Add(Level::kInfo, "a table of sizes holds no times", "totals");
    return std::nullopt;
  }
  if (rows == 0) {
    return Error{"the summary holds no rows", path, "did the program reach the GPU?"};
  }
  trace->table_rows["totals"] = static_cast<std::int64_t>(rows);
  return std::nullopt;
}

}  // namespace advise
