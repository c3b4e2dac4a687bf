// One process that copies its model to several GPUs in each step.
#include "engine/metrics/losses/ranks/replication.h"

#include "tests/support/analyzed.h"
#include "tests/support/loops.h"

namespace advise {
namespace {

constexpr const char* kModelOut = "ncclDevKernel_Broadcast_RING_LL";
constexpr const char* kGradientsIn = "ncclDevKernel_Reduce_Sum_f32_RING_LL";

// Ten steps of the current process on GPUs from `first` on: the model goes to all of them in
// 20 us, each computes for 300 us, and the gradients are summed in 30 us.
void AddReplicatedSteps(TraceBuilder* story, std::uint32_t first, std::uint32_t devices) {
  for (std::uint32_t d = first; d < first + devices; ++d) {
    story->OnDevice(d);
    Repeat(10, 1_ms, [&](int, Nanos at) {
      story->Launch(kModelOut, {at, at + 2_us}, {at + 10_us, at + 30_us}, {.blocks = 16});
      story->Launch("work", {at + 3_us, at + 5_us}, {at + 40_us, at + 340_us});
      story->Launch(kGradientsIn, {at + 6_us, at + 8_us}, {at + 350_us, at + 380_us},
                    {.blocks = 16});
    });
  }
}

TEST_CASE(
    "a process with two GPUs copies its model to the second, one with a single GPU does not") {
  TraceBuilder two;
  AddReplicatedSteps(&two, 0, 2);
  const Analyzed replicated(two);
  CHECK(replicated->replication->devices == 2);
  CHECK(replicated->replication->broadcasts == 1);
  CHECK(replicated->replication->reduces == 1);
  CHECK(replicated->replication->loss.count == 2 * 20);
  CHECK(replicated->replication->loss.lost->Total() == 2 * 10 * 50_us);
  CHECK(replicated->replication->loss.remedy->scaled_ops.size() == 2 * 20);

  TraceBuilder one;
  AddReplicatedSteps(&one, 0, 1);
  const Analyzed alone(one);
  CHECK(alone->replication->devices == 1);
  CHECK(alone->replication->broadcasts == 0);
  CHECK(alone->replication->loss.count == 0);
}

TEST_CASE("of several processes the one with most GPUs replicates, wherever it stands") {
  for (const bool first : {true, false}) {
    TraceBuilder story;
    story.Process("a").Thread("main");
    AddReplicatedSteps(&story, 0, first ? 3 : 1);
    story.Process("b").Thread("main");
    AddReplicatedSteps(&story, first ? 3 : 1, first ? 1 : 3);
    const Analyzed run(story);
    CHECK(run->replication->devices == 3);
    CHECK(run->replication->broadcasts == 1);
    CHECK(run->replication->loss.count == 3 * 20);
  }
}

TEST_CASE("each process that has several GPUs replicates") {
  TraceBuilder story;
  story.Process("a").Thread("main");
  AddReplicatedSteps(&story, 0, 2);
  story.Process("b").Thread("main");
  AddReplicatedSteps(&story, 2, 3);
  const Analyzed run(story);
  CHECK(run->replication->devices == 3);
  CHECK(run->replication->broadcasts == 1);
  CHECK(run->replication->reduces == 1);
  CHECK(run->replication->loss.count == 5 * 20);
}

TEST_CASE("copies between the GPUs of a process replicate as broadcasts do, others do not") {
  for (const bool peer : {true, false}) {
    TraceBuilder story;
    for (std::uint32_t d = 0; d < 2; ++d) {
      story.OnDevice(d);
      Repeat(10, 1_ms, [&](int, Nanos at) {
        story.Launch("work", {at, at + 2_us}, {at + 40_us, at + 340_us});
      });
    }
    story.CopyOnGpu(1_MiB, {3_us, 5_us}, {400_us, 470_us});
    Trace trace = story.Build();
    if (peer) trace.copies.direction[0] = CopyDirection::kPeerToPeer;
    AnalysisOptions options;
    options.window.mode = WindowRequest::Mode::kAll;
    const Analysis run(trace, ShippedKnowledge(), options);
    CHECK(run.replication->devices == 2);
    CHECK(run.replication->broadcasts == 0);
    CHECK(run.replication->loss.count == (peer ? 1 : 0));
    CHECK(run.replication->loss.lost->Total() == (peer ? 70_us : 0));
  }
}

}  // namespace
}  // namespace advise
