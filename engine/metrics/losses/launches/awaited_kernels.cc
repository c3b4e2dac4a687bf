#include "engine/metrics/losses/launches/awaited_kernels.h"

#include <cstdint>
#include <utility>
#include <vector>

#include "engine/base/median.h"
#include "engine/timeline/blocking_calls.h"
#include "engine/timeline/room.h"

namespace advise {
namespace {

// A kernel of the window that a launching call started.
bool IsLaunchOfKernel(const Basis& basis, std::uint32_t op) {
  const OpTable& ops = basis.run.trace.ops;
  return ops.kind[op] == OpKind::kKernel && ops.call[op] != kNone &&
         basis.run.ClassOfCall(ops.call[op]) == CallClass::kLaunch && basis.InWindow(ops.start[op]);
}

// By thread, whether its launching calls that end behind their kernels wait for them. Who waits
// goes on steadily behind the end, so that the call is as long as the kernel makes it. A call that
// is only slow takes as long whatever the kernel takes.
std::vector<std::uint8_t> ThreadsThatAwaitKernels(const Basis& basis) {
  const Trace& trace = basis.run.trace;
  std::vector<std::vector<Nanos>> behind(trace.threads.size());
  std::vector<std::vector<Nanos>> lengths(trace.threads.size());
  for (std::uint32_t op = 0; op < trace.ops.size(); ++op) {
    if (!IsLaunchOfKernel(basis, op)) continue;
    const std::uint32_t call = trace.ops.call[op];
    const Nanos since = trace.calls.end[call] - trace.ops.end[op];
    if (since < 0) continue;
    behind[trace.calls.thread[call]].push_back(since);
    lengths[trace.calls.thread[call]].push_back(trace.calls.end[call] - trace.calls.start[call]);
  }
  const auto spread = [](const std::vector<Nanos>& values) {
    return values.empty() ? Nanos{0} : MedianDeviation(values, Median(values));
  };
  std::vector<std::uint8_t> await(trace.threads.size(), 0);
  for (std::size_t t = 0; t < await.size(); ++t)
    await[t] = spread(behind[t]) <= spread(lengths[t]) ? 1 : 0;
  return await;
}

class AwaitedFinder : Finder {
 public:
  explicit AwaitedFinder(const Basis& basis)
      : Finder(basis), loss_(basis), waiting_(trace_.threads.size(), 0) {}

  AwaitedKernels Find() {
    Calls();
    Copies();
    Idle();
    Alone();
    result_.loss = loss_.Build();
    return std::move(result_);
  }

 private:
  void Calls() {
    const std::vector<std::uint8_t> may_wait = ThreadsThatAwaitKernels(basis_);
    Nanos ran = 0;     // kernels whose launches tell, and
    Nanos waited = 0;  // those of them whose launches wait
    const auto longer = Time("idle.host_ahead");
    for (std::uint32_t op = 0; op < trace_.ops.size(); ++op) {
      const std::uint32_t call = trace_.ops.call[op];
      if (!IsLaunchOfKernel(basis_, op)) continue;
      const bool waits =
          may_wait[trace_.calls.thread[call]] != 0 && trace_.calls.end[call] >= trace_.ops.end[op];
      if (waits) loss_.remedy().unblocked_calls.push_back(call);
      // A short kernel may end before its launching call returns, above all when calls are slow:
      // only longer ones tell, and the longer the more.
      const Nanos length = Length(op);
      if (length < longer) continue;
      ran += length;
      waited += waits ? length : 0;
      waiting_[trace_.calls.thread[call]] += waits ? length : -length;
      if (waits)
        loss_.Count(trace_.calls.start[call], 0, trace_.calls.end[call] - trace_.calls.start[call]);
    }
    result_.share = ran == 0 ? 0 : static_cast<double>(waited) / static_cast<double>(ran);
  }

  // A call that need not wait for its copy waits for it there, too, and for the same reason.
  void Copies() {
    for (const std::uint32_t op : basis_.OpsInWindow()) {
      const std::uint32_t call = trace_.ops.call[op];
      if (trace_.ops.kind[op] != OpKind::kCopy || call == kNone) continue;
      const bool asynchronous =
          run_.ClassOfCall(call) == CallClass::kCopyAsync && !BlocksHost(run_, call);
      if (asynchronous && waiting_[trace_.calls.thread[call]] > 0 &&
          trace_.calls.end[call] >= trace_.ops.end[op])
        loss_.remedy().unblocked_calls.push_back(call);
    }
  }

  // A thread that waits for each of its kernels is never ahead of the GPU: what it does next, the
  // GPU waits for, and what it hands over next runs beside no kernel, also on another stream. All
  // of that may be due to it.
  void Idle() {
    for (const GapPiece piece : basis_.idle.pieces) {
      const std::uint32_t thread = basis_.idle.gaps[piece.gap].thread;
      const bool host = piece.cause == IdleCause::kLaunch ||
                        piece.cause == IdleCause::kHostCompute ||
                        piece.cause == IdleCause::kHostSync || piece.cause == IdleCause::kHostWait;
      if (thread != kNone && waiting_[thread] > 0 && host) loss_.AddPiece(piece);
    }
  }

  void Alone() {
    const Room room(run_);
    std::vector<std::uint32_t> previous(trace_.threads.size(), kNone);  // the kernel before
    for (std::uint32_t op = 0; op < trace_.ops.size(); ++op) {
      const std::uint32_t call = trace_.ops.call[op];
      if (call == kNone || waiting_[trace_.calls.thread[call]] <= 0) continue;
      if (trace_.ops.kind[op] != OpKind::kKernel || run_.IsComm(op)) {
        loss_.AddExposed(op);
        continue;
      }
      std::uint32_t& before = previous[trace_.calls.thread[call]];
      // Two streams, and the GPU had room for both.
      if (before != kNone && trace_.ops.stream[before] != trace_.ops.stream[op] &&
          trace_.ops.device[before] == trace_.ops.device[op] &&
          basis_.InWindow(trace_.ops.start[before]) && room.IsLeftBy(before)) {
        loss_.AddOp(before);
        result_.alone_ns += static_cast<double>(Length(before));
      }
      before = op;
    }
  }

  LossBuilder loss_;
  std::vector<Nanos> waiting_;  // by thread: kernels whose launches wait, less those that do not
  AwaitedKernels result_;
};

}  // namespace

AwaitedKernels FindAwaitedKernels(const Basis& basis) { return AwaitedFinder(basis).Find(); }

}  // namespace advise
