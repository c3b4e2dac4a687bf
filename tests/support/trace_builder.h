// Builds a Trace that reads like the story it tells:
//
//   TraceBuilder()
//       .Launch("gemm", {0_us, 5_us}, {10_us, 110_us})  // the call, the kernel
//       .CopyToGpu(1_MiB, MemoryKind::kPinned, {6_us, 8_us}, {20_us, 60_us})
//       .Sync({9_us, 111_us});
//
// Rows go to the current thread, device and stream, which Thread(), Process(), Device(), OnDevice()
// and OnStream() choose; they may be given in any order. Build() sorts the tables as tables.h
// demands. Its functions are compiled once for all test programs (trace_builder.cc).
#pragma once

#include <cstdint>
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
  TraceBuilder();
  TraceBuilder(const TraceBuilder&);
  TraceBuilder(TraceBuilder&&) noexcept;
  TraceBuilder& operator=(const TraceBuilder&);
  TraceBuilder& operator=(TraceBuilder&&) noexcept;
  ~TraceBuilder();

  // ---- who and where
  TraceBuilder& Process(const std::string& name, int rank = -1);
  TraceBuilder& Thread(const std::string& name);
  // Names the current device.
  TraceBuilder& Device(const std::string& name, int sm_count);
  // Devices up to this number exist from now on, and are like the first.
  TraceBuilder& OnDevice(std::uint32_t device);
  TraceBuilder& OnStream(std::int64_t id);
  TraceBuilder& OnDefaultStream();
  TraceBuilder& Cores(int cores);
  // A program with ranges has a model, which is what gives phases of learning their meaning: unless
  // this is told.
  TraceBuilder& WithoutModel();

  // ---- GPU work and the calls that launch it
  TraceBuilder& Launch(const std::string& kernel, Interval call, Interval op, Look look = {});
  TraceBuilder& LaunchBy(const std::string& by, const std::string& kernel, Interval call,
                         Interval op, Look look = {});
  // A kernel whose launching call was not captured.
  TraceBuilder& Kernel(const std::string& kernel, Interval op, Look look = {});
  TraceBuilder& Graph(std::uint32_t id, Interval call, Interval op);
  // Graph nodes traced one by one, all launched by one call.
  TraceBuilder& GraphNodes(const std::string& kernel, Interval call,
                           const std::vector<Interval>& nodes);
  TraceBuilder& CopyToGpu(std::int64_t bytes, MemoryKind host, Interval call, Interval op,
                          const std::string& by = "cudaMemcpyAsync");
  TraceBuilder& CopyFromGpu(std::int64_t bytes, MemoryKind host, Interval call, Interval op,
                            const std::string& by = "cudaMemcpyAsync");
  TraceBuilder& CopyOnGpu(std::int64_t bytes, Interval call, Interval op);
  // Unified memory that the driver moves: no call, no stream.
  TraceBuilder& MigrateToGpu(std::int64_t bytes, Interval op,
                             MigrationCause cause = MigrationCause::kUnknown);
  TraceBuilder& MigrateToHost(std::int64_t bytes, Interval op,
                              MigrationCause cause = MigrationCause::kUnknown);
  TraceBuilder& Memset(std::int64_t bytes, Interval call, Interval op,
                       const std::string& by = "cudaMemsetAsync");

  // ---- what host threads do
  TraceBuilder& Call(const std::string& name, Interval when);
  TraceBuilder& Sync(Interval when, const std::string& by = "cudaStreamSynchronize");
  TraceBuilder& Range(const std::string& name, Interval when);
  TraceBuilder& OsCall(const std::string& name, Interval when);
  // The CPU was seen in this function of the thread's at that time.
  TraceBuilder& Sample(const std::string& function, Nanos when);
  // A call of MPI; -1 for sizes and peers that are not known.
  TraceBuilder& Mpi(const std::string& name, Interval when, std::int64_t sent = -1,
                    std::int64_t received = -1, std::int32_t peer = -1);
  TraceBuilder& Overhead(const std::string& name, Interval when);

  TraceBuilder& RecordedBy(const std::string& profiler);

  // ---- the same story told differently
  TraceBuilder& Stretch(Nanos factor);                          // every time and duration
  TraceBuilder& Shift(Nanos by);                                // every time
  TraceBuilder& SwapDevices(std::uint32_t a, std::uint32_t b);  // numbers only
  TraceBuilder& Twice();  // the same by other processes on as many devices more, at the same time
  TraceBuilder& WithoutRanges();

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
  static std::uint32_t Place(std::vector<T>* list, const T& item);
  std::uint32_t AddCall(const std::string& name, Interval when);
  OpRow& AddOp(Interval when, OpKind kind);
  TraceBuilder& AddKernel(const std::string& name, Interval when, Look look, std::uint32_t call);
  TraceBuilder& AddCopy(std::int64_t bytes, CopyDirection direction, MemoryKind source,
                        MemoryKind target, std::uint32_t call, Interval when);
  TraceBuilder& Migrate(std::int64_t bytes, CopyDirection direction, Interval when,
                        MigrationCause cause);
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
  bool model_ = true;
  std::string producer_;
};

}  // namespace advise
