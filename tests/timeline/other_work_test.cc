// Programs that do more than the loop that is judged.
#include "engine/timeline/other_work.h"

#include "tests/support/analyzed.h"
#include "tests/support/loops.h"

namespace advise {
namespace {

// From `at` on, `count` steps that upload a batch, run kernels of `names` for 1 ms each, and wait;
// the host then does something else for `pause`. Returns when the last one is done.
Nanos Train(TraceBuilder* story, Nanos at, int count, const std::vector<std::string>& names,
            Nanos pause) {
  for (int n = 0; n < count; ++n) {
    story->CopyToGpu(1_MiB, MemoryKind::kPinned, {at, at + 5_us}, {at + 10_us, at + 90_us});
    Nanos done = at + 100_us;
    for (const std::string& name : names) {
      story->Launch(name, {at + 10_us, at + 15_us}, {done, done + 1_ms});
      done += 1_ms;
    }
    story->Sync({at + 20_us, done + 5_us});
    at = done + 10_us + pause;
  }
  return at;
}

// 20 steps with pauses of `pause`, then 200 others without; each loop computes as long.
struct TwoLoops {
  TraceBuilder story;
  Nanos first_ends = 0;
  explicit TwoLoops(Nanos pause, int first = 20) {
    first_ends = Train(&story, 0, first, {"embed", "attend", "mix", "norm", "loss"}, pause);
    Train(&story, first_ends + 200_ms, 200, {"convolve"}, 0);
  }
};

TEST_CASE("a loop beside the one that is judged is other work") {
  const TwoLoops loops(5_ms);
  const Analyzed run(loops.story, kAuto);
  CHECK(run->run.steps.all.size() >= 190);
  CHECK(run->other_work.before);
  CHECK(run->other_work.span.start == 10_us);
  CHECK(std::abs(run->other_work.span.end - (loops.first_ends - 5_ms)) < 1_ms);
  CHECK(run->other_work.share == Approx(0.32).margin(0.02));  // 102 of 318 ms
  CHECK(run->other_work.left_out == Approx(run->other_work.share).margin(0.02));
  CHECK(run->other_work.busy == Approx(0.5).margin(0.02));
  // Behind the loop as well.
  TraceBuilder turned;
  const Nanos ends = Train(&turned, 0, 200, {"convolve"}, 0);
  Train(&turned, ends + 200_ms, 20, {"embed", "attend", "mix", "norm", "loss"}, 5_ms);
  const Analyzed behind(turned, kAuto);
  CHECK(behind->other_work.share == Approx(0.32).margin(0.02));
  CHECK(!behind->other_work.before);
}

// 102 ms of other kernels, then 51 ms, then the loop of 216 ms.
TEST_CASE("two stretches before the loop are left out together, and the longer one is shown") {
  TraceBuilder story;
  Nanos at = Train(&story, 0, 20, {"embed", "attend", "mix", "norm", "loss"}, 5_ms);
  const Nanos first_ends = at;
  at = Train(&story, at + 300_ms, 10, {"embed", "attend", "mix", "norm", "loss"}, 5_ms);
  Train(&story, at + 300_ms, 200, {"convolve"}, 0);
  const Analyzed run(story, kAuto);
  CHECK(run->other_work.share == Approx(102.0 / 369).margin(0.02));
  CHECK(run->other_work.span.end < first_ends);
  CHECK(run->other_work.left_out == Approx(153.0 / 369).margin(0.02));
}

TEST_CASE("little work, and GPUs that hardly work between pauses, are no other work") {
  CHECK(Analyzed(TwoLoops(5_ms, 8).story, kAuto)->other_work.share == 0);
  CHECK(Analyzed(TwoLoops(20_ms).story, kAuto)->other_work.share == 0);
  CHECK(Analyzed(TwoLoops(150_ms).story, kAuto)->other_work.share == 0);
  // Who asked for all gets all.
  CHECK(Analyzed(TwoLoops(5_ms).story)->other_work.share == 0);
}

TEST_CASE("work beside which code is loaded is start-up") {
  const auto starts_up = [](Nanos loading) {
    TwoLoops loops(5_ms);
    loops.story.Call("cuLibraryLoadData", {105_ms, 105_ms + loading});
    return Analyzed(loops.story, kAuto)->other_work.starts_up;
  };
  CHECK_FALSE(starts_up(15_ms));  // of 100 ms in which the GPU does nothing
  CHECK(starts_up(25_ms));
}

TEST_CASE("the last iteration, whose end nothing shows, is no other work") {
  const auto last_of = [](const std::vector<std::string>& names) {
    TraceBuilder story;
    const Nanos ends = Train(&story, 0, 4, {"saxpy", "sum"}, 2_ms);
    Train(&story, ends, 1, names, 0);
    const Analyzed run(story, kAuto);
    return std::pair(run->other_work.share, run->other_work.last_step);
  };
  const auto same = last_of({"saxpy", "sum"});
  CHECK(same.first == 0);
  CHECK((same.second == 0 || same.second == Approx(0.2).margin(0.02)));
  CHECK(last_of({"write", "check"}).second == 0);
}

TEST_CASE("a window beside the main loop has the steps of its own") {
  const TwoLoops loops(5_ms);
  const auto asked = [&](double from, double to) {
    return Analyzed(loops.story, WindowRequest{WindowRequest::Mode::kGiven, from, to});
  };
  const double ends = static_cast<double>(loops.first_ends) / 1e9;
  const Analyzed first = asked(0, ends + 0.21);  // and a little of the other
  CHECK(first->run.steps.all.size() >= 18);
  CHECK(first->run.steps.Median() == Approx(10'110'000).epsilon(0.01));
  // All that was asked for is judged where much of its work is done beside the loop.
  const Analyzed both = asked(0, 100);
  CHECK_FALSE(both->run.steps.known());
  CHECK(both->run.window.start == 10_us);
  CHECK(both->run.window.end == Analyzed(loops.story)->run.window.end);
  // Inside of the main loop, no smaller thing is a step.
  CHECK(asked(ends + 0.3, ends + 0.4)->run.steps.Median() == Approx(1'120'000).epsilon(0.01));
}

}  // namespace
}  // namespace advise
