#include "engine/timeline/tokens.h"

#include <algorithm>
#include <cmath>

namespace advise {
namespace {

// What an op is; of copies also the direction, and the size to a power of two.
std::uint64_t TokenOf(const Trace& trace, const GraphLaunches& launches, std::uint32_t op,
                      TellsSize size_of) {
  const std::uint32_t detail = trace.ops.detail[op];
  if (const auto launch = launches.find(trace.ops.call[op]); launch != launches.end())
    return 0x500000000ULL | launch->second.nodes;
  switch (trace.ops.kind[op]) {
    case OpKind::kKernel:
      return size_of.of_grids ? detail : 0x100000000ULL | trace.shapes[detail].name;
    case OpKind::kCopy: {
      const auto bytes =
          size_of.of_copies ? std::max<std::int64_t>(0, trace.copies.bytes[detail]) : 0;
      const auto size = std::lround(std::log2(1.0 + static_cast<double>(bytes)));
      return 0x200000000ULL | (static_cast<std::uint64_t>(trace.copies.direction[detail]) << 8U) |
             static_cast<std::uint64_t>(size);
    }
    case OpKind::kMemset:
      return 0x300000000ULL;
    case OpKind::kGraph:
      break;
  }
  return 0x400000000ULL | detail;
}

// A graph that is launched once was built for this launch, and the next one may be the same again:
// its time tells, to a power of two.
std::uint64_t TokenOfRebuilt(Nanos time) {
  const auto size = std::lround(std::log2(1.0 + static_cast<double>(time)));
  return 0x600000000ULL | static_cast<std::uint64_t>(size);
}

// What a kernel of the sequence takes on average; 0 where there is none.
Nanos MeanKernel(const Trace& trace, const std::vector<std::uint32_t>& ops) {
  Nanos time = 0;
  Nanos count = 0;
  for (const std::uint32_t op : ops) {
    if (trace.ops.kind[op] != OpKind::kKernel) continue;
    time += trace.ops.end[op] - trace.ops.start[op];
    ++count;
  }
  return count > 0 ? time / count : 0;
}

}  // namespace

Tokens TokensOf(const Trace& trace, const GraphLaunches& launches,
                const std::vector<std::uint32_t>& ops, TellsSize size_of) {
  const Nanos kernel = std::max<Nanos>(1, MeanKernel(trace, ops));
  std::unordered_map<std::uint32_t, std::uint32_t> graphs;  // launches, by graph
  for (const std::uint32_t op : ops) {
    if (trace.ops.kind[op] == OpKind::kGraph) ++graphs[trace.ops.detail[op]];
  }
  Tokens tokens;
  tokens.what.reserve(ops.size());
  tokens.computes.reserve(ops.size());
  tokens.weight.reserve(ops.size());
  tokens.time.reserve(ops.size());
  for (const std::uint32_t op : ops) {
    const auto launch = launches.find(trace.ops.call[op]);
    const bool by_node = launch != launches.end();
    const Nanos time = by_node ? launch->second.time : trace.ops.end[op] - trace.ops.start[op];
    const bool whole = trace.ops.kind[op] == OpKind::kGraph;
    tokens.what.push_back(whole && graphs[trace.ops.detail[op]] == 1
                              ? TokenOfRebuilt(time)
                              : TokenOf(trace, launches, op, size_of));
    tokens.computes.push_back(by_node || IsCompute(trace.ops, op) ? 1 : 0);
    // A graph that is traced as a whole is about as many kernels as it has room for.
    constexpr Nanos kMostNodes = 10'000;
    const Nanos weight = by_node ? launch->second.nodes : whole ? time / kernel : 1;
    tokens.weight.push_back(static_cast<std::uint32_t>(std::clamp<Nanos>(weight, 1, kMostNodes)));
    tokens.time.push_back(time);
  }
  return tokens;
}

GraphLaunches FindGraphLaunches(const Trace& trace) {
  GraphLaunches launches;
  for (std::uint32_t op = 0; op < trace.ops.size(); ++op) {
    if (trace.ops.in_graph[op] == 0 || trace.ops.call[op] == kNone) continue;
    GraphLaunch& launch = launches[trace.ops.call[op]];
    ++launch.nodes;
    launch.time += trace.ops.end[op] - trace.ops.start[op];
    launch.end = std::max(launch.end, trace.ops.end[op]);
  }
  return launches;
}

}  // namespace advise
