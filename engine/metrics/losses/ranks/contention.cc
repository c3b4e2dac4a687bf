#include "engine/metrics/losses/ranks/contention.h"

#include <algorithm>
#include <map>
#include <vector>

#include "engine/metrics/losses/kernels/time_alone.h"

namespace advise {
namespace {

struct Beside {
  std::uint32_t op;
  Nanos length;
  Nanos overlap;  // with collectives
};

struct Seen {
  std::vector<Nanos> alone;
  std::vector<Beside> beside;
};

// Whether the kernel would take longer than `alone` even if the collective slowed it as much as one
// can.
bool DoesMoreWork(const Beside& kernel, Nanos alone, double most_slowdown) {
  return static_cast<double>(kernel.length - kernel.overlap) +
             static_cast<double>(kernel.overlap) / most_slowdown >
         static_cast<double>(alone);
}

// A collective slows all kernels of a shape that it covers, if they do the same work. Where some
// take no longer than alone, or far longer than it can slow them, these or the others do more work,
// and nothing says how long that takes alone.
bool SlowsNone(const Seen& seen, const Knowledge& knowledge) {
  const double share = knowledge.Number("comm.covered_share");
  const double as_alone = knowledge.Number("comm.as_alone");
  const double stragglers = knowledge.Number("comm.stragglers");
  const double most_slowdown = knowledge.Number("comm.most_slowdown");
  const double some = knowledge.Number("comm.undisturbed_share");
  double covered = 0;
  double undisturbed = 0;
  double larger = 0;
  for (const Beside& one : seen.beside) {
    const auto length = static_cast<double>(one.length);
    const Nanos alone = TimeAlone(seen.alone, one.length, stragglers);
    larger += DoesMoreWork(one, alone, most_slowdown) ? 1 : 0;
    if (static_cast<double>(one.overlap) < share * length) continue;
    covered += 1;
    if (length <= as_alone * static_cast<double>(alone)) undisturbed += 1;
  }
  return undisturbed > some * covered || larger > some * static_cast<double>(seen.beside.size());
}

}  // namespace

Contention FindContention(const Basis& basis) {
  const Run& run = basis.run;
  const Trace& trace = run.trace;
  const auto length_of = [&](std::uint32_t op) { return trace.ops.end[op] - trace.ops.start[op]; };
  Contention result;
  LossBuilder loss(basis);
  const auto least = run.knowledge.CountOf("comm.compared_least");
  const double beside = run.knowledge.Number("comm.beside_share");
  const double stragglers = run.knowledge.Number("comm.stragglers");
  double beside_ns = 0;
  double alone_ns = 0;
  for (const std::uint32_t d : run.active_devices) {
    if (basis.times[d].comm.empty()) continue;
    std::map<std::uint32_t, Seen> shapes;
    for (const std::uint32_t op : run.ops_of_device[d]) {
      if (trace.ops.kind[op] != OpKind::kKernel || run.IsComm(op)) continue;
      if (!basis.InWindow(trace.ops.start[op])) continue;
      const Nanos overlap = basis.times[d].comm.OverlapWith(trace.ops.start[op], trace.ops.end[op]);
      Seen& seen = shapes[trace.ops.detail[op]];
      if (overlap == 0) {
        seen.alone.push_back(length_of(op));
      } else if (static_cast<double>(overlap) >= beside * static_cast<double>(length_of(op))) {
        seen.beside.push_back({op, length_of(op), overlap});
      }
    }
    for (auto& [shape, seen] : shapes) {
      if (seen.alone.size() < least || seen.beside.size() < least) continue;
      std::sort(seen.alone.begin(), seen.alone.end());
      std::vector<Nanos> lengths;
      for (const Beside& one : seen.beside) lengths.push_back(one.length);
      std::sort(lengths.begin(), lengths.end());
      const Nanos usual = lengths[lengths.size() - 1 - PartOf(stragglers, lengths.size())];
      result.compared += static_cast<double>(lengths.size());
      const bool slows = !SlowsNone(seen, run.knowledge);
      for (const auto& [op, length, overlap] : seen.beside) {
        const Nanos typical = std::min(usual, length);
        const Nanos longer = typical - TimeAlone(seen.alone, typical, stragglers);
        // A collective slows a kernel for as long as it runs beside it, and no longer.
        const Nanos excess = slows ? std::min(longer, overlap) : 0;
        beside_ns += static_cast<double>(std::min(typical, overlap));
        alone_ns += static_cast<double>(std::min(typical, overlap) - excess);
        if (excess <= 0) continue;
        loss.Count(trace.ops.start[op], 0, excess);
        loss.AddSpan(d, trace.ops.end[op] - excess, trace.ops.end[op]);
        loss.ScaleOp(op, static_cast<float>(length - excess) / static_cast<float>(length));
      }
    }
  }
  if (alone_ns > 0) result.slowdown = beside_ns / alone_ns;
  result.loss = loss.Build();
  return result;
}

}  // namespace advise
