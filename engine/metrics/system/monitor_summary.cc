#include "engine/metrics/system/monitor_summary.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

#include "engine/base/median.h"
#include "engine/metrics/system/monitor_logs.h"

namespace advise {
namespace {

class Summary {
 public:
  // `reached`: the highest clock of any GPU of the same name in the log.
  Summary(const MonitoredGpu& gpu, const LoggedJob& job, double reached, const Knowledge& knowledge)
      : gpu_(gpu), job_(job), reached_(reached), knowledge_(knowledge) {}

  MonitoredUse Make() const {
    MonitoredUse use;
    use.label = gpu_.Named();
    use.name = gpu_.name;
    for (const MonitorSeries& series : gpu_.series) {
      std::size_t samples = 0;
      for (const double time : series.time_s) samples += job_.Holds(time) ? 1 : 0;
      use.samples = std::max(use.samples, samples);
    }
    const MonitorSeries* activity = ActivityOf(gpu_);
    const double at_work = knowledge_.Number("monitor.at_work");
    use.at_work =
        (activity == nullptr && gpu_.lost_s < 0) ||
        (activity != nullptr && std::any_of(activity->value.begin(), activity->value.end(),
                                            [&](double value) { return value >= at_work; }));
    const double busy = knowledge_.Number("monitor.busy");
    if (activity != nullptr) {
      use.utilization = Mean(activity->quantity.c_str(), false);
      for (const double value : activity->value) use.highest = std::max(use.highest, value);
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
    // A hot GPU is slow whether its work fills the time or not.
    use.by_heat = Mean("throttle_thermal", true, at_work);
    use.by_brake = Mean("throttle_brake", true);
    use.by_hardware = Mean("throttle_hardware", true);
    use.limit = Peak("power_limit");
    const double own_limit = Limit("power_default", "board_power_w");
    if (own_limit > 0) use.own_limit = own_limit;
    const double highest = std::max(Limit("sm_clock_max", "boost_clock_hz"), reached_);
    use.hz = Mean("sm_clock", true);
    if (highest > 0) use.clock = Over(use.hz, highest);
    use.celsius = Mean("temperature", true);
    use.memory_peak = Peak("memory_used");
    use.memory_total = Capacity(use.memory_peak);
    use.gr_active = Mean("gr_active", false);
    use.sm_active = Mean("sm_active", false);
    use.tensor_active = Mean("tensor_active", false);
    use.dram_active = Mean("dram_active", false);
    return use;
  }

  // Of the quarters of the busy samples at both ends.
  FallingClock Falls() const {
    const MonitorSeries* clock = gpu_.Find("sm_clock");
    const MonitorSeries* heat = gpu_.Find("temperature");
    if (clock == nullptr || heat == nullptr) return {};
    const auto busy = [&](const MonitorSeries& series) {
      std::vector<double> values;
      for (std::size_t i = 0; i < series.value.size(); ++i)
        if (job_.Holds(series.time_s[i]) &&
            Busy(i, series.time_s[i], knowledge_.Number("monitor.busy")))
          values.push_back(series.value[i]);
      return values;
    };
    const auto ends = [](const std::vector<double>& values) {
      const std::size_t part = values.size() / 4;
      const auto mean = [&](std::size_t from) {
        double sum = 0;
        for (std::size_t i = from; i < from + part; ++i) sum += values[i];
        return sum / static_cast<double>(part);
      };
      return part == 0 ? std::pair(-1.0, -1.0) : std::pair(mean(0), mean(values.size() - part));
    };
    const auto [fast, slow] = ends(busy(*clock));
    const auto [cool, hot] = ends(busy(*heat));
    if (fast <= 0 || cool < 0 || slow > knowledge_.Number("monitor.slow_clock") * fast ||
        hot < cool + knowledge_.Number("monitor.gets_hot"))
      return {};
    return {gpu_.Named(), slow / fast, cool, hot};
  }

  double Reached() const { return std::max(Peak("sm_clock_max"), Peak("sm_clock")); }

 private:
  static double Over(double value, double whole) {
    return value < 0 ? -1 : std::min(1.0, value / whole);
  }

  // Whether the GPU was busy at this sample, for so much of the time, or the log cannot tell.
  bool Busy(std::size_t sample, double time, double least) const {
    const MonitorSeries* activity = ActivityOf(gpu_);
    if (activity == nullptr) return true;
    // Columns of one row share its time; where a value was missing, rows have moved on.
    std::size_t at = std::min(sample, activity->time_s.size() - 1);
    if (activity->time_s[at] != time) {
      const auto found = std::lower_bound(activity->time_s.begin(), activity->time_s.end(), time);
      if (found == activity->time_s.end() || *found != time) return false;
      at = static_cast<std::size_t>(found - activity->time_s.begin());
    }
    return activity->value[at] >= least;
  }

  double Mean(const char* quantity, bool of_busy) const {
    return Mean(quantity, of_busy, knowledge_.Number("monitor.busy"));
  }
  double Mean(const char* quantity, bool of_busy, double busy) const {
    const MonitorSeries* series = gpu_.Find(quantity);
    if (series == nullptr) return -1;
    double sum = 0, count = 0;
    for (std::size_t i = 0; i < series->value.size(); ++i) {
      if (!job_.Holds(series->time_s[i]) || (of_busy && !Busy(i, series->time_s[i], busy)))
        continue;
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

  // What the log says, else used and free memory together, else the data sheet. The driver keeps
  // some for itself, and data sheets round: more than is in use there must be.
  double Capacity(double used) const {
    const double free = Peak("memory_free");
    const MonitorSeries* in_use = gpu_.Find("memory_used");
    const double least =
        in_use == nullptr ? -1 : *std::min_element(in_use->value.begin(), in_use->value.end());
    const double logged = Peak("memory_total");
    const double sum = free >= 0 && least >= 0 ? free + least : -1;
    const double total = logged > 0 ? logged
                         : sum > 0  ? sum
                                    : Limit("memory_total", "memory_bytes");
    return total <= 0 ? -1 : std::max(total, used);
  }

  const MonitoredGpu& gpu_;
  const LoggedJob& job_;
  double reached_;
  const Knowledge& knowledge_;
};

// Where the means lie farthest apart, if that is far and each group lies close together.
MonitorSplit SplitOf(std::vector<const MonitoredUse*> uses, const Knowledge& knowledge) {
  std::erase_if(uses,
                [](const MonitoredUse* use) { return !use->at_work || use->utilization < 0; });
  std::sort(uses.begin(), uses.end(), [](const MonitoredUse* a, const MonitoredUse* b) {
    return a->utilization < b->utilization;
  });
  MonitorSplit split;
  const auto use_of = [&](std::size_t i) { return uses[i]->utilization; };
  std::size_t at = 0;  // the first of the upper group
  double apart = 0;
  for (std::size_t i = 1; i < uses.size(); ++i) {
    if (use_of(i) - use_of(i - 1) <= apart) continue;
    apart = use_of(i) - use_of(i - 1);
    at = i;
  }
  if (at == 0 || apart < knowledge.Number("monitor.split")) return split;
  if (std::max(use_of(at - 1) - use_of(0), use_of(uses.size() - 1) - use_of(at)) >= apart)
    return split;
  const auto group = [&](std::size_t from, std::size_t to, std::vector<std::string>* labels) {
    double sum = 0;
    for (std::size_t i = from; i < to; ++i) {
      sum += use_of(i);
      labels->push_back(uses[i]->label);
    }
    std::sort(labels->begin(), labels->end(), [](const std::string& a, const std::string& b) {
      return a.size() != b.size() ? a.size() < b.size() : a < b;
    });
    return sum / static_cast<double>(to - from);
  };
  split.low_use = group(0, at, &split.low);
  split.high_use = group(at, uses.size(), &split.high);
  return split;
}

// What a link moves in practice: by its generation and width as the log gives them, else the one
// whose rate the traffic is near to.
struct LinkRate {
  double rate = 0;
  std::string words;
  bool logged = false;
};
LinkRate RateOfLink(const MonitoredGpu& gpu, double traffic, const Knowledge& knowledge) {
  const double of_lane = knowledge.Number("monitor.lane_rate");
  const auto rate = [&](int generation, double lanes) {
    return of_lane * static_cast<double>(1 << (generation - 3)) * lanes;
  };
  const auto logged = [&](const char* quantity) {
    const MonitorSeries* series = gpu.Find(quantity);
    return series == nullptr ? 0.0 : *std::max_element(series->value.begin(), series->value.end());
  };
  const double lanes = logged("pcie_lanes"), generation = logged("pcie_generation");
  for (int g = 3; g <= 6; ++g) {
    const bool known = generation > 0 && lanes > 0;
    if (known && generation != g) continue;
    const double width = known ? lanes : 16;
    const double full = rate(g, width);
    // Below most of it, the link may be a faster one with room left.
    if (!known && traffic > full * (2 - knowledge.Number("monitor.full_link"))) continue;
    return {full, "PCIe " + std::to_string(g) + ".0 x" + std::to_string(std::lround(width)), known};
  }
  return {};
}

FullLink FullLinkOf(const MonitoredGpu& gpu, const LoggedJob& job, const Knowledge& knowledge) {
  FullLink found;
  for (const char* quantity : {"pcie_rx", "pcie_tx"}) {
    const MonitorSeries* series = gpu.Find(quantity);
    if (series == nullptr) continue;
    std::vector<double> rates;
    for (std::size_t i = 0; i < series->value.size(); ++i)
      if (job.Holds(series->time_s[i])) rates.push_back(series->value[i]);
    if (rates.empty()) continue;
    // A link that is full shows so in nearly all samples, and not in a few.
    const double low = Quantile(rates, 1 - knowledge.Number("monitor.full_samples"));
    const LinkRate link = RateOfLink(gpu, low, knowledge);
    if (link.rate <= 0 || low < knowledge.Number("monitor.full_link") * link.rate) continue;
    double sum = 0;
    for (const double one : rates) sum += one;
    const double mean = sum / static_cast<double>(rates.size());
    if (mean > found.rate)
      found = {gpu.Named(), std::string(quantity) == "pcie_rx", mean, link.rate, link.words,
               link.logged};
  }
  return found;
}

SlowGpu SlowOf(const std::vector<const MonitoredUse*>& uses, const Knowledge& knowledge) {
  SlowGpu found;
  double least = knowledge.Number("monitor.slow_clock");
  for (const MonitoredUse* use : uses) {
    std::vector<double> clocks, heats;
    for (const MonitoredUse* other : uses) {
      if (other == use || other->hz <= 0 || other->name != use->name) continue;
      clocks.push_back(other->hz);
      if (other->celsius >= 0) heats.push_back(other->celsius);
    }
    if (use->hz <= 0 || clocks.empty()) continue;
    // Most others must run faster: of two halves neither is the slow one.
    const double usual = Median(clocks);
    const auto slow = std::count_if(clocks.begin(), clocks.end(), [&](double hz) {
      return hz <= knowledge.Number("monitor.slow_clock") * usual;
    });
    if (use->hz > least * usual || (slow > 0 && 2 * (slow + 1) >= std::ssize(clocks) + 1)) continue;
    least = use->hz / usual;
    double sum = 0;
    for (const double hz : clocks) sum += hz;
    double heat = 0;
    for (const double one : heats) heat += one;
    found = {use->label, use->hz, sum / static_cast<double>(clocks.size()), use->celsius,
             heats.empty() ? -1 : heat / static_cast<double>(heats.size())};
  }
  return found;
}

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
    const std::size_t first = summary.gpus.size();
    std::map<std::string, double> reached;  // by name
    for (const std::size_t g : log.gpus) {
      double& most = reached[monitor.gpus[g].name];
      most = std::max(most, Summary(monitor.gpus[g], log, 0, knowledge).Reached());
    }
    for (const std::size_t g : log.gpus) {
      const MonitoredGpu& gpu = monitor.gpus[g];
      const Summary of_gpu(gpu, log, reached[gpu.name], knowledge);
      summary.gpus.push_back(of_gpu.Make());
      FallingClock falls = of_gpu.Falls();
      FullLink full = FullLinkOf(gpu, log, knowledge);
      if (full.rate > summary.full.rate) summary.full = std::move(full);
      const bool more = summary.falls.label.empty() || falls.clock < summary.falls.clock;
      if (!falls.label.empty() && more) summary.falls = std::move(falls);
      summary.samples = std::max(summary.samples, summary.gpus.back().samples);
      for (const MonitorSeries& series : monitor.gpus[g].series)
        summary.logged = std::max(summary.logged, series.value.size());
    }
    std::vector<const MonitoredUse*> uses;
    for (std::size_t i = first; i < summary.gpus.size(); ++i) uses.push_back(&summary.gpus[i]);
    SlowGpu slow = SlowOf(uses, knowledge);
    const auto part = [](const SlowGpu& one) { return one.hz / one.others_hz; };
    if (!slow.label.empty() && (summary.slow.label.empty() || part(slow) < part(summary.slow)))
      summary.slow = std::move(slow);
    MonitorSplit split = SplitOf(std::move(uses), knowledge);
    const auto size = [](const MonitorSplit& one) { return one.low.size() + one.high.size(); };
    if (size(split) > size(summary.split)) summary.split = std::move(split);
    if (!monitor.has_clock) continue;
    const double length = log.known() ? log.end - log.start : log.last - log.first;
    summary.seconds = std::max(summary.seconds, length);
  }
  return summary;
}

}  // namespace advise
