// When a thread compiled: what lies before the loads of code from memory.
#include "engine/timeline/compiling.h"

#include <set>
#include <string>

#include "engine/timeline/idle.h"
#include "tests/support/analyzed.h"
#include "tests/support/stories.h"

namespace advise {
namespace {

// 600 us of nothing recorded, and then the result is loaded: it was compiled.
TEST_CASE("a long pause that ends with loading code from memory was compiling") {
  const auto compiling = [](const char* call) {
    TraceBuilder story;
    Repeat(8, 100_us, [&](int, Nanos at) {
      story.Launch("before", {at, at + 5_us}, {at + 10_us, at + 100_us});
    });
    story.Call(call, {1400_us, 1450_us});
    story.Launch("compiled", {1452_us, 1457_us}, {1460_us, 1500_us});
    return Analyzed(story).Idle(IdleCause::kJitOrModuleLoad);
  };
  CHECK(compiling("cuModuleLoadData") == 650_us);
  CHECK(compiling("cuLibraryLoadData") == 50_us);  // a library, on its first use
}

TEST_CASE("a compiler reads and writes files before its code is loaded, and does not wait") {
  const auto compiling = [](const char* call) {
    TraceBuilder story;
    Repeat(8, 100_us, [&](int, Nanos at) {
      story.Launch("before", {at, at + 5_us}, {at + 10_us, at + 100_us});
    });
    story.OsCall(call, {1380_us, 1390_us});
    story.Call("cuModuleLoadData", {1400_us, 1450_us});
    story.Launch("compiled", {1452_us, 1457_us}, {1460_us, 1500_us});
    return Analyzed(story).Idle(IdleCause::kJitOrModuleLoad);
  };
  CHECK(compiling("read") == 640_us);
  CHECK(compiling("sem_wait") == 50_us);
}

TEST_CASE("pauses that end again and again with loading a library were compiling") {
  const auto compiling = [](int times) {
    TraceBuilder story;
    Repeat(times, 1_ms, [&](int, Nanos at) {
      story.Launch("kernel", {at, at + 5_us}, {at + 10_us, at + 100_us});
      story.Launch("kernel", {at + 5_us, at + 9_us}, {at + 100_us, at + 200_us});
      story.Call("cuLibraryLoadData", {at + 900_us, at + 950_us});
    });
    story.Launch("kernel", {times * 1_ms, times * 1_ms + 5_us},
                 {times * 1_ms + 10_us, times * 1_ms + 100_us});
    return Analyzed(story).Idle(IdleCause::kJitOrModuleLoad);
  };
  CHECK(compiling(2) == 2 * 50_us);
  CHECK(compiling(3) == 3 * 750_us);  // with 700 us before each
}

TEST_CASE("two pauses of the steady loop that end with loading a library were compiling") {
  const auto compiling = [](std::set<int> loads) {
    TraceBuilder story;
    Repeat(12, 2_ms, [&](int step, Nanos at) {
      story.Range("step " + std::to_string(step), {at, at + 1990_us});
      story.Launch("kernel", {at, at + 5_us}, {at + 10_us, at + 100_us});
      if (loads.count(step) != 0) story.Call("cuLibraryLoadData", {at + 900_us, at + 950_us});
      story.Launch("kernel", {at + 951_us, at + 955_us}, {at + 960_us, at + 1990_us});
    });
    return Analyzed(story, kAuto).Idle(IdleCause::kJitOrModuleLoad);
  };
  CHECK(compiling({7}) == 50_us);
  CHECK(compiling({5, 7}) == 2 * 850_us);
}

// A loop of 2 ms whose kernels fill the GPU. In some steps the host traces for 20 ms, and then
// makes and loads six kernels, 1 ms each.
struct Recompiling {
  std::set<int> steps = {4, 8};
  const char* waits = nullptr;  // the call in which the thread waits for most of each of the six
  Nanos data = 0;               // a wait for something else before that, in step 8
};

Analyzed Run12(const Recompiling& how) {
  TraceBuilder story;
  Nanos at = 0;
  for (int step = 0; step < 12; ++step) {
    story.Launch("kernel", {at, at + 5_us}, {at + 10_us, at + 1000_us});
    story.Launch("kernel", {at + 6_us, at + 11_us}, {at + 1000_us, at + 1980_us});
    at += 1985_us;
    if (how.steps.count(step) != 0) {
      const Nanos before = step == 8 ? how.data : 0;
      if (before > 0) story.OsCall("poll", {at, at + before});
      at += before + 20_ms;
      for (int kernel = 0; kernel < 6; ++kernel) {
        if (how.waits != nullptr) story.OsCall(how.waits, {at + 50_us, at + 900_us});
        story.Call("cuModuleLoadData", {at + 950_us, at + 1000_us});
        at += 1_ms;
      }
    }
    at += 15_us;
  }
  story.Launch("kernel", {at, at + 5_us}, {at + 10_us, at + 1000_us});
  return Analyzed(story);
}

TEST_CASE("tracing before the first of several loads is part of the compilation") {
  const Analyzed run = Run12({});
  CHECK(run.Idle(IdleCause::kJitOrModuleLoad) / 100_us == 2 * 260);
  CHECK(run.Idle(IdleCause::kHostCompute) < 1_ms);
}

TEST_CASE("waits between loads are for the compiler, and so are those like them before the first") {
  for (const char* call : {"poll", "sem_wait"}) {
    INFO(call);
    const Analyzed run = Run12({.waits = call});
    CHECK(run.Idle(IdleCause::kJitOrModuleLoad) / 100_us == 2 * 260);
    CHECK(run.Idle(IdleCause::kHostWait) == 0);
  }
}

TEST_CASE("a far longer wait before a compilation is for something else") {
  const Analyzed run = Run12({.waits = "poll", .data = 300_ms});
  CHECK(run.Idle(IdleCause::kJitOrModuleLoad) / 100_us == 2 * 260);
  CHECK(run.Idle(IdleCause::kHostWait) == 300_ms);
}

// Silent: what one of three compilations has beyond twice the usual one is no compiling.
TEST_CASE("the longest pauses of compilations are compared, not the loads of one") {
  TraceBuilder story;
  Nanos at = 0;
  for (const Nanos traced : {10_ms, 12_ms, 200_ms}) {
    story.Launch("kernel", {at, at + 5_us}, {at + 10_us, at + 100_us});
    at += 100_us + traced;
    for (int kernel = 0; kernel < 6; ++kernel, at += 1_ms)
      story.Call("cuModuleLoadData", {at, at + 50_us});
  }
  story.Launch("kernel", {at, at + 5_us}, {at + 10_us, at + 100_us});
  const Nanos compiling = Analyzed(story).Idle(IdleCause::kJitOrModuleLoad);
  CHECK(compiling > 10_ms + 12_ms + 24_ms + 3 * 5_ms);
  CHECK(compiling < 10_ms + 12_ms + 25_ms + 3 * 6_ms);
}

}  // namespace
}  // namespace advise
