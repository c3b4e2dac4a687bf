// GPUs of one process that take turns: one works while the others wait for it, or for the host to
// come round to them.
#pragma once

#include <cstdint>

#include "engine/metrics/losses/loss.h"

namespace advise {

struct Turns {
  std::size_t devices = 0;  // of the process that works on most of them; 0: no process on several
  double together = 0;      // of the work of all but the busiest one, the part beside other work
  double least = 0;         // what the least busy one works of the time in which any of them does
  double share = 0;         // of the window each waits for the others, on average
  double shorter = 0;       // by so much of it, if all work at a time: until the busiest is done
  double part = 0;          // that time over the longest wait of one of them
  Loss waiting;             // a GPU idles while another one of the process works
  // Of the GPU that works most: its number, and how its kernels compare with those of the others.
  std::int64_t busiest = -1;
  double named = 0;   // part of its kernel time in kernels that others run, in any grids
  double alike = 0;   // the same, in equal grids
  double slower = 0;  // time of these, over that of as many on the others; 0: there are none
};

Turns FindTurns(const Basis& basis);  // O(ops + gaps of these devices)

}  // namespace advise
