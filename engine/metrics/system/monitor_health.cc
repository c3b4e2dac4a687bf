#include "engine/metrics/system/monitor_health.h"

#include <algorithm>

#include "engine/base/median.h"
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

}  // namespace

MonitorHealth FindMonitorHealth(const Monitor& monitor, const Knowledge& knowledge) {
  MonitorHealth health;
  for (const MonitoredGpu& gpu : monitor.gpus) {
    const double uncorrected = MostOf(gpu, "ecc_uncorrected");
    const double rows = MostOf(gpu, "remap_pending"), pages = MostOf(gpu, "pages_pending");
    const double failed = MostOf(gpu, "remap_failed");
    health.known = health.known || std::max({uncorrected, rows, pages, failed}) >= 0;
    if (uncorrected > 0 || rows > 0 || pages > 0 || failed > 0) health.faulty.push_back(gpu.label);
    health.uncorrected = std::max(health.uncorrected, uncorrected);
    health.pending = health.pending || rows > 0 || pages > 0;
    health.failed = health.failed || failed > 0;
    const double now = GenerationInUse(gpu, knowledge.Number("monitor.busy"));
    const double possible = MostOf(gpu, "pcie_generation_max");
    if (now < 0 || possible < 0) continue;
    health.link_known = true;
    if (now < possible && (health.slow_link.empty() || now < health.generation)) {
      health.slow_link = gpu.label;
      health.generation = now;
      health.possible = possible;
    }
  }
  return health;
}

}  // namespace advise
