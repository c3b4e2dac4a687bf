// Programs that are started again for each piece of work.
#include "engine/metrics/losses/host/process_starts.h"

#include "tests/support/loops.h"

namespace advise {
namespace {

// Processes of 10 ms, each with a kernel of 2 ms behind 5 ms of allocating.
ProcessStarts Started(int processes, Nanos apart, bool alike = true) {
  TraceBuilder story;
  for (int i = 0; i < processes; ++i) {
    const Nanos at = i * apart;
    story.Process("tool " + std::to_string(i)).Thread("main");
    story.Call("cudaMalloc", {at, at + 5_ms});
    story.Launch(alike ? "transform" : "tool" + std::to_string(i), {at + 6_ms, at + 6_ms + 5_us},
                 {at + 7_ms, at + 9_ms});
    story.Sync({at + 6_ms + 10_us, at + 9_ms + 5_us});
  }
  return Analyzed(story)->host.starts;
}

TEST_CASE("the GPU is idle from the end of one process to the first work of the next") {
  const ProcessStarts found = Started(8, 10_ms);
  CHECK(found.processes == 8);
  CHECK(found.lost[0].Total() == 7 * 8_ms);
}

TEST_CASE("processes at the same time, other programs and one process are no loop of starts") {
  CHECK(Started(8, 1_ms).processes == 0);
  CHECK(Started(8, 10_ms, false).processes == 0);
  CHECK(Started(1, 10_ms).processes == 0);
}

}  // namespace
}  // namespace advise
