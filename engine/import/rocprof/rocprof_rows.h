// Rows of a trace from the records of AMD's profilers, whatever kind of file they stand in.
#pragma once

#include <simdjson.h>

#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "engine/import/keys.h"
#include "engine/trace/tables.h"

namespace advise::rocprof {

// For files without GPU work. The profiler writes when the program ends, and nothing if it is
// killed.
inline constexpr const char* kRecordHint =
    "record it with: rocprofv3 --runtime-trace -o run -- COMMAND, and let the program end";

// What rocprofv3 says of a CPU or a GPU, as JSON.
struct Agent {
  bool is_gpu = false;
  Device device;  // `report_id` is its number on its machine
};
Agent AgentOf(const simdjson::dom::element& record);

// Kernels and copies have times, and a place.
struct Work {
  Nanos start = 0;
  Nanos end = 0;
  std::uint64_t agent = 0;
  std::uint64_t stream = 0;  // of HIP
  std::uint64_t queue = 0;
  std::uint64_t correlation = 0;  // of the call that launched it
};

struct Dispatch {
  std::uint64_t kernel = 0;  // of AddKernelName
  std::array<std::uint32_t, 3> block = {};
  std::array<std::uint32_t, 3> threads = {};  // of all blocks together
};

struct CopyRecord {
  std::string_view way;  // "MEMORY_COPY_HOST_TO_DEVICE", "CopyHostToDevice"
  std::uint64_t from = 0;
  std::uint64_t to = 0;
  std::uint64_t bytes = 0;
};

// Rows of Trace::devices by machine and number: GPUs that several processes use are listed once.
using Gpus = std::map<std::pair<std::string, std::int64_t>, std::uint32_t>;

// The rows of one process. What has no times or no GPU is dropped and counted.
class ProcessRows {
 public:
  // Both must outlive this.
  ProcessRows(Trace* trace, Gpus* gpus);

  Process& process() { return trace_->processes[process_]; }
  void SetHost(std::string host) { host_ = std::move(host); }

  void AddAgent(std::uint64_t id, Agent agent) { agents_[id] = std::move(agent); }
  // `plain`: as the linker has it, for want of the name that people write.
  void AddKernelName(std::uint64_t id, std::string_view name, std::string_view plain);

  void Add(const Work& work, const Dispatch& dispatch);
  void Add(const Work& work, const CopyRecord& copy);
  // What the compiler calls around a launch ("__hipPushCallConfiguration") is no call of the
  // program, and dropped.
  void AddCall(std::uint64_t thread, StringId name, std::uint64_t correlation, Nanos start,
               Nanos end);
  void AddRange(std::uint64_t thread, StringId name, Nanos start, Nanos end);

  // When all rows are in: work lies in streams of HIP, or in queues where none were recorded.
  void JoinStreams();

 private:
  struct Lane {
    std::uint32_t op = 0;
    std::uint32_t device = 0;
    std::uint64_t stream = 0;
    std::uint64_t queue = 0;
  };

  std::uint32_t DeviceRow(std::uint64_t agent);
  std::uint32_t ThreadRow(std::uint64_t tid);
  bool AddOp(const Work& work, OpKind kind, std::size_t detail);

  Trace* trace_;
  Gpus* gpus_;
  std::uint32_t process_;
  std::string host_;
  std::map<std::uint64_t, Agent> agents_;
  std::map<std::uint64_t, StringId> kernels_;  // their names
  std::map<std::uint64_t, std::uint32_t> threads_;
  std::vector<Lane> lanes_;
  ShapeNumbers numbers_;
  std::vector<std::uint32_t> shapes_;  // rows of Trace::shapes by number
};

// When all processes are in: calls and ranges by thread, GPU work by time and with the calls that
// launched it.
void Assemble(Trace* trace);

}  // namespace advise::rocprof
