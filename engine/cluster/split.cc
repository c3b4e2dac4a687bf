#include "engine/cluster/split.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <utility>

namespace advise {
namespace {

constexpr std::size_t kSampledCollectives = 64;  // collectives of a lane that are looked at
constexpr std::size_t kLargest = 128;            // larger ones tell little of who belongs together

using Lane = std::pair<std::uint32_t, std::uint16_t>;

class Splitter {
 public:
  Splitter(const std::vector<std::vector<Participant>>& collectives, double habit_share,
           Nanos apart)
      : collectives_(collectives), habit_share_(habit_share), apart_(apart) {}

  std::vector<std::vector<std::vector<std::size_t>>> Split() {
    std::vector<std::vector<std::vector<std::size_t>>> parts;
    const bool doubtful = Doubtful();
    if (doubtful) Count();
    for (const auto& members : collectives_) {
      parts.push_back(doubtful && members.size() > 3 ? PartsOf(members) : Whole(members));
    }
    return parts;
  }

 private:
  static std::vector<std::vector<std::size_t>> Whole(const std::vector<Participant>& members) {
    std::vector<std::size_t> all(members.size());
    std::iota(all.begin(), all.end(), std::size_t{0});
    return {all};
  }
  static Lane LaneOf(const Participant& p) { return {p.rank, p.lane}; }

  // Participants in heaps that end apart from each other.
  std::vector<std::vector<std::size_t>> Heaps(const std::vector<Participant>& members) const {
    std::vector<std::size_t> order(members.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::stable_sort(order.begin(), order.end(),
                     [&](std::size_t a, std::size_t b) { return members[a].end < members[b].end; });
    std::vector<std::vector<std::size_t>> heaps;
    Nanos before = 0;
    for (const std::size_t i : order) {
      if (heaps.empty() || members[i].end - before > apart_) heaps.emplace_back();
      heaps.back().push_back(i);
      before = members[i].end;
    }
    return heaps;
  }

  // Whether some collective may be two.
  bool Doubtful() const {
    return std::any_of(collectives_.begin(), collectives_.end(), [&](const auto& members) {
      const auto heaps = members.size() > 3 ? Heaps(members) : Whole(members);
      return heaps.size() > 1 && std::all_of(heaps.begin(), heaps.end(),
                                             [](const auto& heap) { return heap.size() > 1; });
    });
  }

  void Count() {
    for (const auto& members : collectives_) {
      for (const auto& heap : Heaps(members)) {
        if (heap.size() > kLargest) continue;
        for (const std::size_t i : heap) {
          const Lane lane = LaneOf(members[i]);
          if (total_[lane] >= kSampledCollectives) continue;
          ++total_[lane];
          for (const std::size_t j : heap) ++together_[lane][LaneOf(members[j])];
        }
      }
    }
  }

  // Who ends together with this one nearly always, itself among them.
  std::vector<Lane> GroupOf(const Lane& lane) {
    const auto [at, added] = groups_.try_emplace(lane);
    if (!added) return at->second;
    for (const auto& [other, count] : together_[lane]) {
      if (static_cast<double>(count) >= habit_share_ * static_cast<double>(total_[lane])) {
        at->second.push_back(other);
      }
    }
    return at->second;
  }

  std::vector<std::vector<std::size_t>> PartsOf(const std::vector<Participant>& members) {
    std::map<Lane, std::size_t> place;
    for (std::size_t i = 0; i < members.size(); ++i) place[LaneOf(members[i])] = i;
    std::vector<std::vector<std::size_t>> parts;
    std::vector<std::uint8_t> used(members.size(), 0);
    for (std::size_t i = 0; i < members.size(); ++i) {
      if (used[i] != 0) continue;
      const std::vector<Lane> group = GroupOf(LaneOf(members[i]));
      std::vector<std::size_t> part;
      for (const Lane& lane : group) {
        const auto at = place.find(lane);
        // Not all of the group are here, or one of them has other habits.
        if (at == place.end() || used[at->second] != 0 || GroupOf(lane) != group) {
          return Whole(members);
        }
        used[at->second] = 1;
        part.push_back(at->second);
      }
      if (part.size() < 2) return Whole(members);
      parts.push_back(std::move(part));
    }
    return parts.size() > 1 && Apart(members, parts) ? parts : Whole(members);
  }

  // The ends of one part lie clearly before those of another.
  bool Apart(const std::vector<Participant>& members,
             const std::vector<std::vector<std::size_t>>& parts) const {
    std::vector<std::pair<Nanos, Nanos>> spans;
    Nanos within = apart_;
    for (const auto& part : parts) {
      Nanos first = members[part.front()].end;
      Nanos last = first;
      for (const std::size_t i : part) {
        first = std::min(first, members[i].end);
        last = std::max(last, members[i].end);
      }
      spans.emplace_back(first, last);
      within = std::max(within, last - first);
    }
    std::sort(spans.begin(), spans.end());
    for (std::size_t i = 1; i < spans.size(); ++i) {
      if (spans[i].first > spans[i - 1].second + within) return true;
    }
    return false;
  }

  const std::vector<std::vector<Participant>>& collectives_;
  double habit_share_;
  Nanos apart_;
  std::map<Lane, std::size_t> total_;
  std::map<Lane, std::map<Lane, std::size_t>> together_;
  std::map<Lane, std::vector<Lane>> groups_;
};

}  // namespace

std::vector<std::vector<std::vector<std::size_t>>> SplitMerged(
    const std::vector<std::vector<Participant>>& collectives, double habit_share, Nanos apart) {
  return Splitter(collectives, habit_share, apart).Split();
}

}  // namespace advise
