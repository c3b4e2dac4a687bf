// Streams that wait for each other by recorded events.
#include "engine/replay/stream_waits.h"

#include <algorithm>

#include "engine/replay/replay.h"
#include "tests/support/analyzed.h"
#include "tests/support/loops.h"

namespace advise {
namespace {

constexpr int kSteps = 10;
constexpr std::int64_t kMain = 7, kCopies = 9;

std::uint32_t StreamOf(const Trace& trace, std::int64_t id) {
  for (std::uint32_t s = 0; s < trace.streams.size(); ++s) {
    if (trace.streams[s].id == id) return s;
  }
  return kNone;
}

// What a call synchronizes with: a stream, or an event in it.
void AddSync(Trace* trace, std::uint32_t call, std::uint32_t stream, std::int64_t event) {
  trace->syncs.start.push_back(trace->calls.start[call]);
  trace->syncs.end.push_back(trace->calls.end[call]);
  trace->syncs.call.push_back(call);
  trace->syncs.stream.push_back(stream);
  trace->syncs.event_id.push_back(event);
}

// The story with what its calls are about: event 1 is recorded in the stream of copies, for which
// the main stream and who synchronizes with that wait.
Trace JoinedByEvent(const TraceBuilder& story) {
  Trace trace = story.Build();
  for (std::uint32_t c = 0; c < trace.calls.size(); ++c) {
    const std::string& name = trace.strings[trace.calls.name[c]];
    if (name == "cudaStreamWaitEvent") AddSync(&trace, c, StreamOf(trace, kMain), 1);
    if (name == "cudaStreamSynchronize") AddSync(&trace, c, StreamOf(trace, kMain), 0);
    if (name != "cudaEventRecord") continue;
    trace.events.time.push_back(trace.calls.start[c]);
    trace.events.call.push_back(c);
    trace.events.stream.push_back(StreamOf(trace, kCopies));
    trace.events.event_id.push_back(1);
  }
  return trace;
}

// Launches that wait for their kernel of 1 ms; then a copy of 500 us in another stream, which waits
// for the kernel by event 1. The next kernel waits for the copy by event 2, if so said.
struct Blocking {
  explicit Blocking(bool both_ways) {
    TraceBuilder story;
    Repeat(kSteps, kStep, [&](int, Nanos at) {
      story.OnStream(kMain).Launch("work", {at, at + 1_ms + 10_us}, {at + 8_us, at + 1_ms + 8_us});
      const Nanos after = at + 1_ms + 10_us;
      story.Call("cudaEventRecord", {after, after + 1_us});
      story.Call("cudaStreamWaitEvent", {after + 1_us, after + 2_us});
      story.OnStream(kCopies).CopyToGpu(1_MiB, MemoryKind::kPinned, {after + 2_us, after + 7_us},
                                        {after + 10_us, after + 510_us});
      story.Call("cudaEventRecord", {after + 7_us, after + 8_us});
      story.Call("cudaStreamWaitEvent", {after + 8_us, after + 9_us});
      story.Sync({after + 9_us, after + 515_us}, "cudaMemcpy");
    });
    trace = story.Build();
    int records = 0;
    int waits = 0;
    for (std::uint32_t c = 0; c < trace.calls.size(); ++c) {
      const std::string& name = trace.strings[trace.calls.name[c]];
      const bool record = name == "cudaEventRecord";
      if (!record && name != "cudaStreamWaitEvent") continue;
      const bool first = (record ? records++ : waits++) % 2 == 0;
      if (!first && !both_ways) continue;
      if (record) {
        trace.events.time.push_back(trace.calls.start[c]);
        trace.events.call.push_back(c);
        trace.events.stream.push_back(StreamOf(trace, first ? kMain : kCopies));
        trace.events.event_id.push_back(first ? 1 : 2);
      } else {
        AddSync(&trace, c, StreamOf(trace, first ? kCopies : kMain), first ? 1 : 2);
      }
    }
    AnalysisOptions options;
    options.window.mode = WindowRequest::Mode::kAll;
    analysis = std::make_unique<Analysis>(trace, ShippedKnowledge(), options);
  }

  // Launches return at once, and nobody waits for the copies.
  Nanos Gain() const {
    Remedy remedy;
    for (std::uint32_t c = 0; c < trace.calls.size(); ++c) {
      const std::string& name = trace.strings[trace.calls.name[c]];
      if (name == "cudaLaunchKernel" || name == "cudaMemcpy") remedy.unblocked_calls.push_back(c);
    }
    return analysis->replay().Gain(remedy);
  }

  static constexpr Nanos kStep = 1_ms + 530_us;
  Trace trace;
  std::unique_ptr<Analysis> analysis;
};

TEST_CASE("an event ties the op behind the wait to the op before the record") {
  const Blocking run(true);
  const std::vector<std::uint32_t> awaited = AwaitedByEvents(run.analysis->run);
  for (std::uint32_t op = 1; op < run.trace.ops.size(); ++op) CHECK(awaited[op] == op - 1);
  CHECK(awaited[0] == kNone);
}

TEST_CASE("launches that return at once let copies run beside the next kernel, if that may be") {
  const Blocking one_way(false);
  CHECK(one_way.analysis->replay().BaselineNs() == one_way.analysis->run.window.Length());
  CHECK(one_way.Gain() > (kSteps - 1) * 480_us);
  const Blocking both_ways(true);
  CHECK(both_ways.analysis->replay().BaselineNs() == both_ways.analysis->run.window.Length());
  CHECK(both_ways.Gain() < kSteps * 30_us);
}

// A halo is downloaded in a stream of its own, which the host waits for, and sent for 500 us. In
// the recording, the host waited for the kernels of 1 ms before it, and a small one of another
// stream happens to end just behind the download.
TEST_CASE("a wait for one stream is not for what ends behind it in another") {
  constexpr Nanos kHaloStep = 1570_us;
  TraceBuilder story;
  Repeat(kSteps, kHaloStep, [&](int, Nanos at) {
    story.OnStream(kMain).Launch("work", {at, at + 5_us}, {at + 10_us, at + 1010_us});
    story.Sync({at + 6_us, at + 1012_us}, "cudaDeviceSynchronize");
    story.Launch("small", {at + 1015_us, at + 1020_us}, {at + 1025_us, at + 1060_us});
    story.OnStream(kCopies).CopyFromGpu(1_MiB, MemoryKind::kPinned, {at + 1021_us, at + 1026_us},
                                        {at + 1030_us, at + 1058_us});
    story.Sync({at + 1027_us, at + 1062_us}, "cudaStreamSynchronize");
  });
  story.OnStream(kMain).Launch("end", {kSteps * kHaloStep, kSteps * kHaloStep + 5_us},
                               {kSteps * kHaloStep + 10_us, kSteps * kHaloStep + 20_us});
  Trace trace = story.Build();
  Remedy remedy;
  for (std::uint32_t c = 0; c < trace.calls.size(); ++c) {
    const std::string& name = trace.strings[trace.calls.name[c]];
    if (name == "cudaDeviceSynchronize") remedy.unblocked_calls.push_back(c);
    if (name == "cudaStreamSynchronize") AddSync(&trace, c, StreamOf(trace, kCopies), 0);
  }
  AnalysisOptions options;
  options.window.mode = WindowRequest::Mode::kAll;
  const Analysis analysis(trace, ShippedKnowledge(), options);
  const Nanos gain = analysis.replay().Gain(remedy);
  CHECK(gain > kSteps * 500_us);
  CHECK(gain < kSteps * 540_us);  // then the kernels are the limit
}

// The host waits for a stream of 100 us of work, which waits for 900 us of another one by an event.
TEST_CASE("a wait for a stream is for what was joined to it as well") {
  constexpr Nanos kJoinedStep = 1050_us;
  TraceBuilder story;
  Repeat(kSteps, kJoinedStep, [&](int, Nanos at) {
    story.OnStream(kMain).Launch("work", {at, at + 5_us}, {at + 10_us, at + 110_us});
    story.OnStream(kCopies).Launch("branch", {at + 6_us, at + 10_us}, {at + 110_us, at + 1010_us});
    story.Call("cudaEventRecord", {at + 11_us, at + 12_us});
    story.Call("cudaStreamWaitEvent", {at + 13_us, at + 14_us});
    story.Sync({at + 15_us, at + 1015_us}, "cudaStreamSynchronize");
  });
  const Trace trace = JoinedByEvent(story);
  AnalysisOptions options;
  options.window.mode = WindowRequest::Mode::kAll;
  const Analysis analysis(trace, ShippedKnowledge(), options);
  Remedy shorter;
  for (std::uint32_t op = 1; op < trace.ops.size(); op += 2)
    shorter.scaled_ops.emplace_back(op, 0.5F);
  const Nanos gain = analysis.replay().Gain(shorter);
  CHECK(gain > (kSteps - 1) * 440_us);
  CHECK(gain < kSteps * 460_us);
}

// Of 2 ms, the host spends 1 ms before it launches a kernel of 900 us. Before that it uploaded a
// batch for 900 us, into another stream, and made the kernel's stream wait for it, or not.
Analyzed BehindCode(bool waits, bool early = false) {
  TraceBuilder story;
  Repeat(kSteps, 2_ms, [&](int n, Nanos at) {
    story.OnStream(kCopies).CopyToGpu(1_MiB, MemoryKind::kPinned, {at, at + 5_us},
                                      {at + 10_us, at + 910_us});
    story.Call("cudaEventRecord", {at + 6_us, at + 7_us});
    if (waits) story.Call("cudaStreamWaitEvent", {at + 7_us, at + 8_us});
    const Nanos launch = early && n == 5 ? at + 10_us : at + 1_ms;
    story.OnStream(kMain).Launch("work", {launch, launch + 5_us}, {launch + 10_us, at + 1900_us});
    story.Call("cudaStreamSynchronize", {at + 1010_us, at + 1905_us});
  });
  return Analyzed(story);
}

Nanos GainOfNoCode(const Analyzed& run) {
  Remedy remedy;
  std::vector<Interval> code;
  for (int n = 0; n < kSteps; ++n) code.push_back({n * 2_ms + 10_us, n * 2_ms + 1_ms});
  remedy.host_cuts.push_back({0, IntervalSet::Of(std::move(code))});
  return run->replay().Gain(remedy);
}

TEST_CASE("where no event is known, a wait right behind a record is for what was launched before") {
  const Analyzed run = BehindCode(true);
  const std::vector<std::uint32_t> awaited = AwaitedByEvents(run->run);
  for (std::uint32_t op = 0; op < run.trace().ops.size(); ++op)
    CHECK(awaited[op] == (op % 2 == 1 ? op - 1 : kNone));
  // Without the code before it, the kernel still waits for its batch.
  CHECK(GainOfNoCode(run) < kSteps * 150_us);
  CHECK(GainOfNoCode(BehindCode(false)) > kSteps * 900_us);
}

TEST_CASE("a kernel that starts earlier once does not wait at all") {
  const Analyzed run = BehindCode(true, true);
  const std::vector<std::uint32_t> awaited = AwaitedByEvents(run->run);
  CHECK(std::all_of(awaited.begin(), awaited.end(), [](std::uint32_t op) { return op == kNone; }));
}

// A thread launches a kernel and, with no call in between, a collective or another kernel into a
// second stream, which begins when the first one has ended. The host is far ahead.
std::vector<std::uint32_t> AwaitedBehindKernels(const char* second, Nanos start) {
  TraceBuilder story;
  Repeat(kSteps, 1_ms, [&](int, Nanos at) {
    story.OnStream(kMain).Launch("work", {at, at + 5_us}, {at + 100_us, at + 400_us});
    story.OnStream(kCopies).Launch(second, {at + 6_us, at + 9_us}, {at + start, at + 900_us});
  });
  return AwaitedByEvents(Analyzed(story)->run);
}

TEST_CASE("a collective sends what its thread launched before it, if it never starts earlier") {
  const std::vector<std::uint32_t> sends = AwaitedBehindKernels(kAllReduce, 402_us);
  for (std::uint32_t op = 0; op < sends.size(); ++op)
    CHECK(sends[op] == (op % 2 == 1 ? op - 1 : kNone));
  const auto none = [](std::uint32_t op) { return op == kNone; };
  const std::vector<std::uint32_t> early = AwaitedBehindKernels(kAllReduce, 390_us);
  CHECK(std::all_of(early.begin(), early.end(), none));
  const std::vector<std::uint32_t> other = AwaitedBehindKernels("other", 402_us);
  CHECK(std::all_of(other.begin(), other.end(), none));
}

// Two GPUs work one after the other for 100 us each; what the first one made goes to the second
// through host memory, in copies that block.
TEST_CASE("a kernel whose launch waits for it begins where the copy ends that held it") {
  TraceBuilder story;
  Repeat(kSteps, 2_ms, [&](int, Nanos at) {
    story.OnStream(kCopies).CopyToGpu(1_MiB, MemoryKind::kPinned, {at, at + 5_us},
                                      {at + 10_us, at + 1010_us});
    story.OnStream(kMain);
    story.Launch("work", {at + 6_us, at + 1516_us}, {at + 1012_us, at + 1512_us});
    story.Launch("work", {at + 1520_us, at + 1990_us}, {at + 1528_us, at + 1988_us});
  });
  const Analyzed run(story);
  Remedy faster;
  const OpTable& ops = run->run.trace.ops;
  for (std::uint32_t op = 0; op < ops.size(); ++op) {
    if (ops.kind[op] != OpKind::kKernel) faster.scaled_ops.emplace_back(op, 0.5F);
  }
  CHECK(run->replay().Gain(faster) >= (kSteps - 1) * 490_us);
}

TEST_CASE("an upload to another device waits for the download that it sends on") {
  TraceBuilder story;
  for (int i = 0; i < 10; ++i) {
    const Nanos at = i * 300_us;
    story.OnDevice(0).OnStream(13).Launch("first", {at, at + 5_us}, {at + 10_us, at + 110_us});
    story.CopyFromGpu(1_MiB, MemoryKind::kPageable, {at + 6_us, at + 142_us},
                      {at + 110_us, at + 140_us});
    story.OnDevice(1).OnStream(14).CopyToGpu(
        1_MiB, MemoryKind::kPageable, {at + 145_us, at + 182_us}, {at + 150_us, at + 180_us});
    story.Launch("second", {at + 183_us, at + 188_us}, {at + 193_us, at + 293_us});
  }
  const Analyzed run(story);
  const std::vector<std::uint32_t> sent = SentOn(run->run);
  std::size_t pairs = 0;
  for (std::uint32_t op = 0; op < sent.size(); ++op) {
    if (sent[op] == kNone) continue;
    ++pairs;
    CHECK(run.trace().ops.device[op] == 1);
    CHECK(run.trace().ops.device[sent[op]] == 0);
  }
  CHECK(pairs == 10);
  // Where the calls do not block, the GPUs work at the same time, on one piece after the other.
  Remedy free;
  free.unblocked_calls = run.Calls("cudaMemcpyAsync");
  const Nanos left = run.Window() - run->replay().Gain(free);
  CHECK(left > 10 * 130_us + 100_us);
  CHECK(left < 10 * 140_us + 200_us);
}

// The executing thread makes its stream wait for the batch of each step, and launches, held by the
// GPU. The main thread uploads batches a step ahead, and once writes a file for 30 ms first.
// Nothing of the wait for it was recorded. `code`: the executing thread goes on so long behind the
// upload.
struct OncePaused {
  explicit OncePaused(Nanos code, bool says_event) {
    TraceBuilder story;
    Nanos at = 1_ms;
    for (int i = 0; i < kSteps; ++i) {
      const Nanos write = i == 6 ? 30_ms : 0;
      story.Thread("main");
      if (write > 0) story.OsCall("write", {at + 10_us, at + write - 20_us});
      const Nanos upload = write > 0 ? at + write - 10_us : at - 900_us;
      story.OnStream(kCopies).CopyToGpu(1_MiB, MemoryKind::kPinned, {upload, upload + 5_us},
                                        {upload + 6_us, upload + 8_us});
      story.Call("cudaEventRecord", {upload + 6_us, upload + 7_us});
      const Nanos wait = write > 0 ? at + write + code : at;
      story.Thread("execute").OnStream(kMain);
      story.Call("cudaStreamWaitEvent", {wait, wait + 1_us});
      story.Launch("work", {wait + 2_us, wait + 3_ms}, {wait + 10_us, wait + 3_ms - 5_us});
      at = wait + 3_ms + 5_us;
    }
    story.Thread("reader").OsCall("poll", {0, at});
    trace = story.Build();
    for (std::uint32_t c = 0; c < trace.calls.size(); ++c) {
      const std::string& name = trace.strings[trace.calls.name[c]];
      if (name == "cudaStreamWaitEvent") {
        AddSync(&trace, c, StreamOf(trace, kMain), says_event ? 1 : 0);
      } else if (name == "cudaEventRecord") {
        trace.events.time.push_back(trace.calls.start[c]);
        trace.events.call.push_back(c);
        trace.events.stream.push_back(StreamOf(trace, kCopies));
        trace.events.event_id.push_back(1);
      }
    }
    AnalysisOptions options;
    options.window.mode = WindowRequest::Mode::kAll;
    analysis = std::make_unique<Analysis>(trace, ShippedKnowledge(), options);
  }

  // The main thread writes no file.
  Nanos Gain() const {
    Remedy remedy;
    for (std::uint32_t i = 0; i < trace.os_calls.size(); ++i) {
      if (trace.strings[trace.os_calls.name[i]] != "write") continue;
      remedy.host_cuts.push_back(
          {trace.os_calls.thread[i],
           IntervalSet::Of({{trace.os_calls.start[i], trace.os_calls.end[i]}})});
    }
    return analysis->replay().Gain(remedy);
  }

  Trace trace;
  std::unique_ptr<Analysis> analysis;
};

TEST_CASE("who makes a stream wait for an event had to wait until another thread recorded it") {
  const OncePaused once(60_us, true);
  CHECK(once.Gain() > 28_ms);
  const auto records = RecordsOfWaits(once.analysis->run);
  CHECK(std::count_if(records.begin(), records.end(), [](auto r) { return r != kNone; }) == kSteps);
}

TEST_CASE("who pauses far longer than until the record of the event waited for something else") {
  CHECK(OncePaused(40_ms, true).Gain() < 1_ms);
  CHECK(OncePaused(60_us, false).Gain() < 1_ms);  // nothing says which event
}

// In the main stream a kernel, then a wait for one of 900 us in another stream, a function on the
// host that takes 100 us, and a last kernel, all launched at once.
TEST_CASE("a function on the host begins behind what its stream waits for in another") {
  constexpr Nanos kFunctionStep = 1180_us;
  TraceBuilder story;
  Repeat(kSteps, kFunctionStep, [&](int, Nanos at) {
    story.OnStream(kMain).Launch("before", {at, at + 5_us}, {at + 10_us, at + 100_us});
    story.OnStream(kCopies).Launch("branch", {at + 6_us, at + 10_us}, {at + 100_us, at + 1_ms});
    story.Call("cudaEventRecord", {at + 11_us, at + 12_us});
    story.Call("cudaStreamWaitEvent", {at + 13_us, at + 14_us});
    story.Call("cudaLaunchHostFunc", {at + 15_us, at + 16_us});
    story.OnStream(kMain).Launch("after", {at + 20_us, at + 25_us}, {at + 1100_us, at + 1150_us});
    story.Sync({at + 30_us, at + 1155_us}, "cudaDeviceSynchronize");
  });
  const Trace trace = JoinedByEvent(story);
  AnalysisOptions options;
  options.window.mode = WindowRequest::Mode::kAll;
  const Analysis analysis(trace, ShippedKnowledge(), options);
  CHECK(analysis.replay().BaselineNs() == analysis.run.window.Length());
  Remedy shorter;
  for (std::uint32_t op = 1; op < trace.ops.size(); op += 3)
    shorter.scaled_ops.emplace_back(op, 0.5F);
  const Nanos gain = analysis.replay().Gain(shorter);
  CHECK(gain > kSteps * 440_us);
  CHECK(gain < kSteps * 460_us);
  // Without the function, the last kernel still waits for the other stream.
  const Nanos without = analysis.replay().Gain(*analysis.syncs.host_function.remedy);
  CHECK(without >= kSteps * 90_us);
  CHECK(without < kSteps * 110_us);
}

// Four streams in turn, each with an upload, a kernel and a download, all launched far ahead. A
// kernel of the default stream behind each waits for them, and the next stream waits for it.
TEST_CASE("copies that run aside do not undo the waits of the default stream") {
  TraceBuilder story;
  for (int i = 0; i < 24; ++i) {
    const Nanos call = i * 30_us, at = 2_ms + i * 1_ms;
    story.OnStream(kMain + i % 4);
    story.CopyToGpu(1_MiB, MemoryKind::kPinned, {call, call + 4_us}, {at, at + 100_us});
    story.Launch("work", {call + 5_us, call + 8_us}, {at + 101_us, at + 890_us});
    story.CopyFromGpu(1_MiB, MemoryKind::kPinned, {call + 9_us, call + 12_us},
                      {at + 891_us, at + 980_us});
    story.OnDefaultStream().Launch("histogram", {call + 13_us, call + 16_us},
                                   {at + 982_us, at + 998_us});
  }
  const Analyzed run(story);
  Remedy aside;
  for (std::uint32_t op = 0; op < run.trace().ops.size(); ++op)
    if (run.trace().ops.kind[op] == OpKind::kCopy) aside.detached_ops.push_back(op);
  const Nanos copies = 24 * 189_us;
  CHECK(run->replay().Gain(aside) > copies * 3 / 4);
  CHECK(run->replay().Gain(aside) < copies * 5 / 4);
}

}  // namespace
}  // namespace advise
