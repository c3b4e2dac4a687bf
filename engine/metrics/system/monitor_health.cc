#include "engine/metrics/system/monitor_health.h"

#include <algorithm>

#include "engine/base/is_in.h"
#include "engine/base/median.h"
#include "engine/base/text.h"
#include "engine/metrics/system/monitor_logs.h"

namespace advise {
namespace {

// The largest value; -1 where the log does not hold it.
double MostOf(const MonitoredGpu& gpu, const char* quantity) {
  const MonitorSeries* series = gpu.Find(quantity);
  if (series == nullptr || series->value.empty()) return -1;
  return *std::max_element(series->value.begin(), series->value.end());
}

// While the GPU is in use, since links at rest save power; -1 where nothing tells.
double GenerationInUse(const MonitoredGpu& gpu, double busy) {
  const MonitorSeries* now = gpu.Find("pcie_generation");
  const MonitorSeries* activity = ActivityOf(gpu);
  if (now == nullptr || activity == nullptr) return -1;
  std::vector<double> in_use;
  for (std::size_t i = 0; i < now->value.size(); ++i) {
    const auto at =
        std::lower_bound(activity->time_s.begin(), activity->time_s.end(), now->time_s[i]);
    if (at == activity->time_s.end() || *at != now->time_s[i]) continue;
    if (activity->value[static_cast<std::size_t>(at - activity->time_s.begin())] >= busy)
      in_use.push_back(now->value[i]);
  }
  return in_use.empty() ? -1 : Median(in_use);
}

void AddXid(const std::string& gpu, int code, const Knowledge& knowledge, MonitorHealth* health) {
  if (code <= 0) return;
  const XidMeaning* const known = knowledge.FindXid(code);
  if (known != nullptr && known->kind == "notice") return;
  DriverErrors& errors =
      known != nullptr && known->kind == "program" ? health->of_program : health->of_board;
  if (!IsIn(gpu, errors.gpus)) errors.gpus.push_back(gpu);
  const bool told = std::any_of(
      errors.all.begin(), errors.all.end(),
      [&](const DriverErrors::Other& one) { return one.gpu == gpu && one.code == code; });
  if (!told) errors.all.push_back({gpu, code, known == nullptr ? "" : known->says});
  if (errors.code != 0 && knowledge.XidRank(code) >= knowledge.XidRank(errors.code)) return;
  errors.code = code;
  errors.kind = known == nullptr ? "" : known->kind;
  errors.says = known == nullptr ? "" : known->says;
}

// How much counters of a GPU grew; a counter that starts again counts from there.
void AddGrowth(const MonitoredGpu& gpu, std::initializer_list<const char*> counters, bool has_clock,
               LinkErrors* errors) {
  double grown = 0, seconds = 0;
  for (const char* counter : counters) {
    const MonitorSeries* series = gpu.Find(counter);
    if (series == nullptr || series->value.size() < 2) continue;
    errors->known = true;
    for (std::size_t i = 1; i < series->value.size(); ++i)
      grown += std::max(0.0, series->value[i] - series->value[i - 1]);
    seconds = std::max(seconds, series->time_s.back() - series->time_s.front());
  }
  if (grown <= errors->count) return;
  errors->label = gpu.Named();
  errors->count = grown;
  errors->per_minute = has_clock && seconds > 0 ? grown * 60 / seconds : -1;
}

SharedGpu SharedOf(const std::vector<GpuProcess>& processes) {
  SharedGpu shared;
  shared.known = !processes.empty();
  for (const GpuProcess& first : processes) {
    std::size_t count = 0;
    std::string names;
    for (const GpuProcess& one : processes) {
      if (one.gpu != first.gpu) continue;
      ++count;
      names +=
          (names.empty() ? "" : ", ") + (one.name.empty() ? "process" : one.name) + " " + one.pid;
      if (one.bytes >= 0) names += " (" + FormatQuantity(one.bytes, "bytes") + ")";
    }
    if (count < 2 || count <= shared.processes) continue;
    shared.gpu = first.gpu;
    shared.processes = count;
    shared.names = names;
  }
  return shared;
}

}  // namespace

MonitorHealth FindMonitorHealth(const Monitor& monitor, const Knowledge& knowledge) {
  MonitorHealth health;
  health.xids_known = monitor.kernel_log;
  health.kills_known = monitor.kernel_log;
  health.shared = SharedOf(monitor.processes);
  health.killed = monitor.killed;
  for (const LinkEvent& event : monitor.links) {
    const bool told = std::any_of(
        health.links.begin(), health.links.end(),
        [&](const LinkEvent& one) { return one.device == event.device && one.what == event.what; });
    if (!told) health.links.push_back(event);
  }
  for (const DriverError& error : monitor.errors) AddXid(error.gpu, error.code, knowledge, &health);
  for (const MonitoredGpu& gpu : monitor.gpus) {
    if (gpu.lost_s >= 0) {
      const bool first = health.lost_after < 0 || gpu.lost_s < health.lost_after;
      if (monitor.has_clock && first) health.lost_after = gpu.lost_s;
      health.lost.push_back(gpu.Named());
    }
    const double uncorrected = MostOf(gpu, "ecc_uncorrected");
    const double rows = MostOf(gpu, "remap_pending"), pages = MostOf(gpu, "pages_pending");
    const double failed = MostOf(gpu, "remap_failed");
    health.known = health.known || std::max({uncorrected, rows, pages, failed}) >= 0;
    if (uncorrected > 0 || rows > 0 || pages > 0 || failed > 0)
      health.faulty.push_back(gpu.Named());
    health.uncorrected = std::max(health.uncorrected, uncorrected);
    health.pending = health.pending || rows > 0 || pages > 0;
    health.failed = health.failed || failed > 0;
    health.rows_remapped = std::max(health.rows_remapped, MostOf(gpu, "rows_remapped"));
    if (const MonitorSeries* xids = gpu.Find("xid")) {
      health.xids_known = true;
      for (const double code : xids->value)
        AddXid(gpu.Named(), static_cast<int>(std::clamp(code, 0.0, 9999.0)), knowledge, &health);
    }
    AddGrowth(gpu, {"pcie_replays"}, monitor.has_clock, &health.pcie);
    AddGrowth(gpu, {"nvlink_replays", "nvlink_recoveries"}, monitor.has_clock, &health.nvlink);
    const double now = GenerationInUse(gpu, knowledge.Number("monitor.busy"));
    const double possible = MostOf(gpu, "pcie_generation_max");
    if (now < 0 || possible < 0) continue;
    health.link_known = true;
    if (now < possible && (health.slow_link.empty() || now < health.generation)) {
      health.slow_link = gpu.Named();
      health.generation = now;
      health.possible = possible;
    }
  }
  return health;
}

}  // namespace advise
