// Reads the table that PyTorch's profiler prints, `prof.key_averages().table(…)`:
//
//   ------------------  ------------  …  ------------  ------------
//                 Name    Self CPU %  …     Self CUDA    # of Calls
//   ------------------  ------------  …  ------------  ------------
//          aten::addmm         5.10%  …      12.000ms           530
//   ------------------  ------------  …  ------------  ------------
//   Self CPU time total: 395.400ms
//   Self CUDA time total: 210.000ms
//
// Kernels and copies have rows of their own, without CPU time; what each operator launched itself
// adds up to the same. A table that is cut after some rows holds more of the one or of the other.
// Ranges have such rows, too: the time from their first kernel to their last one, which PyTorch
// before 2.5 adds to the total (its pull request 130732).
#include <algorithm>
#include <map>
#include <set>
#include <span>

#include "engine/import/formats.h"
#include "engine/import/profiles/printed_tables.h"
#include "engine/import/profiles/totals.h"

namespace advise {
namespace {

constexpr std::string_view kCalls = "# of Calls";
constexpr std::string_view kSelfCpu = "Self CPU";
constexpr std::string_view kTotalCpu = "CPU total";
constexpr std::string_view kSelfGpu = "Self CUDA";  // of AMD's GPUs, too
constexpr std::string_view kGpuTotal = "Self CUDA time total:";
constexpr std::string_view kCpuTotal = "Self CPU time total:";

// Cells stand two blanks or more apart; none is empty.
std::vector<std::string_view> CellsApart(std::string_view line) {
  std::vector<std::string_view> cells;
  for (line = Trimmed(line); !line.empty(); line = Trimmed(line)) {
    const std::size_t end = std::min(line.find("  "), line.size());
    cells.push_back(line.substr(0, end));
    line.remove_prefix(end);
  }
  return cells;
}

bool IsRule(std::string_view line) { return DashesOf(Trimmed(line)).size() > 3; }

// Ranges that PyTorch itself opens: "ProfilerStep*", "## Call CompiledFxGraph …", "nccl:…",
// "Optimizer.step#…". No kernel is called like them.
bool IsRangeOfPyTorch(std::string_view name) {
  return name.starts_with("ProfilerStep") || name.starts_with("nccl:") ||
         name.find('#') != std::string_view::npos;
}

// A time, or where the table has shares alone, that part of the whole.
double TimeIn(const std::map<std::string, std::string_view>& row, std::string_view column,
              double whole) {
  if (const auto time = row.find(std::string(column)); time != row.end())
    return DurationOf(time->second).value_or(0);
  const auto share = row.find(std::string(column) + " %");
  if (share == row.end() || !share->second.ends_with('%')) return 0;
  return NumberOf(share->second.substr(0, share->second.size() - 1)).value_or(0) / 100 * whole;
}

class OperatorTableReader {
 public:
  explicit OperatorTableReader(Trace* trace) : trace_(trace) {}

  std::size_t Read(std::string_view text) {
    const auto lines = LinesOf(text);
    std::vector<std::string_view> columns;
    for (std::size_t i = 0; i < lines.size(); ++i) {
      if (lines[i].find(kCalls) != std::string_view::npos) {
        Begin(std::span(lines).subspan(i + 1));
        columns = CellsApart(lines[i]);
        ++i;  // the rule below the heading
      } else if (IsRule(lines[i])) {
        columns.clear();
      } else if (!columns.empty()) {
        AddRow(columns, CellsApart(lines[i]));
      }
    }
    return Finish();
  }

 private:
  struct Table {
    std::vector<ProfileRow> rows;
    double sum = 0;
  };

  // A program may print several: the last one counts.
  void Begin(std::span<const std::string_view> below) {
    kernels_ = operators_ = copies_ = calls_ = {};
    on_cpu_.clear();
    whole_ = SumBelow(below, kGpuTotal);
    whole_of_cpu_ = SumBelow(below, kCpuTotal);
  }

  // What stands below a table, before the next one; 0 where nothing does.
  static double SumBelow(std::span<const std::string_view> below, std::string_view label) {
    for (const std::string_view line : below) {
      if (line.find(kCalls) != std::string_view::npos) return 0;
      if (const std::size_t at = line.find(label); at != std::string_view::npos)
        return DurationOf(Trimmed(line.substr(at + label.size()))).value_or(0);
    }
    return 0;
  }

  void AddRow(const std::vector<std::string_view>& columns,
              const std::vector<std::string_view>& cells) {
    if (cells.size() != columns.size()) return;
    std::map<std::string, std::string_view> row;
    for (std::size_t c = 0; c < columns.size(); ++c) row.emplace(columns[c], cells[c]);
    const std::string name(row["Name"]);
    const auto count = NumberOf(row[std::string(kCalls)]);
    if (name.empty() || !count) return;
    const double gpu = TimeIn(row, kSelfGpu, whole_);
    const bool on_gpu = gpu > 0 && TimeIn(row, kTotalCpu, whole_of_cpu_) == 0;
    if (!on_gpu) on_cpu_.insert(name);
    if (on_gpu) {
      const bool moves = name.starts_with("Memcpy ") || name.starts_with("Memset ");
      Add({name, gpu, *count, -1}, moves ? &copies_ : &kernels_);
    } else if (gpu > 0) {
      Add({name, gpu, *count, -1}, &operators_);
    } else if (IsGpuCall(name)) {
      Add({name, TimeIn(row, kSelfCpu, whole_of_cpu_), *count, -1}, &calls_);
    }
  }

  static void Add(ProfileRow row, Table* table) {
    table->sum += row.total;
    table->rows.push_back(std::move(row));
  }

  // Ranges are no kernels. What the program opens has a row of the same name on the CPU.
  void DropRanges() {
    double ranges = 0;
    std::erase_if(kernels_.rows, [&](const ProfileRow& row) {
      const bool range = IsRangeOfPyTorch(row.name) || on_cpu_.contains(row.name);
      ranges += range ? row.total : 0;
      return range;
    });
    kernels_.sum -= ranges;
    if (whole_ >= kernels_.sum + copies_.sum + ranges) whole_ -= ranges;
  }

  std::size_t Finish() {
    DropRanges();
    const bool by_operator = operators_.sum > kernels_.sum + copies_.sum;
    if (by_operator) {
      trace_->diagnostics.Add(
          Level::kInfo, "the table holds few kernels: operators stand for what they launched");
    }
    const double others = by_operator ? 0 : copies_.sum;
    Keep(ProfileOf::kKernels, by_operator ? operators_ : kernels_, whole_ - others);
    if (!by_operator) Keep(ProfileOf::kCopies, copies_, 0);
    Keep(ProfileOf::kCalls, calls_, 0);
    return rows_;
  }

  void Keep(ProfileOf of, const Table& table, double whole) {
    if (table.rows.empty()) return;
    rows_ += table.rows.size();
    trace_->profile.tables.push_back({of, table.rows, whole});
  }

  Trace* trace_;
  Table kernels_, operators_, copies_, calls_;
  std::set<std::string> on_cpu_;  // names of rows with time on the CPU
  double whole_ = 0;              // ns of all GPU work, of which the table may hold a part
  double whole_of_cpu_ = 0;       // ns of the CPU
  std::size_t rows_ = 0;
};

}  // namespace

bool SniffOperatorTable(std::string_view head) {
  return head.find(kCalls) != std::string_view::npos &&
         head.find("Self CPU %") != std::string_view::npos;
}

std::optional<Error> ReadOperatorTable(std::string_view text, const std::string& path,
                                       Trace* trace) {
  trace->producer = "PyTorch profiler";
  const std::size_t rows = OperatorTableReader(trace).Read(text);
  if (rows == 0) {
    return Error{"the table of PyTorch's profiler holds no GPU work", path,
                 "profile with activities=[ProfilerActivity.CPU, ProfilerActivity.CUDA]"};
  }
  trace->table_rows["totals"] = static_cast<std::int64_t>(rows);
  return std::nullopt;
}

}  // namespace advise
