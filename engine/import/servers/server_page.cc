// Reads the pages of metrics that vLLM and SGLang serve, as Prometheus reads them. A file holds one
// page, or several behind one another: a gauge that comes again begins the next page.
#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <string>

#include "engine/base/file_name.h"
#include "engine/base/is_in.h"
#include "engine/import/formats.h"
#include "engine/import/prometheus.h"
#include "engine/import/servers/server_text.h"
#include "engine/import/text_input.h"
#include "engine/trace/server_log.h"

namespace advise {
namespace {

// The name without the server's prefix: "vllm:num_requests_running" and, where a name may hold no
// colon, "vllm_num_requests_running".
std::optional<std::string> NameOf(std::string_view name, std::string_view server) {
  if (!name.starts_with(server)) return std::nullopt;
  name.remove_prefix(server.size());
  if (!name.starts_with(':') && !name.starts_with('_')) return std::nullopt;
  return std::string(name.substr(1));
}

// Cumulated counts by upper bound, summed over engines.
struct Histogram {
  std::map<double, double> below;
  double sum = 0, count = 0;

  ServerLatency Latency() const {
    ServerLatency latency;
    if (count <= 0) return latency;
    latency.count = count;
    latency.mean_s = sum / count;
    latency.median_s = Quantile(0.5);
    latency.p95_s = Quantile(0.95);
    return latency;
  }

  // Even within a bucket; of the last one, which has no end, where it begins. -1 without buckets.
  double Quantile(double share) const {
    const double wanted = share * count;
    double bound = 0, before = 0;
    for (const auto& [upper, up_to] : below) {
      if (up_to >= wanted) {
        const double within = up_to > before ? (wanted - before) / (up_to - before) : 1;
        return bound + within * (upper - bound);
      }
      bound = upper;
      before = up_to;
    }
    return below.empty() ? -1 : bound;
  }
};

class ServerPageReader {
 public:
  explicit ServerPageReader(Trace* trace) : trace_(trace), log_(trace->server) {}

  bool Read(std::string_view text) {
    for (const std::string_view raw : LinesOf(text)) {
      const std::string_view line = Trimmed(raw);
      if (line.empty() || line.starts_with("#")) continue;
      const auto read = PrometheusLineOf(line);
      if (!read) {
        if (line.starts_with("vllm:") || line.starts_with("sglang:"))
          trace_->diagnostics.Add(Level::kWarning, "lines that were cut short were skipped");
        continue;
      }
      if (auto name = NameOf(read->name, "vllm")) Take("vLLM", *name, *read);
      if (auto name = NameOf(read->name, "sglang")) Take("SGLang", *name, *read);
    }
    EndPage();
    Finish();
    return !log_.empty();
  }

 private:
  void Take(const char* server, const std::string& name, const PrometheusLine& line) {
    const auto value = NumberOf(line.value);
    if (!value) return;  // NaN before the first request
    if (log_.server.empty()) log_.server = server;
    // Ranks of one engine say the same.
    for (const char* rank : {"tp_rank", "pp_rank"}) {
      const std::string label = line.Label(rank);
      if (!label.empty() && label != "0") return;
    }
    if (log_.model.empty()) {
      log_.model = FileName(line.Label("model_name"));
    }
    if (name == "cache_config_info") return TakeSettings(line);
    int engine = 0;
    for (const char* key : {"engine", "dp_rank"}) {
      if (const auto number = NumberOf(line.Label(key))) engine = WholeOf<int>(*number);
    }
    if (TakeGauge(engine, name, line, *value)) return;
    // Of one page, a name with these labels counts once; the last page has them all.
    std::string key = name;
    for (const auto& [label, text] : line.labels) key += "\n" + label + "=" + text;
    totals_[key] = {name, line.Label("le"), *value};
  }

  void TakeSettings(const PrometheusLine& line) {
    const auto blocks = NumberOf(line.Label("num_gpu_blocks"));
    const auto size = NumberOf(line.Label("block_size"));
    if (blocks && size && *blocks > 0 && *size > 0) log_.kv_tokens = *blocks * *size;
    const std::string prefixes = line.Label("enable_prefix_caching");
    if (!prefixes.empty()) log_.prefix_cache = prefixes == "True" ? 1 : 0;
  }

  bool TakeGauge(int engine, const std::string& name, const PrometheusLine& line, double value) {
    struct Gauge {
      std::string_view name;
      double ServerSample::*field;
    };
    static constexpr auto kGauges =
        std::to_array<Gauge>({{"num_requests_running", &ServerSample::running},
                              {"num_running_reqs", &ServerSample::running},
                              {"num_requests_waiting", &ServerSample::waiting},
                              {"num_queue_reqs", &ServerSample::waiting},
                              {"gpu_cache_usage_perc", &ServerSample::kv_used},
                              {"kv_cache_usage_perc", &ServerSample::kv_used},
                              {"token_usage", &ServerSample::kv_used},
                              {"gen_throughput", &ServerSample::token_rate}});
    if (name == "max_total_num_tokens") {
      log_.kv_tokens = value;
      return true;
    }
    if (name == "cache_hit_rate") {
      hits_now_ = value;
      return true;
    }
    const auto gauge = std::find_if(kGauges.begin(), kGauges.end(),
                                    [&](const Gauge& one) { return one.name == name; });
    if (gauge == kGauges.end()) return false;
    const auto now = page_.find(engine);
    if (now != page_.end() && now->second.*(gauge->field) >= 0) EndPage();
    ServerSample& sample = page_[engine];
    sample.engine = engine;
    sample.*(gauge->field) = value;
    if (line.time_s) {
      sample.time_s = *line.time_s;
      log_.has_clock = true;
    }
    return true;
  }

  void EndPage() {
    for (const auto& [engine, sample] : page_) log_.samples.push_back(sample);
    page_.clear();
  }

  // Summed over engines; -1 where the page has no such number.
  double Total(std::initializer_list<std::string_view> names) const {
    double sum = -1;
    for (const auto& [key, total] : totals_) {
      if (IsIn(total.name, names)) sum = std::max(0.0, sum) + total.value;
    }
    return sum;
  }

  ServerLatency LatencyOf(std::initializer_list<std::string_view> names) const {
    Histogram histogram;
    for (const auto& [key, total] : totals_) {
      for (const std::string_view name : names) {
        if (!std::string_view(total.name).starts_with(name)) continue;
        const std::string_view part = std::string_view(total.name).substr(name.size());
        const auto upper = NumberOf(total.le);
        if (part == "_sum") histogram.sum += total.value;
        if (part == "_count") histogram.count += total.value;
        if (part == "_bucket" && upper) histogram.below[*upper] += total.value;
      }
    }
    return histogram.Latency();
  }

  void Finish() {
    CountTimesFromFirst(&log_);
    log_.preemptions = Total({"num_preemptions_total", "num_retracted_requests_total"});
    log_.requests = Total({"request_success_total", "num_requests_total"});
    const double asked = Total({"gpu_prefix_cache_queries_total", "prefix_cache_queries_total"});
    const double held = Total({"gpu_prefix_cache_hits_total", "prefix_cache_hits_total"});
    const double cached = Total({"cached_tokens_total"}), read = Total({"prompt_tokens_total"});
    log_.prompt_tokens = read;
    log_.new_tokens = Total({"generation_tokens_total"});
    log_.prefix_hits = asked > 0 && held >= 0                               ? held / asked
                       : log_.server == "SGLang" && read > 0 && cached >= 0 ? cached / read
                                                                            : hits_now_;
    if (log_.prefix_hits > 1) log_.prefix_hits = 1;
    log_.queue = LatencyOf({"request_queue_time_seconds", "queue_time_seconds"});
    log_.first_token = LatencyOf({"time_to_first_token_seconds"});
    log_.token = LatencyOf({"time_per_output_token_seconds"});
    if (log_.requests < 0 && log_.first_token.count > 0) log_.requests = log_.first_token.count;
    if (log_.token.count <= 0) log_.token = LatencyOf({"inter_token_latency_seconds"});
    trace_->table_rows["rows"] = static_cast<std::int64_t>(log_.samples.size());
    trace_->producer = log_.server;
  }

  struct Number {
    std::string name;
    std::string le;  // of a bucket: its upper bound
    double value = 0;
  };

  Trace* trace_;
  ServerLog& log_;
  std::map<int, ServerSample> page_;      // of the page so far, by engine
  std::map<std::string, Number> totals_;  // of the last page, by name and labels
  double hits_now_ = -1;
};

}  // namespace

bool SniffServerPage(std::string_view head) {
  const auto lines = LinesOf(head);
  return std::any_of(lines.begin(), lines.end(), [](std::string_view line) {
    line = Trimmed(line);
    if (line.starts_with("# HELP ") || line.starts_with("# TYPE ")) line.remove_prefix(7);
    return line.starts_with("vllm:") || line.starts_with("sglang:");
  });
}

std::optional<Error> ReadServerPage(std::string_view text, const std::string& path, Trace* trace) {
  if (!ServerPageReader(trace).Read(text)) {
    return Error{"the page of metrics holds no value of the server", path,
                 "was it cut off? save all of http://SERVER/metrics"};
  }
  return std::nullopt;
}

}  // namespace advise
