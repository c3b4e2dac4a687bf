#include "engine/metrics/losses/steps/step_stats.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "engine/metrics/losses/steps/slow_steps.h"

namespace advise {
namespace {

class StepFinder : Finder {
 public:
  StepFinder(const Basis& basis, const Phases& phases, double link_bytes_per_s)
      : Finder(basis), phases_(phases), link_(link_bytes_per_s), median_(run_.steps.Median()) {}

  StepStats Find() {
    result_.outlier = LossBuilder(basis_).Build();
    result_.stall = LossBuilder(basis_).Build();
    if (!run_.steps.known()) return std::move(result_);
    Jitter();
    Drift();
    Warmup();
    FindSlowSteps(basis_, phases_, link_, &result_);
    Phased();
    return std::move(result_);
  }

 private:
  const std::vector<Step>& Steps() const { return run_.steps.all; }

  void Jitter() {
    std::vector<double> lengths;
    for (std::size_t i = run_.steps.first_steady; i < Steps().size(); ++i) {
      lengths.push_back(static_cast<double>(Steps()[i].Length()));
    }
    std::sort(lengths.begin(), lengths.end());
    if (lengths.size() < 4 || median_ <= 0) return;
    result_.jitter = (lengths[lengths.size() * 3 / 4] - lengths[lengths.size() / 4]) /
                     static_cast<double>(median_);
  }

  // Standard error of the median of `sorted` values, by their quarters: of a normal distribution
  // the quarters lie 1.349 deviations apart, and a median is 1.2533 times as uncertain as a mean.
  static double ErrorOfMedian(const std::vector<double>& sorted) {
    const double quarters = sorted[sorted.size() * 3 / 4] - sorted[sorted.size() / 4];
    return 1.2533 / 1.349 * quarters / std::sqrt(static_cast<double>(sorted.size()));
  }

  void Drift() {
    std::vector<double> lengths;
    for (std::size_t i = run_.steps.first_steady; i < run_.steps.all.size(); ++i) {
      if (run_.steps.IsOutlier(i)) continue;
      lengths.push_back(static_cast<double>(run_.steps.all[i].Length()));
    }
    const std::size_t third = lengths.size() / 3;
    if (third < CountOf("step.drift_steps")) return;
    const auto from = [&](std::size_t first) {
      const auto at = lengths.begin() + static_cast<std::ptrdiff_t>(first);
      std::vector<double> part(at, at + static_cast<std::ptrdiff_t>(third));
      std::sort(part.begin(), part.end());
      return part;
    };
    const std::vector<double> first = from(0);
    const std::vector<double> last = from(lengths.size() - third);
    const double early = Median(first);
    if (early > 0) {
      result_.drift = Median(last) / early - 1;
      result_.drift_by_chance = std::hypot(ErrorOfMedian(first), ErrorOfMedian(last)) / early;
    }
    // Two kinds: the widest relative distance between neighbors, away from the ends.
    std::sort(lengths.begin(), lengths.end());
    const double least = Number("step.kind_share");
    const auto edge = std::max<std::size_t>(
        1, static_cast<std::size_t>(least * static_cast<double>(lengths.size())));
    double widest = 0;
    for (std::size_t i = edge; i + edge <= lengths.size(); ++i) {
      const double ratio = lengths[i - 1] > 0 ? lengths[i] / lengths[i - 1] : 0;
      if (ratio <= widest) continue;
      widest = ratio;
      result_.two_kinds_share =
          static_cast<double>(lengths.size() - i) / static_cast<double>(lengths.size());
      result_.two_kinds_ratio = ratio;
    }
  }

  // What the leading slow steps did that the others do not: host time by kind of call.
  void Warmup() {
    double compiling = 0;
    double allocating = 0;
    for (std::size_t i = 0; i < run_.steps.first_steady; ++i) {
      result_.warmup_excess_ns +=
          static_cast<double>(std::max<Nanos>(0, Steps()[i].Length() - median_));
    }
    const bool host_is_seen = trace_.calls.size() + trace_.os_calls.size() > 0;
    if (run_.steps.first_steady == 0 || !host_is_seen) return;
    const Nanos end = Steps()[run_.steps.first_steady - 1].end;
    for (std::uint32_t c = 0; c < trace_.calls.size(); ++c) {
      if (trace_.calls.start[c] >= end || trace_.calls.start[c] < Steps().front().start) continue;
      const CallClass call_class = run_.ClassOfCall(c);
      const auto length = static_cast<double>(trace_.calls.end[c] - trace_.calls.start[c]);
      if (IsCodeLoading(call_class)) compiling += length;
      if (IsAllocation(call_class)) allocating += length;
    }
    const double least = Number("step.warmup_share") * result_.warmup_excess_ns;
    result_.warmup_cause = compiling >= allocating && compiling > least
                               ? "loading and compiling GPU code"
                           : allocating > least ? "allocating memory"
                           : BlockedIn({Steps().front().start, end}) > least
                               ? "waits of the host, such as that for the first batch"
                               : "first-time work on the host";
  }

  // How long launching threads were blocked in the operating system.
  double BlockedIn(const Interval& when) const {
    const OsCallTable& os = trace_.os_calls;
    Nanos blocked = 0;
    for (const std::uint32_t thread : run_.launching_threads) {
      for (const std::uint32_t i : run_.os_of_thread[thread]) {
        if (!IsWait(run_.names.Os(os.name[i]))) continue;
        blocked +=
            std::max<Nanos>(0, std::min(os.end[i], when.end) - std::max(os.start[i], when.start));
      }
    }
    return static_cast<double>(blocked);
  }

  void Phased() {
    const auto steps = static_cast<double>(run_.steps.steady_count());
    for (const std::uint32_t op : basis_.OpsInWindow()) {
      if (run_.IsComm(op)) continue;
      const Phase phase = phases_.OfOp(run_, op);
      const auto length = static_cast<double>(Length(op)) / steps / Devices();
      if (phase == Phase::kForward) result_.forward_gpu_ns += length;
      if (phase == Phase::kBackward) result_.backward_gpu_ns += length;
    }
    double processes = 0;
    for (std::uint32_t p = 0; p < trace_.processes.size(); ++p) {
      const Nanos forward =
          phases_.Of(p, Phase::kForward).OverlapWith(run_.window.start, run_.window.end);
      const Nanos backward =
          phases_.Of(p, Phase::kBackward).OverlapWith(run_.window.start, run_.window.end);
      if (forward > 0 || backward > 0) processes += 1;
      result_.forward_host_ns += static_cast<double>(forward) / steps;
      result_.backward_host_ns += static_cast<double>(backward) / steps;
    }
    if (processes > 0) result_.forward_host_ns /= processes, result_.backward_host_ns /= processes;
  }

  const Phases& phases_;
  double link_;  // bytes per second
  Nanos median_;
  StepStats result_;
};

}  // namespace

StepStats FindStepStats(const Basis& basis, const Phases& phases, double link_bytes_per_s) {
  return StepFinder(basis, phases, link_bytes_per_s).Find();
}

}  // namespace advise
