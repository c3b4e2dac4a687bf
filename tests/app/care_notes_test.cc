// What a report tells to be read with care: what its figures leave out, and what was not recorded.
#include "engine/pipeline/care_notes.h"

#include <catch2/catch.hpp>

#include "tests/support/analyzed.h"
#include "tests/support/loops.h"

namespace advise {
namespace {

// A solver whose first call of CUDA comes `earlier` than its loop.
std::string NotesOf(Nanos earlier, Nanos set_up = 50_us) {
  TraceBuilder story;
  story.Launch("set_up", {0_us, 5_us}, {10_us, 10_us + set_up});
  Repeat(40, 1_ms, [&](int i, Nanos at) {
    at += earlier;
    story.Range("timestep " + std::to_string(i), {at, at + 990_us});
    story.Launch("jacobi", {at + 1_us, at + 6_us}, {at + 10_us, at + 900_us});
    story.Sync({at + 10_us, at + 905_us});
  });
  const Analyzed run(story, kAuto);
  std::string text;
  for (const CareNote& note : ReadWithCare(*run.operator->())) text += note.text + "\n";
  return text;
}

TEST_CASE("a loop that is a small part of what was recorded is told as such") {
  CHECK(
      NotesOf(2'000_ms).find("the loop takes 40.0 ms, and what the program did before it 2.00 s") !=
      std::string::npos);
  CHECK(NotesOf(50_ms).find("the loop takes") == std::string::npos);
  // A first kernel that faults all pages in takes longer than the loop.
  CHECK(NotesOf(50_ms, 45_ms).find("the loop takes") != std::string::npos);
}

std::string CareOf(const TraceBuilder& story) {
  const Analyzed run(story, kAuto);
  std::string text;
  for (const CareNote& note : ReadWithCare(*run.operator->())) text += note.text + "\n";
  return text;
}

// A job of a model that prepares its data for so long, after its first call of CUDA.
TEST_CASE("a start that takes most of the recording is told, since no figure has it") {
  const auto notes = [](Nanos prepares, Nanos first_call = 50_us) {
    TraceBuilder story;
    story.Call("cudaMalloc", {0_us, first_call});
    Repeat(40, 1_ms, [&](int i, Nanos at) {
      at += prepares;
      story.Range("train_step " + std::to_string(i), {at, at + 990_us});
      story.Launch("ampere_bf16_s16816gemm_bf16_128x128", {at + 1_us, at + 6_us},
                   {at + 10_us, at + 900_us});
    });
    return CareOf(story);
  };
  CHECK_THAT(notes(300_ms), Catch::Contains("the first kernel starts 300 ms after the first CUDA "
                                            "call: figures leave that time out"));
  CHECK_THAT(notes(30_ms), !Catch::Contains("the first kernel starts"));
  // The call that takes it is named; a context does not take so long.
  CHECK_THAT(notes(300_ms, 290_ms), Catch::Contains("call, 290 ms of it in cudaMalloc: figures"));
  CHECK_THAT(notes(9'000_ms, 8'900_ms),
             Catch::Contains("8.90 s of it in cudaMalloc (creating the CUDA context takes less"));
}

TEST_CASE("figures leave out neither the copies of the window nor what comes after the GPU alone") {
  TraceBuilder story;
  story.Call("cudaMalloc", {0_us, 50_us});
  story.CopyToGpu(64_MiB, MemoryKind::kPinned, {48_ms, 48_ms + 5_us}, {48_ms + 10_us, 71_ms});
  story.Launch("gemm", {48_ms + 10_us, 48_ms + 15_us}, {71_ms, 93_ms});
  story.Call("cudaFree", {919_ms, 920_ms});
  CHECK_THAT(CareOf(story), Catch::Contains("the program goes on for 827 ms after the last GPU "
                                            "operation: figures leave that time out"));
  // A hang: the thread that launches waits to the end.
  story.OsCall("pthread_cond_timedwait", {921_ms, 60'000_ms});
  CHECK_THAT(CareOf(story),
             Catch::Contains("goes on for 59.9 s after the last GPU operation, mostly "
                             "in pthread_cond_timedwait: figures leave"));
  CHECK_THAT(CareOf(story), !Catch::Contains("the first"));
}

TEST_CASE("without a kernel, the first GPU operation ends the start") {
  TraceBuilder story;
  story.Call("cudaMalloc", {0_us, 50_us});
  story.CopyToGpu(1_MiB, MemoryKind::kPinned, {130_ms, 130_ms + 5_us},
                  {130_ms + 10_us, 130_ms + 60_us});
  CHECK_THAT(CareOf(story), Catch::Contains("the first GPU operation starts 130 ms after"));
  CHECK_THAT(CareOf(story), !Catch::Contains("kernel starts"));
}

// Steps of 10 ms that become 40 ms long from the third on; each begins with 5 ms of work.
TEST_CASE("a run that becomes slower within its first steps is told, since no figure has them") {
  const auto notes = [](Nanos work) {
    TraceBuilder story;
    Nanos at = 0;
    for (int i = 0; i < 7; ++i) {
      const Nanos length = i < 2 ? 10_ms : 40_ms;
      const Nanos busy = i < 2 ? work : 5_ms;
      story.Range("step " + std::to_string(i), {at, at + length - 10_us});
      story.Launch("train", {at + 1_us, at + 6_us}, {at + 10_us, at + 10_us + busy});
      story.Sync({at + 10_us, at + 15_us + busy});
      at += length;
    }
    return CareOf(story);
  };
  CHECK_THAT(notes(5_ms), Catch::Contains("the run became slower: the first 2 steps took 10.0 ms "
                                          "with as much work on the GPU"));
  CHECK_THAT(notes(4_ms), !Catch::Contains("the run became slower"));
}

}  // namespace
}  // namespace advise
