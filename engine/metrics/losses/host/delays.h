// What launching threads do while the GPU still has work, and for which it idles later: the thread
// comes late to all that it does next.
#pragma once

#include <functional>

#include "engine/metrics/losses/loss.h"

namespace advise {

// What the thread did, and a stretch in which the device computes nothing because of it.
struct Delay {
  std::uint32_t thread = kNone;
  HostPiece piece;
  std::uint16_t device = 0;
  Interval idle;
  bool upload = false;  // an upload runs then
};

// Visits what `is_cause(thread, piece)` accepts, where the thread then does something else for
// which a device idles. A piece delays as long as it lasted beside the work of the GPU, and until
// the thread has waited as long: a wait would only have been longer without it. Idle time in the
// piece itself is not visited, and nothing where steps are unknown. O(host events log nesting +
// idle pieces) for each launching thread.
void ForEachDelay(const Basis& basis,
                  const std::function<bool(std::uint32_t, const HostPiece&)>& is_cause,
                  const std::function<void(const Delay&)>& visit);

// Whether a launching thread makes calls of the operating system of this kind, so that it is worth
// asking for the delays by them. O(calls of the operating system).
bool LaunchingThreadsCall(const Run& run, OsClass os_class);

}  // namespace advise
