#include "engine/metrics/losses/ranks/turns.h"

#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <string_view>
#include <tuple>
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

// What kernels of one shape take on a device, in all.
struct ShapeTime {
  Nanos time = 0;
  std::size_t count = 0;
};

// By name and grid, however often a report has the name.
using GridOfKernel =
    std::tuple<std::string_view, std::array<std::uint32_t, 3>, std::array<std::uint32_t, 3>>;

std::map<GridOfKernel, ShapeTime> ShapeTimes(const Basis& basis, std::uint32_t device) {
  const Trace& trace = basis.run.trace;
  const OpTable& ops = trace.ops;
  std::map<std::uint32_t, ShapeTime> by_row;
  for (const std::uint32_t op : basis.run.ops_of_device[device]) {
    if (ops.kind[op] != OpKind::kKernel || basis.run.IsComm(op) || !basis.InLoop(ops.start[op]))
      continue;
    ShapeTime& of_row = by_row[ops.detail[op]];
    of_row.time += ops.end[op] - ops.start[op];
    ++of_row.count;
  }
  std::map<GridOfKernel, ShapeTime> times;
  for (const auto& [row, of_row] : by_row) {
    const KernelShape& shape = trace.shapes[row];
    ShapeTime& all = times[{trace.strings[shape.name], shape.grid, shape.block}];
    all.time += of_row.time;
    all.count += of_row.count;
  }
  return times;
}

// Compares the kernels of the busiest of the GPUs with those of the others.
void CompareKernels(const Basis& basis, const std::vector<std::uint32_t>& gpus,
                    std::uint32_t busiest, Turns* turns) {
  std::map<GridOfKernel, ShapeTime> others;
  std::set<std::string_view> names;
  for (const std::uint32_t d : gpus) {
    if (d == busiest) continue;
    for (const auto& [shape, of_shape] : ShapeTimes(basis, d)) {
      names.insert(std::get<0>(shape));
      others[shape].time += of_shape.time;
      others[shape].count += of_shape.count;
    }
  }
  double all = 0;
  double named = 0;
  double common = 0;
  double elsewhere = 0;
  for (const auto& [shape, own] : ShapeTimes(basis, busiest)) {
    all += static_cast<double>(own.time);
    if (names.contains(std::get<0>(shape))) named += static_cast<double>(own.time);
    const auto other = others.find(shape);
    if (other == others.end()) continue;
    common += static_cast<double>(own.time);
    elsewhere += static_cast<double>(other->second.time) * static_cast<double>(own.count) /
                 static_cast<double>(other->second.count);
  }
  turns->busiest = basis.run.trace.devices[busiest].ordinal;
  if (all > 0) {
    turns->named = named / all;
    turns->alike = common / all;
  }
  if (elsewhere > 0) turns->slower = common / elsewhere;
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
  std::uint32_t busiest = kNone;
  for (const std::uint32_t d : gpus) {
    const IntervalSet busy = basis.times[d].idle.GapsWithin(window.start, window.end);
    sum += busy.Total();
    least = std::min(least, busy.Total());
    if (busy.Total() > most) most = busy.Total(), busiest = d;
    any = any.Union(busy);
  }
  if (any.Total() > 0) {
    CompareKernels(basis, gpus, busiest, &turns);
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
