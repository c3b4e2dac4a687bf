// Reads what TensorRT-LLM logs of each step, with other output in between:
//
//   [TRT-LLM] [I] iter = 12, global_rank = 0, rank = 0, num_scheduled_requests = 8,
//     kv_cache_util = 0.31, host_step_time = 21.4ms, prev_device_step_time = 13.1ms,
//     timestamp = 2026-01-01 10:00:00, states = {'num_ctx_requests': 0, …}
//   [TensorRT-LLM][INFO] {"Active Request Count":249,"Context Requests":8,…}
#include <algorithm>
#include <array>
#include <optional>
#include <string>

#include "engine/import/formats.h"
#include "engine/import/servers/server_text.h"
#include "engine/import/text_input.h"
#include "engine/trace/server_log.h"

namespace advise {
namespace {

// The number behind `key`, where it is one: "21.4" of "21.4ms,", nothing of "N/A".
std::optional<double> NumberAfter(std::string_view line, std::string_view key) {
  const auto number = LeadingNumber(Behind(line, key));
  return number && *number >= 0 ? number : std::nullopt;
}

bool IsStepLine(std::string_view line) {
  return line.find("iter = ") != std::string_view::npos &&
         line.find("global_rank = ") != std::string_view::npos &&
         line.find("num_scheduled_requests") != std::string_view::npos;
}

bool IsStatisticsLine(std::string_view line) {
  return line.find("{\"Active Request Count\":") != std::string_view::npos &&
         line.find("\"Iteration Counter\":") != std::string_view::npos;
}

class TrtLlmReader {
 public:
  explicit TrtLlmReader(Trace* trace) : trace_(trace), log_(trace->server) {}

  bool Read(std::string_view text) {
    for (const std::string_view line : LinesOf(text)) {
      if (IsStepLine(line)) ReadStep(line);
      if (IsStatisticsLine(line)) ReadStatistics(line);
    }
    if (log_.samples.empty()) return false;
    log_.server = "TensorRT-LLM";
    CountTimesFromFirst(&log_);
    trace_->producer = log_.server;
    trace_->table_rows["rows"] = static_cast<std::int64_t>(log_.samples.size());
    return true;
  }

 private:
  void Add(ServerSample sample, std::optional<double> time) {
    if (time) {
      sample.time_s = *time;
      log_.has_clock = true;
    }
    log_.samples.push_back(sample);
  }

  void ReadStep(std::string_view line) {
    // Ranks of one engine work on the same step.
    if (NumberAfter(line, " rank = ").value_or(0) != 0) return;
    ServerSample sample;
    for (const char* key : {"num_scheduled_requests = ", "num_scheduled_requests: "})
      sample.running = std::max(sample.running, NumberAfter(line, key).value_or(-1));
    sample.kv_used = NumberAfter(line, "kv_cache_util = ").value_or(-1);
    const auto milliseconds = [&](const char* key) {
      const auto number = NumberAfter(line, key);
      return number ? *number / 1000 : -1;
    };
    sample.host_step_s = milliseconds("host_step_time = ");
    sample.gpu_step_s = milliseconds("prev_device_step_time = ");
    constexpr std::string_view kStamp = "timestamp = ";
    const std::size_t at = line.find(kStamp);
    Add(sample, at == std::string_view::npos ? std::nullopt
                                             : TimestampOf(line.substr(at + kStamp.size(), 19)));
  }

  void ReadStatistics(std::string_view line) {
    const auto number = [&](const char* key) {
      return NumberAfter(line, "\"" + std::string(key) + "\":").value_or(-1);
    };
    ServerSample sample;
    sample.running = number("Scheduled Requests");
    const double active = number("Active Request Count");
    if (active >= 0 && sample.running >= 0) sample.waiting = std::max(0.0, active - sample.running);
    const double blocks = number("Max KV cache blocks"), used = number("Used KV cache blocks");
    if (blocks > 0 && used >= 0) sample.kv_used = used / blocks;
    const double size = number("Tokens per KV cache block");
    if (blocks > 0 && size > 0) log_.kv_tokens = blocks * size;
    if (const double most = number("Max Request Count"); most > 0) log_.most_running = most;
    if (const double paused = number("Paused Requests"); paused >= 0)
      log_.preemptions = std::max(0.0, log_.preemptions) + paused;
    Add(sample, StampOf(line));
  }

  // "Timestamp":"12-13-2023 14:55:14", with fractions in newer versions.
  static std::optional<double> StampOf(std::string_view line) {
    constexpr std::string_view kKey = "\"Timestamp\":\"";
    const std::size_t at = line.find(kKey);
    if (at == std::string_view::npos) return std::nullopt;
    const std::string_view stamp = line.substr(at + kKey.size(), 19);
    if (stamp.size() < 19 || stamp[2] != '-' || stamp[5] != '-') return std::nullopt;
    return TimestampOf(std::string(stamp.substr(6, 4)) + "-" + std::string(stamp.substr(0, 5)) +
                       std::string(stamp.substr(10)));
  }

  Trace* trace_;
  ServerLog& log_;
};

}  // namespace

bool SniffTrtLlmLog(std::string_view head) {
  if (!MayBeLog(head, "#<|")) return false;
  const auto lines = LinesOf(head);
  return std::any_of(lines.begin(), lines.end(), [](std::string_view line) {
    return (IsStepLine(line) && line.find("{self.") == std::string_view::npos) ||
           IsStatisticsLine(line);
  });
}

std::optional<Error> ReadTrtLlmLog(std::string_view text, const std::string& path, Trace* trace) {
  if (!TrtLlmReader(trace).Read(text)) {
    return Error{"the log of TensorRT-LLM holds no line about a step", path,
                 "was it stopped before the first one?"};
  }
  return std::nullopt;
}

}  // namespace advise
