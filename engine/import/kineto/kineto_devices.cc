// Which GPU a number means. deviceProperties and the memory rows of the framework count the GPUs
// that the program sees; GPU work carries the numbers of the vendor's tracer. With CUDA both are
// the same. ROCm's tracer counts agents, the CPUs before the GPUs, and GPUs that the program cannot
// see: work of device 5 beside one listed GPU with the id 0 is that GPU's.
#include <algorithm>
#include <iterator>
#include <set>

#include "engine/import/kineto/kineto_tables.h"

namespace advise::kineto {
namespace {

bool IsSameModel(const Device& a, const Device& b) {
  return a.name == b.name && a.sm_count == b.sm_count && a.memory_bytes == b.memory_bytes;
}

// Of `from`, those that `known` lacks.
std::vector<std::int64_t> Without(const std::set<std::int64_t>& from,
                                  const std::set<std::int64_t>& known) {
  std::vector<std::int64_t> rest;
  std::set_difference(from.begin(), from.end(), known.begin(), known.end(),
                      std::back_inserter(rest));
  return rest;
}

}  // namespace

std::uint32_t Tables::DeviceRow(std::int64_t number) {
  const auto [found, is_new] =
      device_rows_.try_emplace(number, static_cast<std::uint32_t>(trace_.devices.size()));
  if (is_new) {
    Device device;
    device.report_id = device.ordinal = number;
    trace_.devices.push_back(device);
  }
  return found->second;
}

// Numbers that no list holds are matched with GPUs that do no work under their own: in order where
// there are as many, or with the GPU whose memory was recorded. Where this leaves a choice between
// GPUs of one model, its properties are right in any case.
void Tables::ListDevices() {
  std::vector<Device>& devices = trace_.devices;
  std::set<std::int64_t> listed, used;
  for (std::uint32_t row = 0; row < devices.size(); ++row) {
    if (device_rows_.try_emplace(devices[row].ordinal, row).second) {
      listed.insert(devices[row].ordinal);
    }
  }
  const std::set<std::int64_t> held(trace_.memory.device.begin(), trace_.memory.device.end());
  for (const std::uint32_t stream : trace_.ops.stream) used.insert(streams_.keys()[stream].device);
  if (devices.empty()) {
    listed = held;
    for (const std::int64_t number : held) DeviceRow(number);
  }
  const std::vector<std::int64_t> strange = Without(used, listed);
  // Memory may be recorded of a GPU that no list holds either.
  std::set<std::int64_t> known;
  std::set_intersection(held.begin(), held.end(), listed.begin(), listed.end(),
                        std::inserter(known, known.end()));
  std::vector<std::int64_t> free = Without(known, used);
  if (free.size() != strange.size()) free = Without(listed, used);
  const bool one_model = std::all_of(devices.begin(), devices.end(), [&](const Device& device) {
    return IsSameModel(device, devices.front());
  });
  const bool is_whole = strange.size() == free.size();  // each has its own
  for (std::size_t i = 0; i < strange.size() && !devices.empty(); ++i) {
    if (!one_model && (!is_whole || free.size() > 1)) break;
    if (i < free.size()) {
      Device& device = devices[device_rows_.at(free[i])];
      device_rows_[strange[i]] = device_rows_.at(free[i]);
      device.report_id = strange[i];
      if (!is_whole) device.ordinal = strange[i];
    } else {
      Device device = devices.front();
      device.report_id = device.ordinal = strange[i];
      device_rows_[strange[i]] = static_cast<std::uint32_t>(devices.size());
      devices.push_back(device);
    }
  }
  for (std::uint32_t& peer : trace_.copies.peer) {
    if (peer != kNone) peer = DeviceRow(peer);
  }
  for (std::uint32_t& device : trace_.memory.device) device = DeviceRow(device);
}

}  // namespace advise::kineto
