// Memory taken and given back, and unified-memory faults.
//
//   CUDA_GPU_MEMORY_USAGE_EVENTS  start, globalPid, deviceId, address, bytes, memKind → memory
//     memoryOperationType 0 = allocation, 1 = deallocation (bytes become negative; a row that does
//     not say how many gives back what was taken at its address)
//   CUDA_UM_CPU_PAGE_FAULT_EVENTS  start → faults without device or length
//   CUDA_UM_GPU_PAGE_FAULT_EVENTS  start, end, globalPid, deviceId, numberOfPageFaults → faults
//
// Known gap: pool allocators (PyTorch, cudaMallocAsync) show their segments, not what is used.
#include <cstdlib>
#include <map>
#include <utility>

#include "engine/import/nsys/nsys_sqlite_rows.h"
#include "engine/import/row_order.h"

namespace advise::nsys {
namespace {

// Gives deallocations without a size what was last taken at their address. Rows are in time order.
void FillFreedBytes(const std::vector<std::uint8_t>& freed, const StreamKeys& devices,
                    MemoryTable& memory) {
  std::map<std::pair<std::int64_t, std::uint64_t>, std::int64_t> taken;  // (process, address)
  for (std::size_t i = 0; i < memory.size(); ++i) {
    std::int64_t& held = taken[{devices.keys()[memory.device[i]].process, memory.address[i]}];
    if (freed[i] == 0) {
      held = memory.bytes[i];
    } else {
      if (memory.bytes[i] == 0) memory.bytes[i] = -held;
      held = 0;
    }
  }
}

}  // namespace

MemoryRows ReadMemory(Reader& reader) {
  MemoryRows rows;
  MemoryTable& memory = rows.memory;
  std::vector<std::uint8_t> freed;
  Scan usage(
      reader, "CUDA_GPU_MEMORY_USAGE_EVENTS",
      {"start", "globalPid", "deviceId", "address", "bytes", "memKind", "memoryOperationType"});
  usage.ForEach([&] {
    Nanos time = 0;
    if (!usage.Instant(0, time)) return;
    const std::int64_t bytes = std::abs(std::max(usage.Int(4), -kOpenEnd));
    freed.push_back(usage.Int(6) == 1);
    memory.time.push_back(time);
    memory.bytes.push_back(freed.back() != 0 ? -bytes : bytes);
    memory.address.push_back(static_cast<std::uint64_t>(usage.Int(3)));
    memory.memory.push_back(MemoryKindOf(usage, 5));
    memory.device.push_back(
        rows.devices.Number({.process = ProcessKey(usage.Int(1)), .device = usage.Int(2)}));
  });
  FaultTable& faults = rows.faults;
  Scan cpu(reader, "CUDA_UM_CPU_PAGE_FAULT_EVENTS", {"start"});
  cpu.ForEach([&] {
    Nanos time = 0;
    if (!cpu.Instant(0, time)) return;
    faults.start.push_back(time);
    faults.end.push_back(time);
    faults.device.push_back(kNone);
    faults.count.push_back(1);
  });
  Scan gpu(reader, "CUDA_UM_GPU_PAGE_FAULT_EVENTS",
           {"start", "end", "globalPid", "deviceId", "numberOfPageFaults"});
  gpu.ForEach([&] {
    Nanos start = 0;
    Nanos end = 0;
    if (!gpu.Span(0, start, end)) return;
    faults.start.push_back(start);
    faults.end.push_back(end);
    faults.device.push_back(
        rows.devices.Number({.process = ProcessKey(gpu.Int(2)), .device = gpu.Int(3)}));
    faults.count.push_back(gpu.Unsigned(4));
  });
  rows.devices.SortKeys({&memory.device, &faults.device});
  const auto order = OrderBy(memory.time);
  ReorderRows(order, &memory);
  Reorder(order, freed);
  FillFreedBytes(freed, rows.devices, memory);
  ReorderRows(OrderBy(faults.start), &faults);
  return rows;
}

}  // namespace advise::nsys
