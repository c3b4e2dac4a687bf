#include "engine/metrics/losses/kernels/block_shapes.h"

#include "engine/metrics/losses/kernels/kernel_tallies.h"

namespace advise {

BlockShapes FindBlockShapes(const Basis& basis, const std::vector<std::uint32_t>& kernels) {
  const Trace& trace = basis.run.trace;
  BlockShapes result;
  LossBuilder partial(basis);
  LossBuilder tiny(basis);
  RowsOfShapes rows;
  for (const std::uint32_t op : kernels) {
    const KernelShape& shape = trace.shapes[trace.ops.detail[op]];
    const Nanos length = trace.ops.end[op] - trace.ops.start[op];
    const auto count = [&](LossBuilder* loss) {
      loss->Count(trace.ops.start[op], 0, length);
      loss->AddOp(op);
    };
    const auto threads = static_cast<double>(shape.ThreadsPerBlock());
    if (threads <= 0) continue;
    const int sms = trace.devices[trace.ops.device[op]].sm_count;
    const std::uint64_t warps = (shape.ThreadsPerBlock() + 31) / 32;
    const double lanes = 32 * static_cast<double>(warps);
    // With fewer blocks than SMs the grid is the cause, not the block (kernel/small-grid).
    const bool fills = sms > 0 && shape.Blocks() >= static_cast<std::uint64_t>(sms);
    if (threads < lanes && fills) {
      count(&partial);
      partial.ScaleOp(op, threads / lanes);
      result.partial_warp_waste_ns += (1 - threads / lanes) * static_cast<double>(length);
      AddToShape(basis.run, op, static_cast<double>(length), &rows).blocks = threads;
    }
    if (threads <= 32 && sms > 0 && shape.Blocks() > static_cast<std::uint64_t>(sms)) {
      count(&tiny);
    }
  }
  result.partial_warps = partial.Build();
  result.partial_warp_rows = ByTime(rows);
  result.tiny_blocks = tiny.Build();
  return result;
}

}  // namespace advise
