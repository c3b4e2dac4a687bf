// Whether processes wait for each other, and which reports show one GPU.
#include "engine/cluster/coupling.h"

#include "engine/cluster/same_program.h"
#include "tests/cluster/ranks.h"

namespace advise {
namespace {

TEST_CASE("independent jobs wait for nobody, however long each takes") {
  const auto cluster = [](bool meet) {
    std::vector<RankSummary> ranks(4);
    for (std::size_t r = 0; r < ranks.size(); ++r) {
      RankSummary& rank = ranks[r];
      rank.path = "job " + std::to_string(r);
      rank.clock = static_cast<std::uint32_t>(r);
      rank.utc_origin_ns = 1'700'000'000'000'000'000;
      const Nanos compute = 10'000'000 + static_cast<Nanos>(r) * 3'000'000;
      const Nanos length = meet ? 19'100'000 : compute + 100'000;
      for (Nanos at = 0; at < 40 * 19'100'000; at += length) {
        RankStep step{at, at + length, {}};
        step.time.compute = compute;
        step.time.idle = length - compute;
        step.time.causes[static_cast<std::size_t>(IdleCause::kHostWait)] = step.time.idle;
        rank.steps.push_back(step);
      }
      rank.window_end = rank.steps.back().end;
      for (const RankStep& step : rank.steps) {
        rank.time.compute += step.time.compute;
        rank.time.idle += step.time.idle;
      }
    }
    return Cluster(std::move(ranks), ShippedKnowledge());
  };
  const Cluster apart = cluster(false);
  CHECK_FALSE(apart.job.coupled);
  CHECK(apart.lateness.straggler.rank == kNone);
  CHECK(apart.lateness.compute.loss.gain == 0);
  CHECK(apart.waited_ns == 0);
  // What one of four needs less, the four need a quarter of less.
  RankCuts cuts(4);
  cuts[1].assign(apart.job.steps, 4'000'000);
  CHECK(apart.job.Gain(cuts) == static_cast<Nanos>(apart.job.steps) * 1'000'000);
  const Cluster together = cluster(true);
  CHECK(together.job.coupled);
  CHECK(together.lateness.straggler.rank == 3);
}

TEST_CASE("a rank that started last is not slow: the others wait once, where they first meet") {
  JobStory story;
  story.ranks = 4;
  story.extra_loading.assign(4, std::vector<Nanos>(static_cast<std::size_t>(story.steps), 0));
  story.extra_loading[3][0] = 40 * story.compute;
  const Cluster cluster(story.Tell(), ShippedKnowledge());
  CHECK(cluster.lateness.straggler.rank == kNone);
  // Late again and again.
  for (Nanos& loading : story.extra_loading[3]) loading = story.compute;
  CHECK(Cluster(story.Tell(), ShippedKnowledge()).lateness.straggler.rank == 3);
}

TEST_CASE("reports of one GPU at the same time belong together") {
  const auto groups = [](const auto& change) {
    std::vector<std::vector<RankSummary>> reports(4, std::vector<RankSummary>(1));
    for (std::size_t r = 0; r < reports.size(); ++r) {
      RankSummary& rank = reports[r].front();
      rank.path = "report " + std::to_string(r);
      rank.pid = 100 + static_cast<std::int64_t>(r);
      rank.device_uuid = r == 1 ? "GPU b" : "GPU a";
      rank.utc_origin_ns = 1'700'000'000'000'000'000;
      rank.window_end = 1'000'000;
    }
    change(&reports);
    return ReportsOfOneGpu(reports, ShippedKnowledge());
  };
  using Reports = std::vector<std::vector<RankSummary>>;
  using Groups = std::vector<std::vector<std::size_t>>;
  CHECK(groups([](Reports*) {}) == Groups{{0, 2, 3}});
  CHECK(groups([](Reports* r) { (*r)[2][0].device_uuid = ""; }) == Groups{{0, 3}});
  CHECK(groups([](Reports* r) { (*r)[2][0].utc_origin_ns = 0; }) == Groups{{0, 3}});
  CHECK(groups([](Reports* r) { (*r)[3][0].pid = 100; }) == Groups{{0, 2, 3}});  // by report 2
  CHECK(groups([](Reports* r) {  // one after the other
          (*r)[2][0].utc_origin_ns += 900'000;
          (*r)[3][0].utc_origin_ns += 1'800'000;
        })
            .empty());
  CHECK(groups([](Reports* r) {  // of other runs
          for (std::size_t i = 0; i < 4; ++i) (*r)[i][0].job = "job " + std::to_string(i % 2);
        }) == Groups{{0, 2}});
  CHECK(groups([](Reports* r) {  // a report of two GPUs
          (*r)[2].push_back((*r)[1].front());
          (*r)[2][1].pid = 102;
        }) == Groups{{0, 1, 2, 3}});
}

}  // namespace
}  // namespace advise
