// Rows of a trace from the records of AMD's profilers, whatever kind of file they stand in.
#pragma once

#include <simdjson.h>

#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>

#include "engine/import/process_rows.h"

namespace advise::rocprof {

// For files without GPU work. The profiler writes when the program ends, and nothing if it is
// killed.
inline constexpr const char* kRecordHint =
    "record it with: rocprofv3 --runtime-trace -o run -- COMMAND, and let the program end";

// What rocprofv3 says of a CPU or a GPU, as JSON.
struct Agent {
  bool is_gpu = false;
  Device device;
};
Agent AgentOf(const simdjson::dom::element& record);

// Missing times are written as 0.
inline Nanos KnownTime(Nanos time) { return time > 0 ? time : -1; }

struct Dispatch {
  std::uint64_t kernel = 0;  // of AddKernelName
  std::array<std::uint32_t, 3> block = {};
  std::array<std::uint32_t, 3> threads = {};  // of all blocks together
};

struct CopyRecord {
  std::string_view way;  // "MEMORY_COPY_HOST_TO_DEVICE"
  std::uint64_t from = 0;
  std::uint64_t to = 0;
  std::uint64_t bytes = 0;
};

class Rows : public ProcessRows {
 public:
  Rows(Trace* trace, Gpus* gpus) : ProcessRows(trace, gpus), trace_(trace) {}

  void AddAgent(std::uint64_t id, Agent agent);
  // `plain`: as the linker has it, for want of the name that people write.
  void AddKernelName(std::uint64_t id, std::string_view name, std::string_view plain);
  void AddDispatch(const TimedRecord& work, const Dispatch& dispatch);
  void AddCopyRecord(TimedRecord work, const CopyRecord& copy);
  // What the compiler calls around a launch ("__hipPushCallConfiguration") is no call of the
  // program, and dropped.
  void AddHipCall(std::uint64_t thread, StringId name, std::uint64_t correlation, Nanos start,
                  Nanos end);

 private:
  Trace* trace_;
  std::map<std::uint64_t, StringId> kernels_;  // their names
};

}  // namespace advise::rocprof
