// From verdicts to a fix list whose savings never overlap.
#include "engine/advice/ranking.h"

#include <algorithm>

#include "tests/advice/verdicts.h"
#include "tests/support/dice.h"

namespace advise {
namespace {

TEST_CASE("verdicts that did not fire make no findings") {
  const Analyzed run(HalfIdleSteps(), kAuto);
  Verdicts verdicts;
  for (const Outcome outcome :
       {Outcome::kFine, Outcome::kNotApplicable, Outcome::kCannotTell, Outcome::kBroken})
    verdicts.Add({.id = "a/b", .claims = {Percent(run, 0, 50)}}).outcome = outcome;
  CHECK(verdicts.Rank(run).empty());
}

TEST_CASE("a finding saves its part of what it claims, in seconds and as a share of the window") {
  const Analyzed run(HalfIdleSteps(), kAuto);
  Verdicts verdicts;
  verdicts.Add({.id = "a/half", .claims = {Percent(run, 0, 40)}, .part = 0.5});
  const auto findings = verdicts.Rank(run);
  REQUIRE(findings.size() == 1);
  CHECK(findings[0].rank == 1);
  CHECK(findings[0].saving_share == Approx(0.2).epsilon(0.001));
  CHECK(findings[0].saving_s ==
        Approx(0.2 * static_cast<double>(run.Window()) * 1e-9).epsilon(0.001));
}

TEST_CASE("time that two claim is given to the more specific") {
  const Analyzed run(HalfIdleSteps(), kAuto);
  Verdicts verdicts;
  verdicts.Add({.id = "a/vague", .priority = 20, .claims = {Percent(run, 0, 40)}});
  verdicts.Add({.id = "a/specific", .priority = 80, .claims = {Percent(run, 0, 30)}});
  const auto findings = verdicts.Rank(run);
  REQUIRE(Named(findings, "a/specific") != nullptr);
  CHECK(Named(findings, "a/specific")->saving_share == Approx(0.3).epsilon(0.001));
  REQUIRE(Named(findings, "a/vague") != nullptr);
  CHECK(Named(findings, "a/vague")->saving_share == Approx(0.1).epsilon(0.001));
}

TEST_CASE("the order in which verdicts come changes nothing") {
  const Analyzed run(HalfIdleSteps(), kAuto);
  std::vector<Fired> fired = {{.id = "a/one", .priority = 50, .claims = {Percent(run, 0, 30)}},
                              {.id = "a/two", .priority = 50, .claims = {Percent(run, 10, 40)}},
                              {.id = "a/three", .priority = 70, .claims = {Percent(run, 20, 25)}}};
  Verdicts forward;
  Verdicts backward;
  for (const Fired& f : fired) forward.Add(f);
  std::reverse(fired.begin(), fired.end());
  for (const Fired& f : fired) backward.Add(f);
  const auto a = forward.Rank(run);
  const auto b = backward.Rank(run);
  REQUIRE(a.size() == b.size());
  for (std::size_t i = 0; i < a.size(); ++i) {
    CHECK(a[i].rule->id == b[i].rule->id);
    CHECK(a[i].saving_s == b[i].saving_s);
  }
}

TEST_CASE("findings come in the order of what they save, and are numbered so") {
  const Analyzed run(HalfIdleSteps(), kAuto);
  Verdicts verdicts;
  verdicts.Add({.id = "a/small", .priority = 90, .claims = {Percent(run, 0, 5)}});
  verdicts.Add({.id = "a/large", .priority = 10, .claims = {Percent(run, 50, 90)}});
  verdicts.Add({.id = "a/middle", .priority = 50, .claims = {Percent(run, 10, 25)}});
  const auto findings = verdicts.Rank(run);
  REQUIRE(findings.size() == 3);
  CHECK(findings[0].rule->id == "a/large");
  CHECK(findings[1].rule->id == "a/middle");
  CHECK(findings[2].rule->id == "a/small");
  for (int i = 0; i < 3; ++i) CHECK(findings[static_cast<std::size_t>(i)].rank == i + 1);
}

TEST_CASE("where a fix wins back far less than its symptom names, the report says so") {
  const Analyzed run(HalfIdleSteps(), kAuto);
  Verdicts verdicts;
  verdicts.Add({.id = "a/sliver", .priority = 90, .claims = {Percent(run, 0, 40)}, .part = 0.1});
  verdicts.Add({.id = "a/whole", .priority = 80, .claims = {Percent(run, 50, 90)}, .part = 0.9});
  verdicts.rule(0).symptom = "The GPU waits 40 % of the time for it.";
  verdicts.rule(1).symptom = "The GPU waits 40 % of the time for that.";
  const auto findings = verdicts.Rank(run);
  const Finding* sliver = Named(findings, "a/sliver");
  const Finding* whole = Named(findings, "a/whole");
  REQUIRE(sliver != nullptr);
  REQUIRE(whole != nullptr);
  CHECK(sliver->touched_share == Approx(0.4).epsilon(0.001));
  CHECK(sliver->Seen() ==
        "The GPU waits 40 % of the time for it. This fix would save 4 % of the time.");
  CHECK(whole->Seen() == whole->symptom);
}

TEST_CASE("a later sentence with a share of which the fix wins next to nothing is left out") {
  Finding finding;
  finding.severity = Severity::kLow;
  finding.falls_short = true;
  finding.touched_share = 0.71;
  finding.saving_share = finding.alone_share = 0.003;
  const std::string first = "The program allocates memory 3 times per step, mostly in cudaMalloc.";
  finding.symptom = first + " Around these calls, the GPU is idle for 71 % of the time.";
  CHECK(finding.Seen() == first);
  finding.saving_share = finding.alone_share = 0.2;  // a part of it
  CHECK(finding.Seen() == finding.symptom + " This fix would save 20 % of the time.");
  finding.saving_share = finding.alone_share = 0.003;
  finding.symptom = "For 71 % of the time, the GPU is idle. It waits for a lock.";
  CHECK(finding.Seen() == finding.symptom + " This fix would save 0.3 % of the time.");
  finding.symptom = first + " Around them, the GPU is idle for all of the time. It waits 7 times.";
  CHECK(finding.Seen() == first + " It waits 7 times.");
}

TEST_CASE("what limits a run with one fix alone is said so where the plan makes others first") {
  Finding finding;
  finding.falls_short = true;
  finding.touched_share = 0.4;
  finding.saving_share = finding.alone_share = 0.2;
  finding.turn = 2;
  finding.symptom = "The GPU waits 40 % of the time for copies.";
  finding.bound_alone = finding.next_bound = "the launching thread";
  const std::string won =
      " would save 20 % of the time, because the launching thread is then the limit.";
  CHECK(finding.Won() == " This fix" + won);
  finding.next_bound = "the GPU's own work";
  CHECK(finding.Won() == " By itself, this fix" + won);
  finding.turn = 1;
  CHECK(finding.Won() == " This fix" + won);
  finding.turn = 0;  // it wins nothing behind the others, and no plan names it
  finding.next_bound.clear();
  finding.saving_share = 0;
  CHECK(finding.Won() == " By itself, this fix" + won);
}

TEST_CASE("where a fix wins more than the time that its symptom names, the report says so") {
  const Analyzed run(HalfIdleSteps(), kAuto);
  Verdicts verdicts;
  verdicts.Add({.id = "a/more", .priority = 90, .claims = {Percent(run, 0, 20)}, .part = 1.5});
  verdicts.Add({.id = "a/whole", .priority = 80, .claims = {Percent(run, 50, 90)}, .part = 1.0});
  verdicts.rule(0).symptom = "The GPU waits 20 % of the time for it.";
  verdicts.rule(1).symptom = "The GPU waits 40 % of the time for that.";
  const auto findings = verdicts.Rank(run);
  const Finding* more = Named(findings, "a/more");
  const Finding* whole = Named(findings, "a/whole");
  REQUIRE(more != nullptr);
  REQUIRE(whole != nullptr);
  Finding freed = *more;
  freed.changes = {"kernels", "launches"};
  const std::string seen =
      "The GPU waits 20 % of the time for it. This fix would save 30 % of the time";
  CHECK(more->Seen() == seen + ".");
  Finding waits = *more;  // of several ranks, of which the late one waits for nobody
  waits.where.ranks = {0};
  CHECK(waits.Seen() == seen + ": the waiting is an average over all ranks, and some do not wait.");
  Finding faster = *more;
  faster.changes = {"kernels"};
  CHECK(faster.Seen() == seen + ": what follows then starts sooner, and other gaps close, too.");
  faster.symptom = "The GPU waits 30 % of the time for it.";
  CHECK(faster.Seen() == faster.symptom);
  CHECK(freed.Seen() == seen + ": the host then gets ahead of the GPU, and other gaps close, too.");
  freed.where.others_wait = true;  // of several GPUs of a process, one loses this time
  CHECK(freed.Seen() == seen + ": the other GPUs then do not wait for this one.");
  CHECK(whole->Seen() == whole->symptom);
}

TEST_CASE("a symptom that its cause takes all time from is listed under the cause only") {
  const Analyzed run(HalfIdleSteps(), kAuto);
  Verdicts verdicts;
  verdicts.Add({.id = "a/cause",
                .priority = 80,
                .claims = {Percent(run, 0, 40)},
                .explains = {"a/symptom"}});
  verdicts.Add({.id = "a/symptom",
                .priority = 20,
                .claims = {Percent(run, 0, 40)},
                .kind = RuleKind::kSymptom});
  const auto findings = verdicts.Rank(run);
  REQUIRE(findings.size() == 1);
  CHECK(findings[0].rule->id == "a/cause");
  CHECK(findings[0].explains == std::vector<std::string>{"a/symptom"});
}

TEST_CASE("a symptom of which a cause explains most keeps the rest, and says what explains it") {
  const Analyzed run(HalfIdleSteps(), kAuto);
  Verdicts verdicts;
  verdicts.Add({.id = "a/cause",
                .priority = 80,
                .claims = {Percent(run, 0, 30)},
                .explains = {"a/symptom"}});
  verdicts.Add({.id = "a/symptom",
                .priority = 20,
                .claims = {Percent(run, 0, 50)},
                .kind = RuleKind::kSymptom});
  const auto findings = verdicts.Rank(run);
  const Finding* symptom = Named(findings, "a/symptom");
  REQUIRE(symptom != nullptr);
  CHECK(symptom->saving_share == Approx(0.2).epsilon(0.001));
  CHECK(symptom->explained_by == std::vector<std::string>{"a/cause"});
}

// A cause of this many percent, a symptom of 50, and a fix of 10 that neither touches.
Verdicts CauseOf(const Analyzed& run, int percent) {
  Verdicts verdicts;
  verdicts.Add({.id = "a/cause",
                .priority = 80,
                .claims = {Percent(run, 0, percent)},
                .explains = {"a/symptom"}});
  verdicts.Add({.id = "a/symptom",
                .priority = 20,
                .claims = {Percent(run, 0, 50)},
                .kind = RuleKind::kSymptom});
  verdicts.Add({.id = "a/small", .priority = 10, .claims = {Percent(run, 60, 70)}});
  return verdicts;
}

TEST_CASE("a symptom stands under a cause that explains most of it") {
  const Analyzed run(HalfIdleSteps(), kAuto);
  const Verdicts verdicts = CauseOf(run, 44);
  const auto findings = verdicts.Rank(run);
  REQUIRE(findings.size() == 3);
  CHECK(Named(findings, "a/symptom")->explained_by == std::vector<std::string>{"a/cause"});
  CHECK(Named(findings, "a/symptom")->UnderCause());
  CHECK(Named(findings, "a/small")->rank == 2);
}

TEST_CASE("a symptom of which much is left has a place of its own") {
  const Analyzed run(HalfIdleSteps(), kAuto);
  const Verdicts verdicts = CauseOf(run, 30);
  const auto findings = verdicts.Rank(run);
  CHECK(Named(findings, "a/symptom")->saving_share == Approx(0.2).epsilon(0.01));
  CHECK_FALSE(Named(findings, "a/symptom")->UnderCause());
}

TEST_CASE("a symptom that is half unexplained has a place of its own") {
  const Analyzed run(HalfIdleSteps(), kAuto);
  const Verdicts verdicts = CauseOf(run, 25);
  const auto findings = verdicts.Rank(run);
  REQUIRE(findings.size() == 3);
  CHECK_FALSE(Named(findings, "a/symptom")->UnderCause());
  CHECK(Named(findings, "a/symptom")->rank == 2);
  CHECK(Named(findings, "a/small")->rank == 3);
}

TEST_CASE("a claim on two devices is worth the longer of them, never their sum") {
  TraceBuilder story = HalfIdleSteps();
  story.Process("rank 1", 1).Thread("main").OnDevice(1);
  for (int i = 0; i < 100; ++i) {
    const Nanos at = i * 200_us;
    story.Launch("kernel", {at, at + 5_us}, {at + 10_us, at + 110_us});
  }
  const Analyzed run(story, kAuto);
  Verdicts verdicts;
  verdicts.Add({.id = "a/both", .claims = {Percent(run, 0, 30), Percent(run, 0, 40)}});
  const auto findings = verdicts.Rank(run);
  REQUIRE(findings.size() == 1);
  CHECK(findings[0].saving_share == Approx(0.4).epsilon(0.001));
  CHECK(findings[0].where.devices == std::vector<int>{0, 1});
}

TEST_CASE("a remedy wins what the replay says") {
  const Analyzed run(HalfIdleSteps(), kAuto);
  auto halved = std::make_shared<Remedy>();
  for (std::uint32_t op = 0; op < run.trace().ops.size(); ++op)
    halved->scaled_ops.emplace_back(op, 0.5F);
  const Nanos gain = run->replay().Gain(*halved);
  CHECK(gain < run.Window() / 10);  // the host sets the pace, not the kernels
  Verdicts verdicts;
  verdicts.Add({.id = "a/faster", .claims = {Percent(run, 0, 90)}, .remedy = halved});
  const auto findings = verdicts.Rank(run);
  REQUIRE(findings.size() == 1);
  CHECK(findings[0].saving_s == Approx(static_cast<double>(gain) * 1e-9));

  auto gone = std::make_shared<Remedy>();
  gone->vanished_calls = run.Calls("cudaLaunchKernel");
  const Nanos more = run->replay().Gain(*gone);
  REQUIRE(more > run.Window() / 5);
  Verdicts small;
  small.Add({.id = "a/small-claim", .claims = {Percent(run, 0, 10)}, .remedy = gone});
  const auto beyond = small.Rank(run);
  CHECK(beyond.at(0).saving_s == Approx(static_cast<double>(more) * 1e-9));
  CHECK(beyond.at(0).Seen().find("the host then gets ahead") != std::string::npos);
}

TEST_CASE("a cause that is surer comes before a symptom that wins as much") {
  const Analyzed run(HalfIdleSteps(), kAuto);
  auto gone = std::make_shared<Remedy>();
  gone->vanished_calls = run.Calls("cudaLaunchKernel");
  const Nanos more = 100 * run->replay().Gain(*gone) / run.Window();
  const auto first = [&](double confidence, Topic topic = Topic::kCollectives,
                         Topic of_cause = Topic::kNoTopic) {
    Verdicts verdicts;
    verdicts.Add({.id = "a/cause",
                  .priority = 80,
                  .claims = {Percent(run, 0, more / 3)},
                  .remedy = gone,
                  .confidence = confidence});
    verdicts.Add({.id = "a/symptom",
                  .priority = 20,
                  .claims = {Percent(run, 100 - more, 100)},
                  .kind = RuleKind::kSymptom,
                  .confidence = 0.4});
    verdicts.rule(0).topic = of_cause;
    verdicts.rule(1).topic = topic;
    return verdicts.Rank(run).at(0).rule->id;
  };
  CHECK(first(0.8) == "a/cause");
  CHECK(first(0.3) == "a/symptom");
  // What a cause of every step would only hide has another cause.
  CHECK(first(0.8, Topic::kSingleSteps) == "a/symptom");
  CHECK(first(0.8, Topic::kHostCode) == "a/symptom");
  // Code that would run beside the GPU if the host did not wait for it.
  CHECK(first(0.8, Topic::kHostCode, Topic::kWaits) == "a/cause");
}

TEST_CASE("a less specific fix wins nothing by changes that a more specific one makes as well") {
  const Analyzed run(HalfIdleSteps(), kAuto);
  const auto launches = run.Calls("cudaLaunchKernel");
  auto some = std::make_shared<Remedy>();
  some->vanished_calls.assign(launches.begin(),
                              launches.begin() + static_cast<std::ptrdiff_t>(launches.size() / 2));
  auto all = std::make_shared<Remedy>();
  all->vanished_calls = launches;
  Verdicts verdicts;
  verdicts.Add({.id = "a/general", .priority = 20, .claims = {Percent(run, 0, 50)}, .remedy = all});
  verdicts.Add(
      {.id = "a/specific", .priority = 80, .claims = {Percent(run, 0, 30)}, .remedy = some});
  const auto findings = verdicts.Rank(run);
  const Finding* specific = Named(findings, "a/specific");
  const Finding* general = Named(findings, "a/general");
  REQUIRE(specific != nullptr);
  REQUIRE(general != nullptr);
  const auto window = static_cast<double>(run.Window());
  CHECK(specific->alone_share ==
        Approx(static_cast<double>(run->replay().Gain(*some)) / window).epsilon(0.001));
  CHECK(specific->saving_share + general->saving_share ==
        Approx(static_cast<double>(run->replay().Gain(*all)) / window).epsilon(0.001));
}

TEST_CASE(
    "of two fixes that hide each other the better is first, and both say what they win alone") {
  const Analyzed run(HalfIdleSteps(), kAuto);
  // Either the launches or the kernels set the pace: each fix wins little without the other.
  auto launches = std::make_shared<Remedy>();
  launches->vanished_calls = run.Calls("cudaLaunchKernel");
  auto kernels = std::make_shared<Remedy>();
  for (std::uint32_t op = 0; op < run.trace().ops.size(); ++op)
    kernels->scaled_ops.emplace_back(op, 0.1F);
  Remedy both = *launches;
  both.Join(*kernels);
  Verdicts verdicts;
  verdicts.Add(
      {.id = "a/kernels", .priority = 80, .claims = {Percent(run, 0, 40)}, .remedy = kernels});
  verdicts.Add(
      {.id = "a/launches", .priority = 20, .claims = {Percent(run, 40, 60)}, .remedy = launches});
  const auto findings = verdicts.Rank(run);
  REQUIRE(findings.size() == 2);
  const auto window = static_cast<double>(run.Window());
  const auto share = [&](const Remedy& remedy) {
    return static_cast<double>(run->replay().Gain(remedy)) / window;
  };
  REQUIRE(share(*launches) > share(*kernels));
  CHECK(findings[0].rule->id == "a/launches");
  CHECK(findings[0].saving_share == Approx(share(*launches)).epsilon(0.001));
  CHECK(findings[1].alone_share == Approx(share(*kernels)).margin(0.001));
  CHECK(Shares(findings) == Approx(share(both)).epsilon(0.001));
  CHECK(findings[1].saving_share > findings[1].alone_share);
}

TEST_CASE("savings of random claims never overlap: their shares add up to at most one") {
  const Analyzed run(HalfIdleSteps(), kAuto);
  Dice dice(77);
  for (int round = 0; round < 100; ++round) {
    Verdicts verdicts;
    for (std::int64_t n = dice.Between(2, 12); n > 0; --n) {
      const Nanos from = dice.Roll(100);
      verdicts.Add({.id = "a/rule-" + std::to_string(n),
                    .priority = static_cast<int>(dice.Roll(100)),
                    .claims = {Percent(run, from, dice.Between(from, 100))},
                    .part = static_cast<double>(dice.Between(1, 10)) / 10});
    }
    const auto findings = verdicts.Rank(run);
    REQUIRE(Shares(findings) <= 1.0 + 1e-9);
    for (const Finding& finding : findings) REQUIRE(finding.saving_s >= 0);
  }
}

TEST_CASE("two causes of the same time share it by how specific they are, and the sum stays") {
  const Analyzed run(HalfIdleSteps(), kAuto);
  Verdicts verdicts;
  verdicts.Add({.id = "a/first", .priority = 70, .claims = {Percent(run, 0, 40)}, .part = 0.5});
  verdicts.Add({.id = "a/second", .priority = 60, .claims = {Percent(run, 0, 40)}, .part = 1});
  const auto findings = verdicts.Rank(run);
  REQUIRE(findings.size() == 2);
  CHECK(Named(findings, "a/first")->saving_share == Approx(0.2).epsilon(0.01));
  CHECK(Named(findings, "a/second")->saving_share == Approx(0.2).epsilon(0.01));
  CHECK(Shares(findings) == Approx(0.4).epsilon(0.01));
}

TEST_CASE("who took the time of a claim is kept, the largest first") {
  const Analyzed run(HalfIdleSteps(), kAuto);
  Verdicts verdicts;
  verdicts.Add({.id = "a/small", .priority = 90, .claims = {Percent(run, 0, 10)}});
  verdicts.Add({.id = "a/large", .priority = 80, .claims = {Percent(run, 10, 40)}});
  verdicts.Add({.id = "a/vague", .priority = 10, .claims = {Percent(run, 0, 50)}});
  std::vector<ClaimResult> claim_results;
  Rank(verdicts.list(), *run, ShippedKnowledge(), &claim_results);
  const auto vague =
      std::find_if(claim_results.begin(), claim_results.end(),
                   [](const ClaimResult& result) { return result.rule->id == "a/vague"; });
  REQUIRE(vague != claim_results.end());
  REQUIRE(vague->taken_by.size() == 2);
  CHECK(vague->taken_by[0].first->id == "a/large");
  CHECK(vague->taken_by[1].first->id == "a/small");
  const auto percent = static_cast<double>(run.Window()) / 100;
  CHECK(static_cast<double>(vague->claimed) == Approx(50 * percent).epsilon(0.01));
  CHECK(static_cast<double>(vague->taken_by[0].second) == Approx(30 * percent).epsilon(0.01));
  CHECK(static_cast<double>(vague->saving) == Approx(10 * percent).epsilon(0.01));
}

TEST_CASE("a fix wins by itself what it wins beside more specific ones, planned or not") {
  const Analyzed run(HalfIdleSteps(), kAuto);
  Verdicts verdicts;
  verdicts.Add({.id = "a/specific", .priority = 90, .claims = {Percent(run, 0, 10)}});
  verdicts.Add({.id = "a/vague", .priority = 10, .claims = {Percent(run, 0, 40)}});
  const auto all = verdicts.Rank(run);
  std::vector<ClaimResult> claims;
  const auto only = Rank(verdicts.list(), *run, ShippedKnowledge(), &claims, {"a/vague"});
  REQUIRE(only.size() == 1);
  CHECK(Named(all, "a/vague")->alone_share == Approx(0.3).epsilon(0.01));
  CHECK(only.front().alone_share == Named(all, "a/vague")->alone_share);
  CHECK(only.front().saving_share == Approx(0.3).epsilon(0.01));
  REQUIRE(claims.size() == 1);
  const auto percent = static_cast<double>(run.Window()) / 100;
  CHECK(static_cast<double>(claims[0].gain) == Approx(40 * percent).epsilon(0.01));
  CHECK(static_cast<double>(claims[0].alone) == Approx(30 * percent).epsilon(0.01));
}

TEST_CASE("common causes come first only where all else is equal") {
  const Analyzed run(HalfIdleSteps(), kAuto);
  Verdicts tie;
  tie.Add({.id = "host/other", .claims = {Percent(run, 0, 20)}});
  tie.Add({.id = "input/common", .claims = {Percent(run, 40, 60)}});
  const auto tied = tie.Rank(run);
  REQUIRE(tied.size() == 2);
  REQUIRE(tied[0].saving_s == tied[1].saving_s);
  CHECK(tied[0].rule->id == "input/common");
  Verdicts larger;
  larger.Add({.id = "host/other", .claims = {Percent(run, 0, 21)}});
  larger.Add({.id = "input/common", .claims = {Percent(run, 40, 60)}});
  CHECK(larger.Rank(run)[0].rule->id == "host/other");
}

// Launches that return with their kernel. The code wins 70 % by itself, and 30 % once they return
// at once, which wins 40 %.
TEST_CASE("a switch of the environment comes before what it explains and leaves little of") {
  TraceBuilder story;
  for (int i = 0; i < 300; ++i) {
    const Nanos at = i * 50_us;
    story.Launch("kernel", {at, at + 40_us}, {at + 10_us, at + 40_us});
  }
  const Analyzed run(story);
  auto unblocked = std::make_shared<Remedy>();
  unblocked->unblocked_calls = run.Calls("cudaLaunchKernel");
  auto less = std::make_shared<Remedy>();
  less->vanished_calls = unblocked->unblocked_calls;
  for (std::uint32_t op = 0; op < run.trace().ops.size(); ++op)
    less->scaled_ops.emplace_back(op, 0.5F);
  const auto first = [&](Topic topic, const char* explained) {
    Verdicts verdicts;
    verdicts.Add(
        {.id = "a/setting", .priority = 80, .claims = {Percent(run, 0, 90)}, .remedy = unblocked});
    verdicts.rule(0).effort = "flag";
    verdicts.rule(0).topic = topic;
    verdicts.rule(0).explains = {explained};
    verdicts.Add({.id = "a/code", .claims = {Percent(run, 0, 90)}, .remedy = less});
    return verdicts.Rank(run)[0].rule->id;
  };
  CHECK(first(Topic::kSwitch, "a/code") == "a/setting");
  CHECK(first(Topic::kSwitch, "a/other") == "a/code");
  CHECK(first(Topic::kNoTopic, "a/code") == "a/code");
}

// Launches that return with their kernel, behind code that takes longer. Without launches the run
// takes 85 % less, and it does not matter whether they return at once, which wins 17 %.
TEST_CASE("a switch of the environment comes before what would make it needless") {
  TraceBuilder story;
  for (int i = 0; i < 300; ++i) {
    const Nanos at = i * 200_us;
    story.Launch("kernel", {at, at + 40_us}, {at + 10_us, at + 40_us});
  }
  const Analyzed run(story);
  auto unblocked = std::make_shared<Remedy>();
  unblocked->unblocked_calls = run.Calls("cudaLaunchKernel");
  auto gone = std::make_shared<Remedy>();
  gone->vanished_calls = unblocked->unblocked_calls;
  const auto first = [&](const char* explained) {
    Verdicts verdicts;
    verdicts.Add(
        {.id = "a/setting", .priority = 80, .claims = {Percent(run, 0, 90)}, .remedy = unblocked});
    verdicts.rule(0).effort = "flag";
    verdicts.rule(0).topic = Topic::kSwitch;
    verdicts.rule(0).explains = {explained};
    verdicts.Add({.id = "a/code", .claims = {Percent(run, 0, 90)}, .remedy = gone});
    return verdicts.Rank(run)[0].rule->id;
  };
  CHECK(first("a/code") == "a/setting");
  CHECK(first("a/other") == "a/code");
}

TEST_CASE("a switch of the environment does not come before what wins far more after it, too") {
  const Analyzed run(HalfIdleSteps(), kAuto);
  Verdicts verdicts;
  verdicts.Add({.id = "a/setting", .claims = {Percent(run, 60, 80)}});
  verdicts.rule(0).effort = "flag";
  verdicts.rule(0).topic = Topic::kSwitch;
  verdicts.rule(0).explains = {"a/code"};
  verdicts.Add({.id = "a/code", .claims = {Percent(run, 0, 40)}});
  CHECK(verdicts.Rank(run)[0].rule->id == "a/code");
}

// The setting takes off code of 76 us in each step of 200 us, and claims little of that.
TEST_CASE("a setting that wins little less comes before what it explains, wherever it wins that") {
  const Analyzed run(HalfIdleSteps(), kAuto);
  std::vector<Interval> code;
  for (int i = 0; i < 100; ++i) code.push_back({i * 200_us + 115_us, i * 200_us + 191_us});
  auto remedy = std::make_shared<Remedy>();
  remedy->host_cuts.push_back({run->run.trace.calls.thread.front(), IntervalSet::Of(code)});
  const auto first = [&](const char* explained) {
    Verdicts verdicts;
    verdicts.Add(
        {.id = "a/setting", .priority = 40, .claims = {Percent(run, 0, 5)}, .remedy = remedy});
    verdicts.rule(0).effort = "flag";
    verdicts.rule(0).explains = {explained};
    verdicts.Add({.id = "a/code", .priority = 60, .claims = {Percent(run, 50, 92)}});
    return verdicts.Rank(run)[0].rule->id;
  };
  CHECK(first("a/code") == "a/setting");
  CHECK(first("a/other") == "a/code");
}

TEST_CASE("a confidence says what it rests on, and what lowered it") {
  const Analyzed run(HalfIdleSteps(), kAuto);
  const double recorded = ShippedKnowledge().Number("ranking.recorded_confidence");
  const double inferred = ShippedKnowledge().Number("ranking.inferred_confidence");
  Verdicts verdicts;
  verdicts.Add({.id = "a/sure", .claims = {Percent(run, 0, 10)}, .confidence = recorded});
  verdicts.Add({.id = "a/likely", .claims = {Percent(run, 10, 20)}, .confidence = inferred});
  verdicts.Add({.id = "a/maybe", .claims = {Percent(run, 20, 30)}, .confidence = 0.3});
  verdicts.Add({.id = "a/own", .claims = {Percent(run, 30, 40)}, .confidence = 0.3})
      .saving.confidence_from = "recorded memory kind";
  const auto findings = verdicts.Rank(run);
  CHECK(Named(findings, "a/sure")->confidence_from == "the report records the cause itself");
  CHECK(Named(findings, "a/likely")->confidence_from ==
        "inferred from times and names in the report");
  CHECK(Named(findings, "a/maybe")->confidence_from == "other causes are possible");
  CHECK(Named(findings, "a/own")->confidence_from == "recorded memory kind");

  TraceBuilder half = HalfIdleSteps();
  for (int i = 0; i < 100; ++i) half.Kernel("kernel", {i * 200_us + 120_us, i * 200_us + 130_us});
  const Analyzed uncalled(half, kAuto);
  Verdicts lowered;
  lowered.Add({.id = "a/sure", .claims = {Percent(uncalled, 0, 10)}, .confidence = 0.9});
  const Finding finding = lowered.Rank(uncalled)[0];
  CHECK(finding.confidence == Approx(0.68).margin(0.01));
  CHECK(finding.confidence_from.find("launching calls of 50 %") != std::string::npos);
}

TEST_CASE("a fix that has the batches ready says so") {
  const Analyzed run(HalfIdleSteps(), kAuto);
  auto ready = std::make_shared<Remedy>();
  ready->data_ready = true;
  Verdicts verdicts;
  verdicts.Add({.id = "a/ready", .claims = {Percent(run, 0, 10)}, .remedy = ready});
  verdicts.Add({.id = "a/other", .claims = {Percent(run, 20, 30)}});
  const auto findings = verdicts.Rank(run);
  CHECK(Named(findings, "a/ready")->batches_ready);
  CHECK_FALSE(Named(findings, "a/other")->batches_ready);
}

TEST_CASE("claims outside the window save nothing") {
  const Analyzed run(HalfIdleSteps(), kAuto);
  Verdicts verdicts;
  const Nanos end = run->run.window.end;
  verdicts.Add({.id = "a/later", .claims = {{{end, end + 10_ms}}}});
  for (const Finding& finding : verdicts.Rank(run)) CHECK(finding.saving_s == 0);
}

}  // namespace
}  // namespace advise
