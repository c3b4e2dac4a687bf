#include "engine/metrics/losses/host/quota.h"

#include <algorithm>
#include <map>
#include <vector>

namespace advise {
namespace {

class QuotaFinder : Finder {
 public:
  explicit QuotaFinder(const Basis& basis)
      : Finder(basis),
        period_(Time("host.quota.period")),
        least_ns_(Time("host.quota.least_pause")),
        near_ns_(Time("host.quota.near")),
        least_(CountOf("host.quota.least")),
        often_(Number("host.quota.often")),
        spread_(Number("host.quota.spread")) {}

  Loss Find() {
    LossBuilder loss(basis_);
    if (!run_.steps.known()) return loss.Build();
    std::map<std::uint32_t, std::vector<std::uint32_t>> launching;  // threads, by process
    for (const std::uint32_t thread : run_.launching_threads)
      launching[trace_.threads[thread].process].push_back(thread);
    for (const auto& [process, threads] : launching) {
      const std::vector<Interval> pauses = OnGrid(Silences(process));
      if (pauses.empty() || (!MeetsStepAnywhere(pauses) && !WaitsForNothing(process, pauses)))
        continue;
      for (const Interval& pause : pauses) {
        loss.Count(pause.start, 0, pause.Length());
        for (const std::uint32_t thread : threads) loss.CutHost(thread, pause.start, pause.end);
      }
      const IntervalSet all = IntervalSet::Of(pauses);
      for (const GapPiece piece : basis_.idle.pieces) {
        const std::uint32_t thread = basis_.idle.ThreadOf(piece);
        if (thread == kNone || trace_.threads[thread].process != process) continue;
        loss.AddSpans(piece.device, all.Clip(piece.start, piece.end));
      }
    }
    return loss.Build();
  }

 private:
  // Long stretches of the window in which no thread of the process begins or ends anything.
  std::vector<Interval> Silences(std::uint32_t process) const {
    std::vector<Nanos> times;
    const auto add = [&](const auto& table, const std::vector<RowRange>& rows) {
      for (std::uint32_t thread = 0; thread < rows.size(); ++thread) {
        if (trace_.threads[thread].process != process) continue;
        for (const std::uint32_t row : rows[thread]) {
          for (const Nanos time : {table.start[row], table.end[row]})
            if (run_.InWindow(time)) times.push_back(time);
        }
      }
    };
    add(trace_.calls, run_.calls_of_thread);
    add(trace_.os_calls, run_.os_of_thread);
    add(trace_.ranges, run_.ranges_of_thread);
    std::sort(times.begin(), times.end());
    std::vector<Interval> silences;
    for (std::size_t i = 1; i < times.size(); ++i) {
      if (times[i] - times[i - 1] >= least_ns_) silences.push_back({times[i - 1], times[i]});
    }
    return silences;
  }

  // Those that end when a period does; empty where that is chance, or the doing of the program.
  std::vector<Interval> OnGrid(const std::vector<Interval>& silences) const {
    if (silences.size() < least_) return {};
    std::vector<Nanos> phases;
    for (const Interval& silence : silences) phases.push_back(silence.end % period_);
    std::sort(phases.begin(), phases.end());
    const std::size_t count = phases.size();
    for (std::size_t i = 0; i < count; ++i) phases.push_back(phases[i] + period_);
    std::size_t most = 0;
    Nanos phase = 0;
    for (std::size_t first = 0, last = 0; first < count; ++first) {
      while (last < first + count && phases[last] - phases[first] <= near_ns_) ++last;
      if (last - first > most) most = last - first, phase = phases[first];
    }
    std::vector<Interval> on_grid;
    for (const Interval& silence : silences) {
      if ((silence.end - phase % period_ + period_) % period_ <= near_ns_)
        on_grid.push_back(silence);
    }
    if (on_grid.size() < least_) return {};
    const auto periods = static_cast<double>(on_grid.back().end - on_grid.front().end) /
                         static_cast<double>(period_);
    if (static_cast<double>(on_grid.size()) < often_ * periods) return {};
    return on_grid;
  }

  // Who keeps a pace waits in the operating system, where its calls were recorded. A loop that is
  // stopped again and again may come to do so at the same place of its steps.
  bool WaitsForNothing(std::uint32_t process, const std::vector<Interval>& pauses) const {
    const IntervalSet all = IntervalSet::Of(pauses);
    bool recorded = false;
    for (std::uint32_t thread = 0; thread < run_.os_of_thread.size(); ++thread)
      recorded = recorded ||
                 (trace_.threads[thread].process == process && !run_.os_of_thread[thread].empty());
    if (!recorded) return false;
    for (const std::uint32_t thread : run_.launching_threads) {
      if (trace_.threads[thread].process != process) continue;
      Nanos waiting = 0;
      for (const std::uint32_t row : run_.os_of_thread[thread]) {
        if (IsWait(run_.names.Os(trace_.os_calls.name[row])))
          waiting += all.OverlapWith(trace_.os_calls.start[row], trace_.os_calls.end[row]);
      }
      if (2 * waiting <= all.Total() && GoesOn(thread, pauses)) return true;
    }
    return false;
  }

  // Whether the thread makes its next call right behind most of the pauses.
  bool GoesOn(std::uint32_t thread, const std::vector<Interval>& pauses) const {
    const RowRange rows = run_.calls_of_thread[thread];
    const auto last = trace_.calls.start.begin() + rows.last;
    const auto count = std::count_if(pauses.begin(), pauses.end(), [&](const Interval& pause) {
      const auto next = std::lower_bound(trace_.calls.start.begin() + rows.first, last, pause.end);
      return next != last && *next <= pause.end + near_ns_;
    });
    return 2 * static_cast<std::size_t>(count) > pauses.size();
  }

  // Not always about the same place of the step.
  bool MeetsStepAnywhere(const std::vector<Interval>& pauses) const {
    std::vector<double> places;
    for (const Interval& pause : pauses) {
      const std::uint32_t at = run_.steps.At(pause.start);
      if (at == kNone) continue;
      const Step& step = run_.steps.all[at];
      places.push_back(static_cast<double>(pause.start - step.start) /
                       static_cast<double>(std::max<Nanos>(1, step.Length())));
    }
    if (places.size() < least_) return false;
    std::sort(places.begin(), places.end());
    return places[places.size() * 3 / 4] - places[places.size() / 4] >= spread_;
  }

  Nanos period_;
  Nanos least_ns_;
  Nanos near_ns_;
  std::size_t least_;
  double often_;
  double spread_;
};

}  // namespace

Loss FindQuotaPauses(const Basis& basis) { return QuotaFinder(basis).Find(); }

}  // namespace advise
