// Builds a Trace that reads like the story it tells:
//
//   TraceBuilder()
//       .Launch("gemm", {0_us, 5_us}, {10_us, 110_us})  // the call, the kernel
//       .CopyToGpu(1_MiB, MemoryKind::kPinned, {6_us, 8_us}, {20_us, 60_us})
//       .Sync({9_us, 111_us});
//
// Rows go to the current thread, device and stream, which Thread(), Process(), Device(), OnDevice()
// and OnStream() choose; they may be given in any order. Build() sorts the tables as tables.h
// demands.
#pragma once

#include <algorithm>
#include <map>
#include <numeric>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "engine/trace/intervals.h"
#include "engine/trace/tables.h"

namespace advise {

constexpr Nanos operator""_ns(unsigned long long value) { return static_cast<Nanos>(value); }
constexpr Nanos operator""_us(unsigned long long value) { return static_cast<Nanos>(value) * 1000; }
constexpr Nanos operator""_ms(unsigned long long value) {
  return static_cast<Nanos>(value) * 1'000'000;
}
constexpr std::int64_t operator""_KiB(unsigned long long value) {
  return static_cast<std::int64_t>(value) << 10;
}
constexpr std::int64_t operator""_MiB(unsigned long long value) {
  return static_cast<std::int64_t>(value) << 20;
}

// How a kernel looks beside its name.
struct Look {
  std::uint32_t blocks = 1000;
  std::uint32_t threads = 256;
  std::uint32_t local_bytes = 0;
  std::uint32_t registers = 0;
};

class TraceBuilder {
 public:
  TraceBuilder() {
    devices_.emplace_back();
    Process("python").Thread("main").Device("Test GPU", 100);
  }

  // ---- who and where
  TraceBuilder& Process(const std::string& name, int rank = -1) {
    process_ = Place(&processes_, {name, rank});
    return *this;
  }
  TraceBuilder& Thread(const std::string& name) {
    thread_ = Place(&threads_, {process_, name});
    return *this;
  }
  // Names the current device.
  TraceBuilder& Device(const std::string& name, int sm_count) {
    devices_[device_].name = name;
    devices_[device_].sm_count = sm_count;
    return *this;
  }
  // Devices up to this number exist from now on, and are like the first.
  TraceBuilder& OnDevice(std::uint32_t device) {
    while (devices_.size() <= device) {
      const advise::Device like = devices_.front();
      devices_.push_back(like);
      devices_.back().cuda_ordinal = devices_.back().ordinal = devices_.back().report_id =
          static_cast<std::int64_t>(devices_.size()) - 1;
    }
    device_ = device;
    return *this;
  }
  TraceBuilder& OnStream(std::int64_t id) {
    stream_ = id;
    return *this;
  }
  TraceBuilder& OnDefaultStream() { return OnStream(kDefaultStream); }
  TraceBuilder& Cores(int cores) {
    cores_ = cores;
    return *this;
  }

  // ---- GPU work and the calls that launch it
  TraceBuilder& Launch(const std::string& kernel, Interval call, Interval op, Look look = {}) {
    return LaunchBy("cudaLaunchKernel", kernel, call, op, look);
  }
  TraceBuilder& LaunchBy(const std::string& by, const std::string& kernel, Interval call,
                         Interval op, Look look = {}) {
    return AddKernel(kernel, op, look, AddCall(by, call));
  }
  // A kernel whose launching call was not captured.
  TraceBuilder& Kernel(const std::string& kernel, Interval op, Look look = {}) {
    return AddKernel(kernel, op, look, kNone);
  }
  TraceBuilder& Graph(std::uint32_t id, Interval call, Interval op) {
    AddOp(op, OpKind::kGraph).call = AddCall("cudaGraphLaunch", call);
    ops_.back().graph = id;
    return *this;
  }
  // Graph nodes traced one by one, all launched by one call.
  TraceBuilder& GraphNodes(const std::string& kernel, Interval call,
                           const std::vector<Interval>& nodes) {
    const std::uint32_t row = AddCall("cudaGraphLaunch", call);
    for (const Interval& node : nodes) {
      AddKernel(kernel, node, {}, row);
      ops_.back().in_graph = 1;
    }
    return *this;
  }
  TraceBuilder& CopyToGpu(std::int64_t bytes, MemoryKind host, Interval call, Interval op,
                          const std::string& by = "cudaMemcpyAsync") {
    return AddCopy(bytes, CopyDirection::kHostToDevice, host, MemoryKind::kDevice,
                   AddCall(by, call), op);
  }
  TraceBuilder& CopyFromGpu(std::int64_t bytes, MemoryKind host, Interval call, Interval op,
                            const std::string& by = "cudaMemcpyAsync") {
    return AddCopy(bytes, CopyDirection::kDeviceToHost, MemoryKind::kDevice, host,
                   AddCall(by, call), op);
  }
  TraceBuilder& CopyOnGpu(std::int64_t bytes, Interval call, Interval op) {
    return AddCopy(bytes, CopyDirection::kDeviceToDevice, MemoryKind::kDevice, MemoryKind::kDevice,
                   AddCall("cudaMemcpyAsync", call), op);
  }
  // Unified memory that the driver moves: no call, no stream.
  TraceBuilder& MigrateToGpu(std::int64_t bytes, Interval op,
                             MigrationCause cause = MigrationCause::kUnknown) {
    return Migrate(bytes, CopyDirection::kMigrationToDevice, op, cause);
  }
  TraceBuilder& MigrateToHost(std::int64_t bytes, Interval op,
                              MigrationCause cause = MigrationCause::kUnknown) {
    return Migrate(bytes, CopyDirection::kMigrationToHost, op, cause);
  }
  TraceBuilder& Memset(std::int64_t bytes, Interval call, Interval op,
                       const std::string& by = "cudaMemsetAsync") {
    AddOp(op, OpKind::kMemset).call = AddCall(by, call);
    ops_.back().bytes = bytes;
    return *this;
  }

  // ---- what host threads do
  TraceBuilder& Call(const std::string& name, Interval when) {
    AddCall(name, when);
    return *this;
  }
  TraceBuilder& Sync(Interval when, const std::string& by = "cudaStreamSynchronize") {
    return Call(by, when);
  }
  TraceBuilder& Range(const std::string& name, Interval when) {
    ranges_.push_back({thread_, when, name});
    return *this;
  }
  TraceBuilder& OsCall(const std::string& name, Interval when) {
    os_calls_.push_back({thread_, when, name});
    return *this;
  }
  // The CPU was seen in this function of the thread's at that time.
  TraceBuilder& Sample(const std::string& function, Nanos when) {
    samples_.push_back({thread_, {when, when}, function});
    return *this;
  }
  // A call of MPI; -1 for sizes and peers that are not known.
  TraceBuilder& Mpi(const std::string& name, Interval when, std::int64_t sent = -1,
                    std::int64_t received = -1, std::int32_t peer = -1) {
    mpi_.push_back({{thread_, when, name}, sent, received, peer});
    return *this;
  }
  TraceBuilder& Overhead(const std::string& name, Interval when) {
    overheads_.push_back({thread_, when, name});
    return *this;
  }

  TraceBuilder& RecordedBy(const std::string& profiler) {
    producer_ = profiler;
    return *this;
  }

  // ---- the same story told differently
  TraceBuilder& Stretch(Nanos factor);                          // every time and duration
  TraceBuilder& Shift(Nanos by);                                // every time
  TraceBuilder& SwapDevices(std::uint32_t a, std::uint32_t b);  // numbers only
  TraceBuilder& Twice();  // the same by other processes on as many devices more, at the same time
  TraceBuilder& WithoutRanges() {
    ranges_.clear();
    return *this;
  }

  Trace Build() const;

 private:
  static constexpr std::int64_t kDefaultStream = 0;

  struct CallRow {
    std::uint32_t thread;
    Interval when;
    std::string name;
  };
  using NamedRow = CallRow;
  struct MpiRow : NamedRow {
    std::int64_t sent, received;
    std::int32_t peer;
  };
  struct OpRow {
    Interval when;
    OpKind kind = OpKind::kKernel;
    std::uint32_t device = 0;
    std::uint32_t stream = 0;  // -> streams_
    std::uint32_t call = kNone;
    std::string kernel;
    Look look;
    std::int64_t bytes = 0;
    CopyDirection direction = CopyDirection::kUnknown;
    MemoryKind source = MemoryKind::kUnknown, target = MemoryKind::kUnknown;
    MigrationCause cause = MigrationCause::kUnknown;
    std::uint32_t graph = 0;
    std::uint8_t in_graph = 0;
  };

  template <typename T>
  static std::uint32_t Place(std::vector<T>* list, const T& item) {
    const auto at = std::find(list->begin(), list->end(), item);
    if (at != list->end()) return static_cast<std::uint32_t>(at - list->begin());
    list->push_back(item);
    return static_cast<std::uint32_t>(list->size() - 1);
  }
  std::uint32_t AddCall(const std::string& name, Interval when) {
    calls_.push_back({thread_, when, name});
    return static_cast<std::uint32_t>(calls_.size() - 1);
  }
  OpRow& AddOp(Interval when, OpKind kind) {
    OpRow op;
    op.when = when;
    op.kind = kind;
    op.device = device_;
    op.stream = Place(&streams_, {process_, device_, stream_});
    ops_.push_back(op);
    return ops_.back();
  }
  TraceBuilder& AddKernel(const std::string& name, Interval when, Look look, std::uint32_t call) {
    OpRow& op = AddOp(when, OpKind::kKernel);
    op.kernel = name;
    op.look = look;
    op.call = call;
    return *this;
  }
  TraceBuilder& AddCopy(std::int64_t bytes, CopyDirection direction, MemoryKind source,
                        MemoryKind target, std::uint32_t call, Interval when) {
    OpRow& op = AddOp(when, OpKind::kCopy);
    op.bytes = bytes;
    op.direction = direction;
    op.source = source;
    op.target = target;
    op.call = call;
    return *this;
  }
  TraceBuilder& Migrate(std::int64_t bytes, CopyDirection direction, Interval when,
                        MigrationCause cause) {
    AddCopy(bytes, direction, MemoryKind::kManaged, MemoryKind::kManaged, kNone, when);
    ops_.back().stream = kNone;
    ops_.back().cause = cause;
    return *this;
  }
  template <typename Change>
  void ForEachTime(Change change);
  void BuildPlaces(Trace* trace) const;
  std::vector<std::uint32_t> BuildCalls(Trace* trace) const;  // staged call -> row
  void BuildOps(const std::vector<std::uint32_t>& row_of_call, Trace* trace) const;

  // The order that tables of threads have: (thread, start, -end).
  template <typename Row>
  static std::vector<std::uint32_t> ByThread(const std::vector<Row>& rows);

  std::vector<std::pair<std::string, int>> processes_;
  std::vector<std::pair<std::uint32_t, std::string>> threads_;  // process, name
  std::vector<std::tuple<std::uint32_t, std::uint32_t, std::int64_t>>
      streams_;  // process, device, id
  std::vector<advise::Device> devices_;
  std::vector<CallRow> calls_;
  std::vector<OpRow> ops_;
  std::vector<NamedRow> ranges_, os_calls_, overheads_, samples_;
  std::vector<MpiRow> mpi_;
  std::uint32_t process_ = 0, thread_ = 0, device_ = 0;
  std::int64_t stream_ = 7;
  int cores_ = 0;
  std::string producer_;
};

}  // namespace advise

#include "tests/support/trace_assembly.h"
