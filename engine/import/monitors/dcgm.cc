// Reads `dcgmi dmon` tables and the Prometheus text of dcgm-exporter.
#include <algorithm>
#include <cctype>
#include <map>
#include <optional>

#include "engine/import/formats.h"
#include "engine/import/monitors/monitor_log.h"
#include "engine/import/text_input.h"

namespace advise {
namespace {

bool IsTableHeader(std::string_view line) { return line.starts_with("#Entity"); }

// "DCGM_FI_DEV_GPU_UTIL{gpu="0",…} 97": the start of such a line, or of its description.
bool IsExporterLine(std::string_view line) {
  if (line.starts_with("# HELP ") || line.starts_with("# TYPE ")) line.remove_prefix(7);
  return line.starts_with("DCGM_FI_");
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
    return log_.Finish();
  }

 private:
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
      if (quantity != nullptr) log_.AddCell(gpu, *quantity, when, words[first + i], "");
    }
    log_.AddRow();
  }

  // `name="value", …` inside the braces.
  static std::map<std::string, std::string> LabelsOf(std::string_view text) {
    std::map<std::string, std::string> labels;
    std::size_t at = 0;
    while (at < text.size()) {
      const std::size_t equals = text.find("=\"", at);
      if (equals == std::string_view::npos) break;
      std::string_view name = Trimmed(text.substr(at, equals - at));
      if (name.starts_with(",")) name = Trimmed(name.substr(1));
      std::size_t end = equals + 2;
      std::string value;
      for (; end < text.size() && text[end] != '"'; ++end) {
        if (text[end] == '\\' && end + 1 < text.size()) ++end;
        value += text[end];
      }
      labels[std::string(name)] = value;
      at = end + 1;
    }
    return labels;
  }

  void ReadExporterLine(std::string_view line) {
    const std::size_t open = line.find('{');
    const std::size_t close = line.rfind('}');
    if (open == std::string_view::npos || close == std::string_view::npos || close < open) {
      Note(Level::kWarning, "lines that were cut short were skipped");
      return;
    }
    const std::string name(line.substr(0, open));
    const auto words = WordsOf(line.substr(close + 1));
    if (words.empty()) {
      Note(Level::kWarning, "lines that were cut short were skipped");
      return;
    }
    log_.AddRow();
    const auto labels = LabelsOf(line.substr(open + 1, close - open - 1));
    const auto label = [&](const char* key) {
      const auto found = labels.find(key);
      return found == labels.end() ? std::string() : found->second;
    };
    std::string gpu = label("gpu").empty() ? "0" : label("gpu");
    if (!label("GPU_I_ID").empty()) gpu += " instance " + label("GPU_I_ID");
    // GPUs of several hosts carry the same numbers.
    const std::string host = label("Hostname");
    if (first_host_.empty()) trace_->host = first_host_ = host;
    if (!host.empty() && host != first_host_) {
      gpu = host + " " + gpu;
      trace_->host.clear();
    }
    log_.Name(gpu, label("modelName"), label("UUID"));
    const MonitorQuantity* quantity = DcgmQuantity(name);
    // Byte rates are rates, whatever the exporter's list calls them.
    const bool rate = quantity != nullptr && quantity->unit == "bytes_per_s";
    if (quantity == nullptr || (counter_[name] && !rate)) return;
    std::optional<double> clock;
    if (words.size() > 1) {
      if (const auto milliseconds = NumberOf(words[1])) clock = *milliseconds / 1000;
    }
    log_.AddCell(gpu, *quantity, log_.Moment(gpu + "/" + name, clock), words[0], "");
  }

  Trace* trace_;
  MonitorLog log_;
  std::vector<std::string_view> columns_;
  std::map<std::string, bool> counter_;
  std::string first_host_;
};

}  // namespace

bool ToldDcgm(std::string_view head) {
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
