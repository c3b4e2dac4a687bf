// Who the launching thread waited for.
#include "engine/timeline/awaited.h"

#include <algorithm>
#include <functional>

#include "engine/timeline/idle.h"
#include "tests/support/analyzed.h"
#include "tests/support/loops.h"
#include "tests/support/stories.h"

namespace advise {
namespace {

TEST_CASE("a wait while the loader's workers rest is no wait for data") {
  TraceBuilder story = GapStory().OsCall("poll", {102_us, 195_us});
  story.Process("python worker").Thread("pt_data_worker");
  story.OsCall("read", {1_us, 20_us})
      .OsCall("futex", {21_us, 290_us})
      .OsCall("read", {291_us, 299_us});
  const Analyzed run(story);
  CHECK(run.Idle(IdleCause::kDataLoading) == 0);
  CHECK(run.Idle(IdleCause::kHostWait) == 93_us);
}

TEST_CASE("a wait while the workers compute, which no call shows, is a wait for data") {
  TraceBuilder story = GapStory().OsCall("poll", {102_us, 195_us});
  story.Process("python worker").Thread("pt_data_worker").OsCall("read", {1_us, 20_us});
  CHECK(Analyzed(story).Idle(IdleCause::kDataLoading) == 93_us);
}

TEST_CASE("a thread that sends, waits and receives waits for an answer, not for its loader") {
  const auto loading = [](const char* before) {
    TraceBuilder story = GapStory().OsCall(before, {102_us, 104_us});
    story.OsCall("poll", {104_us, 180_us}).OsCall("recv", {181_us, 195_us});
    story.Process("python worker").Thread("pt_data_worker").OsCall("read", {1_us, 290_us});
    const Analyzed run(story);
    CHECK(run.Idle(IdleCause::kHostWait) + run.Idle(IdleCause::kDataLoading) == 92_us);
    return run.Idle(IdleCause::kDataLoading);
  };
  CHECK(loading("send") == 0);
  CHECK(loading("recv") == 92_us);
}

TEST_CASE(
    "waiting for a child process whose result is loaded next is compilation, also beside workers") {
  TraceBuilder story = GapStory().OsCall("waitpid", {102_us, 180_us});
  story.Call("cuModuleLoadData", {182_us, 195_us});
  story.Process("python worker").Thread("pt_data_worker").OsCall("read", {90_us, 190_us});
  const Analyzed run(story);
  CHECK(run.Idle(IdleCause::kJitOrModuleLoad) == 78_us + 13_us);
  CHECK(run.Idle(IdleCause::kDataLoading) == 0);
}

// Steps of 1 ms: an update of weights runs for 500 us, the thread waits, uploads or launches, and
// so on.
TEST_CASE("a training program that uploads after its waits waits for data") {
  const auto loading = [](const char* kernel, std::int64_t bytes) {
    TraceBuilder story;
    Repeat(10, 1_ms, [&](int, Nanos at) {
      story.Launch(kernel, {at, at + 5_us}, {at + 10_us, at + 510_us});
      story.OsCall("poll", {at + 6_us, at + 980_us});
      const Interval call{at + 982_us, at + 986_us};
      const Interval op{at + 990_us, at + 995_us};
      if (bytes > 0)
        story.CopyToGpu(bytes, MemoryKind::kPinned, call, op);
      else
        story.Launch("first", call, op);
    });
    return Analyzed(story).Idle(IdleCause::kDataLoading);
  };
  const char* update =
      "void at::native::(anonymous namespace)::multi_tensor_apply_kernel<"
      "at::native::FusedAdamMathFunctor<float, 4> >(int)";
  CHECK(loading(update, 1 << 16) > 9 * 460_us);
  CHECK(loading(update, 4) == 0);  // a number is no batch
  CHECK(loading(update, 0) == 0);
  CHECK(loading("stencil", 1 << 16) == 0);  // who knows what it waits for
}

// Metrics are summed up over ranks on the CPU: the thread talks with others, message by message.
TEST_CASE("waits by turns in several calls are a talk with other processes, and no loader") {
  const auto loading = [](const char* other) {
    TraceBuilder story;
    Repeat(10, 10_ms, [&](int, Nanos at) {
      story.Launch("multi_tensor_apply_kernel<AdamFunctor>", {at, at + 5_us},
                   {at + 10_us, at + 510_us});
      for (int n = 0; n < 6; ++n) {
        const Nanos wait = at + 520_us + n * 1500_us;
        story.OsCall(n % 2 == 0 ? "pthread_cond_wait" : other, {wait, wait + 1490_us});
      }
      story.CopyToGpu(1 << 16, MemoryKind::kPinned, {at + 9700_us, at + 9705_us},
                      {at + 9710_us, at + 9720_us});
    });
    return Analyzed(story).Idle(IdleCause::kDataLoading);
  };
  CHECK(loading("epoll_wait") == 0);
  CHECK(loading("pthread_cond_wait") > 9 * 8_ms);  // asks one queue again and again
}

// A thread uploads a number or a batch in each step, and waits before it, while loader workers are
// at work.
TEST_CASE("a thread that uploads single values waits for no loader") {
  const auto waits_for_data = [](std::int64_t bytes) {
    TraceBuilder story;
    Repeat(10, 1_ms, [&](int, Nanos at) {
      story.Thread("main").Launch("first", {at, at + 5_us}, {at + 10_us, at + 110_us});
      story.Thread("uploads").OsCall("futex", {at + 10_us, at + 880_us});
      story.CopyToGpu(bytes, MemoryKind::kPinned, {at + 885_us, at + 890_us},
                      {at + 892_us, at + 895_us});
    });
    story.Process("python worker").Thread("pt_data_worker").OsCall("read", {1_us, 20_us});
    const Analyzed run(story);
    const auto& feeds = run->run.feeds;
    const auto uploads = std::find(feeds.begin(), feeds.end(), 1) - feeds.begin();
    REQUIRE(uploads < static_cast<std::ptrdiff_t>(feeds.size()));
    return Awaited(run->run).IsLoader(static_cast<std::uint32_t>(uploads), 5010_us, 5880_us);
  };
  CHECK(waits_for_data(1 << 20));
  CHECK_FALSE(waits_for_data(4));
}

// One thread launches what another one hands it, and waits meanwhile; a third one reads ahead.
TEST_CASE("a wait in which another thread loads code is no wait for the thread that reads") {
  const auto loading = [](bool compiles) {
    TraceBuilder story;
    Repeat(10, 1_ms, [&](int, Nanos at) {
      story.Thread("execute").Launch("module", {at, at + 5_us}, {at + 10_us, at + 510_us});
      story.OsCall("futex", {at + 6_us, at + 980_us});
      story.Thread("prefetch").OsCall("read", {at + 20_us, at + 970_us});
      if (compiles) story.Thread("main").Call("cuModuleLoadData", {at + 900_us, at + 975_us});
    });
    return Analyzed(story).Idle(IdleCause::kDataLoading);
  };
  CHECK(loading(false) > 9 * 450_us);
  CHECK(loading(true) == 0);
}

TEST_CASE("waiting for a child process that nothing explains is a wait of the host") {
  const Analyzed run(GapStory().OsCall("waitpid", {102_us, 180_us}));
  CHECK(run.Idle(IdleCause::kHostWait) == 78_us);
}

TEST_CASE("a server that waits for a request has nothing to do") {
  TraceBuilder story = GapStory().OsCall("pthread_cond_timedwait", {102_us, 195_us});
  story.Thread("api_server").OsCall("epoll_wait", {20_us, 180_us}).OsCall("recv", {181_us, 190_us});
  const Analyzed run(story);
  CHECK(run.Idle(IdleCause::kNoWorkQueued) == 93_us);
  CHECK(run.Idle(IdleCause::kHostWait) == 0);
}

// The wait of the thread that receives began before the capture, which therefore lacks it.
TEST_CASE("the first request of a capture ends a wait that was not recorded") {
  const auto idle = [](bool waits_later) {
    TraceBuilder story = GapStory().OsCall("pthread_cond_timedwait", {102_us, 195_us});
    story.Thread("api_server").OsCall("recv", {181_us, 190_us});
    if (waits_later) story.OsCall("epoll_wait", {191_us, 900_us}).OsCall("recv", {901_us, 905_us});
    return Analyzed(story).Idle(IdleCause::kNoWorkQueued);
  };
  CHECK(idle(true) == 93_us);
  CHECK(idle(false) == 0);
}

// Passes of 1 ms, with `between` before each: it is given where the last pass ended, and where the
// next one begins.
template <typename Between>
TraceBuilder Passes(const char* kernel, int count, Nanos apart, Between between) {
  TraceBuilder story;
  Nanos at = 0;
  for (int n = 0; n < count; ++n) {
    story.Thread("main").Launch(kernel, {at, at + 5_us}, {at + 10_us, at + 900_us});
    story.Launch("second", {at + 6_us, at + 9_us}, {at + 900_us, at + 1_ms});
    story.Call("cudaStreamSynchronize", {at + 10_us, at + 1_ms});
    if (n + 1 < count) between(&story, n, Interval{at + 1_ms, at + 1_ms + apart});
    at += 1_ms + apart;
  }
  return story;
}

TEST_CASE("a silent thread that goes on behind requests waits for them") {
  const auto requests = [](int received, bool shows_waits) {
    return Analyzed(Passes("forward", 12, 2_ms, [=](TraceBuilder* story, int n, Interval gap) {
      if (shows_waits) story->OsCall("pthread_cond_wait", {gap.start + 10_us, gap.start + 1_ms});
      if (n >= received) return;
      story->Thread("api_server").OsCall("epoll_wait", {gap.start - 500_us, gap.end - 60_us});
      story->OsCall("recv", {gap.end - 50_us, gap.end - 40_us}).Thread("main");
    }));
  };
  const Analyzed server = requests(11, false);
  CHECK(server.Idle(IdleCause::kNoWorkQueued) >= 11 * 1_ms);
  CHECK(server.Idle(IdleCause::kHostCompute) == 0);
  // Without its waits, the host would not get ahead of requests that have not come.
  Remedy free;
  free.unblocked_calls = server.Calls("cudaStreamSynchronize");
  CHECK(server->replay().Gain(free) < 200_us);
  // Two may be chance; and a thread whose waits were recorded did not wait where it shows none.
  CHECK(requests(2, false).Idle(IdleCause::kNoWorkQueued) == 0);
  CHECK(requests(11, true).Idle(IdleCause::kNoWorkQueued) == 0);
}

// What the other thread receives took less time than the profiler keeps; the answer is sent by the
// thread that launches.
TEST_CASE("an event loop alone tells of requests, where they are answered") {
  const auto idle = [](bool answers, const char* kernel) {
    return Analyzed(Passes(kernel, 20, 4_ms,
                           [=](TraceBuilder* story, int, Interval gap) {
                             if (answers)
                               story->OsCall("sendto", {gap.start + 2_us, gap.start + 20_us});
                             story->OsCall("sem_clockwait", {gap.start + 20_us, gap.end - 100_us});
                             story->Thread("asyncio").OsCall(
                                 "epoll_wait", {gap.start - 800_us, gap.end - 101_us});
                             story->Thread("main");
                           }))
        .Idle(IdleCause::kNoWorkQueued);
  };
  CHECK(idle(true, "forward") >= 19 * 3_ms);
  CHECK(idle(false, "forward") == 0);
  CHECK(idle(true, "multi_tensor_apply_kernel<AdamFunctor>") == 0);
}

TEST_CASE("a thread that launches what its event loop receives waits for requests") {
  const auto received = [](TraceBuilder* story, int, Interval gap) {
    story->OsCall("epoll_wait", {gap.start + 10_us, gap.end - 50_us})
        .OsCall("recvmsg", {gap.end - 40_us, gap.end - 30_us});
  };
  const Analyzed server(Passes("forward", 20, 2_ms, received));
  CHECK(server.Idle(IdleCause::kNoWorkQueued) == 19 * (2_ms - 60_us));
  CHECK(server->kind.serves);
  CHECK(server->kind.unit == "request");
  CHECK(server->serving.known);
  CHECK_FALSE(server->serving.steps_named);
  // A training loop that waits for an answer in each step waits for somebody.
  const Analyzed client(Passes("multi_tensor_apply_kernel<AdamFunctor>", 20, 2_ms, received));
  CHECK(client.Idle(IdleCause::kNoWorkQueued) == 0);
  CHECK(client.Idle(IdleCause::kHostWait) > 0);
}

TEST_CASE("what an event loop receives may take less time than is recorded: the answer tells") {
  const Analyzed server(Passes("forward", 20, 2_ms, [](TraceBuilder* story, int, Interval gap) {
    story->OsCall("epoll_wait", {gap.start + 10_us, gap.end - 250_us})
        .OsCall("send", {gap.end - 40_us, gap.end - 30_us});
  }));
  CHECK(server.Idle(IdleCause::kNoWorkQueued) == 19 * (2_ms - 260_us));
  CHECK(server.Idle(IdleCause::kHostWait) == 19 * 10_us);  // to send
}

// Each pass ends with an answer; then the thread waits in the call that receives.
TEST_CASE(
    "who waits for an answer waits about as long each time, for requests now long, now short") {
  const auto idle = [](const std::function<Nanos(int)>& wait) {
    TraceBuilder story;
    Nanos at = 0;
    for (int i = 0; i < 40; ++i) {
      story.Launch("forward", {at, at + 5_us}, {at + 10_us, at + 1_ms});
      story.Sync({at + 6_us, at + 1_ms + 5_us});
      story.OsCall("send", {at + 1_ms + 10_us, at + 1_ms + 40_us});
      const Nanos got = at + 1_ms + 40_us + wait(i);
      story.OsCall("recvfrom", {at + 1_ms + 40_us, got});
      at = got + 10_us;
    }
    return Analyzed(story).Idle(IdleCause::kNoWorkQueued);
  };
  CHECK(idle([](int i) { return 100_us + (i * 7 % 40) * 100_us; }) > 39 * 1_ms);
  CHECK(idle([](int i) { return 2_ms + (i * 7 % 40) * 10_us; }) == 0);
}

TEST_CASE("the waits of a model server's engine are for requests, whatever follows them") {
  // Now and then the engine has nothing to do, and waits in this call, or naps in between.
  const auto idle = [](const char* call, int naps, const char* kernel, int every = 3) {
    const Analyzed run(Passes(kernel, 40, 3_ms, [&](TraceBuilder* story, int pass, Interval gap) {
      if (pass % every != 0) return;
      const Nanos each = gap.Length() / naps;
      for (int n = 0; n < naps; ++n)
        story->OsCall(call, {gap.start + n * each + 10_us, gap.start + (n + 1) * each});
    }));
    return run.Idle(IdleCause::kNoWorkQueued);
  };
  const char* const engine = "vllm::reshape_and_cache_kernel";
  CHECK(idle("epoll_wait", 1, engine) > 12 * 2_ms);
  CHECK(idle("poll", 1, engine) > 12 * 2_ms);
  CHECK(idle("recv", 1, engine) > 12 * 2_ms);
  CHECK(idle("clock_nanosleep", 4, engine) > 12 * 2_ms);
  // In each pass and as long each time, it waits for a process of its own, such as the scheduler.
  CHECK(idle("epoll_wait", 1, engine, 1) == 0);
  CHECK(idle("recv", 1, engine, 1) == 0);
  CHECK(idle("poll", 1, "forward") == 0);
  CHECK(idle("recv", 1, "forward") == 0);
  CHECK(idle("clock_nanosleep", 4, "forward") == 0);
}

// Passes of 3 ms, in which the thread asks another machine and waits 2 ms for the answer.
TraceBuilder WithRemoteCall(const char* kernel, const char* range) {
  return Passes(kernel, 20, 2_ms, [range](TraceBuilder* story, int, Interval gap) {
    story->OsCall("sendto", {gap.start + 10_us, gap.start + 50_us})
        .OsCall("epoll_wait", {gap.start + 50_us, gap.end - 50_us})
        .OsCall("recv", {gap.end - 50_us, gap.end - 20_us});
    if (range != nullptr) story->Range(range, {gap.start - 1_ms, gap.end});
  });
}

TEST_CASE("what a program sends beside its loop answers no requests") {
  const auto none = [](TraceBuilder*, int, Interval) {};
  for (const Nanos from : {0_ms, 100_ms}) {  // within the loop, and after it
    TraceBuilder story = Passes("forward", 20, 2_ms, none);
    story.Thread("main");
    for (int n = 0; n < 40; ++n)
      story.OsCall("send", {from + n * 1_ms + 20_us, from + n * 1_ms + 30_us});
    CHECK(Analyzed(story)->kind.serves == (from == 0));
  }
}

TEST_CASE("many messages in one step of a loop answer no requests") {
  TraceBuilder story = Passes("forward", 20, 2_ms, [](TraceBuilder*, int, Interval) {});
  story.Thread("main");
  for (int n = 0; n < 40; ++n) story.OsCall("send", {n * 40_us + 20_us, n * 40_us + 30_us});
  CHECK_FALSE(Analyzed(story)->kind.serves);
}

TEST_CASE("a remote call in each step is no wait for requests, and no wait for data") {
  const Nanos calls = 19 * (2_ms - 30_us);
  const Analyzed engine(WithRemoteCall("forward", "execute_model"));
  CHECK(engine.Idle(IdleCause::kNoWorkQueued) == 0);
  CHECK(engine->stalls.network.lost->Total() == calls);
  CHECK(engine->serving.no_request.lost->Total() == 0);

  TraceBuilder trains = WithRemoteCall("multi_tensor_apply_kernel<AdamFunctor>", nullptr);
  trains.Process("python worker").Thread("pt_data_worker").OsCall("read", {0, 60_ms});
  const Analyzed training(trains);
  CHECK(training.Idle(IdleCause::kDataLoading) == 0);
  CHECK(training->stalls.network.lost->Total() == calls);

  // Behind an answer, a server that no range divides waits for its next request.
  const Analyzed server(WithRemoteCall("forward", nullptr));
  CHECK(server.Idle(IdleCause::kNoWorkQueued) > 18 * (2_ms - 100_us));
  CHECK(server->stalls.network.lost->Total() < 19 * 100_us);
}

TEST_CASE("a session waits for the next command of a person") {
  const auto typed = [](int every) {
    return Passes("multi_tensor_apply_kernel<AdamFunctor>", 40, 2000_ms,
                  [every](TraceBuilder* story, int n, Interval gap) {
                    const bool person = n % every == every - 1;
                    story->OsCall(person ? "epoll_wait" : "nanosleep", gap);
                  });
  };
  const Analyzed session(typed(8));
  CHECK(session.Idle(IdleCause::kNoWorkQueued) == session->stalls.input.lost->Total());
  CHECK(session.Idle(IdleCause::kNoWorkQueued) >= 4 * 2000_ms);
  CHECK(session->stalls.between_input.Length() >= 7 * 2000_ms);
  // In every second step it belongs to the step.
  CHECK(Analyzed(typed(2)).Idle(IdleCause::kNoWorkQueued) == 0);
}

TEST_CASE("without training, each step may be a cell that a person starts") {
  const Analyzed session(
      Passes("mandelbrot", 20, 2000_ms,
             [](TraceBuilder* story, int, Interval gap) { story->OsCall("epoll_wait", gap); }));
  CHECK(session.Idle(IdleCause::kNoWorkQueued) >= 18 * 2000_ms);
}

// The thread that pins memory waits at the pipe of worker processes that nobody traced.
TraceBuilder PinnedBatch(const char* thread) {
  TraceBuilder story = GapStory().OsCall("sem_clockwait", {102_us, 195_us});
  story.Thread(thread).OsCall("poll", {20_us, 170_us}).OsCall("read", {171_us, 172_us});
  return story.OsCall("recvmsg", {172_us, 174_us});
}

TEST_CASE("memory that workers hand over is a batch, whoever maps it") {
  for (const char* thread : {"pt_data_pin", "python"}) {
    TraceBuilder story = PinnedBatch(thread);
    story.OsCall("mmap64", {174_us, 176_us}).OsCall("munmap", {188_us, 190_us});
    const Analyzed run(story);
    CHECK(run.Idle(IdleCause::kDataLoading) == 93_us);
    CHECK(run->input.loader == "workers");
  }
  TraceBuilder own =
      GapStory().OsCall("poll", {102_us, 185_us}).OsCall("recvmsg", {185_us, 187_us});
  own.OsCall("mmap64", {187_us, 190_us});
  CHECK(Analyzed(own).Idle(IdleCause::kDataLoading) >= 83_us);
  // Received, but no memory of another process: a request.
  CHECK(Analyzed(PinnedBatch("python")).Idle(IdleCause::kNoWorkQueued) == 93_us);
}

TEST_CASE("a request that came long before the wait ended is not what was waited for") {
  TraceBuilder story = GapStory().OsCall("pthread_cond_timedwait", {102_us, 195_us});
  story.Thread("api_server").OsCall("epoll_wait", {20_us, 110_us}).OsCall("recv", {111_us, 120_us});
  CHECK(Analyzed(story).Idle(IdleCause::kHostWait) == 93_us);
}

TEST_CASE("one sleep is no wait for the thread that reads meanwhile, polling with sleeps is") {
  const auto slept = [](const std::vector<Interval>& sleeps) {
    TraceBuilder story = GapStory();
    for (const Interval& sleep : sleeps) story.OsCall("clock_nanosleep", sleep);
    story.Thread("reader").OsCall("read", {90_us, 194_us});
    return Analyzed(story).Idle(IdleCause::kDataLoading);
  };
  CHECK(slept({{102_us, 195_us}}) == 0);
  CHECK(slept({{102_us, 150_us}, {152_us, 195_us}}) == 48_us + 43_us);
}

enum class Reader { kOnDemand, kAlways, kInPieces, kInRarePieces, kAlongside };

// A launching thread of which nothing but its launches is recorded, 10 ms a step of which the GPU
// works 2, beside a thread of the process that reads files.
TraceBuilder Fed(Reader reader) {
  TraceBuilder story;
  Repeat(10, 10_ms, [&](int n, Nanos at) {
    story.Thread("main").Launch("work", {at, at + 5_us}, {at + 10_us, at + 2_ms});
    story.Thread("reader");
    switch (reader) {
      case Reader::kOnDemand:  // begins when the GPU has its batch, ends when the next one is there
        story.OsCall("read", {at + 1_ms, at + 9_ms + 900_us});
        break;
      case Reader::kAlways:
        story.OsCall("read", {at, at + 9_ms + 990_us});
        break;
      case Reader::kInPieces:  // and works on each for a while
      case Reader::kInRarePieces:
        for (int i = 0; i < 10; ++i) {
          const Nanos length = reader == Reader::kInPieces ? 750_us : 400_us;
          const Nanos start = at + i * 1_ms + n * 70_us;  // not in step with the launching thread
          story.OsCall("recv", {start, start + length});
        }
        break;
      case Reader::kAlongside:  // fills a queue ahead of time, and rests
        story.OsCall("read", {at + 1_ms + n * 200_us, at + 6_ms + n * 200_us});
        break;
    }
  });
  return story;
}

TEST_CASE("a silent launching thread waits for a thread that reads until just before it goes on") {
  const Analyzed run(Fed(Reader::kOnDemand), kAuto);
  CHECK(run.Idle(IdleCause::kDataLoading) > run.Window() * 7 / 10);
}

TEST_CASE("a thread that reads without a rest is what a silent launching thread waits for") {
  const Analyzed run(Fed(Reader::kAlways), kAuto);
  CHECK(run.Idle(IdleCause::kDataLoading) > run.Window() * 7 / 10);
}

TEST_CASE("work between two reads is no rest, unless it takes longer than they do") {
  const Analyzed run(Fed(Reader::kInPieces), kAuto);
  CHECK(run.Idle(IdleCause::kDataLoading) > run.Window() * 7 / 10);
  CHECK(Analyzed(Fed(Reader::kInRarePieces), kAuto).Idle(IdleCause::kDataLoading) == 0);
}

TEST_CASE("a thread whose waits are recorded works where it shows none") {
  TraceBuilder story = Fed(Reader::kInPieces);
  story.Thread("main");
  for (int n = 0; n < 10; ++n)
    story.OsCall("pthread_cond_timedwait", {n * 10_ms + 1_ms, n * 10_ms + 6_ms});
  const Analyzed run(story, kAuto);
  CHECK(run.Idle(IdleCause::kHostCompute) > run.Window() * 2 / 10);
}

// Each 10 ms the GPU works for 3 ms, and nothing is recorded of the launching thread for 7 ms. Each
// of two workers reads for 5 ms of every 6, or of every 10.
TEST_CASE("loader workers that never rest are what a silent launching thread waits for") {
  const auto loading = [](Nanos period) {
    TraceBuilder story;
    Repeat(10, 10_ms, [&](int, Nanos at) {
      story.Process("python").Thread("main");
      story.Launch("work", {at, at + 5_us}, {at + 10_us, at + 3_ms});
    });
    for (int worker = 0; worker < 2; ++worker) {
      story.Process("python worker " + std::to_string(worker)).Thread("pt_data_worker");
      for (Nanos at = worker * 2_ms; at < 95_ms; at += period)
        story.OsCall("read", {at, at + 5_ms});
    }
    const Analyzed run(story, kAuto);
    return run.Idle(IdleCause::kDataLoading);
  };
  CHECK(loading(6_ms) > 60_ms);
  CHECK(loading(10_ms + 100_us) == 0);
}

TEST_CASE("a thread that reads ahead and rests is not what a silent launching thread waits for") {
  const Analyzed run(Fed(Reader::kAlongside), kAuto);
  CHECK(run.Idle(IdleCause::kDataLoading) == 0);
  CHECK(run.Idle(IdleCause::kHostCompute) > run.Window() * 7 / 10);
}

}  // namespace
}  // namespace advise
