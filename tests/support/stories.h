// Stretches of work that several stories are made of.
#pragma once

#include <string>

#include "tests/support/trace_builder.h"

namespace advise {

// Kernels back to back from `at`, each launched long before its turn: the GPU sets the pace.
// Returns when the last one ends.
inline Nanos AddFullQueue(TraceBuilder* story, const std::string& kernel, Nanos at, int count,
                          Nanos length) {
  const Nanos launched = at - 5_us * (count + 10);
  for (int i = 0; i < count; ++i) {
    const Nanos call = launched + i * 5_us;
    story->Launch(kernel, {call, call + 4_us}, {at + i * length, at + (i + 1) * length});
  }
  return at + count * length;
}

// Kernels that each start 8 us after their own call: the host sets the pace. Returns when the last
// one ends.
inline Nanos AddEmptyQueue(TraceBuilder* story, const std::string& kernel, Nanos at, int count,
                           Nanos length, Nanos pitch) {
  for (int i = 0; i < count; ++i) {
    const Nanos call = at + i * pitch;
    story->Launch(kernel, {call, call + 5_us}, {call + 8_us, call + 8_us + length});
  }
  return at + (count - 1) * pitch + 8_us + length;
}

// A gap from 100 us to 210 us between two kernels of the main thread. The launch of the second one
// begins at 200 us: what the test adds in between is what the gap is for.
inline TraceBuilder GapStory() {
  TraceBuilder story;
  story.Launch("before", {0_us, 5_us}, {10_us, 100_us});
  story.Launch("after", {200_us, 205_us}, {210_us, 300_us});
  return story;
}

}  // namespace advise
