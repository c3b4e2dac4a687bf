// In which phase of the program a finding is located.
#include "engine/advice/claim_phase.h"

#include "tests/advice/verdicts.h"

namespace advise {
namespace {

TEST_CASE("a finding is located in a phase only where most of its time is in it") {
  TraceBuilder story;
  for (int i = 0; i < 100; ++i) {
    const Nanos at = i * 200_us;
    story.Launch("kernel", {at, at + 5_us}, {at + 10_us, at + 110_us});
    story.Range("optimizer", {at + 190_us, at + 200_us});  // a tenth of the idle time
  }
  const Analyzed run(story);
  std::vector<Interval> idle;
  std::vector<Interval> updates;
  for (int i = 0; i < 99; ++i) {
    idle.push_back({i * 200_us + 110_us, i * 200_us + 210_us});
    updates.push_back({i * 200_us + 188_us, i * 200_us + 200_us});
  }
  const auto phase_of = [&run](const std::vector<Interval>& claim) {
    Verdicts verdicts;
    verdicts.Add({.id = "a/rule", .claims = {claim}});
    return verdicts.Rank(run).at(0).where.phase;
  };
  CHECK(phase_of(idle).empty());
  CHECK(phase_of(updates) == "optimizer");
}

// The waits are made in the forward pass, and what the GPU idles for is mostly the update.
TEST_CASE("a finding about calls is located where they are made") {
  TraceBuilder story;
  Remedy remedy;
  std::vector<Interval> idle;
  for (int i = 0; i < 100; ++i) {
    const Nanos at = i * 200_us;
    story.Range("forward", {at, at + 112_us});
    story.Launch("kernel", {at, at + 5_us}, {at + 10_us, at + 110_us});
    story.Sync({at + 6_us, at + 111_us});
    story.Range("optimizer", {at + 113_us, at + 199_us});
    if (i > 0) idle.push_back({at - 90_us, at + 10_us});
  }
  const Analyzed run(story);
  for (std::uint32_t call = 0; call < run->run.trace.calls.size(); ++call) {
    if (IsSync(run->run.ClassOfCall(call))) remedy.unblocked_calls.push_back(call);
  }
  REQUIRE(remedy.unblocked_calls.size() == 100);
  const auto phase_of = [&](std::shared_ptr<const Remedy> fix) {
    Verdicts verdicts;
    verdicts.Add({.id = "a/rule", .claims = {idle}, .remedy = std::move(fix)});
    return verdicts.Rank(run).at(0).where.phase;
  };
  CHECK(phase_of(nullptr) == "optimizer");
  CHECK(phase_of(std::make_shared<Remedy>(remedy)) == "forward");
}

TEST_CASE("GPU work is in the phase that launched it") {
  TraceBuilder story;
  for (int i = 0; i < 100; ++i) {
    const Nanos at = i * 200_us;
    story.Range("backward", {at, at + 8_us});
    story.Launch("kernel", {at + 1_us, at + 5_us}, {at + 10_us, at + 110_us});
  }
  const Analyzed run(story);
  std::vector<Interval> work;
  for (int i = 0; i < 100; ++i) work.push_back({i * 200_us + 10_us, i * 200_us + 110_us});
  Verdicts verdicts;
  verdicts.Add({.id = "a/work", .claims = {work}});
  CHECK(Named(verdicts.Rank(run), "a/work")->where.phase == "backward");
}

}  // namespace
}  // namespace advise
