// Rows of a trace, process by process, as importers of small files make them: threads, GPUs and
// streams are met by the numbers that the file gives them. (Large formats have readers of their
// own, which fill whole columns.)
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "engine/import/keys.h"
#include "engine/trace/tables.h"

namespace advise {

// Rows of Trace::devices by machine and number: GPUs that several processes use are listed once.
using Gpus = std::map<std::pair<std::string, std::int64_t>, std::uint32_t>;

// When something ran, and of GPU work where, in numbers of the file.
struct TimedRecord {
  Nanos start = -1;  // negative: not known
  Nanos end = -1;
  std::uint64_t device = 0;
  std::uint64_t stream = 0;
  std::uint64_t queue = 0;        // where no streams were recorded
  std::uint64_t correlation = 0;  // of the call that launched it
  bool in_graph = false;
};

struct CopyWork {
  CopyDirection direction = CopyDirection::kUnknown;
  std::uint64_t bytes = 0;
  MemoryKind source = MemoryKind::kUnknown;
  MemoryKind target = MemoryKind::kUnknown;
  std::uint64_t to_device = 0;  // of copies between devices
};

// The rows of one process. What has no times or no GPU is dropped and counted.
class ProcessRows {
 public:
  // Both must outlive this.
  ProcessRows(Trace* trace, Gpus* gpus);

  Process& process() { return trace_->processes[process_]; }
  void SetHost(std::string host) { host_ = std::move(host); }
  // `Device::report_id` is its number on its machine. It is listed once it did work.
  void AddDevice(std::uint64_t id, Device device) { known_devices_[id] = std::move(device); }
  void NameThread(std::uint64_t tid, std::string_view name);

  void AddKernel(const TimedRecord& work, const KernelShape& shape);
  void AddCopy(const TimedRecord& work, const CopyWork& copy);
  void AddMemset(const TimedRecord& work, std::uint64_t bytes, MemoryKind memory);
  void AddCall(std::uint64_t thread, StringId name, std::uint64_t correlation, Nanos start,
               Nanos end);
  void AddRange(std::uint64_t thread, StringId name, Nanos start, Nanos end);

  // When all rows are in: work lies in streams, or in queues where none were recorded.
  void JoinStreams();

 private:
  struct Lane {
    std::uint32_t op = 0;
    std::uint32_t device = 0;
    std::uint64_t stream = 0;
    std::uint64_t queue = 0;
  };

  std::uint32_t DeviceRow(std::uint64_t id);
  std::uint32_t ThreadRow(std::uint64_t tid);
  bool AddOp(const TimedRecord& work, OpKind kind, std::size_t detail);

  Trace* trace_;
  Gpus* gpus_;
  std::uint32_t process_;
  std::string host_;
  std::map<std::uint64_t, Device> known_devices_;
  std::map<std::uint64_t, std::uint32_t> threads_;
  std::vector<Lane> lanes_;
  ShapeNumbers numbers_;
  std::vector<std::uint32_t> shapes_;  // rows of Trace::shapes by number
};

// When all processes are in: calls and ranges by thread, GPU work by time and with the calls that
// launched it.
void AssembleRows(Trace* trace);

}  // namespace advise
