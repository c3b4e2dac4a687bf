// Loading on the launching thread and by workers: all figures of it, and what the fix changes.
#include "engine/metrics/losses/input/input.h"
#include "tests/metrics/losses/loss_words.h"
#include "tests/support/loops.h"

namespace advise {
namespace {

// Steps of 2 ms: 900 us of work, then loading from 1000 us on for as long as `length` says.
TraceBuilder Loading(int steps, const std::function<Nanos(int)>& length,
                     const char* range = "load_batch") {
  TraceBuilder story;
  Repeat(steps, 2_ms, [&](int i, Nanos at) {
    story.Range("step " + std::to_string(i), {at, at + 1990_us});
    story.Launch("work", {at, at + 5_us}, {at + 10_us, at + 910_us});
    story.Range(range, {at + 1000_us, at + 1000_us + length(i)});
  });
  return story;
}

TEST_CASE("loading by the launching thread: how often, how long, and in which steps") {
  const Analyzed run(Loading(10, [](int) { return 900_us; }));
  // Nothing ends the gap behind the last step.
  CHECK(run->input.loads == 9);
  CHECK(run->input.load_median_ns == 900e3);
  CHECK(run->input.load_max_ns == 900e3);
  CHECK(run->input.own_ns == 9 * 900e3);
  CHECK(run->input.waiting_ns == 0);
  CHECK(run->input.workers == 0);
  CHECK(run->input.workers_busy == -1);
  CHECK_FALSE(run->input.background);
  CHECK(run->input.steps_affected == Approx(0.9));
  CHECK(run->input.steps_affected_later == Approx(8 / 9.0));
  CHECK(run->input.file_share == 0);
  CHECK(Told(run->input.loss) == "9 times, 0 bytes, 8100000 ns in all, 8100000 ns lost");
  CHECK(Changes(run->input.loss) == "cuts 8100000 ns, readies data");
  // On a machine of unknown size so many workers share the loading.
  const double workers = ShippedKnowledge().Number("input.workers");
  CHECK(run->input.loss.remedy->floor_ns == static_cast<Nanos>(9 * 900e3 / workers));
  CHECK(run->input.loss.remedy->floor_reason == std::string("loading, now done in parallel,"));
  TraceBuilder small = Loading(10, [](int) { return 900_us; });
  CHECK(Analyzed(small.Cores(3))->input.loss.remedy->floor_ns == 9 * 450_us);
  CHECK(Analyzed(small.Cores(1))->input.loss.remedy->floor_ns == 9 * 900_us);
}

TEST_CASE("batches in reserve do not count for how often the GPU waits once they are used up") {
  const Analyzed late(Loading(12, [](int i) { return i < 6 ? 0_us : 900_us; }));
  CHECK(late->input.steps_affected == Approx(5 / 12.0));
  CHECK(late->input.steps_affected_later == Approx(4 / 5.0));  // behind the last step nothing waits
  const Analyzed once(Loading(12, [](int i) { return i == 6 ? 900_us : 0_us; }));
  CHECK(once->input.steps_affected_later == 0);
}

TEST_CASE("steps that only fetch what lay ready do not wait for data, where one batch comes late") {
  const auto affected = [](Nanos fetching) {
    TraceBuilder story;
    Nanos at = 0;
    for (int i = 0; i < 20; ++i) {
      const Nanos until = at + 1000_us + (i == 6 ? 9_ms : fetching);
      story.Range("step " + std::to_string(i), {at, until + 4_us});
      story.Launch("work", {at, at + 5_us}, {at + 6_us, at + 1000_us});
      story.Range("enumerate(DataLoader)#_MultiProcessingDataLoaderIter.__next__",
                  {at + 1000_us, until});
      at = until + 5_us;
    }
    return Analyzed(story)->input.steps_affected;
  };
  CHECK(affected(40_us) == Approx(1 / 20.0));
  CHECK(affected(60_us) == Approx(19 / 20.0));
}

TEST_CASE("loads that take far longer: what they take beyond the usual") {
  const double factor = ShippedKnowledge().Number("input.slow_factor");
  const auto edge = static_cast<Nanos>(factor * 100e3);
  REQUIRE(edge < 900_us);
  const auto slow = [&](Nanos length) {
    return Analyzed(Loading(12, [&](int i) { return i == 5 ? length : 100_us; }));
  };
  CHECK(slow(edge)->input.slow.count == 0);
  const Analyzed run = slow(edge + 100_us);
  CHECK(run->input.slow.count == 1);
  CHECK(run->input.slow.time_ns == static_cast<double>(edge + 100_us));
  CHECK(run->input.slow_excess_ns == static_cast<double>(edge));
  CHECK(run->input.slow.lost->Total() == edge);
  CHECK(Changes(run->input.slow) == "cuts " + std::to_string(edge) + " ns");
  CHECK(run->input.load_max_ns == static_cast<double>(edge + 100_us));
}

TEST_CASE("files: what the loading thread reads of its own loading") {
  TraceBuilder story = Loading(10, [](int) { return 800_us; });
  Repeat(10, 2_ms, [&](int, Nanos at) { story.OsCall("read", {at + 1100_us, at + 1300_us}); });
  const Analyzed run(story);
  CHECK(run->input.file_share == Approx(0.25));
  CHECK(run->input.own_ns == 9 * 800e3);
}

TEST_CASE("reading that makes the next upload late costs the time of that upload") {
  // The GPU always has something to do. But the file for the next frame is read while the kernel of
  // this one runs, and so its upload begins when that kernel is done, and not beside it.
  const auto frames = [](Nanos read) {
    TraceBuilder story;
    Repeat(20, 2_ms, [&](int i, Nanos at) {
      story.Range("step " + std::to_string(i), {at, at + 1990_us});
      story.OsCall("pread64", {at, at + read});
      const Nanos call = at + read + 2_us;
      story.OnStream(13).CopyToGpu(8_MiB, MemoryKind::kPinned, {call, call + 4_us},
                                   {at + 1010_us, at + 1610_us});
      story.OnStream(7).Launch("filter", {call + 6_us, call + 10_us}, {at + 1612_us, at + 3008_us});
    });
    return story;
  };
  const Analyzed late(frames(1000_us));
  CHECK(late->input.own_ns == Approx(19 * 600e3).epsilon(0.1));
  CHECK(static_cast<double>(late->input.loss.lost->Total()) == late->input.own_ns);
  CHECK(late->input.file_share == Approx(1));
  Nanos cut = 0;  // all that is read in the loop
  for (const Remedy::HostCut& of : late->input.loss.remedy->host_cuts) cut += of.when.Total();
  CHECK(static_cast<double>(cut) == Approx(19 * 1000e3).epsilon(0.1));
  // Read early, the same upload waits for something else.
  CHECK(Analyzed(frames(100_us))->input.loss.count == 0);
}

TEST_CASE("mapping memory in gaps") {
  TraceBuilder story;
  Repeat(10, 2_ms, [&](int i, Nanos at) {
    story.Range("step " + std::to_string(i), {at, at + 1990_us});
    story.Launch("work", {at, at + 5_us}, {at + 10_us, at + 910_us});
    story.OsCall("mmap", {at + 1000_us, at + 1900_us});
  });
  const Analyzed run(story);
  CHECK(Told(run->input.map) == "9 times, 0 bytes, 8100000 ns in all, 8100000 ns lost");
  CHECK(Changes(run->input.map) == "cuts 8100000 ns");
}

// Workers that read for `reading` from `from` of each step on and else wait.
TraceBuilder WithWorkers(Nanos from, Nanos reading) {
  TraceBuilder story;
  Repeat(10, 2_ms, [&](int i, Nanos at) {
    story.Range("step " + std::to_string(i), {at, at + 1990_us});
    story.Launch("work", {at, at + 5_us}, {at + 10_us, at + 910_us});
    story.Range("load_batch", {at + 1000_us, at + 1900_us});
    story.OsCall("sem_wait", {at + 1000_us, at + 1900_us});
  });
  for (int w = 0; w < 2; ++w) {
    story.Process("worker " + std::to_string(w)).Thread("pt_data_worker");
    Repeat(10, 2_ms, [&](int, Nanos at) {
      story.OsCall("read", {at + from, at + from + reading});
      story.OsCall("sem_wait", {at + from + reading, at + from + 2_ms});
    });
  }
  return story;
}

TEST_CASE("waiting for workers: how many there are, how busy, and what they read") {
  const Analyzed run(WithWorkers(1000_us, 600_us));
  CHECK(run->input.workers == 2);
  CHECK(run->input.background);
  CHECK(run->input.own_ns == 0);
  CHECK(run->input.waiting_ns == 9 * 900e3);
  CHECK(run->input.workers_busy == Approx(0.3).epsilon(0.05));
  CHECK(run->input.file_share == Approx(1).epsilon(0.01));
  CHECK(run->input.loss.remedy->data_ready);
  Nanos cut = 0;
  for (const auto& [thread, when] : CutsByThread(run->input.loss.remedy->host_cuts)) {
    cut += when.Total();
  }
  CHECK(cut >= 9 * 900_us);  // the whole of each loading range
}

TEST_CASE("threads that compute and upload batches are no faster than so many of them") {
  // Its thread computes each batch for 1.9 ms and uploads it; the main thread waits for that.
  const auto story = [](int feeders) {
    TraceBuilder told;
    told.Cores(3);
    Repeat(10, 2_ms, [&](int i, Nanos at) {
      told.Thread("main").Range("step " + std::to_string(i), {at, at + 1990_us});
      told.OnStream(7).Launch("work", {at, at + 5_us}, {at + 10_us, at + 610_us});
      told.Range("load_batch", {at + 620_us, at + 1980_us});
      for (int f = 0; f < feeders; ++f) {
        told.Thread("feeder " + std::to_string(f)).OnStream(8 + f);
        told.CopyToGpu(8_MiB, MemoryKind::kPinned, {at + 1900_us, at + 1904_us},
                       {at + 1905_us, at + 1975_us});
      }
    });
    return Analyzed(told);
  };
  // Nothing says when they rest: two workers on three cores share all of their time.
  const Analyzed one = story(1);
  CHECK(one->input.loss.remedy->floor_ns == one.Window() / 2);
  const Analyzed two = story(2);
  CHECK(two->input.loss.remedy->floor_ns == two.Window());
}

TEST_CASE("a thread that names its loading loads in the background") {
  TraceBuilder story;
  Repeat(10, 2_ms, [&](int i, Nanos at) {
    story.Range("step " + std::to_string(i), {at, at + 1990_us});
    story.Launch("work", {at, at + 5_us}, {at + 10_us, at + 910_us});
    story.Range("load_batch", {at + 1000_us, at + 1900_us});
  });
  CHECK_FALSE(Analyzed(story)->input.background);
  TraceBuilder other = story;
  other.Thread("reader").Range("something", {100_us, 200_us});
  CHECK_FALSE(Analyzed(other)->input.background);
  story.Thread("reader").Range("load_batch", {100_us, 200_us});
  CHECK(Analyzed(story)->input.background);
}

// Steps of 4 ms: the host launches 2 ms of work at once, asks for the next batch, and gets it 3 ms
// later. The worker begins so long after it was asked, or before.
TEST_CASE("loaders that begin when they are asked, while the GPU still works") {
  const auto on_demand = [](Nanos begins) {
    TraceBuilder story;
    Repeat(10, 4_ms, [&](int i, Nanos at) {
      story.Range("step " + std::to_string(i), {at, at + 3990_us});
      story.Launch("work", {at, at + 5_us}, {at + 10_us, at + 2_ms});
      story.OsCall("poll", {at + 900_us, at + 3900_us});
    });
    story.Process("worker").Thread("pt_data_worker");
    Repeat(10, 4_ms, [&](int, Nanos at) {
      story.OsCall("read", {at + 900_us + begins, at + 3890_us});
      story.OsCall("sem_wait", {at + 3890_us, at + 4900_us + begins});
    });
    return Analyzed(story)->input.on_demand;
  };
  CHECK(on_demand(20_us) == 1);
  CHECK(on_demand(-500_us) == 0);
}

TEST_CASE("loaders that begin only when the GPU is done") {
  CHECK(Analyzed(WithWorkers(1000_us, 850_us))->input.on_demand == 1);
  // Half of it while the GPU works.
  CHECK(Analyzed(WithWorkers(500_us, 1300_us))->input.on_demand == 0);
}

}  // namespace
}  // namespace advise
