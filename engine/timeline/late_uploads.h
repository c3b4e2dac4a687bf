// Uploads that could have run beside kernels, had the host not been blocked before it sent them.
#pragma once

#include <cstdint>
#include <vector>

#include "engine/timeline/run.h"

namespace advise {

struct LateUpload {
  std::uint32_t op = kNone;
  std::uint32_t blocked_by = kNone;  // the call
  bool stream_computes = false;      // kernels run on its stream, too
};

// Uploads on streams that are free (they have no kernels, or were done with them when the block
// began) whose launching thread had not recovered from a blocking call
// (`blocks`, of UnrecoveredBlocks), and that began as soon as they were launched or the uploads
// before them were done. Where each of these blocks the host, the first block counts. In order of
// time. O(ops).
std::vector<LateUpload> FindLateUploads(const Run& run, const std::vector<std::uint32_t>& blocks);

}  // namespace advise
