// Reads the comma-separated log of `nvidia-smi --query-gpu`, with or without units, also when a
// script appended several runs or wrote the header itself.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <map>
#include <optional>
#include <set>

#include "engine/base/is_in.h"
#include "engine/import/formats.h"
#include "engine/import/monitors/monitor_log.h"
#include "engine/import/text_input.h"

namespace advise {
namespace {

constexpr std::string_view kClock = "clocks_throttle_reasons.active";
constexpr std::string_view kClockNew = "clocks_event_reasons.active";

// "utilization.gpu [%]" → field and unit.
struct SmiField {
  std::string name;  // lower case
  std::string unit;  // "" without
  explicit SmiField(std::string_view cell) {
    const std::size_t open = cell.rfind(" [");
    if (open != std::string_view::npos && cell.ends_with(']')) {
      unit = cell.substr(open + 2, cell.size() - open - 3);
      cell = cell.substr(0, open);
    }
    name = Lower(Trimmed(cell));
  }
};

// Fields that say which GPU, or when.
bool IsKey(const std::string& name) {
  static constexpr auto kKeys = std::to_array<std::string_view>(
      {"timestamp", "index", "name", "gpu_name", "uuid", "gpu_uuid", "pci.bus_id", "gpu_bus_id"});
  return IsIn(name, kKeys);
}
bool IsMask(const std::string& name) { return name == kClock || name == kClockNew; }
bool IsSmi(const std::string& name) { return SmiQuantity(name) != nullptr || IsMask(name); }

// A line of field names of nvidia-smi, at least one of which is a quantity that we know.
bool IsHeader(std::string_view line) {
  if (line.find('.') == std::string_view::npos) return false;
  const std::vector<std::string> cells = CellsOf(line);
  return std::any_of(cells.begin(), cells.end(),
                     [](const std::string& cell) { return IsSmi(SmiField(cell).name); });
}

// The first lines, to be sure that the header stands at the top and not inside some program's code.
bool HasHeader(std::string_view text) {
  constexpr std::size_t kFirstLines = 5;
  const auto lines = LinesOf(text.substr(0, 8192));
  return std::any_of(
      lines.begin(),
      lines.begin() + static_cast<std::ptrdiff_t>(std::min(kFirstLines, lines.size())), IsHeader);
}

// What a cell of a log without a header can be, by its unit or its form; "" for plain numbers.
std::string FormOf(const std::string& cell) {
  for (const char* unit : {"%", "W", "MiB", "MHz"}) {
    if (cell.ends_with(std::string(" ") + unit) && NumberOf(cell.substr(0, cell.find(' ')))) {
      return unit;
    }
  }
  if (cell.find(':') != std::string::npos && TimestampOf(cell)) return "timestamp";
  if (cell.starts_with("GPU-")) return "uuid";
  for (const char* maker : {"NVIDIA ", "Tesla ", "GeForce ", "Quadro "}) {
    if (cell.starts_with(maker)) return "name";
  }
  return "";
}

// Names for the columns of rows without a header, from the units in them: nvidia-smi's manual and
// its users ask for utilization.gpu before utilization.memory, and for memory.total and
// memory.used, of which the total is larger. Empty where nothing tells.
std::vector<std::string> NamesWithoutHeader(std::string_view text) {
  const auto lines = LinesOf(text);
  const auto cells = lines.empty() ? std::vector<std::string>() : CellsOf(lines.front());
  std::vector<std::string> names;
  std::size_t known = 0;
  std::map<std::string, std::vector<std::size_t>> of_unit;
  for (std::size_t i = 0; i < cells.size(); ++i) {
    const std::string form = FormOf(cells[i]);
    const bool is_key = form == "timestamp" || form == "uuid" || form == "name";
    names.push_back(is_key ? form : fmt::format("column {}", i + 1));
    if (!form.empty() && !is_key) of_unit[form].push_back(i);
    if (form.empty() && !NumberOf(cells[i]) && !IsNoValue(cells[i])) return {};
  }
  const auto name = [&](const char* unit, std::size_t which, const char* field) {
    if (which >= of_unit[unit].size()) return;
    names[of_unit[unit][which]] = fmt::format("{} [{}]", field, unit);
    ++known;
  };
  name("%", 0, "utilization.gpu");
  name("%", 1, "utilization.memory");
  name("MHz", 0, "clocks.current.sm");
  const auto value = [&](std::size_t i) {
    return NumberOf(cells[i].substr(0, cells[i].find(' ')));
  };
  const auto& memory = of_unit["MiB"];
  if (memory.size() == 1) name("MiB", 0, "memory.used");
  if (memory.size() == 2) {
    const bool total_first = value(memory[0]) > value(memory[1]);
    name("MiB", 0, total_first ? "memory.total" : "memory.used");
    name("MiB", 1, total_first ? "memory.used" : "memory.total");
  }
  const auto& power = of_unit["W"];
  if (power.size() == 1) name("W", 0, "power.draw");
  if (power.size() == 2) {
    const bool limit_first = value(power[0]) > value(power[1]);
    name("W", 0, limit_first ? "power.limit" : "power.draw");
    name("W", 1, limit_first ? "power.draw" : "power.limit");
  }
  if (known == 0) return {};
  return names;
}

class SmiReader {
 public:
  explicit SmiReader(Trace* trace) : trace_(trace), log_(trace) {}

  // Names the columns of a log that does not.
  void Assume(const std::vector<std::string>& names) {
    if (names.empty()) return;
    std::string shown;
    for (const std::string& name : names) {
      fields_.emplace_back(name);
      if (!IsSmi(fields_.back().name)) continue;
      shown += (shown.empty() ? "" : ", ") + fields_.back().name;
    }
    Note(Level::kWarning,
         "the log has no header: its columns were recognized by their units: " + shown);
  }

  // Returns the number of rows.
  std::int64_t Read(std::string_view text) {
    for (const std::string_view raw : LinesOf(text)) {
      const std::string_view line = Trimmed(raw);
      if (line.empty()) continue;
      if (IsHeader(line)) {
        SetHeader(line);
      } else if (!fields_.empty()) {
        ReadRow(line);
      } else {
        Note(Level::kInfo, "lines before the header were skipped");
      }
    }
    LoseUnnamed();
    const std::int64_t rows = log_.Finish();
    if (rows > 0 && !names_gpu_) {
      Note(Level::kInfo,
           "the log does not say which GPU a row belongs to: all rows are taken as one GPU");
    }
    for (const std::string& column : skipped_columns_) {
      Note(Level::kInfo, "columns that no fact uses were left out:  " + column);
    }
    return rows;
  }

 private:
  void Note(Level level, std::string_view text) { trace_->diagnostics.Add(level, text); }

  void SetHeader(std::string_view line) {
    fields_.clear();
    for (const std::string& cell : CellsOf(line)) fields_.emplace_back(cell);
    for (const SmiField& field : fields_) {
      if (!IsSmi(field.name) && !IsKey(field.name)) {
        skipped_columns_.insert(field.name);
      }
    }
  }

  void ReadRow(std::string_view line) {
    const std::vector<std::string> cells = CellsOf(line);
    if (cells.size() != fields_.size()) {
      log_.SkipRow();
      return;
    }
    std::string own, index, name, uuid, bus;
    std::optional<double> time;
    for (std::size_t i = 0; i < cells.size(); ++i) {
      const std::string& field = fields_[i].name;
      if (field == "gpu") own = cells[i];  // a script's own number of the GPU
      if (field == "index") index = cells[i];
      if (field == "name" || field == "gpu_name") name = cells[i];
      if (field == "uuid" || field == "gpu_uuid") uuid = cells[i];
      if (field == "pci.bus_id" || field == "gpu_bus_id") bus = cells[i];
      if (field == "timestamp") time = TimestampOf(cells[i]);
    }
    const bool lost = std::any_of(cells.begin(), cells.end(), IsOfLostGpu);
    for (std::string* key : {&own, &index, &name, &uuid, &bus})
      if (IsNoValue(*key)) key->clear();
    const std::string& id = !own.empty() ? own : !index.empty() ? index : !bus.empty() ? bus : uuid;
    names_gpu_ = names_gpu_ || !id.empty();
    const std::string gpu = id.empty() ? "0" : id;
    ++row_;
    if (lost) {
      LoseGpu(names_gpu_ ? id : gpu, time);
      return;
    }
    last_row_[gpu] = row_;
    log_.Name(gpu, name, uuid);
    const double when = log_.Moment(gpu, time);
    for (std::size_t i = 0; i < cells.size(); ++i) {
      if (IsMask(fields_[i].name)) {
        ReadMask(gpu, when, cells[i]);
      } else if (const MonitorQuantity* quantity = SmiQuantity(fields_[i].name)) {
        ReadCell(gpu, when, *quantity, fields_[i].unit, cells[i]);
      }
    }
    log_.AddRow();
  }

  void LoseGpu(const std::string& gpu, std::optional<double> time) {
    log_.AddRow();
    if (!gpu.empty()) {
      log_.Lose(gpu, time);
      return;
    }
    if (unnamed_.empty()) unnamed_since_ = time;
    unnamed_.push_back(row_);
  }

  // The mark may stand where the GPU's number should. It is a GPU that has no rows after the first
  // such row, and none in the round of the last one: each round has a row per GPU.
  void LoseUnnamed() {
    if (unnamed_.empty()) return;
    for (const auto& [gpu, row] : last_row_) {
      if (row < unnamed_.front() && row + std::ssize(last_row_) <= unnamed_.back())
        log_.Lose(gpu, unnamed_since_);
    }
  }

  void ReadCell(const std::string& gpu, double when, const MonitorQuantity& quantity,
                const std::string& header_unit, const std::string& cell) {
    if (cell == "Active" || cell == "Not Active" || cell == "Yes" || cell == "No") {
      log_.Add(gpu, quantity, when, cell == "Active" || cell == "Yes" ? 1 : 0);
      return;
    }
    // "[Not Supported]" is one word.
    const std::size_t space = cell.starts_with('[') ? std::string::npos : cell.find(' ');
    log_.AddCell(gpu, quantity, when, cell.substr(0, space),
                 space == std::string::npos ? header_unit : cell.substr(space + 1));
  }

  // Bits of the driver's mask of what holds the clocks back.
  void ReadMask(const std::string& gpu, double when, const std::string& cell) {
    std::uint64_t mask = 0;
    const std::size_t start = cell.starts_with("0x") ? 2 : 0;
    const auto [stop, error] =
        std::from_chars(cell.data() + start, cell.data() + cell.size(), mask, 16);
    if (error != std::errc() || stop != cell.data() + cell.size()) {
      if (!IsNoValue(cell)) Note(Level::kWarning, "cells without a number were left out");
      return;
    }
    log_.AddReasons(gpu, when, mask);
  }

  Trace* trace_;
  MonitorLog log_;
  std::vector<SmiField> fields_;
  std::set<std::string> skipped_columns_;
  bool names_gpu_ = false;
  std::int64_t row_ = 0;
  std::map<std::string, std::int64_t> last_row_;  // of each GPU
  std::vector<std::int64_t> unnamed_;             // rows of lost GPUs without their number
  std::optional<double> unnamed_since_;
};

}  // namespace

bool SniffSmiCsv(std::string_view head) {
  return HasHeader(head) || !NamesWithoutHeader(head).empty();
}

std::optional<Error> ReadSmiCsv(std::string_view text, const std::string& path, Trace* trace) {
  trace->producer = "nvidia-smi";
  SmiReader reader(trace);
  if (!HasHeader(text)) reader.Assume(NamesWithoutHeader(text));
  if (reader.Read(text) == 0) {
    return Error{"the log of nvidia-smi holds no samples", path,
                 "was it stopped before the first one?"};
  }
  return std::nullopt;
}

}  // namespace advise
