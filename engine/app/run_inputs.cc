#include "engine/app/run_inputs.h"

#include <utility>

namespace advise {
namespace {

template <typename T>
void MoveAll(std::vector<T>& from, std::vector<T>* to) {
  for (T& one : from) to->push_back(std::move(one));
  from.clear();
}

}  // namespace

void JoinSide(Trace& side, Trace* trace) {
  MoveAll(side.counters, &trace->counters);
  MoveAll(side.monitor.gpus, &trace->monitor.gpus);
  trace->monitor.has_clock = trace->monitor.has_clock || side.monitor.has_clock;
  MoveAll(side.topology.matrices, &trace->topology.matrices);
  MoveAll(side.topology.ports, &trace->topology.ports);
  if (trace->nccl.empty()) trace->nccl = std::move(side.nccl);
  for (const Diagnostic& diagnostic : side.diagnostics.list()) {
    trace->diagnostics.Add(diagnostic.level, diagnostic.text, diagnostic.table, diagnostic.count);
  }
}

Result<RunInputs> ReadRun(const std::vector<std::string>& paths, const ImportOptions& options) {
  RunInputs run;
  std::vector<Trace> sides;
  for (const std::string& path : paths) {
    Result<Trace> trace = ImportReport(path, options);
    if (!trace) return tl::unexpected(trace.error());
    run.inputs.push_back({trace->path, trace->kind, trace->producer, trace->host, trace->rank});
    (trace->HasTimeline() ? run.traces : sides).push_back(std::move(*trace));
  }
  if (run.traces.empty() && !sides.empty()) {
    run.traces.push_back(std::move(sides.front()));
    sides.erase(sides.begin());
  }
  for (Trace& side : sides) JoinSide(side, &run.traces.front());
  return run;
}

}  // namespace advise
