// Memsets and copies that nothing runs beside, and whether uploads and downloads run beside each
// other.
#pragma once

#include "engine/metrics/losses/loss.h"

namespace advise {

struct Moves {
  Loss memsets, device, peer;      // exposed time; copies inside a device, and between devices
  double migrated_back_bytes = 0;  // unified memory that went to the host, not prefetched
  double evicted_bytes = 0;        // of it: to make room on the GPU
  double prefetched_bytes = 0;     // unified memory that the program prefetched, either way
  double returned_bytes = 0;       // prefetched to the GPU, and back before a kernel ran there
  Loss one_way;  // exposed time of the lesser direction where uploads and downloads never overlap
  double duplex_share = 0;  // of the lesser direction's time, beside the other
};

Moves FindMoves(const Basis& basis);  // O(ops)

}  // namespace advise
