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

// Whether the piece compiles. Between calls that load code, finding compiled code in a cache looks
// the same, and is far quicker.
bool Compiles(const Run& run, const GapPiece& piece) {
  if (piece.activity == Activity::kModuleLoad) return false;
  return piece.activity == Activity::kJit || piece.phase == Phase::kCompilation ||
         piece.Length() >= run.knowledge.Time("launch.compiles_from");
}

}  // namespace

LongCall LongestCallBefore(const Run& run, Nanos first_op) {
  const CallTable& calls = run.trace.calls;
  LongCall longest;
  for (const std::uint32_t thread : run.launching_threads) {
    const RowRange rows = run.calls_of_thread[thread];
    for (std::uint32_t c = rows.first; c < rows.last && calls.start[c] < first_op; ++c) {
      const auto length = static_cast<double>(std::min(calls.end[c], first_op) - calls.start[c]);
      if (length > longest.time_ns) longest = {run.trace.strings[calls.name[c]], length};
    }
  }
  return longest;
}

StartUp FindStartUp(const Basis& basis, const Support& support, const RunKind& kind) {
  StartUp result;
  const Run& run = basis.run;
  if (support.verdict || run.active_devices.empty()) return result;
  result.known = true;
  const Nanos first_call = FirstCall(run);
  const Nanos first_op = run.trace.ops.start.front();
  if (first_call < first_op) result.before_ns = static_cast<double>(first_op - first_call);
  result.before_call = LongestCallBefore(run, first_op);
  LossBuilder loss(basis);
  for (const GapPiece piece : basis.idle.pieces) {
    const bool code = piece.cause == IdleCause::kJitOrModuleLoad;
    const bool allocates = piece.cause == IdleCause::kAllocation && !support.recycles;
    if (!code && !allocates) continue;
    loss.CountPiece(piece);
    (code ? result.code_ns : result.allocation_ns) += static_cast<double>(piece.Length());
    if (code && Compiles(run, piece)) result.compile_ns += static_cast<double>(piece.Length());
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
