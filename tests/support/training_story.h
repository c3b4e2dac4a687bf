// A training loop for tests and benchmarks that need a long trace.
#pragma once

#include "tests/support/trace_builder.h"

namespace advise {

// A training run with a bit of everything that is looked for, step after step: loading, a pageable
// copy, reading a value back, micro-batches, gradients that are reduced beside and behind compute,
// allocations, and now and then a much longer step. `named`: a range stands around each step;
// without it, steps are told from the GPU's work.
inline Trace Training(int steps, bool named = true) {
  TraceBuilder story;
  Nanos at = 1_ms;
  for (int i = 0; i < steps; ++i) {
    const Nanos begin = at;
    story.Range("DataLoader next", {at, at + 60_us}).OsCall("read", {at + 5_us, at + 50_us});
    at += 60_us;
    story.CopyToGpu(1_MiB, MemoryKind::kPageable, {at, at + 90_us}, {at + 10_us, at + 80_us},
                    "cudaMemcpy");
    at += 100_us;
    for (int micro = 0; micro < 2; ++micro) {
      story.Range("forward", {at, at + 40_us});
      story.Launch("elementwise_kernel", {at, at + 5_us}, {at + 8_us, at + 20_us});
      story.Launch("ampere_sgemm_128x64_tn", {at + 6_us, at + 10_us}, {at + 22_us, at + 60_us});
      at += 70_us;
      story.Range("backward", {at, at + 40_us});
      story.Launch("ampere_sgemm_128x64_nn", {at, at + 5_us}, {at + 8_us, at + 50_us});
      story.OnStream(20).Launch("ncclDevKernel_AllReduce_Sum_f32_RING_LL", {at + 6_us, at + 10_us},
                                {at + 30_us, at + 90_us});
      story.OnStream(7);
      at += 100_us;
    }
    story.CopyFromGpu(4, MemoryKind::kPageable, {at, at + 20_us}, {at + 8_us, at + 10_us});
    story.Sync({at + 20_us, at + 24_us}).Call("cudaMalloc", {at + 25_us, at + 60_us});
    at += 65_us;
    story.Range("optimizer.step", {at, at + 30_us});
    story.Memset(64, {at, at + 3_us}, {at + 6_us, at + 7_us});
    story.Launch("multi_tensor_apply_kernel", {at + 5_us, at + 9_us}, {at + 12_us, at + 40_us});
    story.Call("cudaFree", {at + 45_us, at + 60_us});
    at += 70_us + (i % 5) * 1_us;
    if (i % 97 == 50 || i % 131 == 20) {
      story.Range("save_checkpoint", {at, at + 3_ms}).OsCall("write", {at + 10_us, at + 2900_us});
      at += 3_ms;
    }
    if (named) story.Range("train_step", {begin, at});
  }
  return story.Build();
}

}  // namespace advise
