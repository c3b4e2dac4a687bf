// Reads what AMD's monitors print of GPUs, once or again and again: `amd-smi monitor` as a table or
// as CSV, and of rocm-smi the short table, the CSV, and lines such as "GPU[0] : GPU use (%): 25".
#include <algorithm>
#include <array>
#include <optional>
#include <utility>

#include "engine/base/is_in.h"
#include "engine/import/formats.h"
#include "engine/import/monitors/amd_cells.h"
#include "engine/import/monitors/monitor_log.h"
#include "engine/import/text_input.h"

namespace advise {
namespace {

bool IsUnit(std::string_view word) {
  static constexpr auto kUnits = std::to_array<std::string_view>(
      {"w", "c", "%", "mhz", "mb", "gb", "mb/s", "kb/s", "gb/s", "mv", "j"});
  if (word.starts_with(kDegreeSign)) word.remove_prefix(kDegreeSign.size());
  return IsIn(Lower(word), kUnits);
}

// Cells of a row of a printed table. What belongs together although there are blanks in it: "182
// W", "NPS1, SPX, 0", "0.3/ 64.0 GB", "Temp (DieEdge)", "[0x5200 : 0xc8]".
std::vector<std::string> TableCells(std::string_view line) {
  std::vector<std::string> cells;
  bool in_brackets = false;
  for (const std::string_view word : WordsOf(line)) {
    const bool joins =
        !cells.empty() && (in_brackets || IsUnit(word) || word.starts_with("(") ||
                           cells.back().ends_with(",") || cells.back().ends_with("/"));
    if (joins) {
      cells.back() += " ";
      cells.back() += word;
    } else {
      cells.emplace_back(word);
    }
    in_brackets = (in_brackets || word.starts_with("[")) && !word.ends_with("]");
  }
  return cells;
}

std::vector<std::string> Cells(std::string_view line) {
  // A comma inside of a printed table has a blank behind it.
  const std::size_t comma = line.find(',');
  const bool csv = comma != std::string_view::npos && line.substr(comma + 1, 1) != " ";
  return csv ? CellsOf(line) : TableCells(line);
}

// Words that scripts of anybody's put over their columns, in units of their own.
bool IsAnybodys(std::string_view name) {
  static constexpr auto kWords =
      std::to_array<std::string_view>({"power", "temp", "mem", "throttle"});
  return IsIn(name, kWords);
}

// The names of a table's columns, and which of them names the GPU.
struct Heading {
  std::vector<std::string> names;  // lower case
  std::size_t gpu = 0;
  bool known = false;  // it is of one of these tools
};

// Nothing for lines that are no heading of a table of GPUs, whoever printed it.
std::optional<Heading> HeadingOf(std::string_view line) {
  Heading heading;
  for (const std::string& cell : Cells(line)) heading.names.push_back(Lower(cell));
  const auto& names = heading.names;
  if (names.size() < 2) return std::nullopt;
  heading.gpu = names[0] == "timestamp" ? 1 : 0;
  if (names[heading.gpu] != "gpu" && names[heading.gpu] != "device") return std::nullopt;
  const auto is_known = [](const std::string& name) {
    return AmdQuantityOf(name) != nullptr || name == "vram_usage";
  };
  const auto known = std::count_if(names.begin(), names.end(), is_known);
  const bool of_amd = std::any_of(names.begin(), names.end(), [&](const std::string& name) {
    return is_known(name) && !IsAnybodys(name);
  });
  // A single one may be a script's own word; rocm-smi's come with their unit.
  heading.known =
      of_amd && (known >= 2 || (known == 1 && line.find(" (") != std::string_view::npos));
  return heading;
}

// "GPU[0]    : GPU use (%): 25".
struct Line {
  std::string gpu, name, value;
};
std::optional<Line> LineOf(std::string_view line) {
  line = Trimmed(line);
  if (!line.starts_with("GPU[")) return std::nullopt;
  const std::size_t close = line.find(']');
  const std::size_t colon = line.find(':');
  if (colon == std::string_view::npos || close > colon) return std::nullopt;
  const auto gpu = AmdGpuOf(line.substr(4, close - 4));
  const std::string_view said = Trimmed(line.substr(colon + 1));
  const std::size_t end = said.find(": ");
  if (!gpu || end == std::string_view::npos) return std::nullopt;
  return Line{*gpu, Lower(said.substr(0, end)), std::string(Trimmed(said.substr(end + 2)))};
}

class AmdReader {
 public:
  explicit AmdReader(Trace* trace) : log_(trace) {}

  std::int64_t Read(std::string_view text) {
    for (const std::string_view line : LinesOf(text)) {
      if (const auto one = LineOf(line)) {
        const bool is_name = IsAmdProduct(one->name);
        if (!is_name && AmdQuantityOf(one->name) == nullptr) continue;
        log_.Name(one->gpu, is_name ? one->value : "", "");
        if (is_name) continue;
        AddAmdCell(one->gpu, one->name, log_.Moment(one->gpu + one->name, std::nullopt), one->value,
                   &log_);
        log_.AddRow();
      } else if (auto heading = HeadingOf(line)) {
        heading_ = heading->known ? std::move(*heading) : Heading();
      } else if (heading_.known) {
        ReadRow(line);
      }
    }
    return log_.Finish();
  }

 private:
  void ReadRow(std::string_view line) {
    const std::vector<std::string> cells = Cells(line);
    if (cells.size() <= heading_.gpu) return;
    const auto gpu = AmdGpuOf(cells[heading_.gpu]);
    if (!gpu) return;  // rules, dates, what other programs print
    if (cells.size() != heading_.names.size()) {
      log_.SkipRow();
      return;
    }
    const auto clock = heading_.gpu > 0 ? TimestampOf(cells[0]) : std::nullopt;
    const double when = log_.Moment(*gpu, clock);
    log_.Name(*gpu, "", "");
    for (std::size_t i = heading_.gpu + 1; i < cells.size(); ++i) {
      const std::string& name = heading_.names[i];
      if (IsAmdProduct(name)) {
        log_.Name(*gpu, cells[i], "");
      } else {
        AddAmdCell(*gpu, name, when, cells[i], &log_);
      }
    }
    log_.AddRow();
  }

  MonitorLog log_;
  Heading heading_;
};

}  // namespace

bool SniffAmdSmi(std::string_view head) {
  const auto lines = LinesOf(head.substr(0, 8192));
  return std::any_of(lines.begin(), lines.end(), [](std::string_view line) {
    if (const auto one = LineOf(line)) return AmdQuantityOf(one->name) != nullptr;
    const auto heading = HeadingOf(line);
    return heading && heading->known;
  });
}

std::optional<Error> ReadAmdSmi(std::string_view text, const std::string& path, Trace* trace) {
  // Units that only rocm-smi writes beside its names.
  const bool rocm = text.find("GPU use (%)") != std::string_view::npos ||
                    text.find("ROCm System Management Interface") != std::string_view::npos;
  trace->producer = rocm ? "rocm-smi" : "amd-smi monitor";
  if (AmdReader(trace).Read(text) == 0) {
    return Error{"the log of amd-smi or rocm-smi holds no samples", path,
                 "was it stopped before the first one?"};
  }
  return std::nullopt;
}

}  // namespace advise
