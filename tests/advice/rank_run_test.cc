// The fix list of a run of several reports: what findings of single ranks and of all of them
// together save, and that no time is saved twice.
#include "engine/advice/rank_cuts.h"
#include "tests/advice/two_ranks.h"

namespace advise {
namespace {

// A rule about all ranks whose fix takes so much off the communication of each step.
std::shared_ptr<const Remedy> TakesOffCommunication(Nanos of_step) {
  auto remedy = std::make_shared<Remedy>();
  remedy->rank_comm_cuts.assign(kRanks, std::vector<Nanos>(kSteps, of_step));
  remedy->rank_gain = kSteps * of_step;
  return remedy;
}

// Of two ranks, rank 1 has 30 us more of something in each step, for which rank 0 waits.
Cluster LateBy30(Nanos RankTime::*of_what) {
  std::vector<RankSummary> ranks = TwoRanks().ranks;
  for (RankStep& step : ranks[1].steps) {
    step.time.*of_what += 30_us;
    step.time.comm_exposed -= 30_us;
  }
  Cluster cluster(std::move(ranks), ShippedKnowledge());
  for (std::size_t s = 0; s < kSteps; ++s) cluster.job.waited[s] = 30_us;
  return cluster;
}

// The verdict on that rank, whose fix takes these 30 us off.
void AddLateRank(Verdicts* together) {
  auto remedy = std::make_shared<Remedy>();
  remedy->rank_cuts = {{}, std::vector<Nanos>(kSteps, 30_us)};
  remedy->rank_gain = kSteps * 30_us;
  together->Add(
      {.id = "rank/late", .priority = 20, .claims = {{{0, 300_us}}, {}}, .remedy = remedy});
}

TEST_CASE("communication that a cause takes is not saved again by what would hide it") {
  const Cluster cluster = TwoRanks();
  Verdicts together;
  together.Add({.id = "comm/slow-path",
                .priority = 60,
                .claims = {{{0, 200_us}}, {{0, 200_us}}},
                .remedy = TakesOffCommunication(20_us)});
  const RuleInfo hide = Rule("comm/hide");
  const auto findings =
      RankRun(together.list(), OnBothRanks({Saves(hide, 0.4, 1)}), cluster, ShippedKnowledge());
  CHECK(ShareOf(findings, "comm/slow-path") == Approx(0.2));
  CHECK(ShareOf(findings, "comm/hide") == Approx(0.2));  // of 0.4: half is taken
}

TEST_CASE("a cause that takes all communication leaves the compute to others") {
  const Cluster cluster = TwoRanks();
  Verdicts together;
  together.Add({.id = "comm/slow-path",
                .priority = 60,
                .claims = {{{0, 400_us}}, {{0, 400_us}}},
                .remedy = TakesOffCommunication(40_us),
                .explains = {"comm/hide"}});
  const RuleInfo hide = Rule("comm/hide");
  const RuleInfo kernels = Rule("kernel/slow");
  const auto findings =
      RankRun(together.list(), OnBothRanks({Saves(hide, 0.4, 1), Saves(kernels, 0.3, 0)}), cluster,
              ShippedKnowledge());
  CHECK(ShareOf(findings, "comm/slow-path") == Approx(0.4));
  CHECK(ShareOf(findings, "kernel/slow") == Approx(0.3));
  CHECK(Named(findings, "comm/hide") == nullptr);  // told under its cause
}

TEST_CASE("without another cause, what hides communication saves all of it and no compute") {
  const Cluster cluster = TwoRanks();
  const RuleInfo hide = Rule("comm/hide");
  const auto alone = RankRun({}, OnBothRanks({Saves(hide, 0.4, 1)}), cluster, ShippedKnowledge());
  CHECK(ShareOf(alone, "comm/hide") == Approx(0.4));
  const auto more = RankRun({}, OnBothRanks({Saves(hide, 0.7, 1)}), cluster, ShippedKnowledge());
  CHECK(ShareOf(more, "comm/hide") == Approx(0.4));
}

TEST_CASE("what is fixed on one rank saves only until the next-latest rank decides") {
  const Cluster cluster = TwoRanks();
  const RuleInfo kernels = Rule("kernel/slow");
  std::vector<ReportFindings> reports = OnBothRanks({Saves(kernels, 0.3, 0)});
  reports[1].findings.front().saving_share = 0.1;
  const auto findings = RankRun({}, reports, cluster, ShippedKnowledge());
  CHECK(ShareOf(findings, "kernel/slow") == Approx(0.1));
}

// Rank 0 waits 500 us for rank 1, whose capture begins so much later: what that did before, nobody
// knows, and no fix in the capture changes it.
TEST_CASE("what a rank did before its capture is not won by what its report finds") {
  std::vector<RankSummary> ranks = TwoRanks().ranks;
  for (RankSummary& rank : ranks) rank.steps.clear(), rank.time.compute = rank.window_end;
  ranks[0].window_end += 500_us;
  Cluster cluster(std::move(ranks), ShippedKnowledge());
  cluster.job.before = {0, 500_us};
  cluster.job.length = {1500_us, 1500_us};
  cluster.job.waited = {500_us, 0};
  const RuleInfo kernels = Rule("kernel/slow");
  std::vector<ReportFindings> reports = OnBothRanks({Saves(kernels, 0.6, 0)});
  reports[0].findings.front().saving_share = 0.4;
  const auto findings = RankRun({}, reports, cluster, ShippedKnowledge());
  CHECK(ShareOf(findings, "kernel/slow") == Approx(0.4));  // 600 of 1,500 us
}

TEST_CASE("collectives that one rank can shorten get shorter on those that wait in them") {
  // Rank 0 computes for 20 us and communicates for 20; its host takes the rest of each step. Rank 1
  // waits for it in the collectives, and finds nothing.
  std::vector<RankSummary> ranks = TwoRanks().ranks;
  for (std::size_t r = 0; r < kRanks; ++r) {
    for (RankStep& step : ranks[r].steps) {
      step.time.compute = 20_us;
      step.time.comm_exposed = r == 0 ? 20_us : 80_us;
      step.time.idle = r == 0 ? 60_us : 0;
    }
  }
  Cluster cluster(std::move(ranks), ShippedKnowledge());
  // As its collectives would show.
  for (std::size_t s = 0; s < kSteps; ++s) cluster.job.waited[kSteps + s] = 60_us;
  const RuleInfo small = Rule("comm/small");
  // Most of what it wins are gaps that it does not claim: the host has fewer to launch.
  Finding finding = Saves(small, 0.7, 0.9);
  finding.touched_share = 0.2;
  finding.idle_share = 0.1;
  const auto findings = RankRun({}, {{{finding}, {0}}}, cluster, ShippedKnowledge());
  CHECK(ShareOf(findings, "comm/small") == Approx(0.7).epsilon(0.01));
  // What hides communication behind other work is each rank's own matter.
  RuleInfo hide = Rule("comm/hide");
  hide.topic = Topic::kCollectives;
  finding.rule = &hide;
  const auto hidden = RankRun({}, {{{finding}, {0}}}, cluster, ShippedKnowledge());
  CHECK(ShareOf(hidden, "comm/hide") == Approx(0.6).epsilon(0.01));
}

TEST_CASE("slow steps of different ranks add up: each holds up the others") {
  // Rank 0 computes 50 us longer in step 3, rank 1 in step 7; the other waits so long in its
  // collectives.
  std::vector<RankSummary> ranks = TwoRanks().ranks;
  for (std::size_t r = 0; r < kRanks; ++r) {
    for (std::size_t s = 0; s < kSteps; ++s) {
      RankStep& step = ranks[r].steps[s];
      step.start += (s > 3 ? 50_us : 0) + (s > 7 ? 50_us : 0);
      step.end += (s >= 3 ? 50_us : 0) + (s >= 7 ? 50_us : 0);
      if (s == 3 || s == 7)
        ((r == 0) == (s == 3) ? step.time.compute : step.time.comm_exposed) += 50_us;
    }
    ranks[r].window_end += 100_us;
  }
  const Cluster cluster(std::move(ranks), ShippedKnowledge());
  const RuleInfo loads = Rule("input/slow");
  std::vector<ReportFindings> reports = OnBothRanks({Saves(loads, 50.0 / 1100, 0)});
  reports[0].findings.front().step_parts = {{300_us, 50.0 / 1100}};
  reports[1].findings.front().step_parts = {{750_us, 50.0 / 1100}};
  const auto findings = RankRun({}, reports, cluster, ShippedKnowledge());
  CHECK(ShareOf(findings, "input/slow") == Approx(100.0 / 1100).margin(1e-3));
  const Where& where = Named(findings, "input/slow")->where;
  CHECK(where.in_turns);
  CHECK(where.steps.empty());
  CHECK(where.figures == "rank 0");
  // In the same step on both ranks, they do not wait for each other.
  reports[1].findings.front().step_parts = {{300_us, 50.0 / 1100}};
  CHECK_FALSE(
      Named(RankRun({}, reports, cluster, ShippedKnowledge()), "input/slow")->where.in_turns);
  // Most of it is of one rank.
  reports[1].findings.front().step_parts = {{750_us, 10.0 / 1100}};
  CHECK_FALSE(
      Named(RankRun({}, reports, cluster, ShippedKnowledge()), "input/slow")->where.in_turns);
}

// Rank 0 writes 50 us in step 3; rank 1 is idle meanwhile, and its report blames the same step.
TEST_CASE("what a rank idles for another one is not won on its own compute") {
  std::vector<RankSummary> ranks = TwoRanks().ranks;
  for (std::size_t r = 0; r < kRanks; ++r) {
    for (std::size_t s = 0; s < kSteps; ++s) {
      RankStep& step = ranks[r].steps[s];
      step.time.compute = r == 0 && s == 3 ? 110_us : 60_us;
      step.time.idle = r == 1 && s == 3 ? 90_us : 40_us;
      step.time.comm_exposed = 0;
      step.start += s > 3 ? 50_us : 0;
      step.end += s >= 3 ? 50_us : 0;
    }
    ranks[r].window_end += 50_us;
  }
  const Cluster cluster(std::move(ranks), ShippedKnowledge());
  REQUIRE(cluster.job.waited[kSteps + 3] == 50_us);
  const RuleInfo stall = Rule("step/stall");
  Finding finding = Saves(stall, 50.0 / 1050, 0);
  finding.idle_share = 1;
  finding.step_parts = {{300_us, 50.0 / 1050}};
  Cuts cuts;
  const CutsOfJob job(cluster);
  job.Size(&cuts);
  job.Add(finding, 1, finding.saving_share, &cuts);
  CHECK(cuts.other[1][3] == 40_us);  // what it idles on its own
  CHECK(cuts.other[1][4] == 0);

  finding.idle_share = 0;
  job.Size(&cuts);
  job.Add(finding, 1, finding.saving_share, &cuts);
  CHECK(cuts.other[1][3] == 50_us);  // of its compute
}

// In turn, one rank computes 40 us longer and the other one waits for it. The reports blame the
// waits, on all steps alike: no rank waits in its own long steps, and nothing is won there either.
TEST_CASE("waits for ranks that are late in turn are not won where nobody waited") {
  std::vector<RankSummary> ranks = TwoRanks().ranks;
  for (std::size_t r = 0; r < kRanks; ++r) {
    for (std::size_t s = 0; s < kSteps; ++s) {
      RankTime& time = ranks[r].steps[s].time;
      time.compute = s % 2 == r ? 98_us : 58_us;
      time.idle = s % 2 == r ? 2_us : 42_us;
      time.comm_exposed = 0;
    }
  }
  const Cluster cluster(std::move(ranks), ShippedKnowledge());
  REQUIRE(cluster.job.waited[1] == 40_us);
  REQUIRE(cluster.job.waited[0] == 0);
  const RuleInfo uneven = Rule("comm/uneven");
  Finding finding = Saves(uneven, 0.22, 0);
  finding.idle_share = 1;
  Cuts cuts;
  const CutsOfJob job(cluster);
  job.Size(&cuts);
  job.Add(finding, 0, finding.saving_share, &cuts);
  for (std::size_t s = 0; s < kSteps; ++s) CHECK(cuts.other[0][s] == 2_us);  // what is its own
}

TEST_CASE("time that does not fit into its step is taken off all of them, each by its length") {
  const Cluster cluster = TwoRanks();
  const RuleInfo stall = Rule("step/stall");
  // 150 us are claimed in step 3, which has 100 us: 50 us remain for ten steps.
  Finding finding = Saves(stall, 0.15, 0);
  finding.step_parts = {{300_us, 0.15}};
  Cuts cuts;
  const CutsOfJob job(cluster);
  job.Size(&cuts);
  job.Add(finding, 0, finding.saving_share, &cuts);
  REQUIRE(cuts.other[0].size() == kSteps);
  for (std::size_t s = 0; s < kSteps; ++s) CHECK(cuts.other[0][s] == (s == 3 ? 105_us : 5_us));
  CHECK(cuts.other[1].empty());
  CHECK(cuts.comm[0].empty());
  job.Bound(&cuts);
  CHECK(cuts.other[0][3] == 100_us);
}

TEST_CASE("communication that shared layers need at once cannot be hidden, but made faster") {
  Cluster cluster = TwoRanks();
  cluster.strategy.needed.assign(kRanks, std::vector<Nanos>(kSteps, 25_us));
  cluster.strategy.exchanged.assign(kRanks, std::vector<Nanos>(kSteps, 5_us));
  const CutsOfJob job(cluster);
  const auto taken = [&](Topic topic, bool faster = false) {
    RuleInfo rule = Rule("comm/some");
    rule.topic = topic;
    Finding finding = Saves(rule, 0.35, 1);
    finding.comm_faster = faster;
    Cuts cuts;
    job.Size(&cuts);
    job.Add(finding, 0, 0.35, &cuts);
    return cuts.comm[0].empty() ? 0 : cuts.comm[0][4];
  };
  CHECK(taken(Topic::kNoTopic) == 10_us);  // of 40 us, 25 are needed and 5 exchanged
  // Other compute hides one half of an exchange, 2.5 us, too.
  CHECK(taken(Topic::kCollectives) == 12500);
  CHECK(taken(Topic::kNoTopic, true) == 35_us);  // a faster path shortens all of it
  cluster.strategy.needed.assign(kRanks, std::vector<Nanos>(kSteps, 40_us));
  CHECK(taken(Topic::kCollectives) == 0);
}

TEST_CASE("what is needed at once says so where hiding it wins nothing") {
  Cluster cluster = TwoRanks();
  cluster.strategy.exchanged.assign(kRanks, std::vector<Nanos>(kSteps, 0));
  RuleInfo exposed = Rule("comm/exposed");
  exposed.topic = Topic::kCollectives;
  Finding finding = Saves(exposed, 0.35, 1);
  finding.alone_share = 0.35;
  const auto bound = [&](Nanos needed) {
    cluster.strategy.needed.assign(kRanks, std::vector<Nanos>(kSteps, needed));
    const auto findings = RankRun({}, OnBothRanks({finding}), cluster, ShippedKnowledge());
    return Named(findings, "comm/exposed")->bound_alone;
  };
  CHECK(bound(40_us) == "communication that the next kernels need at once");
  CHECK(bound(0).empty());
}

TEST_CASE("a finding of several ranks is as sure as the surest of them") {
  const Cluster cluster = TwoRanks();
  const RuleInfo kernels = Rule("kernel/slow");
  std::vector<ReportFindings> reports = OnBothRanks({Saves(kernels, 0.3, 0)});
  reports[0].findings.front().confidence = 0.4;
  reports[1].findings.front().confidence = 0.9;
  CHECK(RankRun({}, reports, cluster, ShippedKnowledge()).front().confidence == 0.9);
}

TEST_CASE("without the profiler the job wins as much less as its ranks do") {
  const RuleInfo launch = Rule("launch/bound");
  Finding finding = Saves(launch, 0.3, 0);
  finding.unprofiled_share = 0.1;
  std::vector<ReportFindings> reports = OnBothRanks({finding});
  const auto both = RankRun({}, reports, TwoRanks(), ShippedKnowledge());
  REQUIRE(both.size() == 1);
  REQUIRE(both[0].unprofiled_share.has_value());
  CHECK(*both[0].unprofiled_share == Approx(both[0].saving_share / 3));

  reports[0].findings[0].unprofiled_share.reset();
  reports[1].findings[0].unprofiled_share.reset();
  CHECK(!RankRun({}, reports, TwoRanks(), ShippedKnowledge())[0].unprofiled_share.has_value());
}

TEST_CASE("where ranks differ, a finding says whose numbers its words hold") {
  const Cluster cluster = TwoRanks();
  const RuleInfo host = Rule("host/slow");
  const auto figures = [&](double other) {
    const std::vector<ReportFindings> reports = {{{Saves(host, 0.2, 0)}, {0}},
                                                 {{Saves(host, other, 0)}, {1}}};
    const auto findings = RankRun({}, reports, cluster, ShippedKnowledge());
    return Named(findings, "host/slow")->where.figures;
  };
  CHECK(figures(0.1) == "rank 0");
  CHECK(figures(0.19).empty());
}

TEST_CASE("what all ranks suffer from comes before the rank that suffers most") {
  // Rank 1 computes 20 us longer in each step, and rank 0 waits for it so long.
  std::vector<RankSummary> ranks = TwoRanks().ranks;
  for (RankStep& step : ranks[1].steps) {
    step.time.compute += 20_us;
    step.time.comm_exposed -= 20_us;
  }
  const Cluster cluster(std::move(ranks), ShippedKnowledge());
  auto remedy = std::make_shared<Remedy>();
  remedy->rank_cuts = {{}, std::vector<Nanos>(kSteps, 20_us)};
  remedy->rank_gain = kSteps * 20_us;
  Verdicts together;
  together.Add(
      {.id = "rank/late", .priority = 60, .claims = {{{0, 200_us}}, {}}, .remedy = remedy});
  const RuleInfo host = Rule("host/slow");
  std::vector<ReportFindings> reports = OnBothRanks({Saves(host, 0.2, 0)});
  const auto first = [&] {
    const auto findings = RankRun(together.list(), reports, cluster, ShippedKnowledge());
    const auto at = std::find_if(findings.begin(), findings.end(),
                                 [](const Finding& finding) { return finding.turn == 1; });
    return at == findings.end() ? "" : at->rule->id;
  };
  CHECK(first() == "host/slow");
  reports.erase(reports.begin());  // on rank 1 alone
  CHECK(first() == "rank/late");
}

// Code of the host takes 10 us of each step on rank 0, and 40 us on rank 1. A call that empties the
// queue stands before it on both.
TEST_CASE("code that takes longer on one rank comes before what all ranks have of it") {
  Cluster cluster = LateBy30(&RankTime::idle);
  for (RankSummary* rank : {&cluster.ranks[0], &cluster.ranks[1]}) {
    for (RankStep& step : rank->steps) step.time.compute -= 10_us, step.time.idle += 10_us;
  }
  Verdicts together;
  AddLateRank(&together);
  RuleInfo host = Rule("host/code");
  host.kind = RuleKind::kSymptom;
  RuleInfo call = Rule("sync/call");
  call.priority = 80;
  for (const RuleInfo* rule : {&host, &call}) {
    std::vector<ReportFindings> reports = {{{Saves(*rule, 0.1, 0)}, {0}},
                                           {{Saves(*rule, 0.4, 0)}, {1}}};
    for (ReportFindings& report : reports)
      report.findings.front().alone_share = report.findings.front().saving_share;
    const auto share = [&](const char* id) {
      return ShareOf(RankRun(together.list(), reports, cluster, ShippedKnowledge()), id);
    };
    cluster.lateness.straggler = {};
    CHECK(share("rank/late") < 0.2);
    cluster.lateness.straggler.rank = 1;
    cluster.lateness.straggler.cause.kind = LateCause::Kind::kHostCode;
    CHECK(share("rank/late") == Approx(0.3).margin(0.01));
    CHECK(share(rule->id.c_str()) == Approx(0.1).margin(0.01));  // what an even run has of it
    // Only the late rank makes the call.
    reports.front().findings.clear();
    if (rule == &call) CHECK(share("rank/late") < 0.2);
  }
}

TEST_CASE("what takes off code of all hosts is at the root of what it makes uneven") {
  const Cluster cluster = LateBy30(&RankTime::idle);
  Verdicts together;
  auto remedy = std::make_shared<Remedy>();
  remedy->rank_cuts = {std::vector<Nanos>(kSteps, 10_us), std::vector<Nanos>(kSteps, 30_us)};
  remedy->rank_gain = kSteps * 20_us;
  const std::vector<std::vector<Interval>> both = {{{0, 300_us}}, {{0, 300_us}}};
  together.Add({.id = "rank/uneven", .priority = 80, .claims = both, .remedy = remedy});
  RuleInfo schedules = Rule("host/schedules");
  schedules.priority = 40;
  const auto share = [&](const std::vector<std::string>& explains) {
    schedules.explains = explains;
    Finding finding = Saves(schedules, 0.8, 0);
    finding.alone_share = finding.host_share = 0.8;
    return ShareOf(RankRun(together.list(), OnBothRanks({finding}), cluster, ShippedKnowledge()),
                   "host/schedules");
  };
  CHECK(share({"rank/uneven"}) > share({}) + 0.05);
}

// Of two ranks, rank 1 has 30 us more host code in each step of 100 us, for which rank 0 waits.
TEST_CASE("a fix that only the late rank needs is told of that rank") {
  Cluster cluster = LateBy30(&RankTime::idle);
  const RuleInfo host = Rule("host/slow");
  const auto where = [&](double on_rank_0) {
    const std::vector<ReportFindings> reports = {{{Saves(host, on_rank_0, 0)}, {0}},
                                                 {{Saves(host, 0.3, 0)}, {1}}};
    return Named(RankRun({}, reports, cluster, ShippedKnowledge()), "host/slow")->where.ranks;
  };
  CHECK(where(0.02) == std::vector<int>{1});
  CHECK(where(0.3) == std::vector<int>{0, 1});  // as much on both
  std::fill(cluster.job.waited.begin(), cluster.job.waited.end(), 0);
  CHECK(where(0.02) == std::vector<int>{0, 1});  // nobody waits: both set the pace
}

TEST_CASE("a finding of several ranks names the GPUs on which they run") {
  std::vector<RankSummary> ranks = TwoRanks().ranks;
  ranks[0].device = 5;
  ranks[1].device = 2;
  const Cluster cluster(std::move(ranks), ShippedKnowledge());
  const RuleInfo host = Rule("host/slow");
  const auto findings =
      RankRun({}, OnBothRanks({Saves(host, 0.3, 0)}), cluster, ShippedKnowledge());
  CHECK(Named(findings, "host/slow")->where.devices == std::vector<int>{2, 5});
}

// Kernels cost both ranks 30 us of each step. Rank 1 is 30 us late for another reason, and a third
// finding takes the same time as that: the kernels explain neither.
TEST_CASE("what is as late once a larger cause is fixed did not come of it") {
  Cluster cluster = LateBy30(&RankTime::idle);
  Verdicts together;
  AddLateRank(&together);
  const RuleInfo kernels = Rule("kernel/slow");
  RuleInfo writes = Rule("host/writes");
  writes.priority = 40;
  std::vector<ReportFindings> reports = OnBothRanks({Saves(kernels, 0.32, 0)});
  reports[1].findings.push_back(Saves(writes, 0.3, 0));
  const auto findings = RankRun(together.list(), reports, cluster, ShippedKnowledge());
  const Finding* cause = Named(findings, "kernel/slow");
  REQUIRE(cause != nullptr);
  CHECK(cause->saving_share == Approx(0.32).margin(0.01));
  CHECK(ShareOf(findings, "host/writes") == Approx(0.3).margin(0.01));
  CHECK(std::find(cause->explains.begin(), cause->explains.end(), "rank/late") ==
        cause->explains.end());
}

// Kernels take 60 us of each step, and 30 us more on rank 1. A fix takes half of their time.
TEST_CASE("a late rank that is fixed first wins all that it was late by") {
  const Cluster cluster = LateBy30(&RankTime::copy_exposed);
  Verdicts together;
  AddLateRank(&together);
  RuleInfo part = Rule("copy/part");
  part.priority = 60;
  Finding finding = Saves(part, 0.1, 0);
  finding.alone_share = 0.1;
  const auto findings = RankRun(together.list(), {{{finding}, {1}}}, cluster, ShippedKnowledge());
  CHECK(Named(findings, "rank/late")->turn == 1);
  CHECK(ShareOf(findings, "rank/late") == Approx(0.3).margin(0.01));
  CHECK(ShareOf(findings, "copy/part") == 0);
}

TEST_CASE("faster kernels do not explain a GPU that runs them more slowly than others") {
  Cluster cluster = LateBy30(&RankTime::compute);
  Verdicts together;
  AddLateRank(&together);
  const RuleInfo kernels = Rule("kernel/slow");
  const std::vector<ReportFindings> reports = {{{Saves(kernels, 0.35, 0)}, {0}},
                                               {{Saves(kernels, 0.53, 0)}, {1}}};
  const auto late = [&] {
    const auto findings = RankRun(together.list(), reports, cluster, ShippedKnowledge());
    return *Named(findings, "rank/late");
  };
  CHECK(!late().explained_by.empty());
  cluster.lateness.straggler.rank = 1;
  cluster.lateness.straggler.cause.kind = LateCause::Kind::kSlowGpu;
  CHECK(late().explained_by.empty());
  CHECK(late().saving_share == Approx(0.12).margin(0.01));
  CHECK(late().alone_share == Approx(0.3).margin(0.01));  // by itself
}

TEST_CASE("nothing that was captured explains a rank that began later, with work before that") {
  Cluster cluster = LateBy30(&RankTime::compute);
  Verdicts together;
  AddLateRank(&together);
  const RuleInfo launches = Rule("launch/slow");
  const std::vector<ReportFindings> reports = {{{Saves(launches, 0.35, 0)}, {0}},
                                               {{Saves(launches, 0.53, 0)}, {1}}};
  const auto late = [&] {
    const auto findings = RankRun(together.list(), reports, cluster, ShippedKnowledge());
    return *Named(findings, "rank/late");
  };
  cluster.lateness.straggler.rank = 1;
  CHECK(!late().explained_by.empty());
  cluster.lateness.straggler.cause.kind = LateCause::Kind::kUncaptured;
  CHECK(late().explained_by.empty());
}

// Code behind a wait costs both ranks a fifth of their time: it is named by the wait on rank 0, and
// on rank 1 by the code, which wins as much there.
TEST_CASE("what costs all ranks the same time is named alike on all of them") {
  const Cluster cluster = TwoRanks();
  RuleInfo wait = Rule("sync/wait");
  wait.explains = {"host/code"};
  const RuleInfo code = Rule("host/code");
  const auto saved = [&](double on_other) {
    Finding by_wait = Saves(wait, 0.2, 0);
    by_wait.alone_share = 0.2;
    by_wait.explains = {"host/code"};
    Finding by_code = Saves(code, on_other, 0);
    by_code.alone_share = on_other;
    Finding left = Saves(wait, 0, 0);
    left.alone_share = 0.1;
    const std::vector<ReportFindings> reports = {{{by_wait}, {0}}, {{by_code, left}, {1}}};
    return ShareOf(RankRun({}, reports, cluster, ShippedKnowledge()), "sync/wait");
  };
  CHECK(saved(0.19) == Approx(0.19).epsilon(0.01));
  // Something else: of the wait, rank 1 wins no more than what it would by itself.
  CHECK(saved(0.4) == Approx(0.1).epsilon(0.01));
}

TEST_CASE("what has batches ready on one rank has them ready where only the effect was seen") {
  // Each rank waits 50 us of its 150 us step for data; only on rank 0 it is seen why.
  std::vector<RankSummary> ranks = TwoRanks().ranks;
  for (RankSummary& rank : ranks) {
    for (std::size_t s = 0; s < kSteps; ++s) {
      RankStep& step = rank.steps[s];
      step.start = static_cast<Nanos>(s) * 150_us;
      step.end = step.start + 150_us;
      step.time.idle = 50_us;
      step.time.causes[static_cast<std::size_t>(IdleCause::kDataLoading)] = 50_us;
    }
    rank.window_end = kSteps * 150_us;
  }
  const Cluster cluster(ranks, ShippedKnowledge());
  RuleInfo workers = Rule("input/workers");
  workers.explains = {"input/waits"};
  RuleInfo waits = Rule("input/waits");
  waits.kind = RuleKind::kSymptom;
  const auto share = [&](bool ready, const RuleInfo& other) {
    Finding cause = Saves(workers, 1.0 / 3, 0);
    Finding effect = Saves(other, 1.0 / 3, 0);
    cause.idle_share = effect.idle_share = 1;
    cause.batches_ready = effect.batches_ready = ready;
    return ShareOf(RankRun({}, {{{cause}, {0}}, {{effect}, {1}}}, cluster, ShippedKnowledge()),
                   "input/workers");
  };
  CHECK(share(true, waits) == Approx(1.0 / 3).margin(1e-3));
  CHECK(share(false, waits) < 0.01);
  const RuleInfo unrelated = Rule("host/other");
  CHECK(share(true, unrelated) < 0.01);
}

TEST_CASE("ranks that wait for their data beside the collectives would wait for it without them") {
  // In each step of 150 us rank 0 waits 50 us for its data. Rank 1 waits so long for rank 0, and
  // its launching thread meanwhile for data, too.
  std::vector<RankSummary> ranks = TwoRanks().ranks;
  for (std::size_t r = 0; r < kRanks; ++r) {
    for (std::size_t s = 0; s < kSteps; ++s) {
      RankStep& step = ranks[r].steps[s];
      step.start = static_cast<Nanos>(s) * 150_us;
      step.end = step.start + 150_us;
      if (r == 0) {
        step.time.idle = 50_us;
        step.time.causes[static_cast<std::size_t>(IdleCause::kDataLoading)] = 50_us;
      } else {
        step.time.comm_exposed += 50_us;
        step.time.loading_beside_comm = 50_us;
      }
    }
    ranks[r].window_end = kSteps * 150_us;
  }
  const auto share = [&](bool batches_ready) {
    Cluster cluster(ranks, ShippedKnowledge());
    // As its collectives would show.
    for (std::size_t s = 0; s < kSteps; ++s) cluster.job.waited[kSteps + s] = 50_us;
    for (std::size_t s = 0; s < kSteps; ++s) {
      cluster.job.waited_for_data[kSteps + s] = ranks[1].steps[s].time.loading_beside_comm;
    }
    const RuleInfo workers = Rule("input/workers");
    Finding finding = Saves(workers, 1.0 / 3, 0);
    finding.batches_ready = batches_ready;
    finding.alone_share = finding.saving_share;
    const auto findings = RankRun({}, {{{finding}, {0}}, {{}, {1}}}, cluster, ShippedKnowledge());
    CHECK(cluster.job.Own(1, 0) == 100_us + ranks[1].steps[0].time.loading_beside_comm);
    if (batches_ready) CHECK(findings.front().alone_share == Approx(1.0 / 3).margin(1e-3));
    return ShareOf(findings, "input/workers");
  };
  // A faster rank 0 wins nothing as long as rank 1 waits for its own data; one change to the
  // program has the batches ready on both.
  CHECK(share(false) == Approx(0).margin(1e-3));
  CHECK(share(true) == Approx(1.0 / 3).margin(1e-3));
  // Where only rank 0 waits for data, nothing else holds rank 1.
  for (RankStep& step : ranks[1].steps) step.time.loading_beside_comm = 0;
  CHECK(share(false) == Approx(1.0 / 3).margin(1e-3));
  CHECK(share(true) == Approx(1.0 / 3).margin(1e-3));
}

}  // namespace
}  // namespace advise
