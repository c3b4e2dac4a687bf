// What the report says of the machine, the capture and the names of things: small tables.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "engine/import/nsys/nsys_sqlite_rows.h"

namespace advise::nsys {

// A GPU as TARGET_INFO_GPU lists it.
struct ListedGpu {
  Device device;                   // report_id is set, ordinal is not
  std::int64_t cuda_ordinal = -1;  // -1 when the report does not say
};

// What a process calls a GPU, from TARGET_INFO_CUDA_DEVICE.
struct CudaDevice {
  std::int64_t gpu_id = -1;  // ListedGpu::device.report_id, -1 unknown
  std::string uuid;
  int sm_count = 0;  // that the process may use; less than the chip has under MIG
};

// A stream as small tables name it: (pid, context, stream).
using NamedStream = std::tuple<std::int64_t, std::int64_t, std::int64_t>;

struct SystemInfo {
  std::vector<ListedGpu> gpus;
  std::map<std::pair<std::int64_t, std::int64_t>, CudaDevice> cuda_devices;  // (pid, ordinal)
  std::set<NamedStream> default_streams;
  std::map<NamedStream, std::string> stream_names;
  std::map<std::int64_t, NameRef> thread_names;       // by globalTid
  std::map<std::int64_t, std::string> process_names;  // by globalPid
  std::map<std::int64_t, int> ranks;                  // by globalPid
};

// Also fills what stands in the trace itself: producer, host, capture options, messages.
SystemInfo ReadSystem(Reader& reader, Trace& trace);

// "525.105.17" of "52510517" and "571.96" of "57196", as older and Windows reports print the
// driver's version; "" when there is no driver.
std::string DriverVersion(std::string_view text);

}  // namespace advise::nsys
