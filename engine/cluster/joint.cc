#include "engine/cluster/joint.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "engine/metrics/median.h"

namespace advise {
namespace {

struct Item {
  Nanos start = 0;
  Nanos end = 0;
  JointMember member;
  std::uint32_t kind = 0;
  std::uint32_t group = 0;  // 0 unknown
};

// What two ranks call the same communicator: its members when they are listed, else its name.
std::string KeyOf(const CommGroup& group) {
  if (!group.ranks.empty()) return fmt::format("{}|{}", fmt::join(group.ranks, ","), group.name);
  return group.name + "|" + group.description + "|" + std::to_string(group.size);
}

class Matcher {
 public:
  Matcher(const std::vector<RankSummary>& ranks, const Clocks& clocks, const Knowledge& knowledge)
      : ranks_(ranks),
        tolerance_(std::max(4 * clocks.residual,
                            static_cast<Nanos>(knowledge.Number("cluster.end_together")))) {
    std::map<std::string, std::uint32_t> kinds;
    std::map<std::string, std::uint32_t> groups;
    for (std::uint32_t r = 0; r < ranks.size(); ++r) {
      const RankSummary& rank = ranks[r];
      result_.rows += rank.collectives.size();
      if (!clocks.Known(rank.clock)) continue;
      std::vector<std::uint32_t> kind_of;
      for (const std::string& kind : rank.kinds) {
        const auto [at, added] =
            kinds.try_emplace(kind, static_cast<std::uint32_t>(result_.kinds.size()));
        if (added) result_.kinds.push_back(kind);
        kind_of.push_back(at->second);
      }
      std::vector<std::uint32_t> group_of;
      for (const CommGroup& group : rank.groups) {
        group_of.push_back(
            groups.try_emplace(KeyOf(group), static_cast<std::uint32_t>(groups.size() + 1))
                .first->second);
      }
      const RankCollectives& list = rank.collectives;
      const Nanos offset = clocks.offset[rank.clock];
      for (std::uint32_t row = 0; row < list.size(); ++row) {
        items_.push_back(
            {list.start[row] + offset,
             list.end[row] + offset,
             {r, row},
             kind_of[list.kind[row]],
             list.group[row] < 0 ? 0 : group_of[static_cast<std::size_t>(list.group[row])]});
      }
    }
    std::sort(items_.begin(), items_.end(), [](const Item& a, const Item& b) {
      if (a.end != b.end) return a.end < b.end;
      if (a.member.rank != b.member.rank) return a.member.rank < b.member.rank;
      return a.member.row < b.member.row;
    });
  }

  Joint Match() {
    std::vector<std::uint8_t> taken(items_.size(), 0);
    std::vector<std::size_t> in_group(ranks_.size(), 0);  // the group a rank was last put into
    std::size_t number = 0;
    std::vector<std::size_t> group;
    for (std::size_t i = 0; i < items_.size(); ++i) {
      if (taken[i] != 0) continue;
      const Item& first = items_[i];
      group.assign(1, i);
      in_group[first.member.rank] = ++number;
      Nanos latest_start = first.start;
      // All must overlap: a kernel that began after another had ended is a later collective.
      for (std::size_t j = i + 1; j < items_.size(); ++j) {
        const Item& other = items_[j];
        if (other.end - first.end > tolerance_ + (first.end - first.start) / 10) break;
        if (taken[j] != 0 || other.kind != first.kind || other.group != first.group) continue;
        if (in_group[other.member.rank] == number || other.start >= first.end + tolerance_)
          continue;
        in_group[other.member.rank] = number;
        latest_start = std::max(latest_start, other.start);
        group.push_back(j);
        const std::size_t limit =
            result_.kinds[first.kind] == "sendrecv" && first.group == 0 ? 2 : ranks_.size();
        if (group.size() == limit) break;
      }
      if (group.size() < 2) continue;
      for (const std::size_t member : group) taken[member] = 1;
      result_.matched += group.size();
      result_.all.push_back(Joined(group));
    }
    return std::move(result_);
  }

 private:
  JointCollective Joined(const std::vector<std::size_t>& group) const {
    JointCollective joint;
    joint.kind = items_[group.front()].kind;
    joint.groups_known = items_[group.front()].group != 0;
    joint.end = items_[group.front()].end;
    std::vector<Nanos> starts;
    std::size_t latest = group.front();
    Nanos shortest = items_[latest].end - items_[latest].start;
    for (const std::size_t i : group) {
      const Item& item = items_[i];
      joint.members.push_back(item.member);
      starts.push_back(item.start);
      shortest = std::min(shortest, item.end - item.start);
      if (item.start > items_[latest].start) latest = i;
      const RankSummary& rank = ranks_[item.member.rank];
      joint.bytes = std::max(joint.bytes, rank.collectives.bytes[item.member.row]);
    }
    std::sort(joint.members.begin(), joint.members.end(),
              [](const JointMember& a, const JointMember& b) { return a.rank < b.rank; });
    joint.transfer = shortest;
    joint.latest = items_[latest].member.rank;
    joint.phase = ranks_[joint.latest].collectives.phase[items_[latest].member.row];
    joint.first_start = *std::min_element(starts.begin(), starts.end());
    joint.last_start = items_[latest].start;
    // The lower median: with two ranks the one that waits.
    std::sort(starts.begin(), starts.end());
    joint.median_start = starts[(starts.size() - 1) / 2];
    return joint;
  }

  const std::vector<RankSummary>& ranks_;
  Nanos tolerance_;
  std::vector<Item> items_;
  Joint result_;
};

}  // namespace

Joint MatchRanks(const std::vector<RankSummary>& ranks, const Clocks& clocks,
                 const Knowledge& knowledge) {
  return Matcher(ranks, clocks, knowledge).Match();
}

Nanos Waited(const RankSummary& rank, const JointMember& member, const JointCollective& joint) {
  const RankCollectives& list = rank.collectives;
  return std::max<Nanos>(0, list.end[member.row] - list.start[member.row] - joint.transfer);
}

Nanos WaitedExposed(const RankSummary& rank, const JointMember& member,
                    const JointCollective& joint) {
  return std::min(Waited(rank, member, joint), rank.collectives.exposed[member.row]);
}

}  // namespace advise
