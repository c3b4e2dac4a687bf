#include "engine/cluster/slow_node.h"

#include <algorithm>
#include <limits>
#include <map>
#include <set>

#include "engine/base/median.h"

namespace advise {
namespace {

// Whether the steps of all these ranks take longer than those of every other rank. Not only in
// sum: ranks that are slow by turns add up to a slow host by chance.
bool StandApart(const std::vector<RankSummary>& ranks, const Job& job,
                const RankLossBuilder& losses, const Knowledge& knowledge,
                const std::set<std::uint32_t>& members) {
  const auto apart = [&](auto time_of) {
    auto inside = std::numeric_limits<Nanos>::max();
    Nanos outside = 0;
    for (std::uint32_t r = 0; r < ranks.size(); ++r) {
      if (members.contains(r)) {
        inside = std::min(inside, time_of(r));
      } else {
        outside = std::max(outside, time_of(r));
      }
    }
    return outside > 0 && inside > outside;
  };
  std::size_t steps = 0;
  for (std::size_t s = 0; s < job.steps; ++s)
    steps += apart([&](std::uint32_t r) { return losses.Alone(r, s); }) ? 1 : 0;
  return apart([&](std::uint32_t r) { return losses.AllAlone(r); }) &&
         static_cast<double>(steps) >=
             knowledge.Number("cluster.node_steps") * static_cast<double>(job.steps);
}

}  // namespace

// A host all of whose ranks take longer than every rank of the other hosts, or whose processors
// are slower: then only one of its ranks need be behind, as the GPUs of the others have work that
// was launched ahead, and wait for it.
SlowNode FindSlowNode(const std::vector<RankSummary>& ranks, const Job& job,
                      const RankLossBuilder& losses, const Knowledge& knowledge) {
  SlowNode node;
  node.loss.lost.by_device.resize(ranks.size());
  std::map<std::string, std::set<std::uint32_t>> hosts;
  std::vector<Nanos> alone;
  for (std::uint32_t r = 0; r < ranks.size(); ++r) {
    hosts[ranks[r].host].insert(r);
    alone.push_back(losses.AllAlone(r));
  }
  if (hosts.size() < 2 || hosts.contains("")) return node;
  const auto slowest =
      static_cast<std::uint32_t>(std::max_element(alone.begin(), alone.end()) - alone.begin());
  for (const auto& [host, members] : hosts) {
    if (members.size() < 2 || !members.contains(slowest)) continue;
    LateCause cause = FindLateCause(ranks, job, knowledge, members);
    if (cause.kind != LateCause::Kind::kSlowHost &&
        !StandApart(ranks, job, losses, knowledge, members))
      continue;
    std::vector<Nanos> mine;
    Nanos next = 1;
    for (std::uint32_t r = 0; r < ranks.size(); ++r) {
      if (members.contains(r)) {
        mine.push_back(alone[r]);
      } else {
        next = std::max(next, alone[r]);
      }
    }
    node.host = host;
    node.ranks = members.size();
    node.excess = static_cast<double>(LowerMedian(mine)) / static_cast<double>(next) - 1;
    node.loss.cuts.resize(ranks.size());
    node.cause = std::move(cause);
    losses.CutToNext(members, node.cause.kind == LateCause::Kind::kMoreWork, &node.loss.cuts);
    losses.Complete(&node.loss);
    // Its ranks wait for each other, too. What is told is how long the others wait for them.
    for (const std::uint32_t r : members) node.loss.lost.by_device[r] = {};
  }
  return node;
}

}  // namespace advise
