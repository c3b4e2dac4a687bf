#include "engine/metrics/losses/copies/moves.h"

#include <algorithm>
#include <utility>
#include <vector>

namespace advise {
namespace {

// Copies between host and device in one direction.
struct Way {
  std::vector<std::vector<Interval>> when;  // by device
  std::vector<std::uint32_t> ops;
};

// Of uploads and downloads the one that takes less time.
void FindDuplex(const Basis& basis, Way up, Way down, Moves* moves) {
  const Trace& trace = basis.run.trace;
  Nanos up_time = 0;
  Nanos down_time = 0;
  Nanos both = 0;
  for (std::size_t d = 0; d < up.when.size(); ++d) {
    const IntervalSet a = IntervalSet::Of(std::move(up.when[d]));
    const IntervalSet b = IntervalSet::Of(std::move(down.when[d]));
    up_time += a.Total();
    down_time += b.Total();
    both += a.Intersect(b).Total();
  }
  const bool less_up = up_time < down_time;
  const Nanos less = less_up ? up_time : down_time;
  moves->duplex_share = less > 0 ? static_cast<double>(both) / static_cast<double>(less) : 0;
  LossBuilder lesser(basis);
  for (const std::uint32_t op : less_up ? up.ops : down.ops) {
    lesser.Count(trace.ops.start[op], static_cast<double>(trace.BytesOfCopy(op)),
                 trace.ops.end[op] - trace.ops.start[op]);
    lesser.AddExposed(op);
    lesser.remedy().detached_ops.push_back(op);
  }
  moves->one_way = lesser.Build();
}

// `unused`: what was prefetched to the GPU and no kernel could use yet.
void CountMigration(const CopyTable& copies, std::uint32_t copy, double* unused, Moves* moves) {
  const auto bytes = static_cast<double>(copies.bytes[copy]);
  const bool to_host = copies.direction[copy] == CopyDirection::kMigrationToHost;
  if (copies.cause[copy] == MigrationCause::kUser) {
    moves->prefetched_bytes += bytes;
    *unused += to_host ? 0 : bytes;
    return;
  }
  if (to_host && copies.cause[copy] != MigrationCause::kEviction) {
    const double returned = std::min(bytes, *unused);
    moves->returned_bytes += returned;
    *unused -= returned;
  }
  if (to_host) {
    moves->migrated_back_bytes += bytes;
    if (copies.cause[copy] == MigrationCause::kEviction) moves->evicted_bytes += bytes;
  }
}

}  // namespace

Moves FindMoves(const Basis& basis) {
  const Trace& trace = basis.run.trace;
  Moves moves;
  LossBuilder memsets(basis);
  LossBuilder device(basis);
  LossBuilder peer(basis);
  Way up, down;
  std::vector<double> unused(trace.devices.size());  // by device
  std::vector<Nanos> runs_until(trace.devices.size());
  up.when.resize(trace.devices.size());
  down.when.resize(trace.devices.size());
  for (std::uint32_t op = 0; op < trace.ops.size(); ++op) {
    const Nanos start = trace.ops.start[op];
    if (!basis.InWindow(start)) continue;
    const std::uint32_t detail = trace.ops.detail[op];
    const Nanos length = trace.ops.end[op] - start;
    if (trace.ops.kind[op] == OpKind::kMemset) {
      memsets.Count(start, static_cast<double>(trace.memsets.bytes[detail]), length);
      memsets.RemoveExposed(op);
      continue;
    }
    if (trace.ops.kind[op] != OpKind::kCopy) {
      unused[trace.ops.device[op]] = 0;
      runs_until[trace.ops.device[op]] =
          std::max(runs_until[trace.ops.device[op]], trace.ops.end[op]);
      continue;
    }
    const auto bytes = static_cast<double>(trace.copies.bytes[detail]);
    switch (trace.copies.direction[detail]) {
      case CopyDirection::kDeviceToDevice:
        device.Count(start, bytes, length);
        device.RemoveExposed(op);
        break;
      case CopyDirection::kPeerToPeer:
        peer.Count(start, bytes, length);
        peer.AddExposed(op);
        peer.remedy().detached_ops.push_back(op);
        break;
      case CopyDirection::kMigrationToHost:
      case CopyDirection::kMigrationToDevice:
        CountMigration(trace.copies, detail, &unused[trace.ops.device[op]], &moves);
        // A kernel that runs already may use it.
        if (start < runs_until[trace.ops.device[op]]) unused[trace.ops.device[op]] = 0;
        break;
      case CopyDirection::kHostToDevice:
        up.when[trace.ops.device[op]].push_back({start, trace.ops.end[op]});
        up.ops.push_back(op);
        break;
      case CopyDirection::kDeviceToHost:
        down.when[trace.ops.device[op]].push_back({start, trace.ops.end[op]});
        down.ops.push_back(op);
        break;
      default:
        break;
    }
  }
  FindDuplex(basis, std::move(up), std::move(down), &moves);
  moves.memsets = memsets.Build();
  moves.device = device.Build();
  moves.peer = peer.Build();
  return moves;
}

}  // namespace advise
