// Training loops: the same step again and again.
#pragma once

#include <functional>
#include <string>

#include "tests/support/stories.h"
#include "tests/support/trace_builder.h"

namespace advise {

// Calls `step(i, start)` for each step, every `apart`.
inline void Repeat(int steps, Nanos apart, const std::function<void(int, Nanos)>& step) {
  for (int i = 0; i < steps; ++i) step(i, i * apart);
}

// 20 steps of a thread for each of two GPUs. In each step of 4 ms, the second one runs 1 ms of code
// first; when both GPUs are done, the threads meet at a barrier.
inline TraceBuilder ThreadsAtBarrier() {
  TraceBuilder story;
  story.Device("Test GPU", 100);
  Repeat(20, 4_ms, [&](int n, Nanos at) {
    const Nanos met = at + 3900_us + (n * 37 % 11) * 1_us;
    for (std::uint32_t i = 0; i < 2; ++i) {
      const Nanos begin = at + i * 1_ms;
      story.Thread(i == 0 ? "main" : "second").OnDevice(i).OnStream(7 + i);
      story.Launch("stage", {begin, begin + 5_us}, {begin + 10_us, begin + 2890_us});
      story.Sync({begin + 6_us, begin + 2895_us});
    }
    story.Thread("main").OsCall("pthread_barrier_wait", {at + 2900_us, met});
  });
  return story;
}

// One step of a model with layers: the host is ahead of the GPU by 60 us throughout, and works for
// 200 us between steps. Its GPU work takes 14 x `length`.
inline void AddLayeredStep(TraceBuilder* story, Nanos at, Nanos length) {
  Nanos next = at + 100_us;
  const auto kernel = [&](const char* name) {
    story->Launch(name, {next - 60_us, next - 57_us}, {next, next + length});
    next += length;
  };
  kernel("embed");
  for (int layer = 0; layer < 6; ++layer) {
    kernel("attention_part");
    kernel("mlp_part");
  }
  kernel("head");
}

// One step of ten kernels that are all different, with the same pace.
inline void AddPlainStep(TraceBuilder* story, Nanos at, Nanos length) {
  for (int k = 0; k < 10; ++k) {
    const Nanos start = at + 100_us + k * length;
    story->Launch("kernel_" + std::string(1, static_cast<char>('a' + k)),
                  {start - 60_us, start - 57_us}, {start, start + length});
  }
}

}  // namespace advise
