#include "engine/timeline/warm_up.h"

#include <algorithm>

#include "engine/base/median.h"
#include "engine/timeline/budget.h"
#include "engine/timeline/idle.h"
#include "engine/timeline/step.h"

namespace advise {
namespace {

// How long the devices wait for data, and if `ranks` for other ranks, in each of the first `count`
// steps, on average.
std::vector<Nanos> WaitsOfSteps(std::size_t count, bool ranks,
                                const std::vector<std::uint32_t>& blocks,
                                const HandOvers& hand_overs, Run* run) {
  const std::vector<Step>& steps = run->steps.all;
  const Window chosen = run->window;
  run->window.start = steps.front().start;
  run->window.end = steps[count - 1].end;
  const std::vector<DeviceTime> times = BuildBudget(*run);
  const Idle idle = ExplainIdle(*run, times, blocks, hand_overs);
  run->window = chosen;
  const std::vector<IntervalSet> loading = idle.Select(
      times.size(), [](const GapPiece& piece) { return piece.cause == IdleCause::kDataLoading; });
  std::vector<Nanos> waits(count, 0);
  for (std::size_t i = 0; i < count; ++i) {
    for (const std::uint32_t d : run->active_devices) {
      waits[i] += loading[d].OverlapWith(steps[i].start, steps[i].end);
      if (ranks) waits[i] += times[d].comm_exposed.OverlapWith(steps[i].start, steps[i].end);
    }
    waits[i] /= static_cast<Nanos>(run->active_devices.size());
  }
  return waits;
}

}  // namespace

bool StartsCold(const Run& run) {
  const Steps& steps = run.steps;
  if (steps.first_steady == 0) return false;
  const Nanos until = steps.all[steps.first_steady - 1].end;
  return std::any_of(run.launching_threads.begin(), run.launching_threads.end(),
                     [&](std::uint32_t thread) {
                       const RowRange calls = run.calls_of_thread[thread];
                       for (const std::uint32_t c : calls) {
                         if (run.trace.calls.start[c] >= until) break;
                         const CallClass call_class = run.ClassOfCall(c);
                         if (IsCodeLoading(call_class) || IsAllocation(call_class)) return true;
                       }
                       return false;
                     });
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
  // As many steps again say how long they usually wait.
  const std::size_t count = std::min(2 * leading + 1, run->steps.all.size());
  if (leading < 2) return false;
  const bool cold = StartsCold(*run);  // another rank may load its code, too
  std::vector<Nanos> waits = WaitsOfSteps(count, !cold, blocks, hand_overs, run);
  const Nanos usual =
      Median(std::vector<Nanos>(waits.begin() + static_cast<std::ptrdiff_t>(leading), waits.end()));
  waits.resize(leading);
  for (Nanos& wait : waits) wait = std::max<Nanos>(0, wait - usual);
  if (cold) ForgetTheFirstRound(*run, &waits);
  waits.front() = 0;
  SplitWarmup(*run, waits, &run->steps);
  return run->steps.first_steady != leading;
}

}  // namespace advise
