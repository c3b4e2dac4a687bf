// Which threads work for the same GPU. Threads of several GPUs go in step, and what one of them
// does ends close behind what another does, though neither waits for the other.
#pragma once

#include <cstdint>
#include <vector>

#include "engine/timeline/run.h"

namespace advise {

class ThreadDevices {
 public:
  explicit ThreadDevices(const Run& run);  // O(calls)

  // Whether both launch on one and the same device.
  bool Share(std::uint32_t thread, std::uint32_t other) const;

 private:
  std::vector<std::vector<std::uint32_t>> of_thread_;  // each once
};

}  // namespace advise
