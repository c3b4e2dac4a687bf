// Why ranks are late: slow processors, and data that their hosts prepare.
#include "tests/cluster/ranks.h"

namespace advise {
namespace {

TEST_CASE("a host whose processors are slow stands out, though the GPUs of some ranks run behind") {
  // The hosts of node2 work for all of each step. Only that of rank 3 began last, so that its GPU
  // waits for it: the GPU of rank 2 waits for rank 3.
  JobStory story;
  story.extra_loading = {{}, {}, {}, Each(10, 2'000'000)};
  story.host = {"node1", "node1", "node2", "node2"};
  std::vector<RankSummary> ranks = story.Tell();
  for (RankStep& step : ranks[3].steps) {
    step.time.causes = {};
    step.time.causes[static_cast<std::size_t>(IdleCause::kHostCompute)] = 2'000'000;
  }
  for (std::size_t r = 0; r < 4; ++r) {
    ranks[r].host_works = Each(10, r < 2 ? 2'200'000 : 11'000'000);
    ranks[r].launch_call = r < 2 ? 4'300 : 21'500;
  }
  const Cluster cluster(ranks, ShippedKnowledge());
  const SlowNode& node = cluster.lateness.node;
  REQUIRE(node.host == "node2");
  CHECK(node.ranks == 2);
  CHECK(node.cause.kind == LateCause::Kind::kSlowHost);
  CHECK(
      node.cause.words ==
      "each kernel launch takes 21.5 µs there, and 4.30 µs on other ranks (slow or shared cores)");
  CHECK(node.loss.gain == Approx(10 * 2e6));
  // The others wait for all of that. Rank 2 does, too, but for its own node.
  CHECK(node.loss.lost.by_device[0].Total() == Approx(10 * 2e6));
  CHECK(node.loss.lost.by_device[2].empty());

  SECTION("one of its hosts has launched all of its work ahead") {
    ranks[2].host_works = Each(10, 1'000'000);
    CHECK(Cluster(ranks, ShippedKnowledge()).lateness.node.host == "node2");
  }
  SECTION("one of its hosts is as fast as those of the other node") {
    ranks[2].host_works = ranks[0].host_works;
    ranks[2].launch_call = ranks[0].launch_call;
    CHECK(Cluster(ranks, ShippedKnowledge()).lateness.node.host.empty());
  }
  SECTION("launches take as long everywhere: these hosts have more to do") {
    for (RankSummary& rank : ranks) rank.launch_call = 4'300;
    const Cluster busy(ranks, ShippedKnowledge());
    CHECK(busy.lateness.node.host == "node2");
    CHECK(busy.lateness.node.cause.words == "its host is slower");
  }
}

TEST_CASE("a rank whose host works longer right before uploads prepares its data there") {
  JobStory story;
  story.extra_loading = {{}, {}, Each(10, 4'000'000)};
  std::vector<RankSummary> ranks = story.Tell();
  for (RankStep& step : ranks[2].steps) {
    step.time.causes = {};
    step.time.causes[static_cast<std::size_t>(IdleCause::kHostCompute)] = 4'000'000;
  }
  const auto words = [&](Nanos before_uploads) {
    ranks[2].before_uploads = before_uploads;
    return Cluster(ranks, ShippedKnowledge()).lateness.straggler.cause.words;
  };
  CHECK(words(38'000'000) ==
        "its host code takes longer right before it copies data to the GPU, and probably prepares "
        "that data");
  CHECK(words(20'000'000) == "its host is slower");
}

TEST_CASE(
    "a rank whose host is blocked for longer is late for that, and its processor is not slower") {
  JobStory story;
  story.extra_loading = {{}, {}, Each(10, 4'000'000)};
  std::vector<RankSummary> ranks = story.Tell();
  for (RankStep& step : ranks[2].steps) {
    step.time.causes = {};
    step.time.causes[static_cast<std::size_t>(IdleCause::kHostWait)] = 4'000'000;
  }
  CHECK(Cluster(ranks, ShippedKnowledge()).lateness.straggler.cause.words ==
        "its host is blocked in the operating system for longer");
}

TEST_CASE("the largest of a few waits says nothing; of many it may be one stop") {
  CHECK(LargestPart({5, 1, 1}, 3) == 0);
  CHECK(LargestPart({1, 97, 2}, 30) == Approx(0.97));
  CHECK(LargestPart({}, 30) == 0);
}

}  // namespace
}  // namespace advise
