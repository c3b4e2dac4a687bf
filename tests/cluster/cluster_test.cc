// Ranks together: who is late, why, what it costs, and how efficient they are. All figures by hand.
#include "engine/cluster/cluster.h"

#include <cmath>

#include "tests/cluster/ranks.h"

namespace advise {
namespace {

TEST_CASE("equal ranks: all of the collective is transfer, nobody is late") {
  JobStory story;
  const Cluster cluster(story.Tell(), ShippedKnowledge());
  CHECK(cluster.joint.all.size() == 10);
  CHECK(cluster.joint.matched == 40);
  CHECK(cluster.lateness.judged == 0);
  CHECK(cluster.lateness.straggler.rank == kNone);
  CHECK(cluster.waited_ns == 0);
  CHECK(cluster.transfer_ns == 10 * 1e6);
  CHECK(cluster.efficiency.parallel == Approx(8.0 / 9.0));
  CHECK(cluster.efficiency.load_balance == Approx(1));
  CHECK(cluster.efficiency.communication == Approx(8.0 / 9.0));
  CHECK(cluster.efficiency.orchestration == Approx(1));
}

TEST_CASE("the efficiency factors multiply to the parallel efficiency") {
  JobStory story;
  story.extra_compute = {{}, Each(10, 3'000'000), {}, Each(10, 500'000)};
  story.extra_loading = {Each(10, 2'000'000), {}, {}, {}};
  const Cluster cluster(story.Tell(), ShippedKnowledge());
  const Efficiency& e = cluster.efficiency;
  CHECK(e.parallel == Approx(e.load_balance * e.communication * e.orchestration));
  // 8+8+8+8+3+0.5 ms of compute over 4 ranks, of 12 ms a step.
  CHECK(e.parallel == Approx(35.5 / 4 / 12));
  CHECK(e.load_balance == Approx(35.5 / 4 / 11));
}

TEST_CASE("a rank with more work is the straggler, and wins what the next-latest leaves") {
  JobStory story;
  story.extra_compute = {{}, Each(10, 3'000'000), {}, Each(10, 1'000'000)};
  const Cluster cluster(story.Tell(), ShippedKnowledge());
  const LateRank& late = cluster.lateness.straggler;
  REQUIRE(late.rank == 1);
  CHECK(late.share == 1.0);
  CHECK(late.lateness_ns == 3e6);  // after the median rank
  // 3 ms a step are more than rank 3 has by 2 ms: more is not won.
  CHECK(late.loss.gain == 10 * 2'000'000);
  for (std::size_t r = 0; r < 4; ++r) {
    INFO(r);
    CHECK(late.loss.lost.by_device[r].Total() <= late.loss.gain);
  }
  CHECK(late.loss.lost.by_device[1].Total() == 0);
  CHECK(cluster.lateness.waited[0] == 10 * 3'000'000);
  CHECK(cluster.lateness.compute.behind == 1);
}

// Three ranks are ready, rank 1 has 4 ms more work: fixed, each has 1 ms more than the others had.
TEST_CASE("work that is given to other ranks does not vanish") {
  JobStory story;
  story.extra_compute = {{}, Each(10, 4'000'000)};
  std::vector<RankSummary> ranks = story.Tell();
  ranks[1].kernels_count = 14;
  const LateRank late = Cluster(ranks, ShippedKnowledge()).lateness.straggler;
  CHECK(late.cause.words == "it has more work on the GPU");
  CHECK(late.loss.gain == 10 * 3'000'000);
}

// Hosts that never wait for their GPUs, all at the same pace. That of rank 1 started 3 ms late, so
// that the other GPUs wait 3 ms in each step; an earlier start would win this once.
TEST_CASE("a rank that started late is no slower than hosts that take as long") {
  JobStory story;
  story.extra_loading = {{}, Each(10, 3'000'000), {}, {}};
  std::vector<RankSummary> ranks = story.Tell();
  CHECK(Cluster(ranks, ShippedKnowledge()).lateness.straggler.loss.gain == 10 * 3'000'000);
  for (RankSummary& rank : ranks) {
    for (const RankStep& step : rank.steps) rank.host_works.push_back(step.Length());
  }
  CHECK(Cluster(ranks, ShippedKnowledge()).lateness.straggler.loss.gain == 0);

  // Hosts that have worked for all steps in the first half of the time are twice as fast.
  for (const std::size_t r : {std::size_t{0}, std::size_t{2}, std::size_t{3}}) {
    for (std::size_t s = 0; s < 10; ++s) ranks[r].host_works[s] = s < 5 ? 12'000'000 : 0;
  }
  CHECK(Cluster(ranks, ShippedKnowledge()).lateness.straggler.loss.gain == 10 * 3'000'000);
}

// All hosts exchange objects for 3 ms in each step, and never wait for their GPUs: an earlier start
// of rank 1 would win nothing. Where one of them is done at once, the others wait for it there.
TEST_CASE("hosts that are all as long in an exchange work there, and do not wait") {
  JobStory story;
  story.extra_loading = {{}, Each(10, 3'000'000), {}, {}};
  std::vector<RankSummary> ranks = story.Tell();
  for (RankSummary& rank : ranks) {
    for (const RankStep& step : rank.steps) rank.host_works.push_back(step.Length() - 3'000'000);
    rank.host_exchanges.assign(rank.steps.size(), 3'000'000);
  }
  const auto gain = [&] { return Cluster(ranks, ShippedKnowledge()).lateness.straggler.loss.gain; };
  CHECK(gain() == 0);
  ranks[2].host_exchanges.assign(ranks[2].steps.size(), 0);
  CHECK(gain() == 10 * 3'000'000);
}

TEST_CASE("ranks that write files in turn load no uneven batches") {
  JobStory story;
  story.extra_loading.assign(4, Each(8, 0));
  story.steps = 8;
  for (std::size_t s = 0; s < 8; ++s) story.extra_loading[s % 4][s] = 5'000'000;
  std::vector<RankSummary> ranks = story.Tell();
  for (RankSummary& rank : ranks) {
    for (RankStep& step : rank.steps) {
      step.time.causes = {};
      step.time.causes[static_cast<std::size_t>(IdleCause::kFileIo)] = step.time.idle;
    }
  }
  const auto gain = [&] { return Cluster(ranks, ShippedKnowledge()).lateness.input.loss.gain; };
  CHECK(gain() == 8 * 5'000'000);
  for (RankSummary& rank : ranks)
    for (RankStep& step : rank.steps) step.time.writing = step.time.idle;
  CHECK(gain() == 0);
}

// Rank 2 loads 4 ms before the first of eleven sums; at the other ten, rank 0 is 100 us late.
TEST_CASE("late once per step weighs what the others wait, not how often ranks come last") {
  std::vector<RankSummary> ranks(3);
  for (std::uint32_t r = 0; r < 3; ++r) {
    ranks[r].rank = static_cast<int>(r);
    ranks[r].kinds = {"allreduce"};
    Nanos now = 1'000'000;
    for (int s = 0; s < 4; ++s) {
      RankStep step;
      step.start = now;
      for (int c = 0; c < 11; ++c) {
        const std::uint32_t latest = c == 0 ? 2 : 0;
        const Nanos late = c == 0 ? 4'000'000 : 100'000;
        const Nanos start = now + 500'000 + (r == latest ? late : 0);
        const Nanos end = now + 500'000 + late + 20'000 + 1'000 * s;
        RankCollectives& list = ranks[r].collectives;
        list.start.push_back(start);
        list.end.push_back(end);
        list.exposed.push_back(end - start);
        list.kind.push_back(0);
        list.phase.push_back(0);
        list.lane.push_back(0);
        list.group.push_back(-1);
        list.bytes.push_back(-1);
        list.peer.push_back(-1);
        step.time.compute += start - now;
        step.time.comm_exposed += end - start;
        now = end;
      }
      step.end = now;
      ranks[r].steps.push_back(step);
    }
    ranks[r].window_start = 1'000'000;
    ranks[r].window_end = now;
  }
  const LateRank late = Cluster(ranks, ShippedKnowledge()).lateness.straggler;
  CHECK(late.rank == 2);
  CHECK(late.share == Approx(0.75));  // 12 ms of 12 ms and 40 times 0.1 ms, but for the first
}

// Rank 0 has 3 ms more than rank 1 in six of eight steps, and 3 ms less in the others.
TEST_CASE("a rank that is ahead now and then is behind by the difference") {
  JobStory story;
  story.steps = 8;
  story.extra_compute.assign(2, Each(8, 0));
  for (std::size_t s = 0; s < 8; ++s) story.extra_compute[s < 6 ? 0 : 1][s] = 3'000'000;
  const Cluster cluster(story.Tell(), ShippedKnowledge());
  CHECK(cluster.lateness.compute.top_rank == Approx(0.75));
  CHECK(cluster.lateness.compute.behind == Approx(0.5));
}

TEST_CASE("why a rank is late: slower kernels, more work, or data") {
  JobStory story;
  story.extra_compute = {{}, Each(10, 3'000'000)};
  std::vector<RankSummary> slower = story.Tell();
  slower[1].kernels = {{"matmul", 10, 110'000'000, 11'000'000}};
  CHECK(
      Cluster(slower, ShippedKnowledge()).lateness.straggler.cause.words.find("the same kernels") ==
      0);

  // The experts of one rank get more tokens: their kernels take most of its time, because they have
  // more to do. All others take as long as elsewhere.
  std::vector<RankSummary> experts = story.Tell();
  for (RankSummary& rank : experts)
    rank.kernels = {{"dense", 10, 50'000'000, 5'000'000}, {"experts", 10, 30'000'000, 3'000'000}};
  experts[1].kernels[1] = {"experts", 10, 90'000'000, 9'000'000};
  CHECK(Cluster(experts, ShippedKnowledge()).lateness.straggler.cause.words ==
        "it has more work on the GPU");

  std::vector<RankSummary> more = story.Tell();
  more[1].kernels_count = 14;
  CHECK(Cluster(more, ShippedKnowledge()).lateness.straggler.cause.words ==
        "it has more work on the GPU");

  JobStory loading;
  loading.extra_loading = {{}, {}, Each(10, 2'000'000), {}};
  const Cluster waits(loading.Tell(), ShippedKnowledge());
  CHECK(waits.lateness.straggler.rank == 2);
  CHECK(waits.lateness.straggler.cause.words == "it waits longer for data");
}

TEST_CASE(
    "a rank whose GPU is another model is late because of it, whatever its kernels are called") {
  JobStory story;
  story.extra_compute.assign(4, {});
  story.extra_compute[3] = Each(story.steps, story.compute);
  std::vector<RankSummary> ranks = story.Tell();
  for (RankSummary& rank : ranks) rank.device_name = "NVIDIA H100";
  ranks[3].device_name = "NVIDIA A100";
  ranks[3].kernels.front().name = "ampere_gemm";
  CHECK(Cluster(ranks, ShippedKnowledge()).lateness.straggler.cause.words ==
        "its GPU is another model, NVIDIA A100, where the others have NVIDIA H100");
}

TEST_CASE("a transfer that is hidden on one rank and laid bare on another is waiting") {
  std::vector<RankSummary> ranks = JobStory().Tell();
  // Ranks 0 to 2 have nothing left to compute, rank 3 computes beside the collective.
  for (std::size_t s = 0; s < 10; ++s) {
    ranks[3].collectives.exposed[s] = 0;
    ranks[3].steps[s].time.compute += 1'000'000;
    ranks[3].steps[s].time.comm_exposed = 0;
  }
  const Cluster cluster(ranks, ShippedKnowledge());
  CHECK(cluster.lateness.waited[0] == 10 * 1'000'000);
  CHECK(cluster.lateness.waited[3] == 0);
  CHECK(cluster.transfer_ns == 0);
  CHECK(cluster.waited_ns == 0.75 * 10 * 1'000'000);
}

TEST_CASE("lateness that goes round is an imbalance, not a straggler") {
  JobStory story;
  story.steps = 12;
  story.extra_compute.assign(4, Each(12, 0));
  for (std::size_t s = 0; s < 12; ++s) story.extra_compute[s % 4][s] = 4'000'000;
  const Cluster cluster(story.Tell(), ShippedKnowledge());
  CHECK(cluster.lateness.straggler.share == Approx(3.0 / 11));  // but for where they meet first
  const Imbalance& uneven = cluster.lateness.compute;
  CHECK(uneven.steps == 1.0);
  CHECK(uneven.top_rank == Approx(0.25));
  CHECK(uneven.behind == 0);
  CHECK(uneven.loss.gain == 12 * 3'000'000);  // the four are shared by all ranks
  CHECK(cluster.lateness.input.loss.gain == 0);
}

TEST_CASE("a rank that evaluates once outweighs the ranks that chance picks in the other steps") {
  JobStory story;
  story.steps = 16;
  story.extra_compute.assign(4, Each(16, 0));
  for (std::size_t s = 0; s < 16; ++s) story.extra_compute[1 + s % 2][s] = 50'000;
  story.extra_compute[0][7] = 30'000'000;
  const Cluster cluster(story.Tell(), ShippedKnowledge());
  CHECK(cluster.lateness.straggler.rank == 0);
  CHECK(cluster.lateness.compute.behind > 0.9);
}

// One step without a range: rank 2 begins 5 ms after the others, which wait for it.
TEST_CASE("a rank that evaluates alone is late now and then, also where its steps are others") {
  const auto cause = [](std::size_t every) {
    JobStory story;
    story.steps = 24;
    story.extra_compute = {{}, Each(24, 0)};
    for (std::size_t s = every - 1; s < 24; s += every) story.extra_compute[1][s] = 60'000'000;
    std::vector<RankSummary> ranks = story.Tell();
    // What repeats on the rank are the batches of its evaluations, too.
    ranks[1].kernels_count *= 5;
    std::vector<RankStep> pieces;
    for (const RankStep& step : ranks[1].steps) {
      const auto count = std::max<Nanos>(1, step.Length() / 3'000'000);
      for (Nanos i = 0; i < count; ++i) {
        RankStep piece;
        piece.start = step.start + i * step.Length() / count;
        piece.end = step.start + (i + 1) * step.Length() / count;
        piece.time.compute = piece.Length();
        pieces.push_back(piece);
      }
    }
    ranks[1].steps = std::move(pieces);
    const Cluster run(std::move(ranks), ShippedKnowledge());
    CHECK(run.lateness.straggler.rank == 1);
    CHECK_FALSE(run.job.has_steps);
    return run.lateness.straggler.cause.kind;
  };
  CHECK(cause(8) == LateCause::Kind::kMoreAtTimes);
  CHECK(cause(1) == LateCause::Kind::kMoreWork);
}

TEST_CASE("what a rank did before its capture makes the others wait") {
  JobStory story;
  story.steps = 1;
  story.extra_loading = {{}, {}, Each(1, 5'000'000), {}};
  std::vector<RankSummary> ranks = story.Tell();
  for (RankSummary& rank : ranks) rank.steps.clear();
  ranks[2].window_start += 5'000'000;
  ranks[2].time.idle = 0;
  ranks[2].time.causes = {};
  for (RankSummary& rank : ranks) rank.clock = 0;
  CHECK(Cluster(ranks, ShippedKnowledge()).job.before == std::vector<Nanos>(4, 0));  // one report
  for (std::uint32_t r = 0; r < 4; ++r) ranks[r].report = r;
  const Cluster cluster(ranks, ShippedKnowledge());
  CHECK(cluster.job.before == std::vector<Nanos>{0, 0, 5'000'000, 0});
  CHECK(cluster.job.Window() == 14'000'000);
  CHECK(cluster.waited_ns == 0.75 * 5e6);
  CHECK(cluster.lateness.straggler.cause.kind == LateCause::Kind::kUncaptured);
  const LateRank& late = cluster.lateness.straggler;
  REQUIRE(late.rank == 2);
  CHECK(late.loss.gain == 5'000'000);
  CHECK(late.cause.words == "it began later, with work that was not captured");
}

TEST_CASE("a variable that switches a path off takes the time of the collectives on it") {
  std::vector<RankSummary> ranks = JobStory().Tell();
  for (RankSummary& rank : ranks) rank.device_name = "NVIDIA H100 80GB HBM3";
  CHECK(Cluster(ranks, ShippedKnowledge()).inside.off.empty());
  ranks[2].switches = {{"NCCL_DEBUG", "INFO"}, {"NCCL_P2P_DISABLE", "1"}};
  const Cluster off(ranks, ShippedKnowledge());
  CHECK(off.inside.off == "NCCL_P2P_DISABLE=1");
  // 16 GB/s through host memory instead of 70 % of 450 GB/s.
  CHECK(static_cast<double>(off.inside.loss.gain) == Approx((1 - 16.0 / 315) * 10 * 1e6));
  CHECK(off.across.off.empty());
}

TEST_CASE("a network that is turned off is no proof of a faster one") {
  JobStory story;
  story.host = {"node1", "node1", "node2", "node2"};
  std::vector<RankSummary> ranks = story.Tell();
  for (RankSummary& rank : ranks) rank.switches = {{"NCCL_IB_DISABLE", "1"}};
  const Cluster cluster(ranks, ShippedKnowledge());
  CHECK(cluster.across.off == "NCCL_IB_DISABLE=1");
  CHECK(cluster.across.loss.gain == 0);
}

TEST_CASE("a host all of whose ranks are slow stands out") {
  JobStory story;
  story.extra_compute = {{}, {}, Each(10, 2'000'000), Each(10, 2'200'000)};
  story.host = {"node1", "node1", "node2", "node2"};
  const Cluster cluster(story.Tell(), ShippedKnowledge());
  CHECK(cluster.lateness.node.host == "node2");
  CHECK(cluster.lateness.node.ranks == 2);
  // Their surplus work is given to all: the mean of 0, 0, 2, and 2.2 ms remains.
  CHECK(cluster.lateness.node.loss.gain == 10 * 1'150'000);

  story.host = {"node1", "node2", "node1", "node2"};
  CHECK(Cluster(story.Tell(), ShippedKnowledge()).lateness.node.host.empty());
}

TEST_CASE("clocks of their own change nothing") {
  JobStory story;
  story.extra_compute = {{}, Each(10, 3'000'000), {}, Each(10, 1'000'000)};
  for (int s = 0; s < 10; ++s) story.extra_compute[1][static_cast<std::size_t>(s)] += s * s * 1000;
  const Cluster one(story.Tell(), ShippedKnowledge());
  story.clock_offset = {0, 5'000'000'000, -17, 44'444'444};
  const Cluster apart(story.Tell(), ShippedKnowledge());
  CHECK(apart.lateness.straggler.rank == one.lateness.straggler.rank);
  CHECK(apart.lateness.straggler.loss.gain == one.lateness.straggler.loss.gain);
  CHECK(apart.waited_ns == one.waited_ns);
  CHECK(apart.job.Window() == one.job.Window());
}

TEST_CASE("reports of the same GPU show gaps where another process computes") {
  std::vector<RankSummary> ranks = JobStory().Tell();
  const auto notes = [&](const char* last) {
    for (std::uint32_t r = 0; r < ranks.size(); ++r) {
      ranks[r].report = r;
      ranks[r].device_uuid = r < 3 ? "gpu " + std::to_string(r) : last;
    }
    return Cluster(ranks, ShippedKnowledge()).notes;
  };
  CHECK(notes("gpu 3").empty());
  REQUIRE(notes("gpu 2").size() == 1);
  CHECK(notes("gpu 2")[0].find("2 reports are of the same GPU") == 0);
}

TEST_CASE("a rank that is missing is named") {
  std::vector<RankSummary> ranks = JobStory().Tell();
  ranks.erase(ranks.begin() + 2);
  const Cluster cluster(ranks, ShippedKnowledge());
  CHECK(cluster.missing == std::vector<int>{2});
  REQUIRE(cluster.notes.size() == 1);
  CHECK(cluster.notes[0].find("no report of rank 2 of 4") == 0);

  std::vector<RankSummary> of_eight = JobStory().Tell();
  for (RankSummary& rank : of_eight) rank.world_size = 8;
  const Cluster half(of_eight, ShippedKnowledge());
  CHECK(half.missing == std::vector<int>{4, 5, 6, 7});
  CHECK(half.notes[0] == "no report of ranks 4, 5, 6, 7 of 8: what only they show is not known");
  for (RankSummary& rank : of_eight) rank.world_size = 128;
  CHECK(Cluster(of_eight, ShippedKnowledge()).notes[0] ==
        "only 4 of 128 ranks have a report: what the others show is not known");
}

TEST_CASE("fewer steps on one rank: the others are compared in those that all have") {
  std::vector<RankSummary> ranks = JobStory().Tell();
  ranks[2].steps.erase(ranks[2].steps.begin(), ranks[2].steps.begin() + 4);
  const Cluster cluster(ranks, ShippedKnowledge());
  CHECK(cluster.job.steps == 6);
  CHECK(cluster.job.index[0] == 4);  // rank 0's fifth step is rank 2's first
  CHECK(cluster.job.index[2 * 6] == 0);
}

// Rank 3 computes 4 ms longer in each step; on each rank a second collective runs beside the first.
TEST_CASE("a rank that waits in two collectives at once waits once") {
  JobStory story;
  story.extra_compute.assign(4, {});
  story.extra_compute[3].assign(10, 4'000'000);
  std::vector<RankSummary> ranks = story.Tell();
  const auto waited = [&] {
    const Cluster cluster(ranks, ShippedKnowledge());
    CHECK(cluster.joint.all.size() == ranks[0].collectives.start.size());
    return cluster.job.waited[0];
  };
  CHECK(waited() == 4'000'000);
  for (RankSummary& rank : ranks) {
    rank.kinds.emplace_back("reducescatter");
    RankCollectives& list = rank.collectives;
    const std::size_t count = list.start.size();
    for (std::size_t i = 0; i < count; ++i) {
      list.start.push_back(list.start[i]);
      list.end.push_back(list.end[i]);
      list.exposed.push_back(list.exposed[i]);
      list.kind.push_back(1);
      list.phase.push_back(list.phase[i]);
      list.lane.push_back(1);
      list.group.push_back(-1);
      list.bytes.push_back(-1);
      list.peer.push_back(-1);
    }
  }
  CHECK(waited() == 4'000'000);
}

// Of each two steps only the second one meets the other ranks: gradients are accumulated. Rank 1
// writes for 90 ms in one of the first kind.
TEST_CASE("a collective at the border of two steps pairs no others than those behind it") {
  JobStory story;
  std::vector<RankSummary> ranks = story.Tell();
  for (std::size_t r = 0; r < ranks.size(); ++r) {
    RankSummary& rank = ranks[r];
    // Each step opens with two gathers. Where the rank is ahead, one begins in the step before.
    for (std::size_t s = 1; s < rank.steps.size(); ++s) {
      const Nanos border = rank.steps[s].start;
      RankCollectives& list = rank.collectives;
      for (std::size_t k = 0; k < 2; ++k) {
        const auto at = static_cast<std::ptrdiff_t>(3 * s - 2 + k);
        const Nanos start = k == 0 && r == 0 ? border - 5_us : border + 5_us;
        list.start.insert(list.start.begin() + at, start);
        list.end.insert(list.end.begin() + at, border + (k == 0 ? 400_us : 900_us));
        list.exposed.insert(list.exposed.begin() + at, 0);
        for (auto* column : {&list.kind, &list.phase}) column->insert(column->begin() + at, 0);
        list.lane.insert(list.lane.begin() + at, 1);
        list.group.insert(list.group.begin() + at, -1);
        list.bytes.insert(list.bytes.begin() + at, -1);
        list.peer.insert(list.peer.begin() + at, -1);
      }
    }
  }
  // This one was recorded, or is steady, from the second step on.
  RankSummary& late = ranks[3];
  late.steps.erase(late.steps.begin());
  late.window_start = late.steps.front().start;
  const Cluster run(std::move(ranks), ShippedKnowledge());
  REQUIRE(run.job.steps == 9);
  CHECK(run.job.index[0] == 1);
  CHECK(run.job.index[3 * run.job.steps] == 0);
}

TEST_CASE("a wait that begins before the first step counts in it") {
  JobStory story;
  story.extra_compute = {{}, {}, {}, Each(10, 0)};
  story.extra_compute[3][0] = 5_ms;
  std::vector<RankSummary> ranks = story.Tell();
  // Weights are gathered a little before the first kernel of the step.
  RankStep& first = ranks[0].steps.front();
  first.start = ranks[0].collectives.start.front() + 10_us;
  first.time = {};
  first.time.comm_exposed = first.Length();
  const Cluster run(std::move(ranks), ShippedKnowledge());
  REQUIRE(run.job.steps == 10);
  CHECK(run.job.waited[0] == 4_ms + 990_us);
}

TEST_CASE("host code that is longer on another rank in each step is an imbalance of hosts") {
  JobStory story;
  story.extra_loading.assign(4, Each(10, 300'000));
  for (std::size_t s = 0; s < 10; ++s) story.extra_loading[s % 4][s] = 3'300'000;
  std::vector<RankSummary> ranks = story.Tell();
  for (RankSummary& rank : ranks) {
    for (RankStep& step : rank.steps) {
      Nanos& loading = step.time.causes[static_cast<std::size_t>(IdleCause::kDataLoading)];
      std::swap(loading, step.time.causes[static_cast<std::size_t>(IdleCause::kHostCompute)]);
    }
  }
  const Cluster run(std::move(ranks), ShippedKnowledge());
  CHECK(run.lateness.host.steps == 1);
  CHECK(run.lateness.host.top_rank == 0.3);
  CHECK(run.lateness.host.loss.gain == 30'000'000);
  CHECK(run.lateness.input.steps == 0);
}

// Ranks that send messages to their neighbors compute 10 ms per step. In step 3, the host of rank 0
// pauses for 30 ms. Rank 1 waits for it in that step, rank 2 for rank 1 in the next.
TEST_CASE("a pause reaches a rank that is no neighbor in a later step, and costs it as much") {
  constexpr Nanos kPause = 30'000'000;
  std::vector<RankSummary> ranks(3);
  for (std::size_t r = 0; r < 3; ++r) {
    ranks[r].rank = static_cast<int>(r);
    ranks[r].path = "rank_" + std::to_string(r) + ".sqlite";
    Nanos now = 1'000'000'000;
    for (std::size_t s = 0; s < 12; ++s) {
      const Nanos idle = s == (r < 2 ? 3U : 4U) ? kPause : 0;
      const IdleCause cause = r == 0 ? IdleCause::kHostCompute : IdleCause::kPeerWait;
      RankStep step;
      step.start = now;
      step.end = now + idle + 10'000'000;
      step.time.compute = 10'000'000;
      step.time.idle = idle;
      step.time.causes[static_cast<std::size_t>(cause)] = idle;
      ranks[r].steps.push_back(step);
      ranks[r].time.compute += step.time.compute;
      ranks[r].time.idle += idle;
      now = step.end;
    }
    ranks[r].window_start = ranks[r].steps.front().start;
    ranks[r].window_end = ranks[r].steps.back().end;
  }
  const Cluster run(std::move(ranks), ShippedKnowledge());
  const RankLoss& loss = run.lateness.host.loss;
  CHECK(loss.gain == kPause);
  REQUIRE(loss.lost.by_device.size() == 3);
  for (const IntervalSet& lost : loss.lost.by_device) CHECK(lost.Total() == kPause);
}

TEST_CASE("steps without collectives count as steps of the job") {
  JobStory story;
  story.extra_loading.assign(4, {});
  story.extra_loading[1].assign(10, 0);
  story.extra_loading[1][5] = 90'000'000;
  std::vector<RankSummary> ranks = story.Tell();
  for (RankSummary& rank : ranks) {
    std::vector<RankStep> halves;
    for (const RankStep& step : rank.steps) {
      RankStep first = step;
      first.end = step.start + first.time.idle + 4'000'000;
      first.time.compute = 4'000'000;
      first.time.comm_exposed = 0;
      RankStep second = step;
      second.start = first.end;
      second.time.compute -= 4'000'000;
      second.time.idle = 0;
      halves.push_back(first);
      halves.push_back(second);
    }
    rank.steps = halves;
  }
  const Cluster cluster(ranks, ShippedKnowledge());
  CHECK(cluster.job.steps == 20);
  CHECK(cluster.job.Window() == 10 * 9'000'000 + 90'000'000);
  CHECK(cluster.notes.empty());
  RankCuts cuts(4);
  cuts[1].assign(20, 0);
  cuts[1][10] = 90'000'000;
  CHECK(cluster.job.Gain(cuts) == 90'000'000);
}

// Two H100s compute 20 ms and sum up gradients of unknown size for 100 ms per step. At 70 % of
// 450 GB/s and four bytes a parameter (bus factor 1), 100 ms are 7.875e9 parameters; 20 ms at
// 989.4 TFLOP/s are 1.979e13 operations, six for each of them and each token.
TEST_CASE("gradient sums that take too long for NVLink leave time for few tokens") {
  JobStory story;
  story.ranks = 2;
  story.compute = 20'000'000;
  story.transfer = 100'000'000;
  const auto told = [&](const char* device, std::int64_t bytes) {
    std::vector<RankSummary> ranks = story.Tell();
    for (RankSummary& rank : ranks) {
      rank.device_name = device;
      std::fill(rank.collectives.bytes.begin(), rank.collectives.bytes.end(), bytes);
    }
    return Cluster(ranks, ShippedKnowledge()).inside;
  };
  const PathSpeed unsized = told("NVIDIA H100 80GB HBM3", -1);
  CHECK(unsized.path == "NVLink");
  CHECK(unsized.tokens == Approx(989.4e12 * 0.02 / (6 * 7.875e9)).epsilon(0.01));
  CHECK(unsized.loss.gain == 10 * 70'000'000);                    // 70 % of ten transfers
  CHECK(told("NVIDIA H100 80GB HBM3", 600'000'000).tokens == 0);  // 6 GB/s, and measured
  CHECK(told("NVIDIA L4", -1).tokens == 0);                       // no NVLink to compare with
}

}  // namespace
}  // namespace advise
