// What a monitor says of boards that are not sound: memory errors, repairs that wait or failed, and
// links to the host that came up too slow.
#pragma once

#include <string>
#include <vector>

#include "engine/knowledge/knowledge.h"
#include "engine/trace/tables.h"

namespace advise {

// Errors that the driver reported (Xid), of one sort.
struct DriverErrors {
  std::vector<std::string> gpus;  // labels, or PCI addresses where the log of the kernel tells
  int code = 0;                   // the worst
  std::string kind, says;         // of that one, as in kb/xids.toml; "" where it is not known
  struct Other {
    std::string gpu;
    int code = 0;
    std::string says;
  };
  std::vector<Other> all;  // each code of each GPU once, as the log tells them
};

// Transfers that had to be repeated, of the GPU with most of them.
struct LinkErrors {
  bool known = false;  // several samples tell of them
  std::string label;
  double count = 0;        // while the log was written
  double per_minute = -1;  // -1 without a clock
};

// The GPU that most processes use at once, by a list of processes.
struct SharedGpu {
  bool known = false;  // a list was given
  std::string gpu;     // as the list names it; "" where each GPU has one process
  std::size_t processes = 0;
  std::string names;  // "python (30 GB), llama-server (40 GB)"
};

struct MonitorHealth {
  bool known = false;               // a log tells of errors or repairs
  std::vector<std::string> faulty;  // labels of GPUs with one of these
  double uncorrected = 0;           // errors since the driver was loaded, of the GPU with most
  bool pending = false;             // rows or pages wait for a reset
  bool failed = false;              // no row is left, or the SRAM has had too many errors
  // The GPU in use whose link runs at an older generation of PCIe than it could; "" for none.
  bool link_known = false;
  std::string slow_link;
  double generation = 0, possible = 0;
  bool xids_known = false;  // a log tells of errors that the driver reported
  DriverErrors of_board;    // also of links and of the driver
  DriverErrors of_program;
  LinkErrors pcie, nvlink;
  bool kills_known = false;         // the log of the kernel was given
  std::vector<std::string> killed;  // programs that it ended because the host's memory was full
  std::vector<LinkEvent> links;     // each once: switches, network ports and PCIe
  SharedGpu shared;
  std::vector<std::string> lost;  // labels of GPUs that the driver does not reach any more
  double lost_after = -1;         // seconds from the log's start to the first; -1 without a clock
  double rows_remapped = -1;      // in all its life, of the GPU with most; -1 unknown
};

// O(samples log samples).
MonitorHealth FindMonitorHealth(const Monitor& monitor, const Knowledge& knowledge);

}  // namespace advise
