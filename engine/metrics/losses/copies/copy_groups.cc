// Copies by direction and memory kind, and what the link between host and device reaches.
#include <algorithm>
#include <map>

#include "engine/base/median.h"
#include "engine/metrics/losses/copies/copy.h"

namespace advise {

std::vector<CopyGroup> GroupCopies(const Basis& basis) {
  const Trace& trace = basis.run.trace;
  std::map<std::pair<std::string, std::string>, CopyGroup> groups;
  for (const std::uint32_t op : basis.OpsInWindow()) {
    if (trace.ops.kind[op] != OpKind::kCopy) continue;
    const std::uint32_t copy = trace.ops.detail[op];
    const CopyDirection direction = trace.copies.direction[copy];
    const bool up =
        direction == CopyDirection::kHostToDevice || direction == CopyDirection::kMigrationToDevice;
    const MemoryKind memory = up ? trace.copies.source[copy] : trace.copies.target[copy];
    CopyGroup& group = groups[{DirectionName(direction), MemoryName(memory)}];
    group.count += 1;
    group.bytes += static_cast<double>(trace.copies.bytes[copy]);
    group.time_ns += static_cast<double>(trace.ops.end[op] - trace.ops.start[op]);
    group.exposed_ns +=
        static_cast<double>(basis.times[trace.ops.device[op]].copy_exposed.OverlapWith(
            trace.ops.start[op], trace.ops.end[op]));
  }
  std::vector<CopyGroup> sorted;
  for (auto& [key, group] : groups) {
    group.direction = key.first;
    group.memory = key.second;
    sorted.push_back(group);
  }
  std::stable_sort(sorted.begin(), sorted.end(),
                   [](const CopyGroup& a, const CopyGroup& b) { return a.time_ns > b.time_ns; });
  return sorted;
}

const char* DirectionName(CopyDirection direction) {
  switch (direction) {
    case CopyDirection::kHostToDevice:
      return "host to device";
    case CopyDirection::kDeviceToHost:
      return "device to host";
    case CopyDirection::kDeviceToDevice:
      return "device to device";
    case CopyDirection::kPeerToPeer:
      return "peer to peer";
    case CopyDirection::kHostToHost:
      return "host to host";
    case CopyDirection::kMigrationToDevice:
      return "unified memory to device";
    case CopyDirection::kMigrationToHost:
      return "unified memory to host";
    case CopyDirection::kMigrationPeer:
      return "unified memory peer to peer";
    case CopyDirection::kUnknown:
      break;
  }
  return "unknown";
}

const char* MemoryName(MemoryKind memory) {
  switch (memory) {
    case MemoryKind::kPageable:
      return "pageable";
    case MemoryKind::kPinned:
      return "pinned";
    case MemoryKind::kDevice:
    case MemoryKind::kDeviceStatic:
      return "device";
    case MemoryKind::kArray:
      return "array";
    case MemoryKind::kManaged:
    case MemoryKind::kManagedStatic:
      return "managed";
    case MemoryKind::kUnknown:
      break;
  }
  return "unknown";
}

double ObservedLinkRate(const Basis& basis) {
  const Trace& trace = basis.run.trace;
  const double large = basis.run.knowledge.Number("copy.large_bytes");
  std::vector<double> rates;
  for (std::uint32_t op = 0; op < trace.ops.size(); ++op) {
    if (trace.ops.kind[op] != OpKind::kCopy) continue;
    const std::uint32_t copy = trace.ops.detail[op];
    const Nanos length = trace.ops.end[op] - trace.ops.start[op];
    const bool pinned = trace.copies.source[copy] == MemoryKind::kPinned ||
                        trace.copies.target[copy] == MemoryKind::kPinned;
    if (!pinned || !IsHostDevice(trace.copies.direction[copy]) || length <= 0) continue;
    if (static_cast<double>(trace.copies.bytes[copy]) < large) continue;
    rates.push_back(static_cast<double>(trace.copies.bytes[copy]) / static_cast<double>(length) *
                    kNanosPerSecond);
  }
  return Quantile(std::move(rates), basis.run.knowledge.Number("copy.link_quantile"));
}

}  // namespace advise
