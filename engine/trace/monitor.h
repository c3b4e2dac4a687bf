// What a monitor (nvidia-smi, DCGM) logged of GPUs: coarse samples without any code in them.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace advise {

// One quantity of one GPU over time. `time_s` counts from the log's first sample, in seconds; where
// the log has no clock it is the sample's number.
struct MonitorSeries {
  std::string quantity;  // canonical: "utilization", "memory_used", "power", "sm_clock", …
  std::string unit;      // "share", "bytes", "W", "hz", "C", "flag", "bytes_per_s"
  std::vector<double> time_s;
  std::vector<double> value;
};

struct MonitoredGpu {
  std::string label;  // "0", as the log numbers it
  std::string of;     // whose GPU it is, where several logs number theirs alike: a host or a log
  std::string name;
  std::string uuid;
  std::vector<MonitorSeries> series;
  double lost_s = -1;  // when the driver could not reach it any more; -1: it always could
  // As a reader tells it from others: "0", "0 of node1.csv".
  std::string Named() const { return of.empty() ? label : label + " of " + of; }
  const MonitorSeries* Find(const std::string& quantity) const {
    for (const MonitorSeries& one : series) {
      if (one.quantity == quantity) return &one;
    }
    return nullptr;
  }
};

// An error that the driver wrote into the log of the kernel.
struct DriverError {
  std::string gpu;  // its PCI address
  int code = 0;     // Xid
};

// A process that uses a GPU, as nvidia-smi lists it.
struct GpuProcess {
  std::string gpu;  // its label or UUID, as the list has it
  std::string pid;
  std::string name;   // without its folder
  double bytes = -1;  // of memory; -1 not said
};

// What the kernel's log says of links: NVSwitches, network ports, PCIe.
struct LinkEvent {
  enum class Kind : std::uint8_t { kSwitch, kPort, kPcie };
  Kind kind = Kind::kPort;
  std::string device;  // "NVSwitch 3", "mlx5_core 0000:17:00.0", "0000:3b:00.0"
  std::string what;    // in a clause: "SXid 20034, Fatal, Link 28 LTSSM Fault Up"
  bool broken = true;  // false: it was corrected, or may go on
};

struct Monitor {
  std::vector<MonitoredGpu> gpus;
  bool has_clock = false;  // time_s are real seconds
  // Programs that the kernel ended because the host's memory was full.
  std::vector<std::string> killed;
  std::vector<DriverError> errors;
  std::vector<LinkEvent> links;
  std::vector<GpuProcess> processes;  // each once
  bool kernel_log = false;            // one was read
  bool empty() const { return gpus.empty() && !kernel_log && processes.empty(); }
};

}  // namespace advise
