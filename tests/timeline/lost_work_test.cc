// Launches whose work the profiler lost.
#include "engine/timeline/lost_work.h"

#include <catch2/catch.hpp>

#include "engine/trace/part.h"
#include "tests/support/analyzed.h"
#include "tests/support/loops.h"

namespace advise {
namespace {

// One thread launches on four GPUs in turn, as programs do whose only process drives a node.
TEST_CASE("what a thread launches on the other GPUs of its process is not lost") {
  TraceBuilder story;
  story.Process("python").Thread("main");
  Repeat(20, 1_ms, [&](int, Nanos at) {
    for (std::uint32_t gpu = 0; gpu < 4; ++gpu) {
      const Nanos from = at + gpu * 10_us;
      story.OnDevice(gpu).Launch("work", {from, from + 5_us}, {from + 8_us, from + 900_us});
    }
  });
  const Trace whole = story.Build();
  const std::uint32_t process = OwnersOfGpus(whole)[0];
  const std::vector<RankPlace> all = {{process, 0}, {process, 1}, {process, 2}, {process, 3}};
  CHECK(FindLostWork(Run(whole, ShippedKnowledge())).Share() == 0);
  for (const RankPlace& place : all) {
    const Trace part = PartOf(whole, all, place, HelperLimits{});
    CHECK(FindLostWork(Run(part, ShippedKnowledge())).Share() == 0);
  }
}

}  // namespace
}  // namespace advise
