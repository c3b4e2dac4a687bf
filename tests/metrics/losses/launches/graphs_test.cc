// CUDA graphs: launches, gaps before them, and steps without them.
#include "tests/support/analyzed.h"
#include "tests/support/loops.h"

namespace advise {
namespace {

TEST_CASE("what lies between the nodes of one graph launch is no gap before it") {
  constexpr int kLaunches = 20;
  TraceBuilder story;
  Repeat(kLaunches, 100_us, [&](int, Nanos at) {
    std::vector<Interval> nodes;  // a microsecond apart
    for (int node = 0; node < 9; ++node)
      nodes.push_back({at + 10_us + node * 10_us, at + 19_us + node * 10_us});
    story.GraphNodes("gemm", {at, at + 9_us}, nodes);
  });
  // Before each launch but the first, 11 of its 100 us.
  CHECK(Analyzed(story)->graphs.gaps.lost->Total() == (kLaunches - 1) * 11_us);
}

TEST_CASE("graphs: launches, their length, and the gaps before them") {
  TraceBuilder story;
  Repeat(10, 1_ms, [&](int i, Nanos at) {
    story.Range("step " + std::to_string(i), {at, at + 950_us});
    story.GraphNodes("node", {at, at + 8_us}, {{at + 10_us, at + 20_us}, {at + 20_us, at + 50_us}});
    story.GraphNodes("node", {at + 100_us, at + 108_us},
                     {{at + 110_us, at + 120_us}, {at + 120_us, at + 150_us}});
  });
  const Analyzed run(story);
  const Graphs& graphs = run->graphs;
  CHECK(graphs.launches == 20);
  CHECK(graphs.per_step == 2);
  CHECK(graphs.call_median_ns == 8'000);
  CHECK(graphs.gpu_median_ns == 40'000);
  CHECK(graphs.gaps.lost->Total() > 0);
  CHECK(graphs.miss_share == 0);
  // The second launch of each step goes, with the code between; the first one stays.
  CHECK(graphs.gaps.remedy->vanished_calls.size() == 10);
  Nanos cut = 0;
  for (const auto& host : graphs.gaps.remedy->host_cuts) cut += host.when.Total();
  CHECK(cut == 10 * 92_us);
}

TEST_CASE("kernels of graphs are no sequence that could become one, their launches no slow calls") {
  TraceBuilder story;
  Repeat(8, 1_ms, [&](int i, Nanos at) {
    story.Range("step " + std::to_string(i), {at, at + 950_us});
    std::vector<Interval> nodes;
    for (int node = 0; node < 60; ++node)
      nodes.push_back({at + 210_us + node * 10_us, at + 219_us + node * 10_us});
    story.GraphNodes("gemm", {at, at + 200_us}, nodes);
    story.Launch("sample", {at + 830_us, at + 833_us}, {at + 840_us, at + 850_us});
  });
  const Analyzed run(story);
  CHECK(run->launches.sequence_length == 1);
  CHECK(run->launches.call_median_ns == 3'000);
  CHECK(run->graphs.call_median_ns == 200'000);
}

// Graphs are traced as a whole, and launching one takes three times as long as running it.
TEST_CASE("what a graph launch takes beyond the usual is its own loss, and no slow kernel launch") {
  TraceBuilder story;
  Repeat(20, 500_us, [&](int, Nanos at) {
    story.Graph(1, {at, at + 310_us}, {at + 315_us, at + 415_us});
  });
  const Analyzed run(story);
  CHECK(run->graphs.call_median_ns == 310'000);
  CHECK(run->launches.slow_median_ns == 0);
  CHECK(run->launches.slow.lost->Total() == 0);
  CHECK(run->graphs.slow.lost->Total() >= 19 * 300_us);
  Nanos cut = 0;
  for (const auto& host : run->graphs.slow.remedy->host_cuts) cut += host.when.Total();
  CHECK(cut >= 19 * 300_us);
  CHECK(cut <= 20 * 300_us);
  CHECK(run->replay().Gain(*run->graphs.slow.remedy) >= 18 * 300_us);
}

TEST_CASE("slow launches beside graphs do not cost what lies between the nodes of these") {
  TraceBuilder story;
  Repeat(20, 1_ms, [&](int i, Nanos at) {
    story.Range("step " + std::to_string(i), {at, at + 990_us});
    std::vector<Interval> nodes;  // a microsecond apart
    for (int node = 0; node < 60; ++node)
      nodes.push_back({at + 210_us + node * 10_us, at + 219_us + node * 10_us});
    story.GraphNodes("gemm", {at, at + 200_us}, nodes);
    story.Launch("sample", {at + 815_us, at + 855_us}, {at + 860_us, at + 900_us});
  });
  const Analyzed run(story);
  CHECK(run->launches.slow_median_ns == 40'000);
  const IntervalSet& lost = run->launches.slow.lost->by_device[0];
  CHECK(lost.Total() > 0);
  // The second step.
  CHECK(lost.OverlapWith(1_ms + 220_us, 1_ms + 800_us) == 0);
}

TEST_CASE("graphs are no series where no steps say what belongs together") {
  TraceBuilder story;
  for (const Nanos at : {0_us, 900_us})
    story.GraphNodes("node", {at, at + 8_us}, {{at + 10_us, at + 20_us}, {at + 20_us, at + 50_us}});
  const Analyzed run(story);
  REQUIRE(!run->run.steps.known());
  CHECK(run->graphs.gaps.remedy->vanished_calls.empty());
}

TEST_CASE("steps without the graph that the others use are misses") {
  TraceBuilder story;
  Repeat(20, 1_ms, [&](int i, Nanos at) {
    story.Range("step " + std::to_string(i), {at, at + 950_us});
    if (i % 5 == 4) {
      for (Nanos k = 0; k < 4; ++k) {
        const Nanos from = at + k * 200_us;
        story.Launch("node", {from, from + 5_us}, {from + 10_us, from + 60_us});
      }
    } else {
      story.GraphNodes("node", {at, at + 8_us},
                       {{at + 10_us, at + 410_us}, {at + 410_us, at + 810_us}});
    }
  });
  const Graphs graphs = Analyzed(story)->graphs;
  CHECK(graphs.miss_share == Approx(0.2).epsilon(0.3));
  CHECK(graphs.misses.lost->Total() > 0);
}

TEST_CASE("no graph takes off what a step waits for") {
  const auto lost = [](const char* wait) {
    TraceBuilder story;
    Repeat(20, 3_ms, [&](int i, Nanos at) {
      story.Range("step " + std::to_string(i), {at, at + 2950_us});
      if (i % 5 == 4) {
        story.Launch("node", {at, at + 5_us}, {at + 10_us, at + 100_us});
        if (wait != nullptr) story.OsCall(wait, {at + 50_us, at + 1900_us});
        story.Launch("node", {at + 2_ms, at + 2_ms + 5_us}, {at + 2_ms + 10_us, at + 2900_us});
      } else {
        story.GraphNodes("node", {at, at + 8_us},
                         {{at + 10_us, at + 1_ms}, {at + 1_ms, at + 2900_us}});
      }
    });
    return Analyzed(story)->graphs.misses.lost->Total();
  };
  CHECK(lost("epoll_wait") < 4 * 200_us);
  CHECK(lost(nullptr) > 3 * 1_ms);  // code of the host
}

TEST_CASE("graphs that were traced as a whole hide their kernels") {
  TraceBuilder story;
  for (Nanos k = 0; k < 4; ++k)
    story.Graph(1, {k * 100_us, k * 100_us + 5_us}, {k * 100_us + 10_us, k * 100_us + 90_us});
  const Analyzed run(story);
  CHECK(run->graphs.traced_whole_ns == 4 * 80'000);
}

TEST_CASE("graphs on two streams take the time of the device once") {
  TraceBuilder story;
  story.Graph(1, {0_us, 5_us}, {10_us, 90_us});
  story.Graph(2, {5_us, 9_us}, {20_us, 90_us});
  CHECK(Analyzed(story)->graphs.traced_whole_ns == 80'000);
}

}  // namespace
}  // namespace advise
