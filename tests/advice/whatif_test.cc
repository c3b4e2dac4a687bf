// Several fixes at once, on a run whose savings can be added up by hand.
#include "engine/advice/whatif.h"

#include "engine/advice/ranking.h"
#include "tests/advice/verdicts.h"

namespace advise {
namespace {

// Removes all kernels of the run but each second one.
std::shared_ptr<const Remedy> Halves(const Analysed& run) {
  auto remedy = std::make_shared<Remedy>();
  for (std::uint32_t op = 0; op < run.trace().ops.size(); op += 2) {
    remedy->scaled_ops.emplace_back(op, 0.0F);
  }
  return remedy;
}

std::vector<const Verdict*> All(const Verdicts& verdicts) {
  std::vector<const Verdict*> list;
  for (const Verdict& verdict : verdicts.list()) list.push_back(&verdict);
  return list;
}

// A hundred kernels back to back of 100 us.
TraceBuilder Full() {
  TraceBuilder story;
  for (int i = 0; i < 100; ++i) {
    story.Launch("kernel", {i * 5_us, i * 5_us + 4_us},
                 {1_ms + i * 100_us, 1_ms + (i + 1) * 100_us});
  }
  return story;
}

TEST_CASE("what no replay can follow is taken off by its part of the claim") {
  const Analysed run(Full());
  Verdicts verdicts;
  verdicts.Add({.id = "a/one", .claims = {Percent(run, 0, 40)}, .part = 0.5});
  WhatIf what = ReplayFixes(All(verdicts), *run);
  CHECK(what.window_ns == 10_ms);
  CHECK(what.gain_ns == 2_ms);
  REQUIRE(what.parts.size() == 1);
  CHECK(what.parts[0].rule == "a/one");
  CHECK_FALSE(what.parts[0].replayed);
  CHECK(what.parts[0].alone_ns == 2_ms);
  // Two that claim the same time win no more than it holds.
  verdicts.Add({.id = "a/two", .claims = {Percent(run, 20, 40)}});
  verdicts.Add({.id = "a/three", .claims = {Percent(run, 20, 40)}});
  what = ReplayFixes(All(verdicts), *run);
  CHECK(what.parts[1].alone_ns == 2_ms);
  CHECK(what.gain_ns == 4_ms);
}

TEST_CASE(
    "what the replay follows wins what the plan says, also more than the time that it claims") {
  const Analysed run(Full());
  Verdicts verdicts;
  verdicts.Add({.id = "a/one", .claims = {Percent(run, 0, 100)}, .remedy = Halves(run)});
  const WhatIf all = ReplayFixes(All(verdicts), *run);
  CHECK(all.gain_ns == 5_ms);
  CHECK(all.parts[0].replayed);
  CHECK(all.parts[0].alone_ns == 5_ms);
  Verdicts few;
  few.Add({.id = "a/one", .claims = {Percent(run, 0, 30)}, .remedy = Halves(run)});
  const WhatIf bounded = ReplayFixes(All(few), *run);
  CHECK(bounded.parts[0].alone_ns == 5_ms);
  CHECK(bounded.gain_ns == 5_ms);
  const std::vector<Finding> plan = Rank(few.list(), *run, ShippedKnowledge());
  REQUIRE(plan.size() == 1);
  CHECK(plan[0].saving_s * kNanosPerSecond == Approx(bounded.gain_ns));
  CHECK(plan[0].next_bound == bounded.next_bound);
}

TEST_CASE("time that a replayed fix claims is not taken off again; notes and silence win nothing") {
  const Analysed run(Full());
  Verdicts verdicts;
  verdicts.Add({.id = "a/one", .claims = {Percent(run, 0, 100)}, .remedy = Halves(run)});
  verdicts.Add({.id = "a/two", .claims = {Percent(run, 0, 40)}});
  CHECK(ReplayFixes(All(verdicts), *run).gain_ns == 5_ms);
  Verdicts silent;
  silent.Add({.id = "a/note", .claims = {Percent(run, 0, 40)}, .kind = RuleKind::kInfo});
  silent.Add({.id = "a/unclaimed"});
  const WhatIf nothing = ReplayFixes(All(silent), *run);
  CHECK(nothing.gain_ns == 0);
  CHECK(nothing.next_bound.empty());
  CHECK(nothing.parts[0].alone_ns == 0);
  CHECK(nothing.parts[1].alone_ns == 0);
}

TEST_CASE("a fix that reaches less far than the replay lets it wins no more") {
  const Analysed run(Full());
  auto near = std::make_shared<Remedy>(*Halves(run));
  near->reach_ns = 1_ms;
  Verdicts verdicts;
  verdicts.Add({.id = "a/one", .claims = {Percent(run, 0, 100)}, .remedy = near});
  CHECK(ReplayFixes(All(verdicts), *run).gain_ns == 1_ms);
}

}  // namespace
}  // namespace advise
