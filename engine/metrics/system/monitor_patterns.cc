#include "engine/metrics/system/monitor_patterns.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <map>

#include "engine/base/median.h"
#include "engine/metrics/system/monitor_logs.h"
#include "engine/trace/intervals.h"

namespace advise {
namespace {

Nanos ToNanos(double seconds) { return std::llround(seconds * kNanosPerSecond); }
double ToSeconds(Nanos time) { return static_cast<double>(time) / kNanosPerSecond; }

double ValueAt(const MonitorSeries& series, double time) {
  const auto at = std::lower_bound(series.time_s.begin(), series.time_s.end(), time);
  const bool same = at != series.time_s.end() && *at == time;
  return same ? series.value[static_cast<std::size_t>(at - series.time_s.begin())] : -1;
}

class PatternFinder {
 public:
  PatternFinder(const Monitor& monitor, const LoggedJob& job, const Knowledge& knowledge)
      : job_(job), knowledge_(knowledge) {
    for (const std::size_t g : job.gpus) gpus_.push_back(&monitor.gpus[g]);
  }

  MonitorPatterns Find() {
    MonitorPatterns patterns;
    patterns.before = job_.start - job_.first;
    patterns.after = job_.last - job_.end;
    for (const MonitoredGpu* gpu : gpus_) {
      const MonitorSeries* activity = ActivityOf(*gpu);
      const double at_work = knowledge_.Number("monitor.at_work");
      const auto works = [&](double value) { return value >= at_work; };
      if (activity == nullptr ||
          std::none_of(activity->value.begin(), activity->value.end(), works))
        continue;
      at_work_.push_back(gpu);
      idle_.push_back(When(*activity, [&](std::size_t i) { return !works(activity->value[i]); }));
    }
    if (at_work_.empty()) return patterns;
    patterns.pauses = Pauses();
    patterns.stop = Stop();
    patterns.hang = Hang();
    for (const MonitoredGpu* gpu : at_work_) Grow(*gpu, &patterns.growth);
    return patterns;
  }

 private:
  // The job's time in which `holds` of the sample before: a sample tells of the time up to the next
  // one, unless the log has a hole there.
  template <typename Holds>
  IntervalSet When(const MonitorSeries& series, Holds holds) const {
    std::vector<double> distances;
    for (std::size_t i = 1; i < series.time_s.size(); ++i)
      distances.push_back(series.time_s[i] - series.time_s[i - 1]);
    if (distances.empty()) return {};
    const double hole = knowledge_.Number("monitor.hole") * Median(distances);
    IntervalSet when;
    for (std::size_t i = 0; i + 1 < series.time_s.size(); ++i) {
      const double end = series.time_s[i + 1];
      if (!job_.Holds(series.time_s[i]) || end - series.time_s[i] > hole || !holds(i)) continue;
      when.Append(ToNanos(series.time_s[i]), ToNanos(std::min(end, job_.end)));
    }
    return when;
  }

  MonitorPauses Pauses() const {
    IntervalSet all = idle_.front();
    for (const IntervalSet& one : idle_) all = all.Intersect(one);
    MonitorPauses pauses;
    std::vector<double> starts;
    double longest = 0;
    for (const Interval& pause : all.intervals())
      longest = std::max(longest, ToSeconds(pause.Length()));
    if (longest < knowledge_.Number("monitor.pause")) return pauses;
    // A limit alone would count some of pauses that are about as long as it is, and not the others.
    const double least =
        knowledge_.Number("monitor.pause_alike") * knowledge_.Number("monitor.pause");
    for (const Interval& pause : all.intervals()) {
      const double seconds = ToSeconds(pause.Length());
      if (seconds < least) continue;
      ++pauses.count;
      pauses.seconds += seconds;
      pauses.longest = std::max(pauses.longest, seconds);
      starts.push_back(ToSeconds(pause.start));
    }
    const double length = job_.end - job_.start;
    if (length > 0) pauses.share = pauses.seconds / length;
    pauses.every = EvenDistance(starts);
    return pauses;
  }

  // -1 where they are fewer than three, or at different distances.
  double EvenDistance(const std::vector<double>& starts) const {
    if (starts.size() < 3) return -1;
    std::vector<double> distances;
    for (std::size_t i = 1; i < starts.size(); ++i) distances.push_back(starts[i] - starts[i - 1]);
    const double median = Median(distances);
    const double most = knowledge_.Number("monitor.even") * median;
    const bool even = std::all_of(distances.begin(), distances.end(),
                                  [&](double d) { return std::abs(d - median) <= most; });
    return even ? median : -1;
  }

  // What the GPU draws while it is busy outside of `not_in`, as a rule: a high quantile, since it
  // may wait for long; -1 where the log does not say.
  double UsualPower(const MonitoredGpu& gpu, const IntervalSet& not_in) const {
    const MonitorSeries* power = gpu.Find("power");
    if (power == nullptr) return -1;
    const MonitorSeries& activity = *ActivityOf(gpu);
    std::vector<double> busy;
    for (std::size_t i = 0; i < power->value.size(); ++i) {
      if (not_in.Contains(ToNanos(power->time_s[i]))) continue;
      if (ValueAt(activity, power->time_s[i]) >= knowledge_.Number("monitor.busy"))
        busy.push_back(power->value[i]);
    }
    if (busy.empty()) return -1;
    return Quantile(std::move(busy), knowledge_.Number("monitor.usual_power"));
  }

  // In use, at little power: kernels that only wait.
  IntervalSet Waiting(const MonitoredGpu& gpu, double usual) const {
    if (usual <= 0) return {};
    const MonitorSeries& activity = *ActivityOf(gpu);
    const MonitorSeries& power = *gpu.Find("power");
    return When(activity, [&](std::size_t i) {
      const double watts = ValueAt(power, activity.time_s[i]);
      return activity.value[i] >= knowledge_.Number("monitor.busy") && watts >= 0 &&
             watts <= knowledge_.Number("monitor.waiting_power") * usual;
    });
  }

  MonitorStop Stop() const {
    MonitorStop stop;
    if (at_work_.size() < 2) return stop;
    // The others may wait for most of the log: their work is where no GPU does nothing.
    IntervalSet one_idle;
    for (const IntervalSet& idle : idle_) one_idle = one_idle.Union(idle);
    std::vector<double> usual;
    std::vector<IntervalSet> waiting;
    for (const MonitoredGpu* gpu : at_work_) {
      const double together = UsualPower(*gpu, one_idle);
      usual.push_back(together > 0 ? together : UsualPower(*gpu, {}));
      waiting.push_back(Waiting(*gpu, usual.back()));
    }
    IntervalSet either = idle_.front().Union(waiting.front());
    IntervalSet some_idle, some_wait;
    for (std::size_t g = 0; g < at_work_.size(); ++g) {
      either = either.Intersect(idle_[g].Union(waiting[g]));
      some_idle = some_idle.Union(idle_[g]);
      some_wait = some_wait.Union(waiting[g]);
    }
    const IntervalSet stopped = either.Intersect(some_idle).Intersect(some_wait);
    Interval longest;
    for (const Interval& one : stopped.intervals())
      if (one.Length() > longest.Length()) longest = one;
    if (ToSeconds(longest.Length()) < knowledge_.Number("monitor.stop")) return stop;
    stop.seconds = ToSeconds(longest.Length());
    stop.to_the_end = job_.end - ToSeconds(longest.end) < knowledge_.Number("monitor.pause");
    double power = 0;
    for (std::size_t g = 0; g < at_work_.size(); ++g) {
      if (2 * idle_[g].OverlapWith(longest.start, longest.end) > longest.Length()) {
        stop.stopped.push_back(at_work_[g]->label);
      } else {
        ++stop.waiting;
        power += MeanPower(*at_work_[g], longest) / usual[g];
      }
    }
    if (stop.stopped.empty() || stop.waiting == 0) return {};
    stop.power = power / static_cast<double>(stop.waiting);
    return stop;
  }

  // Since when, up to its last sample, the GPU is in use at a steady low power without traffic of
  // its memory; -1 where it is not, or the log does not say.
  double SpinsSince(const MonitoredGpu& gpu) const {
    const MonitorSeries* power = gpu.Find("power");
    const MonitorSeries* memory = gpu.Find("memory_activity");
    const MonitorSeries& activity = *ActivityOf(gpu);
    if (power == nullptr || memory == nullptr) return -1;
    double since = -1, low = -1;
    for (std::size_t i = activity.time_s.size(); i-- > 0;) {
      const double time = activity.time_s[i];
      if (!job_.Holds(time)) continue;
      const double watts = ValueAt(*power, time), traffic = ValueAt(*memory, time);
      if (watts < 0 || traffic < 0) continue;
      if (low < 0) low = watts;
      if (activity.value[i] < knowledge_.Number("monitor.busy") ||
          traffic > knowledge_.Number("monitor.spin_traffic") ||
          watts > low * (1 + knowledge_.Number("monitor.spin_steady")))
        break;
      since = time;
    }
    return since;
  }

  MonitorHang Hang() const {
    double since = -1;
    for (const MonitoredGpu* gpu : at_work_) {
      const double spins = SpinsSince(*gpu);
      if (spins < 0) return {};
      since = std::max(since, spins);
    }
    if (at_work_.size() < 2 || job_.end - since < knowledge_.Number("monitor.stop")) return {};
    const Interval spin{ToNanos(since), ToNanos(job_.end)};
    IntervalSet after;
    after.Append(spin.start, spin.end + 1);
    double power = 0;
    for (const MonitoredGpu* gpu : at_work_) {
      const double usual = UsualPower(*gpu, after);
      if (usual <= 0) return {};
      const double now = MeanPower(*gpu, spin) / usual;
      if (now > knowledge_.Number("monitor.waiting_power")) return {};
      power += now;
    }
    return {at_work_.size(), job_.end - since, power / static_cast<double>(at_work_.size())};
  }

  static double MeanPower(const MonitoredGpu& gpu, const Interval& when) {
    const MonitorSeries& power = *gpu.Find("power");
    double sum = 0, count = 0;
    for (std::size_t i = 0; i < power.value.size(); ++i) {
      const Nanos time = ToNanos(power.time_s[i]);
      if (time < when.start || time >= when.end) continue;
      sum += power.value[i];
      ++count;
    }
    return count > 0 ? sum / count : 0;
  }

  // Medians of parts of the job's time behind its start: memory that is taken once, or for a phase,
  // does not grow by about as much from each part to the next.
  void Grow(const MonitoredGpu& gpu, MonitorGrowth* growth) const {
    const MonitorSeries* used = gpu.Find("memory_used");
    const double count = knowledge_.Number("monitor.growth_parts");
    const double length = job_.end - job_.start;
    if (used == nullptr || length < knowledge_.Number("monitor.growth_seconds")) return;
    const double from = job_.start + length / count / 2;
    const double part = (job_.end - from) / count;
    std::vector<std::vector<double>> parts(static_cast<std::size_t>(count));
    for (std::size_t i = 0; i < used->value.size(); ++i) {
      const double at = (used->time_s[i] - from) / part;
      if (at >= 0 && at < count) parts[static_cast<std::size_t>(at)].push_back(used->value[i]);
    }
    std::vector<double> medians;
    for (const std::vector<double>& values : parts) {
      if (static_cast<double>(values.size()) < knowledge_.Number("monitor.growth_samples")) return;
      medians.push_back(Median(values));
    }
    const double by_part = (medians.back() - medians.front()) / (count - 1);
    if (by_part * (count - 1) < knowledge_.Number("monitor.growth") * medians.front()) return;
    const double least = knowledge_.Number("monitor.growth_steady") * by_part;
    for (std::size_t p = 1; p < medians.size(); ++p)
      if (medians[p] - medians[p - 1] < least) return;
    MonitorGrowth found{gpu.Named(), by_part / part, -1};
    if (const MonitorSeries* total = gpu.Find("memory_total"))
      found.seconds_to_full =
          std::max(0.0, total->value.back() - used->value.back()) / by_part * part;
    const auto left = [](const MonitorGrowth& one) {
      return one.seconds_to_full < 0 ? std::numeric_limits<double>::max() : one.seconds_to_full;
    };
    if (growth->label.empty() || left(found) < left(*growth)) *growth = found;
  }

  const LoggedJob& job_;
  const Knowledge& knowledge_;
  std::vector<const MonitoredGpu*> gpus_;
  std::vector<const MonitoredGpu*> at_work_;
  std::vector<IntervalSet> idle_;  // of those at work
};

// Lanes while the GPU is in use, since links at rest may save power by lanes as well.
NarrowLink FindNarrowLink(const Monitor& monitor, const Knowledge& knowledge) {
  const double busy = knowledge.Number("monitor.busy");
  NarrowLink narrow;
  std::map<std::string, double> widest;  // by name, where the log does not say what is possible
  struct Link {
    const MonitoredGpu* gpu = nullptr;
    double lanes = 0;
  };
  std::vector<Link> links;
  for (const MonitoredGpu& gpu : monitor.gpus) {
    const MonitorSeries* lanes = gpu.Find("pcie_lanes");
    const MonitorSeries* activity = ActivityOf(gpu);
    if (lanes == nullptr || activity == nullptr) continue;
    std::vector<double> in_use;
    for (std::size_t i = 0; i < lanes->value.size(); ++i)
      if (ValueAt(*activity, lanes->time_s[i]) >= busy) in_use.push_back(lanes->value[i]);
    if (in_use.empty()) continue;
    const double now = Median(in_use);
    links.push_back({&gpu, now});
    widest[gpu.name] = std::max(widest[gpu.name], now);
  }
  for (const Link& link : links) {
    const MonitorSeries* could = link.gpu->Find("pcie_lanes_max");
    const double possible = could == nullptr ? widest[link.gpu->name] : could->value.back();
    const bool narrower = narrow.label.empty() || link.lanes < narrow.lanes;
    if (link.lanes < possible && narrower) narrow = {link.gpu->label, link.lanes, possible};
  }
  return narrow;
}

}  // namespace

MonitorPatterns FindMonitorPatterns(const Monitor& monitor, const Knowledge& knowledge) {
  MonitorPatterns patterns;
  if (monitor.has_clock) {
    double longest = -1;
    for (const LoggedJob& job : LoggedJobs(monitor, knowledge)) {
      if (!job.known() || job.end - job.start <= longest) continue;
      longest = job.end - job.start;
      patterns = PatternFinder(monitor, job, knowledge).Find();
    }
  }
  patterns.link = FindNarrowLink(monitor, knowledge);
  return patterns;
}

}  // namespace advise
