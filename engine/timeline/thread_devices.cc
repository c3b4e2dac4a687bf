#include "engine/timeline/thread_devices.h"

#include <algorithm>

#include "engine/base/is_in.h"

namespace advise {

ThreadDevices::ThreadDevices(const Run& run) : of_thread_(run.trace.threads.size()) {
  for (const std::uint32_t thread : run.launching_threads) {
    std::vector<std::uint32_t>& devices = of_thread_[thread];
    for (const std::uint32_t c : run.calls_of_thread[thread]) {
      const std::uint32_t op = run.first_op_of_call[c];
      if (op != kNone && !IsIn(run.trace.ops.device[op], devices))
        devices.push_back(run.trace.ops.device[op]);
    }
  }
}

bool ThreadDevices::Share(std::uint32_t thread, std::uint32_t other) const {
  const std::vector<std::uint32_t>& others = of_thread_[other];
  return std::any_of(of_thread_[thread].begin(), of_thread_[thread].end(),
                     [&](std::uint32_t device) { return IsIn(device, others); });
}

}  // namespace advise
