// How much of the GPU work has a known launching call.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "engine/trace/tables.h"

namespace advise {

// Operations of streams: what the driver migrates by itself, nothing launches.
struct Launched {
  std::size_t all = 0;
  std::size_t before = 0;   // queued before the recording: first of a device, without a call
  std::size_t unknown = 0;  // of the others, whose call was not captured

  double UnknownShare() const {
    return all == 0 ? 0 : static_cast<double>(unknown) / static_cast<double>(all);
  }
};

inline Launched CountLaunched(const OpTable& ops) {  // O(ops)
  Launched launched;
  struct Device {
    bool launched = false;
    std::size_t before = 0;
  };
  std::vector<Device> devices;
  for (std::size_t op = 0; op < ops.size(); ++op) {
    if (ops.stream[op] == kNone) continue;
    if (devices.size() <= ops.device[op]) devices.resize(ops.device[op] + std::size_t{1});
    Device& device = devices[ops.device[op]];
    ++launched.all;
    if (ops.call[op] != kNone) {
      if (!device.launched) launched.before += device.before;
      device.launched = true;
    } else if (device.launched) {
      ++launched.unknown;
    } else {
      ++device.before;
    }
  }
  // Where no call of a device was recorded, nothing says when its work was launched.
  for (const Device& device : devices) {
    if (!device.launched) launched.unknown += device.before;
  }
  return launched;
}

}  // namespace advise
