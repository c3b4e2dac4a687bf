// Ranks that wait for one that is no slower than themselves: what holds it back holds all of them.
#include "engine/cluster/cluster.h"
#include "engine/cluster/summarize.h"
#include "tests/cluster/ranks.h"
#include "tests/support/loops.h"

namespace advise {
namespace {

// Rank 1 copies for 3 ms of each step before the others can go on.
std::vector<RankSummary> Copying() {
  JobStory story;
  story.extra_compute = {{}, Each(10, 3'000'000), {}, {}};
  std::vector<RankSummary> ranks = story.Tell();
  for (RankStep& step : ranks[1].steps) {
    step.time.compute -= 3'000'000;
    step.time.copy_exposed += 3'000'000;
  }
  return ranks;
}

TEST_CASE("a rank that copies while the others do so beside their wait for it is no slower") {
  std::vector<RankSummary> ranks = Copying();
  const LateRank alone = Cluster(ranks, ShippedKnowledge()).lateness.straggler;
  CHECK(alone.cause.words == "it copies longer");
  CHECK(alone.loss.gain == 10 * 3'000'000);
  // One other rank copies 2 ms of it.
  for (RankStep& step : ranks[2].steps) step.time.copying_beside_comm = 2'000'000;
  CHECK(Cluster(ranks, ShippedKnowledge()).lateness.straggler.loss.gain == 10 * 1'000'000);
  for (RankStep& step : ranks[2].steps) step.time.copying_beside_comm = 5'000'000;
  CHECK(Cluster(ranks, ShippedKnowledge()).lateness.straggler.loss.gain == 0);
}

TEST_CASE("a rank that copies as much over a slower link is told so") {
  std::vector<RankSummary> ranks = Copying();
  const auto cause = [&] {
    return Cluster(ranks, ShippedKnowledge()).lateness.straggler.cause.words;
  };
  for (RankSummary& rank : ranks) rank.copied_bytes = 240e6, rank.copied_time = 10'000'000;
  CHECK(cause() == "it copies longer");  // at the rate of the others: its copies wait
  ranks[1].copied_time = 40'000'000;
  CHECK(cause() == "it copies as much as the others, but more slowly");
  ranks[1].copied_bytes = 720e6;  // it has more to copy
  CHECK(cause() == "it copies longer");
}

TEST_CASE("a rank that writes files does not wait for data") {
  JobStory story;
  story.extra_loading = {Each(10, 3'000'000), {}, {}, {}};
  std::vector<RankSummary> ranks = story.Tell();
  const auto cause = [&] {
    return Cluster(ranks, ShippedKnowledge()).lateness.straggler.cause.words;
  };
  CHECK(cause() == "it waits longer for data");
  for (RankStep& step : ranks[0].steps)
    std::swap(step.time.causes[static_cast<std::size_t>(IdleCause::kDataLoading)],
              step.time.causes[static_cast<std::size_t>(IdleCause::kFileIo)]);
  CHECK(cause() == "it waits longer for data");
  ranks[0].wrote_files = 10 * 3'000'000;
  CHECK(cause() == "it writes files");
}

TEST_CASE("kernels in larger grids are more work, and no slower GPU") {
  JobStory story;
  story.extra_compute = {{}, Each(10, 3'000'000), {}, {}};
  std::vector<RankSummary> ranks = story.Tell();
  ranks[1].kernels = {{"matmul", 10, 10 * 11'000'000, 11'000'000}};
  for (RankSummary& rank : ranks) rank.blocks = 10 * 4096;
  const auto slow = [&] { return Cluster(ranks, ShippedKnowledge()).lateness.straggler; };
  CHECK(slow().cause.words.starts_with("the same kernels run more slowly there"));
  CHECK(slow().loss.gain == 10 * 3'000'000);
  ranks[1].blocks = 10 * 5632;
  CHECK(slow().cause.words == "it has more work on the GPU");
  CHECK(slow().loss.gain < 10 * 2'400'000);  // the others take some of it
}

// Longer sequences: only the grids of element-wise kernels tell.
TEST_CASE("a few kernels in grids that are larger by as much as all take longer are more work") {
  JobStory story;
  story.extra_compute = {{}, Each(10, 4'000'000), {}, {}};
  std::vector<RankSummary> ranks = story.Tell();
  for (RankSummary& rank : ranks) {
    rank.kernels = {{"gemm", 10, 76'000'000, 7'600'000},
                    {"gelu", 10, 2'000'000, 200'000},
                    {"adam", 10, 2'000'000, 200'000}};
    rank.kernel_blocks = {132, 72, 320};
    rank.blocks = 10 * (132 + 72 + 320);
  }
  ranks[1].kernels = {{"gemm", 10, 114'000'000, 11'400'000},
                      {"gelu", 10, 3'000'000, 300'000},
                      {"adam", 10, 2'000'000, 200'000}};
  const auto cause = [&](double gelu) {
    ranks[1].kernel_blocks = {132, gelu, 320};
    return Cluster(ranks, ShippedKnowledge()).lateness.straggler.cause.words;
  };
  CHECK(cause(108) == "it has more work on the GPU");
  CHECK(cause(72).starts_with("the same kernels run more slowly there"));
  // A little more data beside a slow clock: it explains the smaller part.
  CHECK(cause(80).starts_with("the same kernels run more slowly there"));
}

TEST_CASE("sharing the work wins nothing below what the hosts need") {
  JobStory story;
  story.steps = 12;
  story.extra_compute.assign(4, Each(12, 0));
  for (std::size_t s = 0; s < 12; ++s) story.extra_compute[s % 4][s] = 4'000'000;
  std::vector<RankSummary> ranks = story.Tell();
  const auto gain = [&] { return Cluster(ranks, ShippedKnowledge()).lateness.compute.loss.gain; };
  CHECK(gain() == 12 * 3'000'000);
  // Steps take 13 ms, of which 1 is transfer. Hosts that work for 11 ms of them leave 2.
  for (RankSummary& rank : ranks) rank.host_works.assign(12, 11'000'000);
  CHECK(gain() <= 12 * 2'000'000);
  CHECK(gain() > 12 * 900'000);
}

TEST_CASE("shorter communication leaves each host what it works, over all steps") {
  JobStory story;
  story.transfer = 4'000'000;
  std::vector<RankSummary> ranks = story.Tell();
  const RankCuts cuts(4, Each(10, 3'000'000));  // of steps of 12 ms
  const auto job = [&] { return Cluster(ranks, ShippedKnowledge()).job; };
  CHECK(job().Gain({}, cuts) == 10 * 3'000'000);
  for (RankSummary& rank : ranks) rank.host_works.assign(10, 11'000'000);
  CHECK(job().Gain({}, cuts) == 10 * 1'000'000);
  CHECK(job().Gain(cuts) == 10 * 3'000'000);  // less to do on the host
  // Three hosts have half as much to do: the fourth sets the pace.
  CHECK(job().Gain({}, cuts, {0.5, 0.5, 0, 0.5}) == 10 * 1'000'000);
  CHECK(job().Gain({}, cuts, {0.5, 0.5, 0.5, 0.5}) == 10 * 3'000'000);
}

// Rank 0 stalls for 40 ms in step 2. The hosts of the others, as slow as its own, go on while their
// GPUs wait: in the steps that follow, these have all their work and wait for rank 0 again.
TEST_CASE("waits in which hosts run ahead do not make their ranks faster") {
  JobStory story;
  story.steps = 8;
  std::vector<std::vector<Nanos>> extra(4, Each(8, 0));
  extra[0] = Each(8, 3'000'000);
  extra[0][2] += 40'000'000;
  story.extra_loading = extra;
  std::vector<RankSummary> ranks = story.Tell();
  const auto gain = [&] { return Cluster(ranks, ShippedKnowledge()).lateness.straggler.loss.gain; };
  CHECK(gain() == 64'000'000);
  for (std::size_t r = 0; r < 4; ++r) {
    ranks[r].host_works = Each(8, 12'000'000);
    if (r > 0)
      ranks[r].host_works = {12'000'000, 12'000'000, 48'000'000, 12'000'000, 12'000'000, 0, 0, 0};
  }
  CHECK(gain() == 40'000'000);
}

TEST_CASE("a host that waits for a lock of its own process, or sleeps, is at its own pace") {
  const auto works = [](const char* os_call) {
    TraceBuilder story;
    Repeat(10, 1_ms, [&](int i, Nanos at) {
      story.Range("step " + std::to_string(i), {at, at + 990_us});
      story.Launch("work", {at, at + 5_us}, {at + 10_us, at + 100_us});
      story.Launch(kAllReduce, {at + 6_us, at + 9_us}, {at + 100_us, at + 900_us});
      if (os_call != nullptr) story.OsCall(os_call, {at + 20_us, at + 920_us});
    });
    const Analyzed run(story);
    const std::vector<RankSummary> ranks = SummarizeRanks(*run);
    REQUIRE(ranks.front().host_works.size() > 2);
    return ranks.front().host_works[1];
  };
  CHECK(works("pthread_mutex_lock") > 900_us);
  CHECK(works("poll") < 200_us);
}

TEST_CASE("code of the host in an exchange of objects is told beside its work") {
  TraceBuilder story;
  Repeat(10, 1_ms, [&](int i, Nanos at) {
    story.Range("step " + std::to_string(i), {at, at + 990_us});
    story.Launch("work", {at, at + 5_us}, {at + 10_us, at + 100_us});
    story.Launch(kAllReduce, {at + 6_us, at + 9_us}, {at + 100_us, at + 900_us});
    story.Range("all_gather_object", {at + 20_us, at + 920_us});
  });
  const Analyzed run(story);
  const RankSummary rank = SummarizeRanks(*run).front();
  CHECK(rank.host_exchanges.at(1) == 900_us);
  CHECK(rank.host_works.at(1) < 200_us);
}

TEST_CASE("launches that all take long are the host's own pace") {
  const auto works = [](Nanos launch) {
    TraceBuilder story;
    Repeat(10, 4_ms, [&](int i, Nanos at) {
      story.Range("step " + std::to_string(i), {at, at + 3990_us});
      for (int n = 0; n < 20; ++n) {
        const Nanos start = at + n * 150_us;
        story.Launch("work", {start, start + launch},
                     {start + launch + 5_us, start + launch + 9_us});
      }
      story.Launch(kAllReduce, {at + 3010_us, at + 3010_us + launch}, {at + 3200_us, at + 3900_us});
    });
    const Analyzed run(story);
    return SummarizeRanks(*run).front().host_works.at(1);
  };
  CHECK(works(140_us) > 20 * 140_us);
}

// Rank 0 writes for 50 ms between two steps. The others have launched the collective with which
// their next step begins already in the step before, and wait in it.
TEST_CASE("a wait that begins in one step and goes on in the next counts in both") {
  JobStory story;
  story.steps = 12;
  story.extra_loading = {std::vector<Nanos>(12, 0), {}, {}, {}};
  story.extra_loading[0][6] = 50'000'000;
  std::vector<RankSummary> ranks = story.Tell();
  for (std::size_t r = 1; r < ranks.size(); ++r) {
    RankCollectives& list = ranks[r].collectives;
    list.start[6] = ranks[r].steps[5].end - 100'000;
    list.exposed[6] = list.end[6] - list.start[6];
    RankTime& time = ranks[r].steps[6].time;
    time.comm_exposed += time.compute;
    time.compute = 0;
  }
  const Cluster cluster(ranks, ShippedKnowledge());
  const LateRank& late = cluster.lateness.straggler;
  REQUIRE(late.rank == 0);
  CHECK(cluster.job.waited[12 + 5] == 100'000);
  CHECK(late.loss.gain >= 50'000'000);  // what it writes, and no shorter step before
}

TEST_CASE("a rank that computes far longer in a few steps does something else there") {
  const auto cause = [](const std::vector<Nanos>& extra) {
    JobStory story;
    story.steps = 12;
    story.extra_compute = {extra, {}, {}, {}};
    std::vector<RankSummary> ranks = story.Tell();
    ranks[0].kernels_count *= 2;
    return Cluster(ranks, ShippedKnowledge()).lateness.straggler.cause.words;
  };
  std::vector<Nanos> at_times(12, 0);
  at_times[4] = at_times[10] = 20'000'000;
  CHECK(cause(at_times) == "in some steps it computes far longer, as for an evaluation");
  CHECK(cause(Each(12, 3'000'000)) == "it has more work on the GPU");
}

// Rank 0 is slow. While the GPUs of the others wait for it, their hosts load what later steps need.
TEST_CASE("data that hosts load ahead beside a wait for a slow rank keeps no step longer") {
  JobStory story;
  story.extra_compute = {Each(10, 5'000'000), {}, {}, {}};
  std::vector<RankSummary> ranks = story.Tell();
  ranks[0].kernels = {{"matmul", 10, 10 * 13'000'000, 13'000'000}};
  const auto gain = [&](Nanos works) {
    for (RankSummary& rank : ranks) rank.host_works.assign(10, works);
    return Cluster(ranks, ShippedKnowledge()).lateness.straggler.loss.gain;
  };
  for (std::size_t r = 1; r < ranks.size(); ++r)
    for (const std::size_t step : {1, 4, 7})
      ranks[r].steps[step].time.loading_beside_comm = 4'000'000;
  CHECK(gain(0) == 38'000'000);  // how long hosts work is not known
  CHECK(gain(3'000'000) == 10 * 5'000'000);
  // Hosts that work longer than GPUs set the pace.
  CHECK(gain(12'000'000) == 10 * 2'000'000);
}

// The GPUs of two ranks have run out of work, those of the others wait for them. All hosts run code
// for 11 ms of each step, and one of them a little more.
TEST_CASE("what the hosts of all ranks do alike is no imbalance") {
  JobStory story;
  story.extra_loading = {{}, {}, {}, {}};
  for (std::size_t s = 0; s < 10; ++s) {
    story.extra_loading[0].push_back(s % 2 == 0 ? 4'000'000 : 2'000'000);
    story.extra_loading[1].push_back(s % 2 == 0 ? 2'000'000 : 4'000'000);
  }
  std::vector<RankSummary> ranks = story.Tell();
  for (RankSummary& rank : ranks) {
    for (RankStep& step : rank.steps)
      std::swap(step.time.causes[static_cast<std::size_t>(IdleCause::kDataLoading)],
                step.time.causes[static_cast<std::size_t>(IdleCause::kHostCompute)]);
  }
  const auto gain = [&] { return Cluster(ranks, ShippedKnowledge()).lateness.host.loss.gain; };
  CHECK(gain() > 10 * 3'000'000);
  for (RankSummary& rank : ranks) rank.host_works.assign(10, 12'000'000);
  CHECK(gain() > 0);
  CHECK(gain() <= 10 * 1'000'000);
}

}  // namespace
}  // namespace advise
