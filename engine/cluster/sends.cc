#include "engine/cluster/sends.h"

#include <algorithm>
#include <map>
#include <set>
#include <tuple>

namespace advise {
namespace {

constexpr std::size_t kNearSend =
    64;  // kernels looked at behind each one, in the order of their ends

// Of two kernels that may be one operation: neither begins after the other has ended.
bool Overlap(const SendKernel& a, const SendKernel& b, Nanos tolerance) {
  return a.start < b.end + tolerance && b.start < a.end + tolerance;
}

class SendMatcher {
 public:
  SendMatcher(const std::vector<SendKernel>& kernels, const SendRules& rules)
      : kernels_(kernels), rules_(rules), taken_(kernels.size(), 0) {}

  SendMatches Match() {
    Exchanges();
    // Two unrelated pairs that end together by chance must not be taken for one: first everybody's
    // nearest, then only those who talk again and again.
    const std::vector<std::vector<std::size_t>> nearest = Pairs(nullptr);
    const std::set<Edge> habitual = Habitual(nearest);
    matches_.pairs = Pairs(&habitual);
    return std::move(matches_);
  }

 private:
  using Edge = std::pair<std::uint32_t, std::uint32_t>;
  static Edge EdgeOf(const SendKernel& a, const SendKernel& b) {
    return {std::min(a.rank, b.rank), std::max(a.rank, b.rank)};
  }

  // Kernels of all ranks that end together; an exchange when the same ranks do so nearly always.
  void Exchanges() {
    using Members = std::pair<std::uint32_t, std::vector<std::uint32_t>>;  // group, ranks
    std::vector<std::vector<std::size_t>> clusters;
    std::vector<Members> members;
    std::map<Members, std::size_t> seen;
    std::map<std::pair<std::uint32_t, std::uint32_t>, std::size_t> total;  // by group and rank
    std::vector<std::uint8_t> used(kernels_.size(), 0);
    for (const SendKernel& kernel : kernels_) ++total[{kernel.group, kernel.rank}];
    for (std::size_t i = 0; i < kernels_.size(); ++i) {
      if (used[i] != 0) continue;
      std::vector<std::size_t> cluster = {i};
      std::set<std::uint32_t> ranks = {kernels_[i].rank};
      Nanos shortest = kernels_[i].end - kernels_[i].start;
      for (std::size_t j = i + 1; j < kernels_.size(); ++j) {
        const SendKernel& other = kernels_[j];
        const Nanos apart = other.end - kernels_[i].end;
        const auto length = static_cast<double>(std::min(shortest, other.end - other.start));
        if (apart > rules_.tolerance + static_cast<Nanos>(rules_.together_share * length)) break;
        if (used[j] != 0 || other.group != kernels_[i].group) continue;
        if (!Overlap(kernels_[i], other, rules_.tolerance)) continue;
        if (!ranks.insert(other.rank).second) continue;
        shortest = std::min(shortest, other.end - other.start);
        cluster.push_back(j);
      }
      if (cluster.size() < 3) continue;
      for (const std::size_t k : cluster) used[k] = 1;
      members.emplace_back(kernels_[i].group,
                           std::vector<std::uint32_t>(ranks.begin(), ranks.end()));
      ++seen[members.back()];
      clusters.push_back(std::move(cluster));
    }
    std::vector<std::size_t> always;
    std::map<std::uint32_t, std::set<std::uint32_t>> exchanging;  // ranks by group
    for (std::size_t c = 0; c < clusters.size(); ++c) {
      const auto& [group, ranks] = members[c];
      const auto count = static_cast<double>(seen[members[c]]);
      const bool each = std::all_of(ranks.begin(), ranks.end(), [&, key = group](auto rank) {
        return count >= rules_.exchange_share * static_cast<double>(total[{key, rank}]);
      });
      if (!each) continue;
      always.push_back(c);
      exchanging[group].insert(ranks.begin(), ranks.end());
    }
    // Three neighbours of a ring end together, too, when the middle one is always late; the others
    // of the ring then do not.
    std::set<std::uint32_t> rings;
    for (const auto& [key, count] : total) {
      const auto at = exchanging.find(key.first);
      if (at != exchanging.end() && !at->second.contains(key.second)) rings.insert(key.first);
    }
    for (const std::size_t c : always) {
      if (rings.contains(members[c].first)) continue;
      for (const std::size_t k : clusters[c]) taken_[k] = 1;
      matches_.exchanges.push_back(std::move(clusters[c]));
    }
  }

  bool MayPair(std::size_t i, std::size_t j) const {
    const SendKernel& a = kernels_[i];
    const SendKernel& b = kernels_[j];
    if (a.rank == b.rank || a.group != b.group) return false;
    if (a.peer >= 0 && a.peer != static_cast<std::int32_t>(b.rank)) return false;
    if (b.peer >= 0 && b.peer != static_cast<std::int32_t>(a.rank)) return false;
    return Overlap(a, b, rules_.tolerance);
  }

  // The closest ends first; each kernel once.
  std::vector<std::vector<std::size_t>> Pairs(const std::set<Edge>* only) const {
    std::vector<std::tuple<Nanos, std::size_t, std::size_t>> candidates;
    for (std::size_t i = 0; i < kernels_.size(); ++i) {
      if (taken_[i] != 0) continue;
      const std::size_t last = std::min(kernels_.size(), i + 1 + kNearSend);
      for (std::size_t j = i + 1; j < last; ++j) {
        const Nanos apart = kernels_[j].end - kernels_[i].end;
        if (apart > rules_.tolerance) break;
        if (taken_[j] != 0 || !MayPair(i, j)) continue;
        if (only != nullptr && only->count(EdgeOf(kernels_[i], kernels_[j])) == 0) continue;
        candidates.emplace_back(apart, i, j);
      }
    }
    std::sort(candidates.begin(), candidates.end());
    std::vector<std::uint8_t> used = taken_;
    std::vector<std::vector<std::size_t>> pairs;
    for (const auto& [apart, i, j] : candidates) {
      if (used[i] != 0 || used[j] != 0) continue;
      used[i] = used[j] = 1;
      pairs.push_back({i, j});
    }
    std::sort(pairs.begin(), pairs.end());
    return pairs;
  }

  std::set<Edge> Habitual(const std::vector<std::vector<std::size_t>>& pairs) const {
    std::map<Edge, std::size_t> count;
    std::map<std::uint32_t, std::size_t> total;
    for (const auto& pair : pairs) {
      ++count[EdgeOf(kernels_[pair[0]], kernels_[pair[1]])];
      ++total[kernels_[pair[0]].rank];
      ++total[kernels_[pair[1]].rank];
    }
    std::set<Edge> habitual;
    for (const auto& [edge, n] : count) {
      const auto quieter = static_cast<double>(std::min(total[edge.first], total[edge.second]));
      if (static_cast<double>(n) >= rules_.edge_share * quieter) habitual.insert(edge);
    }
    return habitual;
  }

  const std::vector<SendKernel>& kernels_;
  const SendRules& rules_;
  std::vector<std::uint8_t> taken_;  // by an exchange
  SendMatches matches_;
};

}  // namespace

SendMatches MatchSends(const std::vector<SendKernel>& kernels, const SendRules& rules) {
  return SendMatcher(kernels, rules).Match();
}

}  // namespace advise
