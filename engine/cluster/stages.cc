#include "engine/cluster/stages.h"

#include <algorithm>
#include <utility>

#include "engine/base/median.h"

namespace advise {
namespace {

using Edge = std::pair<std::uint32_t, std::uint32_t>;  // the smaller index first

std::map<Edge, std::size_t> SendsByEdge(const Joint& joint) {
  std::map<Edge, std::size_t> edges;
  for (const JointCollective& collective : joint.all) {
    if (!joint.IsPointToPoint(collective) || collective.members.size() != 2) continue;
    ++edges[{collective.members[0].rank, collective.members[1].rank}];
  }
  return edges;
}

Edge EdgeOf(std::uint32_t a, std::uint32_t b) { return {std::min(a, b), std::max(a, b)}; }

class Orderer {
 public:
  Orderer(std::map<std::uint32_t, std::set<std::uint32_t>> near, std::map<Edge, std::size_t> edges,
          double alike)
      : near_(std::move(near)), edges_(std::move(edges)), alike_(alike) {}

  std::optional<StageOrder> Order() {
    for (const auto& [rank, near] : near_) {
      if (near.size() > 2) return std::nullopt;
    }
    StageOrder order;
    std::vector<double> around;
    for (const auto& [rank, near] : near_) {
      if (near.size() == 1 && !seen_.contains(rank)) order.chains.push_back(Walk(rank));
    }
    const bool open = !order.chains.empty();
    for (const auto& [rank, near] : near_) {
      if (seen_.contains(rank)) continue;
      if (open) return std::nullopt;  // chains and circles side by side
      const auto cut = CutOf(Walk(rank));
      if (!cut) return std::nullopt;
      order.chains.push_back(cut->first);
      around.push_back(cut->second);
    }
    const bool equal =
        std::all_of(order.chains.begin(), order.chains.end(),
                    [&](const auto& chain) { return chain.size() == order.chains.front().size(); });
    if (order.chains.empty() || !equal) return std::nullopt;
    order.around = Median(std::move(around));
    return order;
  }

 private:
  std::vector<std::uint32_t> Walk(std::uint32_t from) {
    std::vector<std::uint32_t> chain = {from};
    seen_.insert(from);
    while (true) {
      const auto& next = near_.at(chain.back());
      const auto at = std::find_if(next.begin(), next.end(),
                                   [&](std::uint32_t r) { return !seen_.contains(r); });
      if (at == next.end()) return chain;
      chain.push_back(*at);
      seen_.insert(*at);
    }
  }

  // A circle opened where least is sent, and how much that is.
  std::optional<std::pair<std::vector<std::uint32_t>, double>> CutOf(
      std::vector<std::uint32_t> circle) const {
    std::vector<double> sends;
    for (std::size_t i = 0; i < circle.size(); ++i) {
      const auto at = edges_.find(EdgeOf(circle[i], circle[(i + 1) % circle.size()]));
      sends.push_back(at == edges_.end() ? 0.0 : static_cast<double>(at->second));
    }
    const auto least = std::min_element(sends.begin(), sends.end());
    const double weakest = *least;
    const auto behind = least - sends.begin() + 1;  // the first stage, if the circle runs that way
    sends.erase(least);
    const double usual = Median(std::move(sends));
    if (usual <= 0 || weakest >= alike_ * usual) return std::nullopt;
    std::rotate(circle.begin(),
                circle.begin() + behind % static_cast<std::ptrdiff_t>(circle.size()), circle.end());
    if (circle.front() > circle.back()) std::reverse(circle.begin(), circle.end());
    return std::pair(std::move(circle), weakest / usual);
  }

  std::map<std::uint32_t, std::set<std::uint32_t>> near_;
  std::map<Edge, std::size_t> edges_;
  double alike_;
  std::set<std::uint32_t> seen_;
};

}  // namespace

std::map<std::uint32_t, std::set<std::uint32_t>> Neighbours(const Joint& joint,
                                                            double least_share) {
  const std::map<Edge, std::size_t> edges = SendsByEdge(joint);
  std::map<std::uint32_t, std::size_t> total;
  for (const auto& [edge, count] : edges) {
    total[edge.first] += count;
    total[edge.second] += count;
  }
  std::map<std::uint32_t, std::set<std::uint32_t>> neighbours;
  for (const auto& [edge, count] : edges) {
    const auto& [a, b] = edge;
    // Two unrelated pairs that end together by chance make no edge.
    const auto least = static_cast<double>(std::min(total[a], total[b]));
    if (static_cast<double>(count) < least_share * least) continue;
    neighbours[a].insert(b);
    neighbours[b].insert(a);
  }
  return neighbours;
}

std::optional<StageOrder> OrderStages(const Joint& joint, double least_share, double alike) {
  return Orderer(Neighbours(joint, least_share), SendsByEdge(joint), alike).Order();
}

}  // namespace advise
