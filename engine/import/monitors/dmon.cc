// Reads the table of `nvidia-smi dmon`, whatever columns it was asked for.
#include <algorithm>
#include <cmath>
#include <optional>

#include "engine/base/is_in.h"
#include "engine/import/formats.h"
#include "engine/import/monitors/monitor_log.h"
#include "engine/import/text_input.h"

namespace advise {
namespace {

// Cells of a line, without the '#' of headers: separated by blanks, or by commas (--format csv).
std::vector<std::string> Columns(std::string_view line) {
  line = Trimmed(line);
  if (line.starts_with("#")) line = Trimmed(line.substr(1));
  std::vector<std::string> cells;
  if (line.find(',') != std::string_view::npos) {
    cells = CellsOf(line);
  } else {
    for (const std::string_view word : WordsOf(line)) cells.emplace_back(word);
  }
  return cells;
}

// "# gpu pwr …", "#Date Time gpu …": which column holds the GPU's number; nothing for other lines.
std::optional<std::size_t> GpuColumn(std::string_view line) {
  if (!Trimmed(line).starts_with("#")) return std::nullopt;
  const std::vector<std::string> cells = Columns(line);
  for (std::size_t i = 0; i < std::min<std::size_t>(cells.size(), 3); ++i) {
    const std::string word = Lower(cells[i]);
    if (word == "gpu") {
      const bool known = std::any_of(cells.begin(), cells.end(), [](const std::string& cell) {
        return DmonQuantity(cell) != nullptr;
      });
      const bool of_processes = IsIn("pid", cells);
      return known && !of_processes ? std::optional(i) : std::nullopt;
    }
    if (word != "date" && word != "time") return std::nullopt;
  }
  return std::nullopt;
}

// Seconds of "20240501" and "10:15:02"; either may be missing.
std::optional<double> MomentOf(const std::string& date, const std::string& time) {
  std::string text = "1970/01/01";
  if (date.size() == 8) text = date.substr(0, 4) + "/" + date.substr(4, 2) + "/" + date.substr(6);
  if (date.empty() && time.empty()) return std::nullopt;
  if (time.empty()) return std::nullopt;  // days alone order nothing
  return TimestampOf(text + " " + time);
}

// The columns that dmon prints unless it is asked for others, before driver 525 and since.
constexpr std::string_view kDefaultColumns = "gpu pwr gtemp mtemp sm mem enc dec mclk pclk";
constexpr std::string_view kDefaultColumnsNow =
    "gpu pwr gtemp mtemp sm mem enc dec jpg ofa mclk pclk";

// The columns of a log without a header, where its rows can only be the default ones; else empty.
std::vector<std::string> DefaultColumns(std::string_view text) {
  constexpr std::size_t kRows = 20;
  std::size_t rows = 0;
  std::vector<std::string> names;
  for (const std::string_view line : LinesOf(text)) {
    if (Trimmed(line).empty()) continue;
    const auto cells = Columns(line);
    if (rows++ == 0) {
      names = Columns(cells.size() == 12 ? kDefaultColumnsNow : kDefaultColumns);
    }
    if (cells.size() != names.size() || rows > kRows)
      return rows > kRows ? names : std::vector<std::string>();
    for (std::size_t i = 0; i < cells.size(); ++i) {
      const auto value = NumberOf(cells[i]);
      const bool is_share = names[i] == "sm" || names[i] == "mem" || names[i] == "enc";
      const bool is_clock = names[i].ends_with("clk");
      if (!value && (cells[i] != "-" || i == 0)) return {};
      if (!value) continue;
      if (*value < 0 || *value != std::floor(*value) || (is_share && *value > 100) ||
          (is_clock && *value < 100) || (i == 0 && *value > 63)) {
        return {};
      }
    }
  }
  constexpr std::size_t kFewest = 2;
  return rows < kFewest ? std::vector<std::string>() : names;
}

class DmonReader {
 public:
  explicit DmonReader(Trace* trace) : log_(trace) {}

  void Assume(std::vector<std::string> names) { names_ = std::move(names); }

  std::int64_t Read(std::string_view text) {
    for (const std::string_view line : LinesOf(text)) {
      if (Trimmed(line).empty()) continue;
      if (const auto gpu = GpuColumn(line)) {
        names_ = Columns(line);
        gpu_ = *gpu;
        units_.clear();
      } else if (Trimmed(line).starts_with("#")) {
        units_ = Columns(line);
        if (units_.size() != names_.size()) units_.clear();
      } else if (!names_.empty()) {
        ReadRow(line);
      }
    }
    return log_.Finish();
  }

 private:
  void ReadRow(std::string_view line) {
    const std::vector<std::string> cells = Columns(line);
    if (cells.size() != names_.size() || !NumberOf(cells[gpu_])) {
      log_.SkipRow();
      return;
    }
    const std::string& gpu = cells[gpu_];
    std::string date, time;
    for (std::size_t i = 0; i < gpu_; ++i) {
      (Lower(names_[i]) == "date" ? date : time) = cells[i];
    }
    auto moment = MomentOf(date, time);
    if (moment) {
      // Without dates the clock starts again at midnight.
      if (date.empty() && *moment + days_ * 86400 < last_ - 43200) ++days_;
      *moment += days_ * 86400;
      last_ = *moment;
    }
    const double when = log_.Moment(gpu, moment);
    log_.Name(gpu, "", "");
    for (std::size_t i = gpu_ + 1; i < cells.size(); ++i) {
      const MonitorQuantity* quantity = DmonQuantity(names_[i]);
      if (quantity == nullptr) continue;
      // The row of units is not always in step with the columns: what does not fit is ignored.
      const bool fits = !units_.empty() && InUnit(1, units_[i], quantity->unit);
      log_.AddCell(gpu, *quantity, when, cells[i], fits ? units_[i] : "");
    }
    log_.AddRow();
  }

  MonitorLog log_;
  std::vector<std::string> names_, units_;
  std::size_t gpu_ = 0;
  double last_ = 0;
  int days_ = 0;
};

bool HasHeading(std::string_view text) {
  const auto lines = LinesOf(text.substr(0, 8192));
  return std::any_of(lines.begin(), lines.end(),
                     [](std::string_view line) { return GpuColumn(line).has_value(); });
}

}  // namespace

bool SniffDmon(std::string_view head) {
  return HasHeading(head) || !DefaultColumns(head.substr(0, head.rfind('\n'))).empty();
}

std::optional<Error> ReadDmon(std::string_view text, const std::string& path, Trace* trace) {
  trace->producer = "nvidia-smi dmon";
  DmonReader reader(trace);
  if (!HasHeading(text)) {
    reader.Assume(DefaultColumns(text));
    trace->diagnostics.Add(Level::kWarning,
                           "the log has no header: its columns were taken for the default ones");
  }
  if (reader.Read(text) == 0) {
    return Error{"the table of nvidia-smi dmon holds no samples", path,
                 "was it stopped before the first one?"};
  }
  return std::nullopt;
}

}  // namespace advise
