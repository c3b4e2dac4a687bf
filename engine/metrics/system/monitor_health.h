// What a monitor says of boards that are not sound: memory errors, repairs that wait or failed, and
// links to the host that came up too slow.
#pragma once

#include <string>
#include <vector>

#include "engine/knowledge/knowledge.h"
#include "engine/trace/tables.h"

namespace advise {

struct MonitorHealth {
  bool known = false;               // a log tells of errors or repairs
  std::vector<std::string> faulty;  // labels of GPUs of which one of these is told
  double uncorrected = 0;           // errors since the driver was loaded, of the GPU with most
  bool pending = false;             // rows or pages wait for a reset
  bool failed = false;              // no row is left, or the SRAM has had too many errors
  // The GPU in use whose link runs at an older generation of PCIe than it could; "" for none.
  bool link_known = false;
  std::string slow_link;
  double generation = 0, possible = 0;
};

// O(samples log samples).
MonitorHealth FindMonitorHealth(const Monitor& monitor, const Knowledge& knowledge);

}  // namespace advise
