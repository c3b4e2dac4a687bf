// Reads what servers of language models log of their requests, with other output in between:
//
//   vLLM     INFO 09-03 01:18:41 [loggers.py:123] Engine 000: Avg prompt throughput: 102.3 …
//   SGLang   [2025-09-03 05:49:04 TP0] Decode batch. #running-req: 1, #token: 501, …
#include "engine/trace/server_log.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <optional>

#include "engine/base/ascii.h"
#include "engine/base/file_name.h"
#include "engine/import/formats.h"
#include "engine/import/servers/server_text.h"
#include "engine/import/text_input.h"

namespace advise {
namespace {

bool Mentions(std::string_view text, std::string_view part) {
  return text.find(part) != std::string_view::npos;
}

double NumberBehind(std::string_view line, std::string_view key) {
  return LeadingNumber(Behind(line, key)).value_or(-1);
}

// -1 where the line does not say.
double ShareBehind(std::string_view line, std::string_view key) {
  const double percent = NumberBehind(line, key);
  return percent < 0 ? -1 : percent / 100;
}

// A setting in any of the forms of a Python value: name=5, 'name': 5. Empty where it is not there.
std::string_view Setting(std::string_view line, std::string_view name) {
  for (std::size_t at = line.find(name); at != std::string_view::npos;
       at = line.find(name, at + 1)) {
    const bool begins = at > 0 && (line[at - 1] == ' ' || line[at - 1] == '\'' ||
                                   line[at - 1] == '(' || line[at - 1] == ',');
    std::string_view rest = line.substr(at + name.size());
    if (begins && rest.starts_with("=")) return rest.substr(1);
    if (begins && rest.starts_with("': ")) return rest.substr(3);
  }
  return {};
}

// 1, 0, or -1 where it is not there.
int Switch(std::string_view line, std::string_view name) {
  const std::string_view value = Setting(line, name);
  return value.starts_with("True") ? 1 : value.starts_with("False") ? 0 : -1;
}

// The last part of a quoted path.
std::string NameIn(std::string_view quoted) {
  if (!quoted.starts_with('\'')) return "";
  std::string_view name = quoted.substr(1, quoted.find('\'', 1) - 1);
  while (name.ends_with('/')) name.remove_suffix(1);
  return FileName(name);
}

// "05-09 00:49:33": a day without its year.
bool IsDayAndTime(std::string_view text) {
  static constexpr std::string_view kForm = "dd-dd dd:dd:dd";
  if (text.size() < kForm.size()) return false;
  for (std::size_t i = 0; i < kForm.size(); ++i) {
    if (kForm[i] == 'd' ? !IsDigit(text[i]) : text[i] != kForm[i]) return false;
  }
  return true;
}

// Seconds since some origin that one log shares: of "[2025-09-03 05:49:04 TP0]", or of
// "INFO 05-09 00:49:33", which is taken for a day of a leap year.
std::optional<double> TimeOf(std::string_view line) {
  for (std::size_t open = line.find('['); open != std::string_view::npos;
       open = line.find('[', open + 1)) {
    const std::string_view stamp = line.substr(open + 1, 19);
    if (stamp.size() == 19 && stamp[4] == '-' && IsDayAndTime(stamp.substr(5)))
      return TimestampOf(stamp);
  }
  for (const std::string_view level : {"INFO ", "WARNING ", "DEBUG "}) {
    const std::string_view stamp = Behind(line, level);
    if (IsDayAndTime(stamp)) return TimestampOf("2024-" + std::string(stamp.substr(0, 14)));
  }
  return std::nullopt;
}

bool IsVllmLine(std::string_view line) {
  return Mentions(line, "Avg prompt throughput: ") && Mentions(line, "Running: ") &&
         Mentions(line, " reqs, ");
}

bool IsSglangLine(std::string_view line) {
  return (Mentions(line, "Decode batch") || Mentions(line, "Prefill batch")) &&
         Mentions(line, "#running-req: ") && Mentions(line, "#queue-req: ");
}

// What servers say of themselves before they have requests.
bool IsStart(std::string_view line) {
  static constexpr auto kStarts = std::to_array<std::string_view>(
      {"vLLM API server version ", "LLM engine (v", "server_args=ServerArgs(model_path="});
  return std::any_of(kStarts.begin(), kStarts.end(),
                     [&](std::string_view start) { return Mentions(line, start); });
}

class ServerLogReader {
 public:
  explicit ServerLogReader(Trace* trace) : trace_(trace), log_(trace->server) {}

  bool Read(std::string_view text) {
    for (const std::string_view line : LinesOf(text)) ReadLine(line);
    Finish();
    return !log_.empty();
  }

 private:
  void ReadLine(std::string_view line) {
    if (IsVllmLine(line)) return ReadVllm(line);
    if (IsSglangLine(line)) return ReadSglang(line);
    if (Mentions(line, "preempted") || Mentions(line, "#retracted_reqs: "))
      return ReadPreemption(line);
    if (Mentions(line, "Prefix cache hit rate: GPU: ")) {
      log_.prefix_hits = ShareBehind(line, "Prefix cache hit rate: GPU: ");
      return;
    }
    ReadSettings(line);
  }

  void Be(const char* server) {
    if (log_.server.empty()) log_.server = server;
  }

  void Add(ServerSample sample, std::string_view line) {
    if (auto time = TimeOf(line)) {
      // Days without a year start again in January.
      constexpr double kDay = 86400;
      if (last_ >= 0 && *time + years_ * 366 * kDay < last_ - 180 * kDay) ++years_;
      last_ = *time + years_ * 366 * kDay;
      sample.time_s = last_;
      log_.has_clock = true;
    }
    log_.samples.push_back(sample);
  }

  void ReadVllm(std::string_view line) {
    Be("vLLM");
    ServerSample sample;
    // "Engine 003: Avg …", "2 Engines Aggregated: Avg …".
    if (Mentions(line, "Engines Aggregated: ")) sample.engine = kAllEngines;
    if (const auto engine = LeadingNumber(Behind(line, "] Engine ")))
      sample.engine = WholeOf<int>(*engine);
    sample.prompt_rate = NumberBehind(line, "Avg prompt throughput: ");
    sample.token_rate = NumberBehind(line, "Avg generation throughput: ");
    sample.running = NumberBehind(line, "Running: ");
    const bool first_engine = Mentions(line, "Pending: ");  // of versions that log preemptions
    sample.waiting = NumberBehind(line, first_engine ? "Pending: " : "Waiting: ");
    sample.kv_used = ShareBehind(line, "GPU KV cache usage: ");
    counts_ = counts_ || first_engine;
    const double hits = ShareBehind(line, ", Prefix cache hit rate: ");
    if (hits >= 0) log_.prefix_hits = hits;
    Add(sample, line);
  }

  void ReadSglang(std::string_view line) {
    Be("SGLang");
    counts_ = true;
    ServerSample sample;
    const bool decodes = Mentions(line, "Decode batch");
    if (const auto engine = LeadingNumber(Behind(line, " DP")))
      sample.engine = WholeOf<int>(*engine);
    sample.running = NumberBehind(line, "#running-req: ");
    sample.waiting = NumberBehind(line, "#queue-req: ");
    // Hybrid models keep several pools; the fullest limits how many requests run.
    sample.kv_used =
        std::max({NumberBehind(line, "token usage: "), NumberBehind(line, "swa token usage: "),
                  NumberBehind(line, "mamba usage: ")});
    sample.token_rate = NumberBehind(line, "gen throughput (token/s): ");
    sample.prompt_rate = NumberBehind(line, "input throughput (token/s): ");
    const std::string_view graph = Behind(line, "cuda graph: ");
    if (decodes && !graph.empty()) sample.graph = graph.starts_with("True") ? 1 : 0;
    if (!decodes) {
      new_tokens_ += std::max(0.0, NumberBehind(line, "#new-token: "));
      cached_tokens_ += std::max(0.0, NumberBehind(line, "#cached-token: "));
    }
    Add(sample, line);
  }

  // vLLM warns at the first and at each fiftieth, with how many there were; SGLang says how many.
  void ReadPreemption(std::string_view line) {
    const double of_sglang = NumberBehind(line, "#retracted_reqs: ");
    if (of_sglang >= 0) {
      retracted_ += of_sglang;
    } else if (Mentions(line, "preempted by PreemptionMode")) {
      Be("vLLM");
      counts_ = true;
      ++warned_;
      for (const char* key :
           {"total_num_cumulative_preemption=", "total_cumulative_preemption_cnt="})
        preempted_ = std::max(preempted_, NumberBehind(line, key));
    }
  }

  void ReadSettings(std::string_view line) {
    if (Mentions(line, "vLLM API server version ")) {
      Be("vLLM");
      const auto words = WordsOf(Behind(line, "vLLM API server version "));
      if (!words.empty()) log_.version = words.front();
    } else if (Mentions(line, "LLM engine (v")) {
      Be("vLLM");
      const std::string_view rest = Behind(line, "LLM engine (v");
      log_.version = rest.substr(0, rest.find(')'));
      Take(Switch(line, "enforce_eager"), &log_.eager);
      Take(Switch(line, "enable_prefix_caching"), &log_.prefix_cache);
      Take(LeadingNumber(Setting(line, "max_seq_len")), &log_.longest);
      log_.model = NameIn(Setting(line, "model"));
    } else if (Mentions(line, "non-default args: {") || Mentions(line, "args: Namespace(")) {
      Take(Switch(line, "enforce_eager"), &log_.eager);
      Take(LeadingNumber(Setting(line, "max_num_seqs")), &log_.most_running);
    } else if (Mentions(line, "Enforce eager set") ||
               Mentions(line, "Cudagraph is disabled under eager")) {
      log_.eager = 1;
    } else if (Mentions(line, "GPU KV cache size: ")) {
      Take(LeadingNumber(Behind(line, "GPU KV cache size: ")), &log_.kv_tokens);
    } else if (Mentions(line, "server_args=ServerArgs(")) {
      Be("SGLang");
      Take(Switch(line, "disable_cuda_graph"), &log_.eager);
      const int off = Switch(line, "disable_radix_cache");
      Take(off < 0 ? -1 : 1 - off, &log_.prefix_cache);
      Take(LeadingNumber(Setting(line, "max_running_requests")), &log_.most_running);
      log_.model = NameIn(Setting(line, "model_path"));
    } else if (Mentions(line, "max_total_num_tokens=") && Mentions(line, "context_len=")) {
      Take(LeadingNumber(Behind(line, "max_total_num_tokens=")), &log_.kv_tokens);
      Take(LeadingNumber(Setting(line, "max_running_requests")), &log_.most_running);
      Take(LeadingNumber(Setting(line, "context_len")), &log_.longest);
    }
  }

  static void Take(int value, int* setting) {
    if (value >= 0) *setting = value;
  }
  static void Take(std::optional<double> value, double* setting) {
    if (value && *value >= 0) *setting = *value;
  }

  void Finish() {
    // What engines say together is for logs that say nothing of each.
    const auto of_all = [](const ServerSample& s) { return s.engine == kAllEngines; };
    if (!std::all_of(log_.samples.begin(), log_.samples.end(), of_all))
      std::erase_if(log_.samples, of_all);
    for (ServerSample& sample : log_.samples) sample.engine = std::max(0, sample.engine);
    CountTimesFromFirst(&log_);
    if (counts_) log_.preemptions = std::max({retracted_, preempted_, warned_});
    if (new_tokens_ + cached_tokens_ > 0)
      log_.prefix_hits = cached_tokens_ / (new_tokens_ + cached_tokens_);
    trace_->table_rows["rows"] = static_cast<std::int64_t>(log_.samples.size());
    trace_->producer = log_.server + (log_.version.empty() ? "" : " " + log_.version);
  }

  static constexpr int kAllEngines = -1;

  Trace* trace_;
  ServerLog& log_;
  bool counts_ = false;  // the version logs that requests were put back
  double retracted_ = 0, preempted_ = 0, warned_ = 0;
  double new_tokens_ = 0, cached_tokens_ = 0;
  double last_ = -1;
  double years_ = 0;
};

}  // namespace

bool SniffServerLog(std::string_view head) {
  if (head.find('\0') != std::string_view::npos) return false;
  if (!MayBeLog(head, "{#<|")) return false;
  const auto lines = LinesOf(head);
  return std::any_of(lines.begin(), lines.end(), [](std::string_view line) {
    const bool told = IsVllmLine(line) || IsSglangLine(line) || IsStart(line);
    if (!told || Mentions(line, "\\n") || Mentions(line, "{self.") || Mentions(line, "logger."))
      return false;
    // Old versions of SGLang wrote no time.
    return TimeOf(line).has_value() || Trimmed(line).starts_with("[gpu");
  });
}

std::optional<Error> ReadServerLog(std::string_view text, const std::string& path, Trace* trace) {
  if (!ServerLogReader(trace).Read(text)) {
    return Error{"the server's log holds no line about its requests", path,
                 "was it stopped before the first one? vLLM logs none with --disable-log-stats"};
  }
  if (trace->server.samples.empty()) {
    trace->diagnostics.Add(
        Level::kWarning,
        "the server's log holds no line about its requests: only its settings were read");
  }
  // NCCL writes to the same stream.
  if (!SniffNcclLog(text)) return std::nullopt;
  const std::string producer = trace->producer;
  auto problem = ReadNcclLog(text, path, trace);
  trace->producer = producer;
  return problem;
}

}  // namespace advise
