// One rank alone: what its collectives take longer than like ones, it waits for other ranks.
#include "engine/metrics/losses/ranks/unseen_ranks.h"

#include "tests/support/analyzed.h"
#include "tests/support/loops.h"

namespace advise {
namespace {

// Ten steps of 2 ms: 500 us of work, then two all-reduces. The first takes `first` in each step,
// and 400 us more in steps 3 and 6; the second takes 100 us.
TraceBuilder Steps(Nanos first, int devices = 1) {
  TraceBuilder story;
  if (devices > 1) story.Device("Test GPU", 100);
  Repeat(10, 2_ms, [&](int i, Nanos at) {
    story.Range("step " + std::to_string(i), {at, at + 1990_us});
    for (int d = 0; d < devices; ++d) {
      const Nanos end = at + 510_us + first + (i == 3 || i == 6 ? 400_us : 0);
      story.OnDevice(d).Launch("work", {at, at + 5_us}, {at + 10_us, at + 510_us});
      story.OnDevice(d).Launch(kAllReduce, {at + 6_us, at + 9_us}, {at + 510_us, end});
      story.OnDevice(d).Launch(kAllReduce, {at + 10_us, at + 13_us}, {end, end + 100_us});
    }
  });
  return story;
}

// The same with what PyTorch says of each collective: so many bytes, in the order of time.
UnseenRanks OfSizes(const TraceBuilder& story, std::int64_t first, std::int64_t second) {
  Trace trace = story.Build();
  CollectiveTable& table = trace.collectives;
  for (std::uint32_t op = 0; op < trace.ops.size(); ++op) {
    if (trace.strings[trace.shapes[trace.ops.detail[op]].name] == "work") continue;
    const std::int64_t bytes = table.size() % 2 == 0 ? first : second;
    table.start.push_back(trace.ops.start[op]);
    table.end.push_back(trace.ops.end[op]);
    table.kind.push_back(trace.strings.Intern("AllReduce"));
    table.in_bytes.push_back(bytes);
    table.out_bytes.push_back(bytes);
    table.group.push_back(kNone);
    table.op.push_back(op);
    table.sequence.push_back(-1);
    table.peer.push_back(-1);
  }
  AnalysisOptions options;
  options.window.mode = WindowRequest::Mode::kAll;
  const Analysis analysis(trace, ShippedKnowledge(), options);
  return analysis.unseen_ranks.Get();
}

TEST_CASE("where no size is known, a collective is compared with those at its place of a step") {
  const Analyzed run(Steps(100_us));
  CHECK(run->unseen_ranks->compared == 20);
  CHECK(run->unseen_ranks->loss.count == 2);
  CHECK(run->unseen_ranks->loss.lost->Total() == 2 * 400_us);
  CHECK(run->unseen_ranks->longest_ns == 400e3);
  REQUIRE(run->unseen_ranks->loss.remedy->scaled_ops.size() == 2);
  CHECK(run->unseen_ranks->loss.remedy->scaled_ops[0].second == Approx(0.2));
  // A rank that is late by as much each time cannot be told from a slow path.
  CHECK(Analyzed(Steps(600_us))->unseen_ranks->loss.lost->Total() == 2 * 400_us);
}

TEST_CASE("a collective needs no longer than a larger one, nor than a smaller one in proportion") {
  const TraceBuilder story = Steps(600_us);
  // As large as the second: of 600 us, all but 100 are waiting.
  CHECK(OfSizes(story, 1'000'000, 1'000'000).loss.lost->Total() == 10 * 500_us + 2 * 400_us);
  CHECK(OfSizes(story, 1'000'000, 2'000'000).loss.lost->Total() == 10 * 500_us + 2 * 400_us);
  CHECK(OfSizes(story, 3'000'000, 1'000'000).loss.lost->Total() == 10 * 300_us + 2 * 400_us);
  CHECK(OfSizes(story, 6'000'000, 1'000'000).loss.lost->Total() == 2 * 400_us);
}

// Ten steps: 500 us of work, then four all-reduces. The first takes `first`, each of the others
// `others`.
TraceBuilder StepsOfFour(Nanos first, Nanos others) {
  TraceBuilder story;
  Repeat(10, 20_ms, [&](int i, Nanos at) {
    story.Range("step " + std::to_string(i), {at, at + 19_ms});
    story.Launch("work", {at, at + 5_us}, {at + 10_us, at + 510_us});
    Nanos end = at + 510_us;
    for (int place = 0; place < 4; ++place) {
      const Nanos start = end;
      end += place == 0 ? first : others;
      story.Launch(kAllReduce, {at + (6 + 4 * place) * 1_us, at + (9 + 4 * place) * 1_us},
                   {start, end});
    }
  });
  return story;
}

TEST_CASE("sizes unknown, a collective waits that takes many times as long as all of its step") {
  const Analyzed run(StepsOfFour(12_ms, 1_ms));
  CHECK(run->unseen_ranks->loss.count == 10);
  CHECK(run->unseen_ranks->by_places == 10);
  CHECK(run->unseen_ranks->loss.lost->Total() == 10 * 11_ms);
  // The embedding of a model may be so much larger than a layer; small ones say nothing.
  CHECK(Analyzed(StepsOfFour(8_ms, 1_ms))->unseen_ranks->loss.count == 0);
  CHECK(Analyzed(StepsOfFour(12_ms, 200_us))->unseen_ranks->loss.count == 0);
}

TEST_CASE("several GPUs that communicate tell by themselves who is late") {
  CHECK(Analyzed(Steps(100_us, 2))->unseen_ranks->loss.count == 0);
}

}  // namespace
}  // namespace advise
