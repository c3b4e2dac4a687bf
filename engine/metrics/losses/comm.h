// Communication kernels: how much of them compute hides, why not more, and which device comes late.
#pragma once

#include <string>
#include <vector>

#include "engine/metrics/losses/loss.h"
#include "engine/timeline/phase.h"

namespace advise {

struct CollectiveRow {
  std::string kind;
  std::int64_t count = 0;
  double time_ns = 0;
  double exposed_ns = 0;
};

struct Comm {
  std::int64_t count = 0;
  double per_step = 0;  // on a device
  double time_ns = 0;   // average over devices
  double overlap = 0;
  double median_ns = 0;
  std::vector<CollectiveRow> kinds;
  Loss serial;
  double serial_share = 0;
  Loss no_overlap;
  bool same_stream = false;
  Loss small;
  double small_share = 0;
  // The device that comes last again and again; kNone when there is none or collectives could not
  // be matched.
  std::uint32_t late_device = kNone;
  double late_share = 0;
  double lateness_ns = 0;
  std::string late_cause;
  Loss late;
};

Comm FindComm(const Basis& basis, const Phases& phases);

}  // namespace advise
