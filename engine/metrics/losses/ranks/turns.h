// GPUs of one process that take turns: one works while the others wait for it, or for the host to
// come round to them.
#pragma once

#include "engine/metrics/losses/loss.h"

namespace advise {

struct Turns {
  std::size_t devices = 0;  // of the process that works on most of them; 0: no process on several
  double together = 0;      // busy time beyond one GPU at a time, over the time any of them is busy
  double least = 0;         // what the least busy one works of that time
  Loss waiting;             // a GPU idles while another one of the process works
};

Turns FindTurns(const Basis& basis);  // O(ops + gaps of these devices)

}  // namespace advise
