// Reads the tables that nvidia-smi prints without options, behind one another as -l or a script's
// loop leaves them in a log.
#include <algorithm>
#include <optional>

#include "engine/base/ascii.h"
#include "engine/import/formats.h"
#include "engine/import/monitors/monitor_log.h"
#include "engine/import/text_input.h"

namespace advise {
namespace {

constexpr std::string_view kHeading = "| NVIDIA-SMI ";

// The cells between the bars of a table's row; empty for other lines.
std::vector<std::string_view> BarredCells(std::string_view line) {
  line = Trimmed(line);
  std::vector<std::string_view> cells;
  if (line.size() < 2 || line.front() != '|' || line.back() != '|') return cells;
  line.remove_prefix(1);
  for (std::size_t bar = line.find('|'); bar != std::string_view::npos; bar = line.find('|')) {
    cells.push_back(Trimmed(line.substr(0, bar)));
    line.remove_prefix(bar + 1);
  }
  return cells;
}

// "00000000:18:00.0 Off": an address on the bus, and whether a display is attached.
bool HasBusAddress(std::string_view cell) {
  const auto words = WordsOf(cell);
  return !words.empty() && std::count(words[0].begin(), words[0].end(), ':') == 2;
}

class SmiTableReader {
 public:
  explicit SmiTableReader(Trace* trace) : trace_(trace), log_(trace) {}

  std::int64_t Read(std::string_view text) {
    std::string_view before;
    for (const std::string_view line : LinesOf(text)) {
      if (Trimmed(line).starts_with(kHeading)) {
        ReadVersion(line);
        gpu_.clear();
      } else if (Trimmed(line).starts_with("+--")) {
        if (const auto time = TimestampOf(before)) time_ = time;
      } else {
        ReadRow(BarredCells(line));
      }
      if (!Trimmed(line).empty()) before = line;
    }
    return log_.Finish();
  }

 private:
  void ReadVersion(std::string_view line) {
    constexpr std::string_view kLabel = "Driver Version: ";
    const std::size_t at = line.find(kLabel);
    if (at == std::string_view::npos) return;
    const auto words = WordsOf(line.substr(at + kLabel.size()));
    if (!words.empty()) trace_->driver_version = words[0];
  }

  // A GPU takes two rows: its name, its address and its errors; then heat, power, memory and use.
  void ReadRow(const std::vector<std::string_view>& cells) {
    if (cells.size() != 3) return;
    const auto words = WordsOf(cells[0]);
    if (words.empty()) return;
    if (HasBusAddress(cells[1])) {
      if (!NumberOf(words[0])) return;
      gpu_ = words[0];
      when_ = log_.Moment(gpu_, time_);
      ReadName(words);
      const std::string_view errors = cells[2];
      if (NumberOf(errors)) Add("ecc.errors.uncorrected.volatile.total", errors, "");
      log_.AddRow();
    } else if (!gpu_.empty()) {
      ReadReadings(cells);
      gpu_.clear();
    }
  }

  // "0  NVIDIA H100 80GB HBM3   On": between the number and the persistence mode; long names are
  // cut.
  void ReadName(const std::vector<std::string_view>& words) {
    std::string name;
    for (std::size_t i = 1; i + 1 < words.size(); ++i) {
      name += (name.empty() ? "" : " ") + std::string(words[i]);
    }
    log_.Name(gpu_, name.ends_with("...") ? "" : name, "");
  }

  // "N/A   42C    P0   350W / 700W", "60000MiB / 81559MiB", "98%      Default".
  void ReadReadings(const std::vector<std::string_view>& cells) {
    for (const std::string_view word : WordsOf(cells[0])) {
      if (word.ends_with('C')) AddWithUnit("temperature.gpu", word);
    }
    AddPair("power.draw", "power.limit", cells[0]);
    AddPair("memory.used", "memory.total", cells[1]);
    const auto use = WordsOf(cells[2]);
    if (!use.empty()) AddWithUnit("utilization.gpu", use[0]);
  }

  // "350W / 700W": the words beside the slash.
  void AddPair(const char* first, const char* second, std::string_view cell) {
    const std::size_t slash = cell.find('/', cell.find(" /"));
    if (slash == std::string_view::npos) return;
    const auto before = WordsOf(cell.substr(0, slash));
    const auto after = WordsOf(cell.substr(slash + 1));
    if (!before.empty()) AddWithUnit(first, before.back());
    if (!after.empty()) AddWithUnit(second, after.front());
  }

  void AddWithUnit(const char* field, std::string_view word) {
    const std::size_t end = std::min(word.find_first_not_of("0123456789."), word.size());
    if (end == 0) return;  // "N/A", "ERR!"
    Add(field, word.substr(0, end), word.substr(end));
  }
  void Add(const char* field, std::string_view number, std::string_view unit) {
    log_.AddCell(gpu_, *SmiQuantity(field), when_, number, unit);
  }

  Trace* trace_;
  MonitorLog log_;
  std::optional<double> time_;
  std::string gpu_;  // whose second row comes next; "": none
  double when_ = 0;
};

}  // namespace

bool SniffSmiTable(std::string_view head) {
  const std::size_t first = head.find(kHeading);
  return first != std::string_view::npos &&
         head.find(kHeading, first + 1) != std::string_view::npos;
}

std::optional<Error> ReadSmiTable(std::string_view text, const std::string& path, Trace* trace) {
  trace->producer = "nvidia-smi";
  if (SmiTableReader(trace).Read(text) == 0) {
    return Error{"the tables of nvidia-smi name no GPU", path, "were they cut off?"};
  }
  return std::nullopt;
}

}  // namespace advise
