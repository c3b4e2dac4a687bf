#include "engine/metrics/losses/host/start_up.h"

#include <algorithm>
#include <limits>

namespace advise {
namespace {

// Calls of the threads that launch; the profiler's own waking of the GPU is among them.
Nanos FirstCall(const Run& run) {
  Nanos first = std::numeric_limits<Nanos>::max();
  for (const std::uint32_t thread : run.launching_threads) {
    const RowRange rows = run.calls_of_thread[thread];
    if (!rows.empty()) first = std::min(first, run.trace.calls.start[rows.first]);
  }
  return first;
}

// The longest call of launching threads that began before the first op.
void FindCallBefore(const Run& run, Nanos first_op, StartUp* result) {
  const CallTable& calls = run.trace.calls;
  for (const std::uint32_t thread : run.launching_threads) {
    const RowRange rows = run.calls_of_thread[thread];
    for (std::uint32_t c = rows.first; c < rows.last && calls.start[c] < first_op; ++c) {
      const auto length = static_cast<double>(std::min(calls.end[c], first_op) - calls.start[c]);
      if (length <= result->before_call_ns) continue;
      result->before_call_ns = length;
      result->before_call = run.trace.strings[calls.name[c]];
    }
  }
}

}  // namespace

StartUp FindStartUp(const Basis& basis, const Support& support, const RunKind& kind) {
  StartUp result;
  const Run& run = basis.run;
  if (support.verdict || run.active_devices.empty()) return result;
  result.known = true;
  const Nanos first_call = FirstCall(run);
  const Nanos first_op = run.trace.ops.start.front();
  if (first_call < first_op) result.before_ns = static_cast<double>(first_op - first_call);
  FindCallBefore(run, first_op, &result);
  LossBuilder loss(basis);
  for (const GapPiece piece : basis.idle.pieces) {
    const bool code = piece.cause == IdleCause::kJitOrModuleLoad;
    const bool allocates = piece.cause == IdleCause::kAllocation && !support.recycles;
    if (!code && !allocates) continue;
    loss.CountPiece(piece);
    (code ? result.code_ns : result.allocation_ns) += static_cast<double>(piece.Length());
  }
  for (const std::uint32_t d : run.active_devices) {
    if (kind.framework.empty()) break;
    const IntervalSet upload =
        basis.times[d].copy_exposed.Clip(run.window.start, FirstKernel(run, d));
    loss.AddSpans(d, upload);
    result.upload_ns += static_cast<double>(upload.Total());
  }
  result.loss = loss.Build();
  return result;
}

}  // namespace advise
