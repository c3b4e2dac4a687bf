// GPU work by where the program launched it.
#include "engine/metrics/origins.h"

#include "tests/support/analyzed.h"

namespace advise {
namespace {

TEST_CASE("kernels are told by the innermost range around their launch, and by their place") {
  TraceBuilder story;
  for (int i = 0; i < 10; ++i) {
    const Nanos at = i * 1_ms;
    story.Range("step " + std::to_string(i), {at, at + 999_us})
        .Range("encoder", {at + 10_us, at + 400_us})
        .Range("attention", {at + 20_us, at + 100_us})
        .Launch("work", {at + 30_us, at + 35_us}, {at + 100_us, at + 200_us})
        .Launch("work", {at + 200_us, at + 205_us}, {at + 300_us, at + 350_us})
        .Launch("update", {at + 600_us, at + 605_us}, {at + 900_us, at + 920_us});
  }
  const Analyzed run(story, kAuto);
  const std::vector<OriginRow>& rows = run->origins.rows;
  REQUIRE(rows.size() == 3);
  CHECK(rows[0].kernel == "work");
  CHECK(rows[0].range == "attention");
  CHECK(rows[0].place == Approx(0.1).margin(0.01));
  CHECK(rows[0].time_ns == Approx(static_cast<double>(rows[0].count) * 100e3));
  CHECK(rows[1].range == "encoder");
  CHECK(rows[1].place == Approx(0.3).margin(0.01));
  CHECK(rows[2].kernel == "update");
  CHECK(rows[2].range.empty());  // the step itself tells nothing
  CHECK(rows[2].place == Approx(0.9).margin(0.01));
  CHECK(rows[2].blocks == 1000);
}

TEST_CASE("what was launched once has a place, too: that in the step which it is in") {
  TraceBuilder story;
  for (int i = 0; i < 10; ++i) {
    const Nanos at = i * 1_ms;
    story.Range("step " + std::to_string(i), {at, at + 999_us})
        .Launch("work", {at + 30_us, at + 35_us}, {at + 100_us, at + 200_us});
  }
  story.Launch("once", {5700_us, 5705_us}, {5800_us, 5850_us});
  const Analyzed run(story);
  REQUIRE(run->origins.rows.size() == 2);
  CHECK(run->origins.rows[1].kernel == "once");
  CHECK(run->origins.rows[1].count == 1);
  CHECK(run->origins.rows[1].place == Approx(0.8).margin(0.01));
}

TEST_CASE("a graph that was traced as a whole is a row without a kernel") {
  const Analyzed run(TraceBuilder()
                         .Graph(7, {0, 5_us}, {10_us, 110_us})
                         .Launch("kernel", {20_us, 25_us}, {120_us, 130_us}));
  REQUIRE(run->origins.rows.size() == 2);
  CHECK(run->origins.rows[0].kernel.empty());
  CHECK(run->origins.rows[0].kernel_class == "graph");
  CHECK(run->origins.rows[0].time_ns == 100e3);
  CHECK(run->origins.rows[1].place == -1);
}

TEST_CASE("communication is no work that runs are told by") {
  const Analyzed run(TraceBuilder().Launch(kAllReduce, {0, 5_us}, {10_us, 110_us}));
  CHECK(run->origins.rows.empty());
}

}  // namespace
}  // namespace advise
