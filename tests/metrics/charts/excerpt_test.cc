// A stretch of the run as a timeline shows it.
#include "engine/metrics/charts/excerpt.h"

#include <catch2/catch.hpp>

#include "tests/support/analyzed.h"

namespace advise {
namespace {

Excerpt Cut(const Analyzed& run, Nanos start, Nanos end, const ExcerptOptions& options = {}) {
  return CutExcerpt(run->run, run->idle, start, end, options);
}

const ExcerptRow* RowNamed(const Excerpt& excerpt, const std::string& name) {
  for (const ExcerptRow& row : excerpt.rows) {
    if (row.name == name) return &row;
  }
  return nullptr;
}

TraceBuilder ExcerptStory() {
  return TraceBuilder()
      .Range("step", {0, 100_us})
      .Range("forward", {10_us, 60_us})
      .Launch("a", {0, 5_us}, {8_us, 20_us})
      .Launch("b", {50_us, 55_us}, {58_us, 80_us})
      .OsCall("read", {25_us, 45_us})
      .CopyToGpu(1_MiB, MemoryKind::kPinned, {60_us, 62_us}, {90_us, 95_us});
}

TEST_CASE("an excerpt holds what overlaps it, whole, by lane") {
  const Analyzed run(ExcerptStory());
  const Excerpt excerpt = Cut(run, 15_us, 70_us);
  const ExcerptRow* gaps = RowNamed(excerpt, "GPU 0, idle because of");
  REQUIRE(gaps != nullptr);
  CHECK(gaps->kind == ExcerptRow::Kind::kGaps);
  Nanos idle = 0;
  for (const ExcerptEvent& event : gaps->events) idle += event.end - event.start;
  CHECK(idle == 38_us);  // 20 to 58 us: nothing ran
  const ExcerptRow* stream = RowNamed(excerpt, "GPU 0, stream 7");
  REQUIRE(stream != nullptr);
  REQUIRE(stream->events.size() == 2);
  CHECK(stream->events[0].name == "a");
  CHECK(stream->events[0].start == 8_us);  // begins before the excerpt
  CHECK(stream->events[1].name == "b");
  CHECK(stream->events[1].end == 80_us);
  CHECK(stream->events[1].depth == 0);  // behind the other, not beside it
  CHECK(stream->depth == 1);
  const ExcerptRow* ranges = RowNamed(excerpt, "main: ranges");
  REQUIRE(ranges != nullptr);
  REQUIRE(ranges->events.size() == 2);
  CHECK(ranges->events[0].name == "step");
  CHECK(ranges->events[0].depth == 0);
  CHECK(ranges->events[1].name == "forward");
  CHECK(ranges->events[1].depth == 1);
  CHECK(ranges->depth == 2);
  const ExcerptRow* calls = RowNamed(excerpt, "main: calls");
  REQUIRE(calls != nullptr);
  REQUIRE(calls->events.size() == 3);  // read, the launch of b, the copy; the launch of a is over
  CHECK(calls->events[0].kind == ExcerptKind::kOs);
  CHECK(calls->events[1].call == stream->events[1].call);
  CHECK(excerpt.left_out == 0);
}

TEST_CASE("launching calls from before the excerpt can be asked for") {
  const Analyzed run(ExcerptStory());
  ExcerptOptions options;
  options.launching_calls = true;
  const Excerpt excerpt = Cut(run, 15_us, 70_us, options);
  const ExcerptRow* calls = RowNamed(excerpt, "main: calls");
  REQUIRE(calls != nullptr);
  REQUIRE(calls->events.size() == 4);
  CHECK(calls->events[0].start == 0);
}

TEST_CASE("short neighbors become one event that says how many it stands for") {
  TraceBuilder story;
  for (Nanos i = 0; i < 50; ++i) {
    story.Launch("tiny", {i * 10_us, i * 10_us + 1_us}, {i * 10_us + 2_us, i * 10_us + 8_us});
  }
  const Analyzed run(story);
  ExcerptOptions options;
  options.merge_below = 7_us;
  const Excerpt excerpt = Cut(run, 0, 500_us, options);
  const ExcerptRow* stream = RowNamed(excerpt, "GPU 0, stream 7");
  REQUIRE(stream != nullptr);
  REQUIRE(stream->events.size() == 1);
  CHECK(stream->events[0].count == 50);
  CHECK(stream->events[0].name == "tiny");
  CHECK(stream->events[0].start == 2_us);
  CHECK(stream->events[0].end == 498_us);
}

TEST_CASE("neighbors become one event up to a pause as long as a short event, and never overlap") {
  const auto events = [](Nanos pause, Nanos length) {
    TraceBuilder story;
    story.Launch("a", {0, 1_us}, {10_us, 10_us + length})
        .Launch("b", {2_us, 3_us}, {10_us + length + pause, 10_us + 2 * length + pause});
    const Analyzed run(story);
    ExcerptOptions options;
    options.merge_below = 7_us;
    const Excerpt excerpt = Cut(run, 0, 100_us, options);
    return RowNamed(excerpt, "GPU 0, stream 7")->events.size();
  };
  CHECK(events(0, 5_us) == 1);  // back to back
  CHECK(events(7_us - 1, 5_us) == 1);
  CHECK(events(7_us, 5_us) == 2);
  CHECK(events(-1_us, 5_us) == 2);
  CHECK(events(0, 7_us - 1) == 1);
  CHECK(events(0, 7_us) == 2);  // long enough to be seen
}

TEST_CASE("what stands for several copies has their bytes, and is none of them") {
  TraceBuilder story;
  for (Nanos i = 0; i < 3; ++i) {
    story.CopyToGpu(100 + i, MemoryKind::kPinned, {i * 10_us, i * 10_us + 1_us},
                    {i * 10_us + 2_us, i * 10_us + 8_us});
  }
  const Analyzed run(story);
  const Excerpt whole = Cut(run, 0, 100_us);
  REQUIRE(RowNamed(whole, "GPU 0, stream 7") != nullptr);
  CHECK(RowNamed(whole, "GPU 0, stream 7")->events[0].detail == "pinned to device memory");
  ExcerptOptions options;
  options.merge_below = 7_us;
  const Excerpt excerpt = Cut(run, 0, 100_us, options);
  const ExcerptEvent& all = RowNamed(excerpt, "GPU 0, stream 7")->events.at(0);
  CHECK(all.count == 3);
  CHECK(all.bytes == 303);
  CHECK(all.detail.empty());
  CHECK(all.call == kNone);
  CHECK(all.op == kNone);
}

TEST_CASE("above the limit the shortest events go, and are counted") {
  const Analyzed run(ExcerptStory());
  const std::size_t all = [&] {
    std::size_t count = 0;
    for (const ExcerptRow& row : Cut(run, 0, 100_us).rows) count += row.events.size();
    return count;
  }();
  ExcerptOptions options;
  options.most_events = 3;
  const Excerpt excerpt = Cut(run, 0, 100_us, options);
  std::size_t count = 0;
  Nanos shortest = 1000_us;
  for (const ExcerptRow& row : excerpt.rows) {
    for (const ExcerptEvent& event : row.events) {
      ++count;
      shortest = std::min(shortest, event.end - event.start);
    }
  }
  CHECK(count == 3);
  CHECK(excerpt.left_out == all - 3);
  CHECK(shortest >= 22_us);
}

TEST_CASE("of events of one length the first stay, as many as there is room for") {
  TraceBuilder story;
  for (Nanos i = 0; i < 6; ++i) story.Kernel("k", {i * 10_us, (i + 1) * 10_us});
  const Analyzed run(story);
  ExcerptOptions options;
  options.most_events = 4;
  const Excerpt excerpt = Cut(run, 0, 100_us, options);
  REQUIRE(excerpt.rows.size() == 1);
  REQUIRE(excerpt.rows[0].events.size() == 4);
  CHECK(excerpt.rows[0].events.back().start == 30_us);
  CHECK(excerpt.left_out == 2);
}

TEST_CASE("where there is no room for all, threads that launch are shown first") {
  TraceBuilder story = ExcerptStory();
  for (const char* name : {"pt_data_worker", "other"}) {
    story.Thread(name).OsCall("sem_wait", {0, 100_us});
  }
  const Analyzed run(story);
  ExcerptOptions options;
  options.thread_rows = 2;
  const Excerpt excerpt = Cut(run, 15_us, 70_us, options);
  CHECK(RowNamed(excerpt, "main: ranges") != nullptr);
  CHECK(RowNamed(excerpt, "main: calls") != nullptr);
  CHECK(RowNamed(excerpt, "other: calls") == nullptr);
  CHECK(excerpt.left_out == 2);
}

TEST_CASE("only the rows of the wanted device, and of threads of its processes, are shown") {
  const Analyzed run(TraceBuilder()
                         .Launch("a", {0, 5_us}, {8_us, 20_us})
                         .Process("other")
                         .Thread("second")
                         .OnDevice(1)
                         .Launch("b", {0, 5_us}, {8_us, 20_us}));
  ExcerptOptions options;
  options.device = 1;
  const Excerpt excerpt = Cut(run, 0, 100_us, options);
  for (const ExcerptRow& row : excerpt.rows) {
    INFO(row.name);
    CHECK((row.name.starts_with("GPU 1") || row.name.starts_with("second")));
  }
  CHECK(excerpt.rows.size() == 2);
}

TEST_CASE("GPU work says what it is: kernels, copies, memsets, graphs, communication, migration") {
  const Analyzed run(TraceBuilder()
                         .Launch("a", {0, 5_us}, {8_us, 20_us}, {.blocks = 108, .threads = 128})
                         .CopyToGpu(512, MemoryKind::kPinned, {20_us, 22_us}, {23_us, 25_us})
                         .Memset(64, {23_us, 24_us}, {25_us, 26_us})
                         .Graph(4, {25_us, 27_us}, {30_us, 40_us})
                         .Launch(kAllReduce, {28_us, 29_us}, {40_us, 45_us})
                         .MigrateToGpu(4_KiB, {50_us, 52_us}));
  const Excerpt excerpt = Cut(run, 0, 100_us);
  const ExcerptRow* stream = RowNamed(excerpt, "GPU 0, stream 7");
  REQUIRE(stream != nullptr);
  CHECK(stream->number == 7);
  CHECK(stream->device == 0);
  REQUIRE(stream->events.size() == 5);
  const auto& events = stream->events;
  CHECK(events[0].kind == ExcerptKind::kKernel);
  CHECK(events[0].detail == "108 blocks of 128 threads");
  CHECK(events[0].bytes == -1);
  CHECK(events[1].kind == ExcerptKind::kCopy);
  CHECK(events[1].name == "copy host to device");
  CHECK(events[1].bytes == 512);
  CHECK(events[1].detail == "pinned to device memory");
  CHECK(events[2].kind == ExcerptKind::kMemset);
  CHECK(events[2].name == "memset");
  CHECK(events[2].bytes == 64);
  CHECK(events[3].kind == ExcerptKind::kGraph);
  CHECK(events[3].name == "graph 4");
  CHECK(events[4].kind == ExcerptKind::kCommunication);
  for (std::size_t i = 0; i < events.size(); ++i) CHECK(events[i].op == i);
  const ExcerptRow* migration = RowNamed(excerpt, "GPU 0, memory migration");
  REQUIRE(migration != nullptr);
  CHECK(migration->number == -1);
  CHECK(migration->events[0].bytes == 4096);
}

TEST_CASE("idle time is one event for each cause, however many pieces it has") {
  const Analyzed run(ExcerptStory());
  const Excerpt excerpt = Cut(run, 15_us, 70_us);
  const ExcerptRow* gaps = RowNamed(excerpt, "GPU 0, idle because of");
  REQUIRE(gaps != nullptr);
  for (std::size_t i = 1; i < gaps->events.size(); ++i) {
    const bool touch = gaps->events[i - 1].end == gaps->events[i].start;
    CHECK((!touch || gaps->events[i - 1].name != gaps->events[i].name));
  }
  CHECK(gaps->events.front().start == 20_us);
  CHECK(gaps->device == 0);
}

TEST_CASE("ranges and calls of MPI share rows, in order of time") {
  TraceBuilder story = ExcerptStory();
  story.Mpi("MPI_Send", {5_us, 8_us}).Mpi("MPI_Recv", {20_us, 30_us});
  const Analyzed run(story);
  const Excerpt excerpt = Cut(run, 0, 100_us);
  const ExcerptRow* ranges = RowNamed(excerpt, "main: ranges");
  REQUIRE(ranges != nullptr);
  REQUIRE(ranges->events.size() == 4);
  CHECK(ranges->events[0].name == "step");
  CHECK(ranges->events[1].name == "MPI_Send");
  CHECK(ranges->events[1].depth == 1);
  CHECK(ranges->events[2].name == "forward");
  CHECK(ranges->events[3].name == "MPI_Recv");
  CHECK(ranges->events[3].depth == 2);
  CHECK(ranges->launches);
  TraceBuilder only;
  only.Launch("a", {0, 5_us}, {8_us, 20_us}).Mpi("MPI_Send", {10_us, 15_us});
  const Analyzed mpi(only);
  const Excerpt other = Cut(mpi, 0, 100_us);
  REQUIRE(RowNamed(other, "main: ranges") != nullptr);
  CHECK(RowNamed(other, "main: ranges")->events.size() == 1);
}

TEST_CASE("neighbors become one event only when both are short, near and alike") {
  const auto events = [](Nanos first, Nanos between, const char* second) {
    const Analyzed run(
        TraceBuilder()
            .Launch("a", {0, 1_us}, {10_us, 10_us + first})
            .Launch(second, {2_us, 3_us}, {10_us + first + between, 15_us + first + between}));
    ExcerptOptions options;
    options.merge_below = 6_us;
    const Excerpt excerpt = Cut(run, 0, 200_us, options);
    return RowNamed(excerpt, "GPU 0, stream 7")->events.size();
  };
  CHECK(events(5_us, 1_us, "a") == 1);
  CHECK(events(6_us, 1_us, "a") == 2);
  CHECK(events(5_us, 6_us, "a") == 2);
  CHECK(events(5_us, 5_us, "a") == 1);
}

TEST_CASE("operators have rows of their own; Python functions when asked for") {
  Trace trace = ExcerptStory().Build();
  for (auto* table : {&trace.operators, &trace.python_frames}) {
    table->start.push_back(20_us);
    table->end.push_back(30_us);
    table->thread.push_back(0);
    table->name.push_back(trace.strings.Intern("aten::mm"));
    table->domain.push_back(0);
    table->payload.push_back(0);
  }
  const Analysis analysis(trace, ShippedKnowledge(), {});
  ExcerptOptions options;
  for (const bool python : {false, true}) {
    options.python = python;
    const Excerpt excerpt = CutExcerpt(analysis.run, analysis.idle, 0, 100_us, options);
    const ExcerptRow* operators = RowNamed(excerpt, "main: operators");
    REQUIRE(operators != nullptr);
    REQUIRE(operators->events.size() == 1);
    CHECK(operators->events[0].kind == ExcerptKind::kOperator);
    CHECK((RowNamed(excerpt, "main: Python") != nullptr) == python);
  }
}

}  // namespace
}  // namespace advise
