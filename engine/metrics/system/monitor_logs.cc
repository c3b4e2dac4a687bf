#include "engine/metrics/system/monitor_logs.h"

#include <algorithm>

namespace advise {

const MonitorSeries* ActivityOf(const MonitoredGpu& gpu) {
  const MonitorSeries* series = gpu.Find("utilization");
  return series != nullptr ? series : gpu.Find("gr_active");
}

std::vector<LoggedJob> LoggedJobs(const Monitor& monitor, const Knowledge& knowledge) {
  const double at_work = knowledge.Number("monitor.at_work");
  std::vector<LoggedJob> logs;
  for (std::size_t g = 0; g < monitor.gpus.size(); ++g) {
    const MonitoredGpu& gpu = monitor.gpus[g];
    const bool again = !logs.empty() && std::any_of(logs.back().gpus.begin(),
                                                    logs.back().gpus.end(), [&](std::size_t other) {
                                                      return monitor.gpus[other].label == gpu.label;
                                                    });
    if (logs.empty() || again) logs.emplace_back();
    LoggedJob& log = logs.back();
    log.gpus.push_back(g);
    for (const MonitorSeries& series : gpu.series) {
      if (series.time_s.empty()) continue;
      log.first = std::min(log.first, series.time_s.front());
      log.last = std::max(log.last, series.time_s.back());
    }
    const MonitorSeries* activity = ActivityOf(gpu);
    for (std::size_t i = 0; activity != nullptr && i < activity->value.size(); ++i) {
      if (activity->value[i] < at_work) continue;
      log.start = std::min(log.start, activity->time_s[i]);
      log.end = std::max(log.end, activity->time_s[i]);
    }
  }
  return logs;
}

}  // namespace advise
