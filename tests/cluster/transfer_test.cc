// What shorter transfers win, where compute hides a part of them.
#include "engine/cluster/transfer.h"

#include "tests/cluster/ranks.h"

namespace advise {
namespace {

// Ten steps: 8 ms of computing, and an all-reduce of 6 ms, whose first milliseconds run beside it.
Cluster PartlyHidden(Nanos hidden) {
  JobStory story;
  story.transfer = 6'000'000;
  std::vector<RankSummary> ranks = story.Tell();
  for (RankSummary& rank : ranks) {
    for (Nanos& start : rank.collectives.start) start -= hidden;
    for (Nanos& end : rank.collectives.end) end -= hidden;
    for (Nanos& exposed : rank.collectives.exposed) exposed -= hidden;
    for (RankStep& step : rank.steps) step.time.comm_exposed -= hidden;
  }
  return {std::move(ranks), ShippedKnowledge()};
}

TEST_CASE("half the bytes take the exposed end of a transfer off first") {
  // Of 6 ms of each all-reduce 3 go. Where 4 are exposed, that is 3 of these; where 2 are, both.
  for (const auto& [hidden, won] :
       {std::pair<Nanos, Nanos>{0, 3'000'000}, {2'000'000, 3'000'000}, {4'000'000, 2'000'000}}) {
    const Cluster cluster = PartlyHidden(hidden);
    CHECK(cluster.halved.gain == 10 * won);
    CHECK(cluster.halved.lost.by_device[0].Total() == 10 * won);
  }
}

TEST_CASE("how long collectives transfer, hidden or not") {
  for (const Nanos hidden : {0, 4'000'000}) {
    const Cluster cluster = PartlyHidden(hidden);
    CHECK(cluster.transferring_ns == 60e6);
    CHECK(cluster.transfer_ns == Approx(60e6 - 10.0 * static_cast<double>(hidden)));
  }
}

TEST_CASE("waiting for a late rank is no transfer") {
  JobStory story;
  story.extra_compute = {std::vector<Nanos>(10, 5'000'000)};
  const Cluster cluster(story.Tell(), ShippedKnowledge());
  CHECK(cluster.transferring_ns == 10e6);
}

TEST_CASE("a collective of 16 MB needs more than its bytes at the usual rate, and no other path") {
  const auto lost = [](std::int64_t bytes, Nanos transfer) {
    JobStory story;
    story.transfer = transfer;
    std::vector<RankSummary> ranks = story.Tell();
    for (RankSummary& rank : ranks) {
      rank.device_name = "NVIDIA H100 80GB HBM3";
      rank.kinds = {"allgather"};
      std::fill(rank.collectives.bytes.begin(), rank.collectives.bytes.end(), bytes);
    }
    return Cluster(std::move(ranks), ShippedKnowledge()).inside.loss.gain;
  };
  // About 130 GB/s on NVLink of 450 GB/s: start-up takes as long as the bytes.
  CHECK(lost(16'777'216, 85'000) == 0);
  // The same rate of 1 GB is another path: 50 µs and 2.38 ms would do.
  CHECK(static_cast<double>(lost(1'000'000'000, 5'770'000)) == Approx(10 * 3.339e6).epsilon(0.01));
}

TEST_CASE("of more ranks than a node has GPUs, nobody knows which share NVLink") {
  const auto peak = [](int ranks, const std::vector<std::string>& hosts) {
    JobStory story;
    story.ranks = ranks;
    story.host = hosts;
    std::vector<RankSummary> all = story.Tell();
    for (RankSummary& rank : all) {
      rank.device_name = "NVIDIA H100 80GB HBM3";
      if (hosts.empty()) rank.host.clear();
    }
    return Cluster(std::move(all), ShippedKnowledge()).inside.peak_bytes_per_s;
  };
  CHECK(peak(8, {}) > 0);
  CHECK(peak(10, {}) == 0);
  CHECK(peak(10, std::vector<std::string>(10, "node1")) > 0);
}

// 315 MB in 1 ms are 472 GB/s for each of four ranks; two of the ten take 31 ms.
TEST_CASE("a network that is down for a moment says nothing of the path") {
  JobStory story;
  story.extra_transfer = std::vector<Nanos>(10, 0);
  story.extra_transfer[4] = story.extra_transfer[9] = 30'000'000;
  std::vector<RankSummary> ranks = story.Tell();
  for (RankSummary& rank : ranks) {
    rank.device_name = "NVIDIA H100 80GB HBM3";
    std::fill(rank.collectives.bytes.begin(), rank.collectives.bytes.end(), 315'000'000);
  }
  const Cluster cluster(std::move(ranks), ShippedKnowledge());
  CHECK(cluster.inside.bus_bytes_per_s == Approx(1.5 * 315e9));
  CHECK(cluster.inside.loss.gain == 0);
}

}  // namespace
}  // namespace advise
