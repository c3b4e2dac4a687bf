#include "engine/metrics/losses/ranks/replication.h"

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <vector>

namespace advise {

Replication FindReplication(const Basis& basis) {
  const Run& run = basis.run;
  const Trace& trace = run.trace;
  Replication result;
  LossBuilder loss(basis);
  std::map<std::uint32_t, std::set<std::uint32_t>> devices;
  for (std::uint32_t op = 0; op < trace.ops.size(); ++op) {
    const std::uint32_t stream = trace.ops.stream[op];
    if (stream == kNone || trace.ops.kind[op] != OpKind::kKernel) continue;
    devices[trace.streams[stream].process].insert(trace.ops.device[op]);
  }
  devices.erase(kNone);
  std::size_t replicas = 0;  // GPUs of processes that have several
  for (const auto& [process, used] : devices) {
    result.devices = std::max(result.devices, used.size());
    if (used.size() > 1) replicas += used.size();
  }
  std::vector<Nanos> broadcasts;
  std::vector<Nanos> reduces;
  for (std::uint32_t op = 0; op < trace.ops.size(); ++op) {
    const std::uint32_t stream = trace.ops.stream[op];
    if (stream == kNone || !basis.InWindow(trace.ops.start[op])) continue;
    const auto used = devices.find(trace.streams[stream].process);
    if (used == devices.end() || used->second.size() < 2) continue;
    const bool peer = trace.ops.kind[op] == OpKind::kCopy &&
                      trace.DirectionOfCopy(op) == CopyDirection::kPeerToPeer;
    std::string kind;
    if (run.IsComm(op)) kind = run.names.Kernel(trace.ops.detail[op]).collective;
    if (kind == "broadcast") broadcasts.push_back(trace.ops.start[op]);
    if (kind == "reduce") reduces.push_back(trace.ops.start[op]);
    if (!peer && kind != "broadcast" && kind != "reduce") continue;
    loss.CountOp(op);
    loss.RemoveExposed(op);
  }
  const auto each = static_cast<double>(std::max<std::size_t>(1, replicas));
  result.broadcasts = broadcasts.empty() ? 0 : PerStep(run, broadcasts) / each;
  result.reduces = reduces.empty() ? 0 : PerStep(run, reduces) / each;
  result.loss = loss.Build();
  return result;
}

}  // namespace advise
