#include "engine/metrics/losses/ranks/turns.h"

#include <algorithm>
#include <map>
#include <vector>

#include "engine/trace/part.h"

namespace advise {
namespace {

// The GPUs of the process that works on most; empty unless they are several.
std::vector<std::uint32_t> GpusOfOneProcess(const Run& run) {
  const std::vector<std::uint32_t> owners = OwnersOfGpus(run.trace);
  std::map<std::uint32_t, std::vector<std::uint32_t>> gpus_of;
  for (const std::uint32_t d : run.active_devices) {
    if (d < owners.size() && owners[d] != kNone) gpus_of[owners[d]].push_back(d);
  }
  std::vector<std::uint32_t> most;
  for (const auto& [process, gpus] : gpus_of) {
    if (gpus.size() > std::max<std::size_t>(1, most.size())) most = gpus;
  }
  return most;
}

}  // namespace

Turns FindTurns(const Basis& basis) {
  Turns turns;
  LossBuilder waiting(basis);
  const std::vector<std::uint32_t> gpus = GpusOfOneProcess(basis.run);
  turns.devices = gpus.size();
  const Window& window = basis.run.window;
  IntervalSet any;
  Nanos sum = 0;
  Nanos least = window.Length();
  Nanos most = 0;
  for (const std::uint32_t d : gpus) {
    const IntervalSet busy = basis.times[d].idle.GapsWithin(window.start, window.end);
    sum += busy.Total();
    least = std::min(least, busy.Total());
    most = std::max(most, busy.Total());
    any = any.Union(busy);
  }
  if (any.Total() > 0) {
    const auto all = static_cast<double>(any.Total());
    turns.least = static_cast<double>(least) / all;
    if (sum > most)
      turns.together = static_cast<double>(sum - any.Total()) / static_cast<double>(sum - most);
    Nanos waited = 0;
    Nanos longest = 0;
    for (const std::uint32_t d : gpus) {
      const IntervalSet waits = any.Intersect(basis.times[d].idle);
      waited += waits.Total();
      longest = std::max(longest, waits.Total());
      for (const Interval& wait : waits.intervals()) {
        if (!basis.InLoop(wait.start)) continue;
        waiting.Count(wait.start, 0, wait.Length());
        waiting.AddSpan(d, wait.start, wait.end);
      }
    }
    const auto won = static_cast<double>(any.Total() - most);
    const auto length = static_cast<double>(window.Length());
    turns.share = static_cast<double>(waited) / length / static_cast<double>(gpus.size());
    turns.shorter = won / length;
    if (longest > 0) turns.part = won / static_cast<double>(longest);
  }
  turns.waiting = waiting.Build();
  return turns;
}

}  // namespace advise
