#include "engine/timeline/warm_up.h"

#include <algorithm>
#include <set>

#include "engine/base/median.h"
#include "engine/timeline/budget.h"
#include "engine/timeline/idle.h"
#include "engine/timeline/step.h"

namespace advise {
namespace {

// Waits of each of the first `count` steps, on average over the devices.
struct EarlyWaits {
  std::vector<Nanos> data;   // for data, but before the first op of the first step
  std::vector<Nanos> ranks;  // for other ranks
  Nanos first_batch = 0;     // for data, from the first event of the host to that op
};

Nanos FirstHostEvent(const Run& run, Nanos latest) {
  const Trace& trace = run.trace;
  Nanos first = latest;
  for (const std::uint32_t thread : run.launching_threads) {
    const auto look = [&](const RowRange& rows, const std::vector<Nanos>& starts) {
      if (!rows.empty()) first = std::min(first, starts[*rows.begin()]);
    };
    look(run.calls_of_thread[thread], trace.calls.start);
    look(run.ranges_of_thread[thread], trace.ranges.start);
    look(run.os_of_thread[thread], trace.os_calls.start);
  }
  return first;
}

EarlyWaits WaitsOfSteps(std::size_t count, const std::vector<std::uint32_t>& blocks,
                        const HandOvers& hand_overs, Run* run) {
  const std::vector<Step>& steps = run->steps.all;
  const std::vector<Nanos>& ops = run->trace.ops.start;
  const auto opens = std::lower_bound(ops.begin(), ops.end(), steps.front().start);
  const Nanos opened = opens == ops.end() ? steps.front().start : *opens;
  const Window chosen = run->window;
  run->window.start = FirstHostEvent(*run, steps.front().start);
  run->window.end = steps[count - 1].end;
  const std::vector<DeviceTime> times = BuildBudget(*run);
  const Idle idle = ExplainIdle(*run, times, blocks, hand_overs);
  const Nanos begins = run->window.start;
  run->window = chosen;
  const std::vector<IntervalSet> loading = idle.Select(
      times.size(), [](const GapPiece& piece) { return piece.cause == IdleCause::kDataLoading; });
  const auto devices = static_cast<Nanos>(run->active_devices.size());
  const auto average = [&](auto sets, Nanos from, Nanos to) {
    Nanos sum = 0;
    for (const std::uint32_t d : run->active_devices) sum += sets(d).OverlapWith(from, to);
    return sum / devices;
  };
  const auto data = [&](std::uint32_t d) -> const IntervalSet& { return loading[d]; };
  const auto ranks = [&](std::uint32_t d) -> const IntervalSet& { return times[d].comm_exposed; };
  EarlyWaits waits;
  waits.first_batch = average(data, begins, opened);
  for (std::size_t i = 0; i < count; ++i) {
    waits.data.push_back(average(data, std::max(opened, steps[i].start), steps[i].end));
    waits.ranks.push_back(average(ranks, steps[i].start, steps[i].end));
  }
  return waits;
}

}  // namespace

bool StartsCold(const Run& run) {
  const Steps& steps = run.steps;
  if (steps.first_steady == 0) return false;
  const Nanos until = steps.all[steps.first_steady - 1].end;
  struct Kind {
    bool early = false;
    std::set<std::uint32_t> later;  // steps
  } loading, allocating;
  for (const std::uint32_t thread : run.launching_threads) {
    for (const std::uint32_t c : run.calls_of_thread[thread]) {
      const CallClass call_class = run.ClassOfCall(c);
      if (!IsCodeLoading(call_class) && !IsAllocation(call_class)) continue;
      Kind& kind = IsCodeLoading(call_class) ? loading : allocating;
      const Nanos at = run.trace.calls.start[c];
      kind.early = kind.early || at < until;
      if (at >= until && steps.At(at) != kNone) kind.later.insert(steps.At(at));
    }
  }
  const double usual =
      run.knowledge.Number("step.late_cold") * static_cast<double>(steps.steady_count());
  const auto cold = [&](const Kind& kind) {
    return kind.early && static_cast<double>(kind.later.size()) <= usual;
  };
  return cold(loading) || cold(allocating);
}

namespace {

// A program that starts fills its reserve of batches first. Waits say nothing of later steps until
// one batch came in time; what is missing behind that would have been missing later as well.
void ForgetTheFirstRound(const Run& run, std::vector<Nanos>* waits) {
  const double real = run.knowledge.Number("input.wait_share");
  bool in_time = false;
  for (std::size_t i = 0; i < waits->size() && !in_time; ++i) {
    const auto length = static_cast<double>(run.steps.all[i].Length());
    in_time = static_cast<double>((*waits)[i]) < real * length;
    (*waits)[i] = 0;
  }
}

}  // namespace

bool KeepStepsThatWait(const std::vector<std::uint32_t>& blocks, const HandOvers& hand_overs,
                       Run* run) {
  const std::size_t leading = run->steps.first_steady;
  const bool cold = StartsCold(*run);  // another rank may load its code, too
  if (leading == 0 || (cold && leading < 2)) return false;
  // As many steps again say how long they usually wait.
  const std::size_t count = std::min(2 * leading + 1, run->steps.all.size());
  const EarlyWaits early = WaitsOfSteps(count, blocks, hand_overs, run);
  std::vector<Nanos> waits = early.data;
  for (std::size_t i = 1; i < count && !cold; ++i) waits[i] += early.ranks[i];
  const Nanos usual =
      Median(std::vector<Nanos>(waits.begin() + static_cast<std::ptrdiff_t>(leading), waits.end()));
  waits.resize(leading);
  for (Nanos& wait : waits) wait = std::max<Nanos>(0, wait - usual);
  if (cold) ForgetTheFirstRound(*run, &waits);
  // The captures of other ranks may have begun in the first step. So may the loader, unless a batch
  // was there when this capture began.
  const auto in_time = run->knowledge.Number("input.wait_share") *
                       static_cast<double>(run->steps.all[leading].Length());
  if (static_cast<double>(early.first_batch) >= in_time) waits.front() = 0;
  SplitWarmup(*run, waits, &run->steps);
  return run->steps.first_steady != leading;
}

bool KeepStepsSince(Nanos since, Run* run) {
  const std::vector<Step>& steps = run->steps.all;
  std::size_t first = 0;
  while (first < run->steps.first_steady && steps[first].start + steps[first].Length() / 2 < since)
    ++first;
  if (first == run->steps.first_steady) return false;
  BeginSteadyAt(*run, first, &run->steps);
  return true;
}

}  // namespace advise
