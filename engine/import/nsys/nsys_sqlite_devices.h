// From "device 0 of process 4711" to a physical GPU.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <utility>
#include <vector>

#include "engine/import/nsys/nsys_sqlite_system.h"

namespace advise::nsys {

// A CUDA ordinal of a process: (globalPid, ordinal).
using ProcessDevice = std::pair<std::int64_t, std::int64_t>;

struct DeviceMap {
  std::vector<Device> devices;  // those that worked first, then by ordinal, then by report id
  std::map<ProcessDevice, std::uint32_t> of;
};

// Whether kernels of these run at the same time, which they cannot on one GPU: its processes take
// turns.
using RunTogether = std::function<bool(const std::vector<ProcessDevice>&)>;

// `uses`: each ordinal that rows mention, and whether it did GPU work. GPUs that are only listed
// come after those that are mentioned.
DeviceMap ResolveDevices(const SystemInfo& info, const std::map<ProcessDevice, bool>& uses,
                         const RunTogether& run_together, Diagnostics& diagnostics);

}  // namespace advise::nsys
