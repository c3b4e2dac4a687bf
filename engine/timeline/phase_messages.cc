#include "engine/timeline/phase_messages.h"

#include <algorithm>
#include <map>

namespace advise {
namespace {

// By op: downloads behind a kernel of their stream that packs messages, and uploads before one that
// unpacks them. Empty where no kernel does.
std::vector<std::uint8_t> CopiesOfMessages(const Run& run) {
  const Trace& trace = run.trace;
  const ShapeSet packs =
      run.names.Shapes([](const KernelClass& c) { return c.HasTrait("message"); });
  if (packs.empty()) return {};
  std::vector<std::uint8_t> of_messages(trace.ops.size(), 0);
  struct Stream {
    bool packed = false;                 // by its last kernel
    std::vector<std::uint32_t> uploads;  // since then
  };
  std::map<std::uint32_t, Stream> streams;
  for (std::uint32_t op = 0; op < trace.ops.size(); ++op) {
    Stream& stream = streams[trace.ops.stream[op]];
    if (trace.ops.kind[op] == OpKind::kKernel) {
      stream.packed = packs.Has(trace.ops.detail[op]);
      for (const std::uint32_t upload : stream.uploads) of_messages[upload] = stream.packed ? 1 : 0;
      stream.uploads.clear();
    } else if (trace.ops.kind[op] == OpKind::kCopy) {
      const CopyDirection direction = trace.DirectionOfCopy(op);
      if (direction == CopyDirection::kHostToDevice) stream.uploads.push_back(op);
      if (direction == CopyDirection::kDeviceToHost) of_messages[op] = stream.packed ? 1 : 0;
    }
  }
  return of_messages;
}

// By process, whether its exchanges are named or recorded.
std::vector<std::uint8_t> ToldProcesses(const Run& run) {
  const Trace& trace = run.trace;
  std::vector<std::uint8_t> told(trace.processes.size(), 0);
  const auto tell = [&](std::uint32_t thread) {
    if (thread != kNone && trace.threads[thread].process != kNone)
      told[trace.threads[thread].process] = 1;
  };
  for (std::uint32_t i = 0; i < trace.ranges.size(); ++i) {
    if (run.names.RangePhase(trace.ranges.name[i]) == Phase::kCommunication)
      tell(trace.ranges.thread[i]);
  }
  for (std::uint32_t i = 0; i < trace.mpi.size(); ++i) tell(trace.mpi.thread[i]);
  return told;
}

IntervalSet ExchangesOf(const Run& run, std::uint32_t thread,
                        const std::vector<std::uint8_t>& of_messages) {
  const Trace& trace = run.trace;
  IntervalSet exchanges;
  bool packed = false;  // came down since the last upload
  Nanos free = 0;       // since when the thread is in no call
  for (const std::uint32_t call : run.calls_of_thread[thread]) {
    const std::uint32_t op = run.first_op_of_call[call];
    if (op != kNone && trace.ops.kind[op] == OpKind::kCopy) {
      const CopyDirection direction = trace.DirectionOfCopy(op);
      if (direction == CopyDirection::kDeviceToHost) {
        packed = packed || of_messages[op] != 0;
      } else if (direction == CopyDirection::kHostToDevice) {
        if (packed && of_messages[op] != 0 && free < trace.calls.start[call])
          exchanges.Append(free, trace.calls.start[call]);
        packed = false;
      }
    }
    free = std::max(free, trace.calls.end[call]);
  }
  return exchanges;
}

}  // namespace

std::vector<IntervalSet> ExchangesOfMessages(const Run& run) {
  std::vector<IntervalSet> exchanges(run.trace.threads.size());
  const std::vector<std::uint8_t> of_messages = CopiesOfMessages(run);
  if (of_messages.empty()) return exchanges;
  const std::vector<std::uint8_t> told = ToldProcesses(run);
  for (const std::uint32_t thread : run.launching_threads) {
    const std::uint32_t process = run.trace.threads[thread].process;
    if (process != kNone && told[process] == 0)
      exchanges[thread] = ExchangesOf(run, thread, of_messages);
  }
  return exchanges;
}

}  // namespace advise
