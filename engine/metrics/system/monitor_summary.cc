#include "engine/metrics/system/monitor_summary.h"

#include <algorithm>

#include "engine/metrics/system/monitor_logs.h"

namespace advise {
namespace {

class Summary {
 public:
  Summary(const MonitoredGpu& gpu, const LoggedJob& job, const Knowledge& knowledge)
      : gpu_(gpu), job_(job), knowledge_(knowledge) {}

  MonitoredUse Make() const {
    MonitoredUse use;
    use.label = gpu_.label;
    use.name = gpu_.name;
    for (const MonitorSeries& series : gpu_.series) {
      std::size_t samples = 0;
      for (const double time : series.time_s) samples += job_.Holds(time) ? 1 : 0;
      use.samples = std::max(use.samples, samples);
    }
    const MonitorSeries* activity = ActivityOf(gpu_);
    const double at_work = knowledge_.Number("monitor.at_work");
    use.at_work =
        activity == nullptr || std::any_of(activity->value.begin(), activity->value.end(),
                                           [&](double value) { return value >= at_work; });
    const double busy = knowledge_.Number("monitor.busy");
    if (activity != nullptr) {
      use.utilization = Mean(activity->quantity.c_str(), false);
      double below = 0, all = 0;
      for (std::size_t i = 0; i < activity->value.size(); ++i) {
        if (!job_.Holds(activity->time_s[i])) continue;
        all += 1;
        below += activity->value[i] < busy ? 1 : 0;
      }
      use.below = all > 0 ? below / all : -1;
    }
    use.watts = Mean("power", false);
    const double limit = Limit("power_limit", "board_power_w");
    if (limit > 0) {
      use.power = Over(Mean("power", false), limit);
      use.busy_power = Over(Mean("power", true), limit);
    }
    use.by_power = Mean("throttle_power", true);
    use.by_heat = Mean("throttle_thermal", true);
    use.by_hardware = Mean("throttle_hardware", true);
    const double highest = std::max(Limit("sm_clock_max", "boost_clock_hz"), Peak("sm_clock"));
    if (highest > 0) use.clock = Over(Mean("sm_clock", true), highest);
    use.memory_peak = Peak("memory_used");
    use.memory_total = Limit("memory_total", "memory_bytes");
    if (use.memory_total <= 0) use.memory_total = -1;
    use.gr_active = Mean("gr_active", false);
    use.sm_active = Mean("sm_active", false);
    use.tensor_active = Mean("tensor_active", false);
    use.dram_active = Mean("dram_active", false);
    return use;
  }

 private:
  static double Over(double value, double whole) {
    return value < 0 ? -1 : std::min(1.0, value / whole);
  }

  // Whether the GPU was busy at this sample, or the log cannot tell.
  bool Busy(std::size_t sample, double time) const {
    const MonitorSeries* activity = ActivityOf(gpu_);
    if (activity == nullptr) return true;
    // Columns of one row share its time; where a value was missing, rows have moved on.
    std::size_t at = std::min(sample, activity->time_s.size() - 1);
    if (activity->time_s[at] != time) {
      const auto found = std::lower_bound(activity->time_s.begin(), activity->time_s.end(), time);
      if (found == activity->time_s.end() || *found != time) return false;
      at = static_cast<std::size_t>(found - activity->time_s.begin());
    }
    return activity->value[at] >= knowledge_.Number("monitor.busy");
  }

  double Mean(const char* quantity, bool of_busy) const {
    const MonitorSeries* series = gpu_.Find(quantity);
    if (series == nullptr) return -1;
    double sum = 0, count = 0;
    for (std::size_t i = 0; i < series->value.size(); ++i) {
      if (!job_.Holds(series->time_s[i]) || (of_busy && !Busy(i, series->time_s[i]))) continue;
      sum += series->value[i];
      count += 1;
    }
    return count > 0 ? sum / count : -1;
  }
  double Peak(const char* quantity) const {
    const MonitorSeries* series = gpu_.Find(quantity);
    return series == nullptr ? -1 : *std::max_element(series->value.begin(), series->value.end());
  }
  // What the log says, else what is known of a GPU of this name; 0 when neither.
  double Limit(const char* quantity, const char* fact) const {
    const double logged = Peak(quantity);
    if (logged > 0) return logged;
    const HardwareEntry* entry = gpu_.name.empty() ? nullptr : knowledge_.FindHardware(gpu_.name);
    if (entry == nullptr) return 0;
    const auto found = entry->facts.find(fact);
    return found == entry->facts.end() ? 0 : found->second.value;
  }

  const MonitoredGpu& gpu_;
  const LoggedJob& job_;
  const Knowledge& knowledge_;
};

}  // namespace

double MonitorSummary::Mean(double MonitoredUse::*quantity) const {
  double sum = 0, count = 0;
  for (const MonitoredUse& use : gpus) {
    if (!use.at_work || use.*quantity < 0) continue;
    sum += use.*quantity;
    count += 1;
  }
  return count > 0 ? sum / count : -1;
}

MonitorSummary SummarizeMonitor(const Trace& trace, const Knowledge& knowledge) {
  MonitorSummary summary;
  const Monitor& monitor = trace.monitor;
  for (const LoggedJob& log : LoggedJobs(monitor, knowledge)) {
    for (const std::size_t g : log.gpus) {
      summary.gpus.push_back(Summary(monitor.gpus[g], log, knowledge).Make());
      summary.samples = std::max(summary.samples, summary.gpus.back().samples);
      for (const MonitorSeries& series : monitor.gpus[g].series)
        summary.logged = std::max(summary.logged, series.value.size());
    }
    if (!monitor.has_clock) continue;
    const double length = log.known() ? log.end - log.start : log.last - log.first;
    summary.seconds = std::max(summary.seconds, length);
  }
  return summary;
}

}  // namespace advise
