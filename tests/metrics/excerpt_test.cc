// A stretch of the run as a timeline shows it.
#include "engine/metrics/charts/excerpt.h"

#include <catch2/catch.hpp>

#include "tests/support/analysed.h"

namespace advise {
namespace {

Excerpt Cut(const Analysed& run, Nanos start, Nanos end, const ExcerptOptions& options = {}) {
  return CutExcerpt(run->run, run->idle, start, end, options);
}

const ExcerptRow* Row(const Excerpt& excerpt, const std::string& name) {
  for (const ExcerptRow& row : excerpt.rows) {
    if (row.name == name) return &row;
  }
  return nullptr;
}

TraceBuilder Story() {
  return TraceBuilder()
      .Range("step", {0, 100_us})
      .Range("forward", {10_us, 60_us})
      .Launch("a", {0, 5_us}, {8_us, 20_us})
      .Launch("b", {50_us, 55_us}, {58_us, 80_us})
      .OsCall("read", {25_us, 45_us})
      .CopyToGpu(1_MiB, MemoryKind::kPinned, {60_us, 62_us}, {90_us, 95_us});
}

TEST_CASE("an excerpt holds what overlaps it, whole, by lane") {
  const Analysed run(Story());
  const Excerpt excerpt = Cut(run, 15_us, 70_us);
  const ExcerptRow* gaps = Row(excerpt, "GPU 0, idle because of");
  REQUIRE(gaps != nullptr);
  CHECK(gaps->kind == ExcerptRow::Kind::kGaps);
  Nanos idle = 0;
  for (const ExcerptEvent& event : gaps->events) idle += event.end - event.start;
  CHECK(idle == 38_us);  // 20 to 58 us: nothing ran
  const ExcerptRow* stream = Row(excerpt, "GPU 0, stream 7");
  REQUIRE(stream != nullptr);
  REQUIRE(stream->events.size() == 2);
  CHECK(stream->events[0].name == "a");
  CHECK(stream->events[0].start == 8_us);  // begins before the excerpt
  CHECK(stream->events[1].name == "b");
  CHECK(stream->events[1].end == 80_us);
  const ExcerptRow* ranges = Row(excerpt, "main: ranges");
  REQUIRE(ranges != nullptr);
  REQUIRE(ranges->events.size() == 2);
  CHECK(ranges->events[0].name == "step");
  CHECK(ranges->events[0].depth == 0);
  CHECK(ranges->events[1].name == "forward");
  CHECK(ranges->events[1].depth == 1);
  CHECK(ranges->depth == 2);
  const ExcerptRow* calls = Row(excerpt, "main: calls");
  REQUIRE(calls != nullptr);
  REQUIRE(calls->events.size() == 3);  // read, the launch of b, the copy; the launch of a is over
  CHECK(calls->events[0].kind == ExcerptKind::kOs);
  CHECK(calls->events[1].call == stream->events[1].call);
  CHECK(excerpt.left_out == 0);
}

TEST_CASE("launching calls from before the excerpt can be asked for") {
  const Analysed run(Story());
  ExcerptOptions options;
  options.launching_calls = true;
  const Excerpt excerpt = Cut(run, 15_us, 70_us, options);
  const ExcerptRow* calls = Row(excerpt, "main: calls");
  REQUIRE(calls != nullptr);
  REQUIRE(calls->events.size() == 4);
  CHECK(calls->events[0].start == 0);
}

TEST_CASE("short neighbours become one event that says how many it stands for") {
  TraceBuilder story;
  for (Nanos i = 0; i < 50; ++i) {
    story.Launch("tiny", {i * 10_us, i * 10_us + 1_us}, {i * 10_us + 2_us, i * 10_us + 8_us});
  }
  const Analysed run(story);
  ExcerptOptions options;
  options.merge_below = 7_us;
  const Excerpt excerpt = Cut(run, 0, 500_us, options);
  const ExcerptRow* stream = Row(excerpt, "GPU 0, stream 7");
  REQUIRE(stream != nullptr);
  REQUIRE(stream->events.size() == 1);
  CHECK(stream->events[0].count == 50);
  CHECK(stream->events[0].name == "tiny");
  CHECK(stream->events[0].start == 2_us);
  CHECK(stream->events[0].end == 498_us);
}

TEST_CASE("above the limit the shortest events go, and are counted") {
  const Analysed run(Story());
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

TEST_CASE("where there is no room for all, threads that launch are shown first") {
  TraceBuilder story = Story();
  for (const char* name : {"pt_data_worker", "other"}) {
    story.Thread(name).OsCall("sem_wait", {0, 100_us});
  }
  const Analysed run(story);
  ExcerptOptions options;
  options.thread_rows = 2;
  const Excerpt excerpt = Cut(run, 15_us, 70_us, options);
  CHECK(Row(excerpt, "main: ranges") != nullptr);
  CHECK(Row(excerpt, "main: calls") != nullptr);
  CHECK(Row(excerpt, "other: calls") == nullptr);
  CHECK(excerpt.left_out == 2);
}

TEST_CASE("only the rows of the wanted device, and of threads of its processes, are shown") {
  const Analysed run(TraceBuilder()
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

TEST_CASE("operators have rows of their own; Python functions when asked for") {
  Trace trace = Story().Build();
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
    const ExcerptRow* operators = Row(excerpt, "main: operators");
    REQUIRE(operators != nullptr);
    REQUIRE(operators->events.size() == 1);
    CHECK(operators->events[0].kind == ExcerptKind::kOperator);
    CHECK((Row(excerpt, "main: Python") != nullptr) == python);
  }
}

}  // namespace
}  // namespace advise
