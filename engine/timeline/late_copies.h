// Copies that could have run beside kernels, had the host not been blocked before it sent them.
#pragma once

#include <cstdint>
#include <vector>

#include "engine/timeline/run.h"

namespace advise {

struct LateCopy {
  std::uint32_t op = kNone;
  std::uint32_t blocked_by = kNone;  // the call
  bool stream_computes = false;      // kernels run on its stream, too
};

// Uploads and downloads on streams that are free (they have no kernels, or were done with them when
// the block began) whose launching thread had not recovered from a blocking call (`blocks`, of
// UnrecoveredBlocks), and that began as soon as they were launched or the copies before them were
// done. A download is none if a stream was made to wait for an event since the block began. Where
// each of these blocks the host, or it waits for the download, the first block counts. In order of
// time. O(ops).
std::vector<LateCopy> FindLateCopies(const Run& run, const std::vector<std::uint32_t>& blocks);

}  // namespace advise
