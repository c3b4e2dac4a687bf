// Reads the pages of `nvidia-smi -q`, one or several behind one another (-l), whole or of some
// sections (-d).
#include <algorithm>
#include <map>
#include <optional>

#include "engine/base/ascii.h"
#include "engine/base/file_name.h"
#include "engine/import/formats.h"
#include "engine/import/monitors/monitor_log.h"
#include "engine/import/text_input.h"

namespace advise {
namespace {

bool IsPageStart(std::string_view line) { return line.starts_with("==============NVSMI LOG"); }

// "GPU 00000000:18:00.0": the block of the next GPU.
bool IsGpuLine(std::string_view line) {
  const auto words = WordsOf(line);
  return line.starts_with("GPU ") && words.size() == 2 &&
         std::count(words[1].begin(), words[1].end(), ':') == 2 && words[1].ends_with(".0");
}

// What stands at a place of the page, as fields of --query-gpu are called. Names of sections have
// changed: before driver 535 clocks were throttled, and "Ecc" had small letters.
const char* FieldAt(const std::string& place) {
  static const std::map<std::string, const char*, std::less<>> kFields = {
      {"utilization/gpu", "utilization.gpu"},
      {"utilization/memory", "utilization.memory"},
      {"fb memory usage/total", "memory.total"},
      {"fb memory usage/used", "memory.used"},
      {"power readings/power draw", "power.draw"},
      {"gpu power readings/power draw", "power.draw"},
      {"gpu power readings/average power draw", "power.draw"},
      {"power readings/enforced power limit", "power.limit"},
      {"gpu power readings/current power limit", "power.limit"},
      {"power readings/default power limit", "power.default_limit"},
      {"gpu power readings/default power limit", "power.default_limit"},
      {"temperature/gpu current temp", "temperature.gpu"},
      {"clocks/sm", "clocks.sm"},
      {"max clocks/sm", "clocks.max.sm"},
      {"clocks throttle reasons/sw power cap", "clocks_throttle_reasons.sw_power_cap"},
      {"clocks throttle reasons/hw slowdown", "clocks_throttle_reasons.hw_slowdown"},
      {"clocks throttle reasons/hw slowdown/hw thermal slowdown",
       "clocks_throttle_reasons.hw_thermal_slowdown"},
      {"clocks throttle reasons/hw slowdown/hw power brake slowdown",
       "clocks_throttle_reasons.hw_power_brake_slowdown"},
      {"clocks throttle reasons/sw thermal slowdown",
       "clocks_throttle_reasons.sw_thermal_slowdown"},
      {"pci/gpu link info/link width/current", "pcie.link.width.current"},
      {"pci/gpu link info/link width/max", "pcie.link.width.max"},
      {"pci/gpu link info/pcie generation/current", "pcie.link.gen.current"},
      {"pci/gpu link info/pcie generation/max", "pcie.link.gen.max"},
      {"ecc errors/volatile/double bit/total", "ecc.errors.uncorrected.volatile.total"},
      {"retired pages/pending page blacklist", "retired_pages.pending"},
      {"retired pages/pending", "retired_pages.pending"},
      {"remapped rows/pending", "remapped_rows.pending"},
      {"remapped rows/remapping failure occurred", "remapped_rows.failure"}};
  const auto found = kFields.find(place);
  return found == kFields.end() ? nullptr : found->second;
}

// Since driver 450 such errors are listed by where they were; they are summed.
bool IsUncorrected(const std::string& place) {
  return place.starts_with("ecc errors/volatile/sram uncorrectable") ||
         place == "ecc errors/volatile/dram uncorrectable";
}

class SmiPageReader {
 public:
  explicit SmiPageReader(Trace* trace) : trace_(trace), log_(trace) {}

  std::int64_t Read(std::string_view text) {
    for (const std::string_view line : LinesOf(text)) ReadLine(line);
    EndGpu();
    return log_.Finish();
  }

 private:
  void ReadLine(std::string_view line) {
    if (IsPageStart(line)) {
      EndGpu();
      gpus_ = 0;
      time_ = std::nullopt;
      return;
    }
    if (IsGpuLine(line)) {
      EndGpu();
      gpu_ = std::to_string(gpus_++);
      when_ = log_.Moment(gpu_, time_);
      log_.Name(gpu_, "", "");
      log_.AddRow();
      place_.clear();
      return;
    }
    if (Trimmed(line).empty()) return;
    const std::size_t colon = line.find(" : ");
    const std::string_view name = Trimmed(line.substr(0, colon));
    const std::string_view value =
        colon == std::string_view::npos ? std::string_view() : Trimmed(line.substr(colon + 3));
    if (gpu_.empty()) {
      if (name == "Timestamp") time_ = TimestampOf(value);
      if (name == "Driver Version") trace_->driver_version = value;
      return;
    }
    Enter(line, name);
    if (colon != std::string_view::npos) ReadValue(Place(), std::string(value));
  }

  // The sections around this line, by how far it is indented.
  void Enter(std::string_view line, std::string_view name) {
    std::size_t indent = 0;
    for (; indent < line.size() && (line[indent] == ' ' || line[indent] == '\t'); ++indent) {
    }
    while (!place_.empty() && place_.back().first >= indent) place_.pop_back();
    place_.emplace_back(indent, Lower(name));
  }

  std::string Place() const {
    std::string place;
    for (const auto& [indent, name] : place_) place += (place.empty() ? "" : "/") + name;
    const std::string now = "clocks event reasons", before = "clocks throttle reasons";
    if (place.starts_with(now + "/")) place.replace(0, now.size(), before);
    return place;
  }

  void ReadValue(const std::string& place, const std::string& value) {
    if (place == "product name") return log_.Name(gpu_, value, "");
    if (place == "gpu uuid") return log_.Name(gpu_, "", value);
    if (place.starts_with("processes/")) return ReadProcess(place, value);
    if (IsUncorrected(place)) {
      if (const auto number = NumberOf(value)) uncorrected_ = uncorrected_.value_or(0) + *number;
      return;
    }
    // The SRAM of the GPU has had more errors than NVIDIA allows.
    if (place == "ecc errors/aggregate/sram threshold exceeded" &&
        (value == "Yes" || value == "No"))
      return log_.Add(gpu_, *SmiQuantity("remapped_rows.failure"), when_, value == "Yes" ? 1 : 0);
    const char* const field = FieldAt(place);
    if (field == nullptr) return;
    const MonitorQuantity& quantity = *SmiQuantity(field);
    for (const auto& [word, flag] : {std::pair("Active", 1), std::pair("Not Active", 0),
                                     std::pair("Yes", 1), std::pair("No", 0)}) {
      if (value == word) return log_.Add(gpu_, quantity, when_, flag);
    }
    // "16x" lanes.
    std::string cell = value;
    if (cell.ends_with('x') && IsDigit(cell[0])) cell.pop_back();
    const std::size_t space = cell.find(' ');
    log_.AddCell(gpu_, quantity, when_, cell.substr(0, space),
                 space == std::string::npos ? "" : cell.substr(space + 1));
  }

  // Under "Processes", the lines about one are indented below its number.
  void ReadProcess(const std::string& place, const std::string& value) {
    std::vector<GpuProcess>& all = trace_->monitor.processes;
    if (place.ends_with("/process id")) {
      known_ = std::any_of(all.begin(), all.end(), [&](const GpuProcess& one) {
        return one.gpu == gpu_ && one.pid == value;
      });
      if (!known_) all.push_back({gpu_, value, "", -1});
    }
    if (known_ || all.empty() || all.back().gpu != gpu_) return;
    if (place.ends_with("/name")) all.back().name = FileName(value);
    if (place.ends_with("/type") && value.find('C') == std::string::npos) {
      all.pop_back();
      known_ = true;  // graphics: what follows about it is left out
    }
    if (place.ends_with("/used gpu memory")) {
      if (const auto mebibytes = NumberOf(value.substr(0, value.find(' '))))
        all.back().bytes = *mebibytes * 1048576;
    }
  }

  void EndGpu() {
    if (uncorrected_)
      log_.Add(gpu_, *SmiQuantity("ecc.errors.uncorrected.volatile.total"), when_, *uncorrected_);
    uncorrected_ = std::nullopt;
    gpu_.clear();
    place_.clear();
  }

  Trace* trace_;
  MonitorLog log_;
  int gpus_ = 0;        // of this page
  std::string gpu_;     // "": before the first one
  bool known_ = false;  // the process that is told of was on a page before
  double when_ = 0;
  std::optional<double> time_;
  std::optional<double> uncorrected_;
  std::vector<std::pair<std::size_t, std::string>> place_;  // indentation and name
};

}  // namespace

bool SniffSmiPage(std::string_view head) {
  bool page = false;
  for (const std::string_view line : LinesOf(head)) {
    if (page && IsGpuLine(line)) return true;
    page = page || IsPageStart(line);
  }
  return false;
}

std::optional<Error> ReadSmiPage(std::string_view text, const std::string& path, Trace* trace) {
  trace->producer = "nvidia-smi -q";
  if (SmiPageReader(trace).Read(text) == 0) {
    return Error{"the page of nvidia-smi -q names no GPU", path, "was it cut off?"};
  }
  return std::nullopt;
}

}  // namespace advise
