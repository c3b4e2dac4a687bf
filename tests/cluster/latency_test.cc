// Small sums of shared layers: how much of them is the latency of the library.
#include "engine/timeline/phase.h"
#include "tests/cluster/ranks.h"

namespace advise {
namespace {

constexpr Nanos kUs = 1'000;

// Ranks generate ten tokens. Each takes sixteen parts of layers of 100 us, and after each an
// all-reduce of this length and size.
std::vector<RankSummary> Tokens(Nanos transfer, std::int64_t bytes, std::size_t count = 2) {
  std::vector<RankSummary> ranks(count);
  for (std::size_t r = 0; r < ranks.size(); ++r) {
    RankSummary& rank = ranks[r];
    rank.rank = static_cast<int>(r);
    rank.host = "node1";
    rank.device_name = "NVIDIA H100 80GB HBM3";
    rank.kinds = {"allreduce"};
    rank.traits = {"tokens"};
    Nanos now = 1'000 * kUs;
    rank.window_start = now;
    for (int token = 0; token < 10; ++token) {
      RankStep step;
      step.start = now;
      for (int layer = 0; layer < 16; ++layer) {
        const Nanos start = now + 100 * kUs;
        now = start + transfer;
        RankCollectives& list = rank.collectives;
        list.start.push_back(start);
        list.end.push_back(now);
        list.exposed.push_back(transfer);
        list.kind.push_back(0);
        list.phase.push_back(0);
        list.lane.push_back(0);
        list.group.push_back(-1);
        list.bytes.push_back(bytes);
        list.peer.push_back(-1);
      }
      step.end = now;
      step.time.compute = 1'600 * kUs;
      step.time.comm_exposed = 16 * transfer;
      rank.steps.push_back(step);
    }
    rank.window_end = now;
  }
  return ranks;
}

Nanos LostToLatency(const std::vector<RankSummary>& ranks) {
  return Cluster(ranks, ShippedKnowledge()).strategy.latency_loss.gain;
}

// All sums of a token in a row, so that no rhythm tells what they are.
TEST_CASE("what infers has no gradients: its sums are those of shared layers") {
  const auto strategy = [](const char* trait) {
    std::vector<RankSummary> ranks = Tokens(34 * kUs, -1);
    for (RankSummary& rank : ranks) {
      rank.traits = {trait};
      RankCollectives& list = rank.collectives;
      for (std::size_t i = 0; i < list.size(); ++i) {
        list.end[i] = rank.steps[i / 16].end - static_cast<Nanos>(15 - i % 16) * 34 * kUs;
        list.start[i] = list.end[i] - 34 * kUs;
      }
    }
    return Cluster(std::move(ranks), ShippedKnowledge()).strategy.name;
  };
  CHECK(strategy("inference") == "tensor");
  CHECK(strategy("attention") == "ddp");
}

TEST_CASE("small sums of shared layers could take 8 us each") {
  const Cluster cluster(Tokens(34 * kUs, -1), ShippedKnowledge());
  REQUIRE(cluster.strategy.name == "tensor");
  CHECK(cluster.strategy.tensor_call_ns == 34e3);
  CHECK(static_cast<double>(cluster.strategy.latency_loss.gain) ==
        Approx(160 * 26e3).epsilon(1e-3));
}

TEST_CASE("shorter sums win nothing where the hosts launch for as long as a token takes") {
  std::vector<RankSummary> ranks = Tokens(34 * kUs, -1);
  const Nanos free = LostToLatency(ranks);
  for (const Nanos room : {Nanos{0}, 100 * kUs}) {
    for (RankSummary& rank : ranks) {
      rank.host_works.clear();
      for (const RankStep& step : rank.steps) rank.host_works.push_back(step.Length() - room);
    }
    CHECK(LostToLatency(ranks) == 10 * room);
    CHECK(LostToLatency(ranks) < free);
  }
}

TEST_CASE("sums that are large, or of whole sequences, take the time of the links") {
  CHECK(LostToLatency(Tokens(34 * kUs, 64 << 10)) > 0);
  CHECK(LostToLatency(Tokens(34 * kUs, 8 << 20)) == 0);
  CHECK(LostToLatency(Tokens(100 * kUs, -1)) == 0);
  std::vector<RankSummary> sequences = Tokens(34 * kUs, -1);
  for (RankSummary& rank : sequences) rank.traits.clear();
  CHECK(LostToLatency(sequences) == 0);
  for (RankSummary& rank : sequences) rank.traits = {"few-rows"};
  CHECK(LostToLatency(sequences) > 0);
}

TEST_CASE("a kernel that reads its peers' memory has no such latency to lose") {
  std::vector<RankSummary> ranks = Tokens(14 * kUs, -1);
  CHECK(LostToLatency(ranks) > 0);
  ranks[0].traits.emplace_back("one-kernel-all-reduce");
  CHECK(LostToLatency(ranks) == 0);
}

TEST_CASE("more than two GPUs have to be linked with each other") {
  for (const std::size_t count : {std::size_t{2}, std::size_t{4}}) {
    std::vector<RankSummary> ranks = Tokens(34 * kUs, -1, count);
    CHECK(LostToLatency(ranks) > 0);
    for (RankSummary& rank : ranks) rank.device_name = "NVIDIA L4";
    CHECK((LostToLatency(ranks) > 0) == (count == 2));
  }
}

// As even as those of layers, but all in the backward pass, which ranges name.
TEST_CASE("sums that the backward pass makes are gradients, however evenly they come") {
  const auto strategy = [](Phase phase) {
    std::vector<RankSummary> ranks = Tokens(34 * kUs, -1);
    for (RankSummary& rank : ranks) {
      for (std::uint8_t& of_sum : rank.collectives.phase) of_sum = static_cast<std::uint8_t>(phase);
    }
    return Cluster(ranks, ShippedKnowledge()).strategy.name;
  };
  CHECK(strategy(Phase::kUnnamed) == "tensor");
  CHECK(strategy(Phase::kForward) == "tensor");
  CHECK(strategy(Phase::kBackward) != "tensor");
}

TEST_CASE("between nodes, the network takes the time") {
  std::vector<RankSummary> ranks = Tokens(34 * kUs, -1);
  ranks[1].host = "node2";
  CHECK(LostToLatency(ranks) == 0);
}

}  // namespace
}  // namespace advise
