// Where the plan of several fixes ends, on a run whose savings can be added up by hand.
#include <cmath>

#include "engine/advice/ranking.h"
#include "tests/advice/verdicts.h"

namespace advise {
namespace {

// Removes all kernels of the run but each second one.
std::shared_ptr<const Remedy> Halves(const Analyzed& run) {
  auto remedy = std::make_shared<Remedy>();
  for (std::uint32_t op = 0; op < run.trace().ops.size(); op += 2) {
    remedy->scaled_ops.emplace_back(op, 0.0F);
  }
  return remedy;
}

// What all findings save together.
Nanos PlanOf(const Verdicts& verdicts, const Analyzed& run) {
  double seconds = 0;
  for (const Finding& finding : Rank(verdicts.list(), *run, ShippedKnowledge()))
    seconds += finding.saving_s;
  return std::llround(seconds * kNanosPerSecond);
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
  const Analyzed run(Full());
  Verdicts verdicts;
  verdicts.Add({.id = "a/one", .claims = {Percent(run, 0, 40)}, .part = 0.5});
  CHECK(PlanOf(verdicts, run) == 2_ms);
  // Two that claim the same time win no more than it holds.
  verdicts.Add({.id = "a/two", .claims = {Percent(run, 20, 40)}});
  verdicts.Add({.id = "a/three", .claims = {Percent(run, 20, 40)}});
  CHECK(PlanOf(verdicts, run) == 4_ms);
}

TEST_CASE("what the replay follows wins more than the time that it claims, too") {
  const Analyzed run(Full());
  Verdicts verdicts;
  verdicts.Add({.id = "a/one", .claims = {Percent(run, 0, 100)}, .remedy = Halves(run)});
  CHECK(PlanOf(verdicts, run) == 5_ms);
  Verdicts few;
  few.Add({.id = "a/one", .claims = {Percent(run, 0, 30)}, .remedy = Halves(run)});
  CHECK(PlanOf(few, run) == 5_ms);
}

TEST_CASE("time that a replayed fix claims is not taken off again; notes and silence win nothing") {
  const Analyzed run(Full());
  Verdicts verdicts;
  verdicts.Add({.id = "a/one", .claims = {Percent(run, 0, 100)}, .remedy = Halves(run)});
  verdicts.Add({.id = "a/two", .claims = {Percent(run, 0, 40)}});
  CHECK(PlanOf(verdicts, run) == 5_ms);
  Verdicts silent;
  silent.Add({.id = "a/note", .claims = {Percent(run, 0, 40)}, .kind = RuleKind::kInfo});
  silent.Add({.id = "a/unclaimed"});
  CHECK(PlanOf(silent, run) == 0);
}

TEST_CASE("a fix that reaches less far than the replay lets it wins no more") {
  const Analyzed run(Full());
  auto near = std::make_shared<Remedy>(*Halves(run));
  near->reach_ns = 1_ms;
  Verdicts verdicts;
  verdicts.Add({.id = "a/one", .claims = {Percent(run, 0, 100)}, .remedy = near});
  CHECK(PlanOf(verdicts, run) == 1_ms);
}

}  // namespace
}  // namespace advise
