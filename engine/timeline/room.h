// Which kernels leave room on the GPU for another beside them.
#pragma once

#include "engine/timeline/run.h"

namespace advise {

class Room {
 public:
  explicit Room(const Run& run)
      : trace_(run.trace), share_(run.knowledge.Number("kernel.room_share")) {}

  // Whether a kernel has at most `kernel.room_share` as many blocks as its device has SMs. No
  // kernel does on a device whose SMs are not known. O(1).
  bool IsLeftBy(std::uint32_t op) const {
    const int sms = trace_.devices[trace_.ops.device[op]].sm_count;
    const auto blocks = static_cast<double>(trace_.shapes[trace_.ops.detail[op]].Blocks());
    return sms > 0 && blocks <= share_ * sms;
  }

 private:
  const Trace& trace_;
  double share_;
};

}  // namespace advise
