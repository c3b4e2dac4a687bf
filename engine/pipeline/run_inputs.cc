#include "engine/pipeline/run_inputs.h"

#include <algorithm>
#include <set>
#include <utility>

namespace advise {
namespace {

template <typename T>
void MoveAll(std::vector<T>& from, std::vector<T>* to) {
  for (T& one : from) to->push_back(std::move(one));
  from.clear();
}

// What several logs of one job say together: each rank writes its own.
void JoinNccl(NcclLog& from, NcclLog* to) {
  if (to->empty() && to->ranks == 0) {
    *to = std::move(from);
    return;
  }
  if (to->version.empty()) to->version = from.version;
  if (to->network.empty()) to->network = from.network;
  to->gdr = std::max(to->gdr, from.gdr);
  to->nodes = std::max(to->nodes, from.nodes);
  to->several_groups = to->several_groups || from.several_groups ||
                       (to->ranks > 0 && from.ranks > 0 && to->ranks != from.ranks);
  if (from.ranks > to->ranks) to->rank_host.clear();
  if (from.ranks >= to->ranks) to->rank_host.merge(from.rank_host);
  to->ranks = std::max(to->ranks, from.ranks);
  MoveAll(from.channels, &to->channels);
  MoveAll(from.warnings, &to->warnings);
  const auto add = [](auto& list, auto* all) {
    for (auto& one : list) {
      if (std::find(all->begin(), all->end(), one) == all->end()) all->push_back(std::move(one));
    }
  };
  add(from.environment, &to->environment);
  add(from.ib_devices, &to->ib_devices);
  add(from.facts, &to->facts);
  for (const NcclLog::Calls& calls : from.calls) {
    const auto known =
        std::find_if(to->calls.begin(), to->calls.end(),
                     [&](const NcclLog::Calls& c) { return c.operation == calls.operation; });
    if (known == to->calls.end()) {
      to->calls.push_back(calls);
    } else {
      known->count += calls.count;
      known->bytes += calls.bytes;
    }
  }
  std::set<std::string> hosts;
  for (const auto& [rank, host] : to->rank_host) hosts.insert(host);
  to->nodes = std::max(to->nodes, static_cast<int>(hosts.size()));
}

}  // namespace

void JoinSide(Trace& side, Trace* trace) {
  MoveAll(side.counters, &trace->counters);
  MoveAll(side.monitor.gpus, &trace->monitor.gpus);
  trace->monitor.has_clock = trace->monitor.has_clock || side.monitor.has_clock;
  MoveAll(side.topology.matrices, &trace->topology.matrices);
  MoveAll(side.topology.ports, &trace->topology.ports);
  JoinNccl(side.nccl, &trace->nccl);
  // Without a timeline the devices are those of the first input that names any.
  if (!trace->HasTimeline() && trace->devices.empty()) MoveAll(side.devices, &trace->devices);
  for (const Diagnostic& diagnostic : side.diagnostics.list()) {
    trace->diagnostics.Add(diagnostic.level, diagnostic.text, diagnostic.table, diagnostic.count);
  }
}

Result<RunInputs> ReadRun(const std::vector<std::string>& paths, const ImportOptions& options) {
  RunInputs run;
  std::vector<Trace> sides;
  std::vector<InputFile> beside;
  for (const std::string& path : paths) {
    Result<Trace> trace = ImportReport(path, options);
    if (!trace) return tl::unexpected(trace.error());
    (trace->HasTimeline() ? run.inputs : beside)
        .push_back({trace->path, trace->kind, trace->producer, trace->host, trace->rank});
    (trace->HasTimeline() ? run.traces : sides).push_back(std::move(*trace));
  }
  // The report gives the run its name, not the log that lies beside it.
  run.inputs.insert(run.inputs.end(), beside.begin(), beside.end());
  if (run.traces.empty() && !sides.empty()) {
    run.traces.push_back(std::move(sides.front()));
    sides.erase(sides.begin());
  }
  for (Trace& side : sides) JoinSide(side, &run.traces.front());
  return run;
}

}  // namespace advise
