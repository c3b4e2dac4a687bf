// What a report of one rank takes for communication is its wait for others in the run of all ranks.
#include "engine/advice/rank_run.h"
#include "tests/advice/verdicts.h"
#include "tests/cluster/ranks.h"

namespace advise {
namespace {

RuleInfo RuleNamed(const std::string& id) {
  RuleInfo rule;
  rule.id = id;
  rule.priority = 10;
  return rule;
}

// Hosts pause in turn for 8 ms, each in another step, while the other ranks wait in a collective.
TEST_CASE("what a rank plans behind its waits for others comes first in the job") {
  JobStory story;
  story.ranks = 2;
  story.extra_loading.assign(2, std::vector<Nanos>(10, 0));
  for (std::size_t s = 0; s < 10; ++s) story.extra_loading[s % 2][s] = 8'000'000;
  const Cluster cluster(story.Tell(), ShippedKnowledge());
  const RuleInfo exposed = RuleNamed("comm/exposed");
  const RuleInfo reads = RuleNamed("sync/reads");
  // Alone, each report shows half of its time in collectives, and hides its pauses behind that.
  const auto findings_of = [&](std::size_t rank) {
    Finding hides;
    hides.rule = &exposed;
    hides.saving_share = hides.alone_share = hides.touched_share = 0.3;
    hides.comm_share = 1;
    hides.turn = 1;
    Finding pauses;
    pauses.rule = &reads;
    pauses.touched_share = pauses.alone_share = 40.0 / 170;
    pauses.idle_share = 1;
    for (std::size_t s = rank; s < 10; s += 2) {
      pauses.step_parts.push_back({cluster.ranks[rank].steps[s].start, 8.0 / 170});
    }
    return std::vector<Finding>{hides, pauses};
  };
  const auto findings =
      RankRun({}, {{findings_of(0), {0}}, {findings_of(1), {1}}}, cluster, ShippedKnowledge());
  REQUIRE(!findings.empty());
  CHECK(findings[0].rule->id == "sync/reads");
  CHECK(findings[0].saving_share == Approx(80.0 / 170).margin(0.01));
}

}  // namespace
}  // namespace advise
