// In which order the fixes of a job are planned, and what each wins behind those before it.
#include "tests/advice/two_ranks.h"

namespace advise {
namespace {

// Both hosts work almost all the time. Rank 1, which waits for rank 0, sees little of what it is
// worth that they work half as long.
TEST_CASE("hosts hold the job back no longer than they work once code is gone") {
  std::vector<RankSummary> ranks = TwoRanks().ranks;
  for (RankSummary& rank : ranks) {
    for (RankStep& step : rank.steps) step.time.compute = 20_us;
  }
  Cluster cluster(std::move(ranks), ShippedKnowledge());
  for (std::size_t s = 0; s < kSteps; ++s) cluster.job.waited[kSteps + s] = 30_us;
  cluster.job.host_works.assign(kRanks, kSteps * 95_us);
  const RuleInfo code = Rule("host/code");
  const auto saved_with = [&](double host_share) {
    const auto on_rank = [&](std::size_t rank, double share) {
      Finding finding = Saves(code, share, 0);
      finding.idle_share = 1;
      finding.host_share = host_share;
      return ReportFindings{{finding}, {rank}};
    };
    return ShareOf(RankRun({}, {on_rank(0, 0.5), on_rank(1, 0.2)}, cluster, ShippedKnowledge()),
                   "host/code");
  };
  CHECK(saved_with(0.5) == Approx(0.5).margin(0.01));
  CHECK(saved_with(0) < 0.35);  // as long as is known, the host of rank 1 is the limit
  // Rank 1 finds nothing. Its host does the same, if it works as long.
  Finding only = Saves(code, 0.5, 0);
  only.idle_share = 1;
  only.host_share = 0.5;
  const auto of_rank_0 = [&] {
    return ShareOf(RankRun({}, {{{only}, {0}}, {{}, {1}}}, cluster, ShippedKnowledge()),
                   "host/code");
  };
  CHECK(of_rank_0() == Approx(0.3).margin(0.01));  // then rank 1 is the next-slowest
  cluster.job.host_works = {kSteps * 99_us, kSteps * 80_us};
  CHECK(of_rank_0() == Approx(0.2).margin(0.01));
}

// In each step, each rank waits 20 us for the other, now in this collective, now in that one.
TEST_CASE("ranks that meet less often wait less for each other in turn") {
  Cluster cluster = TwoRanks();
  cluster.job.waited.assign(kRanks * kSteps, 20_us);
  const RuleInfo small = Rule("comm/small");
  Finding finding = Saves(small, 0.1, 1);
  const auto saved_with = [&](double fewer) {
    finding.comm_fewer = fewer;
    return ShareOf(RankRun({}, OnBothRanks({finding}), cluster, ShippedKnowledge()), "comm/small");
  };
  CHECK(saved_with(0) == Approx(0.1).margin(0.001));
  CHECK(saved_with(0.75) == Approx(0.2).margin(0.001));   // half of the waits in place of four
  CHECK(saved_with(0.96) == Approx(0.26).margin(0.001));  // a fifth in place of 25
}

TEST_CASE("a fix has what those before it in the plan leave of the same time") {
  const Cluster cluster = TwoRanks();
  RuleInfo specific = Rule("host/specific");
  specific.priority = 60;
  const RuleInfo large = Rule("kernel/large");
  // Of 100 us a step: 80 us by the larger one, so that 20 us are left.
  const auto findings = RankRun({}, OnBothRanks({Saves(specific, 0.3, 0), Saves(large, 0.8, 0)}),
                                cluster, ShippedKnowledge());
  REQUIRE(Named(findings, "kernel/large")->turn == 1);
  CHECK(ShareOf(findings, "kernel/large") == Approx(0.8));
  CHECK(ShareOf(findings, "host/specific") == Approx(0.2));
}

TEST_CASE("the job plans first what wins most by changes of its own, as its ranks do") {
  const Cluster cluster = TwoRanks();
  RuleInfo specific = Rule("transfer/specific");
  specific.priority = 60;
  const RuleInfo large = Rule("sync/large");
  const auto first_of_job = [&](double own_of_large) {
    Finding of_specific = Saves(specific, 0.25, 0);
    Finding of_large = Saves(large, 0.35, 0);
    of_specific.alone_share = of_specific.own_share.emplace(0.25);
    of_large.alone_share = 0.35;
    of_large.own_share = own_of_large;
    return RankRun({}, OnBothRanks({of_specific, of_large}), cluster, ShippedKnowledge())
        .front()
        .rule->id;
  };
  CHECK(first_of_job(0.35) == "sync/large");
  CHECK(first_of_job(0.1) == "transfer/specific");  // the rest is what that one changes, too
}

TEST_CASE("what pays only once another is fixed comes behind that one") {
  const Cluster cluster = TwoRanks();
  const RuleInfo load = Rule("input/load");
  const RuleInfo pad = Rule("precision/pad");
  const RuleInfo code = Rule("host/code");
  const auto with = [](Finding finding, double alone, const std::string& unlocks) {
    finding.alone_share = alone;
    if (!unlocks.empty()) finding.unlocks = {unlocks};
    return finding;
  };
  const auto findings =
      RankRun({},
              OnBothRanks({with(Saves(load, 0.15, 0), 0.15, "precision/pad"),
                           with(Saves(pad, 0.3, 0), 0.01, ""), with(Saves(code, 0.1, 0), 0.1, "")}),
              cluster, ShippedKnowledge());
  REQUIRE(findings.size() == 3);
  CHECK(findings[0].rule->id == "input/load");
  CHECK(findings[1].rule->id == "precision/pad");
  CHECK(findings[1].saving_share == Approx(0.3));
  CHECK(findings[2].rule->id == "host/code");
}

TEST_CASE("ranks that plan two fixes in another order do not win less by them") {
  const Cluster cluster = TwoRanks();
  const RuleInfo outlier = Rule("step/outlier");
  const RuleInfo sleeps = Rule("host/sleeping");
  // Either wins 30 %, and both 40 %: the first of each rank's plan has all that it wins by itself.
  const auto saves = [](const RuleInfo& rule, double share) {
    Finding finding = Saves(rule, share, 0);
    finding.alone_share = 0.3;
    return finding;
  };
  const std::vector<ReportFindings> reports = {{{saves(outlier, 0.3), saves(sleeps, 0.1)}, {0}},
                                               {{saves(sleeps, 0.3), saves(outlier, 0.1)}, {1}}};
  const auto findings = RankRun({}, reports, cluster, ShippedKnowledge());
  REQUIRE(findings.size() == 2);
  CHECK(findings[0].saving_share == Approx(0.3).epsilon(0.01));
  CHECK(findings[1].saving_share == Approx(0.1).epsilon(0.01));
}

}  // namespace
}  // namespace advise
