// What explains the kernel that dominates, and what a replay without launching calls can price.
#include "engine/advice/describe.h"
#include "tests/advice/verdicts.h"
#include "tests/support/loops.h"

namespace advise {
namespace {

TEST_CASE("only a fix of the kernel that dominates explains it") {
  TraceBuilder story;
  Repeat(100, 200_us, [&](int i, Nanos at) {
    story.Range("step " + std::to_string(i), {at, at + 199_us});
    story.Launch("attention", {at, at + 5_us}, {at + 10_us, at + 110_us});
    story.Launch("copy", {at + 6_us, at + 11_us}, {at + 110_us, at + 150_us});
  });
  const Analyzed run(story, kAuto);
  const auto explained = [&](const char* by) {
    Verdicts verdicts;
    std::vector<Interval> claims;
    for (std::size_t op = 0; op < run->run.trace.ops.size(); ++op) {
      const Trace& trace = run->run.trace;
      if (trace.strings[trace.shapes[trace.ops.detail[op]].name] == by)
        claims.push_back({trace.ops.start[op], trace.ops.end[op]});
    }
    verdicts.Add({.id = "a/cause", .claims = {claims}, .part = 0.5, .explains = {"kernel/hot"}});
    verdicts.Add({.id = "kernel/hot", .kind = RuleKind::kSymptom}).evidence["name"] =
        std::string("attention");
    verdicts.rule(1).topic = Topic::kHottestKernel;
    return Named(verdicts.Rank(run), "kernel/hot") == nullptr;
  };
  CHECK(explained("attention"));
  CHECK_FALSE(explained("copy"));
}

TEST_CASE("single slow steps do not explain what all other steps lose") {
  const Analyzed run(HalfIdleSteps(), kAuto);
  const auto explained = [&](Topic topic) {
    Verdicts verdicts;
    const Interval slow{4_ms, 14_ms};
    verdicts.Add({.id = "a/slow", .priority = 60, .claims = {{slow}}, .explains = {"b/usual"}});
    verdicts.rule(0).topic = topic;
    verdicts.Add({.id = "b/usual", .claims = {{slow, {15_ms, 17_ms}}}, .kind = RuleKind::kSymptom});
    const std::vector<Finding> findings = verdicts.Rank(run);
    const Finding* const usual = Named(findings, "b/usual");
    return usual == nullptr || !usual->explained_by.empty();
  };
  CHECK(explained(Topic::kNoTopic));
  CHECK_FALSE(explained(Topic::kSingleSteps));
}

TEST_CASE("where launching calls are missing, a replay that wins nothing does not price a fix") {
  const auto falls_short = [](double unlinked, double won) {
    RuleInfo rule;
    Finding finding;
    finding.rule = &rule;
    finding.symptom = "Only communication runs for 69 % of the time.";
    finding.touched_share = 0.69;
    finding.unlinked = unlinked;
    finding.saving_share = finding.alone_share = won;
    CompareWithSaving(ShippedKnowledge(), &finding);
    return finding.falls_short;
  };
  CHECK(falls_short(0, 0));
  CHECK_FALSE(falls_short(1, 0));
  CHECK(falls_short(1, 0.02));
}

// The report of one rank is put together with those of others, which show what these did.
TEST_CASE("a finding stays in the list where only a guess about other ranks explains it") {
  const Analyzed run(HalfIdleSteps(), kAuto);
  const auto listed = [&](const char* needs) {
    Verdicts verdicts;
    const Interval slow{4_ms, 14_ms};
    verdicts.Add({.id = "a/cause", .priority = 60, .claims = {{slow}}, .explains = {"b/effect"}});
    verdicts.rule(0).needs = {needs};
    verdicts.Add({.id = "b/effect", .claims = {{slow}}});
    return Named(verdicts.Rank(run), "b/effect") != nullptr;
  };
  CHECK(listed("rank.unseen.lost"));
  CHECK_FALSE(listed("idle.total"));
}

}  // namespace
}  // namespace advise
