#include "engine/timeline/step_sequence.h"

#include <algorithm>
#include <map>

#include "engine/timeline/tokens.h"

namespace advise {

std::vector<std::uint32_t> BusiestSequence(const Run& run) {
  const OpTable& ops = run.trace.ops;
  std::uint32_t busiest = kNone;
  for (const std::uint32_t d : run.active_devices) {
    if (busiest == kNone || run.ops_of_device[d].size() > run.ops_of_device[busiest].size())
      busiest = d;
  }
  if (busiest == kNone) return {};
  const std::vector<std::uint32_t>& of_device = run.ops_of_device[busiest];
  const auto computing = [&](std::uint32_t op) { return IsCompute(ops, op); };
  // By what it computes: a stream of copies can have more ops.
  const bool any = std::any_of(of_device.begin(), of_device.end(), computing);
  std::map<std::uint32_t, std::size_t> per_stream;
  for (const std::uint32_t op : of_device) {
    if (!run.IsSearched(ops.start[op])) continue;
    if (!run.IsComm(op) && (computing(op) || !any)) per_stream[ops.stream[op]]++;
  }
  std::uint32_t stream = kNone;
  std::size_t most = 0;
  for (const auto& [s, count] : per_stream) {
    if (s != kNone && count > most) stream = s, most = count;
  }
  std::vector<std::uint32_t> sequence;
  std::uint32_t launch = kNone;  // of the graph that runs
  for (const std::uint32_t op : of_device) {
    if (ops.stream[op] != stream || run.IsComm(op)) continue;
    if (!run.IsSearched(ops.start[op])) continue;
    if (ops.in_graph[op] != 0 && ops.call[op] != kNone) {
      if (ops.call[op] == launch) continue;
      launch = ops.call[op];
    }
    sequence.push_back(op);
  }
  return sequence;
}

std::set<std::uint32_t> IrregularKernels(const Run& run,
                                         const std::vector<std::uint32_t>& sequence) {
  std::map<StringId, std::vector<std::size_t>> places;
  for (std::size_t i = 0; i < sequence.size(); ++i) {
    const std::uint32_t op = sequence[i];
    if (run.trace.ops.kind[op] == OpKind::kKernel)
      places[run.trace.shapes[run.trace.ops.detail[op]].short_name].push_back(i);
  }
  std::map<std::size_t, std::vector<StringId>> by_count;
  for (const auto& [name, at] : places) by_count[at.size()].push_back(name);
  const auto most = std::max_element(
      by_count.begin(), by_count.end(),
      [](const auto& a, const auto& b) { return a.second.size() < b.second.size(); });
  if (most == by_count.end() || most->second.size() < 2) return {};
  const std::vector<std::size_t>& begins = places[most->second.front()];
  std::set<std::uint32_t> irregular;
  for (const auto& [name, at] : places) {
    std::map<std::size_t, std::size_t> iterations;  // by how often it runs in them
    std::size_t others = begins.size() - 1;
    for (auto from = std::lower_bound(at.begin(), at.end(), begins.front()); from != at.end();) {
      const auto next = std::upper_bound(begins.begin(), begins.end(), *from);
      if (next == begins.end()) break;
      const auto to = std::lower_bound(from, at.end(), *next);
      ++iterations[static_cast<std::size_t>(to - from)];
      --others;
      from = to;
    }
    iterations[0] = others;
    std::size_t alike = 0;
    for (const auto& [count, times] : iterations) alike = std::max(alike, times);
    if (static_cast<double>(alike) <
        run.knowledge.Number("step.period_even") * static_cast<double>(begins.size() - 1))
      for (const std::size_t place : at) irregular.insert(sequence[place]);
  }
  return irregular;
}

}  // namespace advise
