// Reads `dcgmi dmon` tables and the Prometheus text of dcgm-exporter.
#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "engine/import/formats.h"
#include "engine/import/monitors/monitor_log.h"
#include "engine/import/prometheus.h"
#include "engine/import/text_input.h"

namespace advise {
namespace {

bool IsTableHeader(std::string_view line) { return line.starts_with("#Entity"); }

// "DCGM_FI_DEV_GPU_UTIL{gpu="0",…} 97": the start of such a line, or of its description.
bool IsExporterLine(std::string_view line) {
  if (line.starts_with("# HELP ") || line.starts_with("# TYPE ")) line.remove_prefix(7);
  return line.starts_with("DCGM_FI_") || line.starts_with("DCGM_EXP_");
}

class DcgmReader {
 public:
  explicit DcgmReader(Trace* trace) : trace_(trace), log_(trace) {}

  std::int64_t Read(std::string_view text) {
    for (const std::string_view raw : LinesOf(text)) {
      const std::string_view line = Trimmed(raw);
      if (line.empty()) continue;
      if (IsTableHeader(line)) {
        columns_ = WordsOf(line);
        columns_.erase(columns_.begin());
      } else if (line.starts_with("# TYPE ")) {
        const auto words = WordsOf(line);
        if (words.size() == 4) counter_[std::string(words[2])] = words[3] == "counter";
      } else if (line.starts_with("#") || line.starts_with("ID")) {
        continue;
      } else if (IsExporterLine(line)) {
        ReadExporterLine(line);
      } else if (!columns_.empty()) {
        ReadRow(line);
      }
    }
    LeaveOutSplitBoards();
    return log_.Finish();
  }

 private:
  // "3" of "GPU-I 3" is an instance; its board is known where only one was logged.
  static std::string InstanceName(const std::string& entity, const std::string& board) {
    const std::string number = entity.substr(entity.find(' ') + 1);
    return (board.empty() ? "" : board + " ") + "instance " + number;
  }

  // A board that is split into instances (MIG) shows again what these do.
  void LeaveOutSplitBoards() {
    std::vector<std::string> boards, instances;
    for (const std::string& label : log_.Labels()) {
      const bool of_table = label.starts_with("GPU-I ") || label.starts_with("I ");
      (of_table ? instances : boards).push_back(label);
    }
    const std::string only = boards.size() == 1 ? boards.front() : "";
    if (!only.empty() && !instances.empty()) split_.insert(only);
    for (const std::string& board : split_) {
      if (!log_.Leave(board)) continue;
      Note(Level::kInfo,
           "boards that are split into MIG instances were left out: each instance is shown");
    }
    for (const std::string& entity : instances) log_.Rename(entity, InstanceName(entity, only));
  }

  void Note(Level level, const char* text) { trace_->diagnostics.Add(level, text); }

  // "GPU 0  0.98  0.91 …": the values are the last words, what stands before names the entity.
  void ReadRow(std::string_view line) {
    const auto words = WordsOf(line);
    if (words.size() < columns_.size() + 2) {
      log_.SkipRow();
      return;
    }
    const std::size_t first = words.size() - columns_.size();
    std::string gpu;
    for (std::size_t i = 0; i < first; ++i) {
      if (i == 0 && words[i] == "GPU") continue;
      gpu += (gpu.empty() ? "" : " ") + std::string(words[i]);
    }
    const double when = log_.Moment(gpu, std::nullopt);
    log_.Name(gpu, "", "");
    for (std::size_t i = 0; i < columns_.size(); ++i) {
      const MonitorQuantity* quantity = DcgmQuantity(columns_[i]);
      if (quantity != nullptr) Take(gpu, *quantity, when, words[first + i]);
    }
    log_.AddRow();
  }

  // The flags of a number in which the driver packs why the clocks are low.
  void AddReasons(const std::string& gpu, double when, std::string_view cell) {
    const auto number = NumberOf(cell);
    if (!number || IsBlankNumber(*number)) return log_.AddCell(gpu, kReasons, when, cell, "");
    log_.AddReasons(gpu, when, WholeOf<std::uint64_t>(*number));
  }

  // Time that grew since the sample before: the clocks were low in between.
  void AddViolation(const std::string& gpu, const MonitorQuantity& quantity, double when,
                    std::string_view cell) {
    const auto number = NumberOf(cell);
    if (!number || IsBlankNumber(*number)) return log_.AddCell(gpu, quantity, when, cell, "");
    const auto [last, first] = violations_.try_emplace({gpu, quantity.name}, *number);
    if (!first) log_.Add(gpu, quantity, when, *number > last->second ? 1 : 0);
    last->second = *number;
  }

  void Take(const std::string& gpu, const MonitorQuantity& quantity, double when,
            std::string_view cell) {
    if (quantity.unit == "reasons") return AddReasons(gpu, when, cell);
    if (quantity.unit == "violation") {
      return AddViolation(gpu, {quantity.name, "share", 1}, when, cell);
    }
    log_.AddCell(gpu, quantity, when, cell, "");
  }

  void ReadExporterLine(std::string_view line) {
    const auto read = PrometheusLineOf(line);
    if (!read || read->labels.empty()) {
      Note(Level::kWarning, "lines that were cut short were skipped");
      return;
    }
    const std::string& name = read->name;
    log_.AddRow();
    std::string gpu = read->Label("gpu").empty() ? "0" : read->Label("gpu");
    const std::string board = gpu;
    const std::string instance = read->Label("GPU_I_ID");
    if (!instance.empty()) gpu += " instance " + instance;
    // GPUs of several hosts carry the same numbers.
    const std::string host = read->Label("Hostname");
    if (first_host_.empty()) trace_->host = first_host_ = host;
    if (!host.empty() && host != first_host_) {
      gpu = host + " " + gpu;
      trace_->host.clear();
    }
    if (!instance.empty())
      split_.insert(host.empty() || host == first_host_ ? board : host + " " + board);
    log_.Name(gpu, read->Label("modelName"), read->Label("UUID"));
    const double when = log_.Moment(gpu + "/" + name, read->time_s);
    // How often each code was seen in the last minutes; the code is a label.
    if (name == "DCGM_EXP_XID_ERRORS_COUNT") {
      if (NumberOf(read->value).value_or(0) > 0)
        log_.AddCell(gpu, *DcgmQuantity("XIDER"), when, read->Label("xid"), "");
      return;
    }
    const MonitorQuantity* quantity = DcgmQuantity(name);
    if (quantity == nullptr) return;
    // Totals are no levels. Byte rates are rates, and counts are counts, whatever the exporter's
    // list calls them.
    const bool rate = quantity->unit == "bytes_per_s";
    const bool count = quantity->unit == "count" || quantity->unit == "code" ||
                       quantity->unit == "violation" || quantity->unit == "reasons";
    if (counter_[name] && !rate && !count) return;
    Take(gpu, *quantity, when, read->value);
  }

  static constexpr MonitorQuantity kReasons{"throttle_hardware", "share", 1};

  Trace* trace_;
  MonitorLog log_;
  std::vector<std::string_view> columns_;
  std::map<std::string, bool> counter_;
  std::map<std::pair<std::string, std::string_view>, double> violations_;  // what was seen last
  std::string first_host_;
  std::set<std::string> split_;  // boards that have instances
};

}  // namespace

bool SniffDcgm(std::string_view head) {
  const auto lines = LinesOf(head.substr(0, 8192));
  return std::any_of(lines.begin(), lines.end(), [](std::string_view line) {
    return IsTableHeader(line) || IsExporterLine(line);
  });
}

std::optional<Error> ReadDcgm(std::string_view text, const std::string& path, Trace* trace) {
  trace->producer = "DCGM";
  if (DcgmReader(trace).Read(text) == 0) {
    return Error{"the log of DCGM holds no samples", path, "was it stopped before the first one?"};
  }
  return std::nullopt;
}

}  // namespace advise
