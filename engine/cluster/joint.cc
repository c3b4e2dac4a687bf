#include "engine/cluster/joint.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "engine/base/median.h"
#include "engine/cluster/send_replay.h"
#include "engine/cluster/sends.h"
#include "engine/cluster/split.h"

namespace advise {
namespace {

struct Item {
  Nanos start = 0;
  Nanos end = 0;
  JointMember member;
  std::uint32_t kind = 0;
  std::uint32_t group = 0;  // 0 unknown
  std::int32_t peer = -1;   // rank index, of sends
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
        knowledge_(knowledge),
        tolerance_(std::max(4 * clocks.residual, knowledge.Time("cluster.end_together"))) {
    std::map<std::string, std::uint32_t> kinds;
    std::map<std::string, std::uint32_t> groups;
    std::map<int, std::int32_t> numbers;
    for (std::size_t r = 0; r < ranks.size(); ++r) {
      numbers.try_emplace(ranks[r].rank, static_cast<std::int32_t>(r));
    }
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
        const auto peer = list.peer[row] < 0 ? numbers.end() : numbers.find(list.peer[row]);
        const bool send = result_.kinds[kind_of[list.kind[row]]] == "sendrecv";
        (send ? sends_ : items_)
            .push_back(
                {list.start[row] + offset,
                 list.end[row] + offset,
                 {r, row},
                 kind_of[list.kind[row]],
                 list.group[row] < 0 ? 0 : group_of[static_cast<std::size_t>(list.group[row])],
                 peer == numbers.end() ? -1 : peer->second});
      }
    }
    for (auto* items : {&items_, &sends_}) {
      std::sort(items->begin(), items->end(), [](const Item& a, const Item& b) {
        if (a.end != b.end) return a.end < b.end;
        if (a.member.rank != b.member.rank) return a.member.rank < b.member.rank;
        return a.member.row < b.member.row;
      });
    }
  }

  Joint Match() {
    const double together = knowledge_.Number("comm.together_share");
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
      const Nanos reach =
          tolerance_ + static_cast<Nanos>(together * static_cast<double>(first.end - first.start));
      // All must overlap: a kernel that began after another had ended is a later collective.
      for (std::size_t j = i + 1; j < items_.size(); ++j) {
        const Item& other = items_[j];
        if (other.end - first.end > reach) break;
        if (taken[j] != 0 || other.kind != first.kind || other.group != first.group) continue;
        if (in_group[other.member.rank] == number || other.start >= first.end + tolerance_)
          continue;
        // Sums of another communicator, on another stream, may end a little later by chance.
        if (other.end - first.end > tolerance_ && LaneOf(other) != LaneOf(first)) continue;
        in_group[other.member.rank] = number;
        latest_start = std::max(latest_start, other.start);
        group.push_back(j);
        if (group.size() == ranks_.size()) break;
      }
      if (group.size() < 2) continue;
      for (const std::size_t member : group) taken[member] = 1;
      found_.push_back(group);
    }
    Split();
    for (const auto& members : found_) Add(items_, members, items_[members.front()].kind);
    Sends();
    std::stable_sort(
        result_.all.begin(), result_.all.end(),
        [](const JointCollective& a, const JointCollective& b) { return a.end < b.end; });
    return std::move(result_);
  }

 private:
  std::uint16_t LaneOf(const Item& item) const {
    return ranks_[item.member.rank].collectives.lane[item.member.row];
  }

  void Add(const std::vector<Item>& items, const std::vector<std::size_t>& members,
           std::uint32_t kind) {
    result_.matched += members.size();
    result_.all.push_back(Joined(items, members));
    result_.all.back().kind = kind;
  }

  // Where reports do not name communicators, groups that ended together by chance are parted.
  void Split() {
    std::map<std::uint32_t, std::vector<std::size_t>> by_kind;
    for (std::size_t f = 0; f < found_.size(); ++f) {
      const Item& first = items_[found_[f].front()];
      if (first.group == 0) by_kind[first.kind].push_back(f);
    }
    std::vector<std::vector<std::size_t>> more;
    for (const auto& [kind, list] : by_kind) {
      std::vector<std::vector<Participant>> collectives;
      for (const std::size_t f : list) {
        std::vector<Participant> members;
        for (const std::size_t i : found_[f]) {
          const JointMember& member = items_[i].member;
          members.push_back(
              {member.rank, ranks_[member.rank].collectives.lane[member.row], items_[i].end});
        }
        collectives.push_back(std::move(members));
      }
      const auto parts = SplitMerged(collectives, knowledge_.Number("cluster.habit_share"),
                                     knowledge_.Time("cluster.late_least"));
      for (std::size_t c = 0; c < list.size(); ++c) {
        if (parts[c].size() < 2) continue;
        const std::vector<std::size_t> whole = std::move(found_[list[c]]);
        for (std::size_t p = 0; p < parts[c].size(); ++p) {
          std::vector<std::size_t> members;
          for (const std::size_t i : parts[c][p]) members.push_back(whole[i]);
          std::sort(members.begin(), members.end());
          if (p == 0) {
            found_[list[c]] = std::move(members);
          } else {
            more.push_back(std::move(members));
          }
        }
      }
    }
    found_.insert(found_.end(), more.begin(), more.end());
  }

  void Sends() {
    if (sends_.empty()) return;
    std::vector<SendKernel> kernels;
    for (const Item& item : sends_) {
      kernels.push_back({item.start, item.end, item.member.rank, item.peer, item.group});
    }
    const SendMatches matches =
        MatchSends(kernels, {tolerance_, knowledge_.Number("comm.together_share"),
                             knowledge_.Number("cluster.edge_share"),
                             knowledge_.Number("cluster.habit_share")});
    for (const auto& pair : matches.pairs) {
      Add(sends_, pair, sends_[pair.front()].kind);
      result_.all.back().of_two = true;
    }
    if (matches.exchanges.empty()) return;
    auto exchange = std::find(result_.kinds.begin(), result_.kinds.end(), "alltoall");
    if (exchange == result_.kinds.end()) {
      result_.kinds.emplace_back("alltoall");
      exchange = std::prev(result_.kinds.end());
    }
    const auto kind = static_cast<std::uint32_t>(exchange - result_.kinds.begin());
    for (const auto& members : matches.exchanges) Add(sends_, members, kind);
  }

  JointCollective Joined(const std::vector<Item>& items,
                         const std::vector<std::size_t>& group) const {
    JointCollective joint;
    joint.groups_known = items[group.front()].group != 0;
    joint.end = items[group.front()].end;
    std::vector<Nanos> starts;
    std::size_t latest = group.front();
    Nanos shortest = items[latest].end - items[latest].start;
    Nanos bare = shortest;
    for (const std::size_t i : group) {
      const Item& item = items[i];
      bare = std::min(bare, ranks_[item.member.rank].collectives.exposed[item.member.row]);
      joint.members.push_back(item.member);
      starts.push_back(item.start);
      shortest = std::min(shortest, item.end - item.start);
      if (item.start > items[latest].start) latest = i;
      const RankSummary& rank = ranks_[item.member.rank];
      joint.bytes = std::max(joint.bytes, rank.collectives.bytes[item.member.row]);
    }
    std::sort(joint.members.begin(), joint.members.end(),
              [](const JointMember& a, const JointMember& b) { return a.rank < b.rank; });
    joint.transfer = shortest;
    joint.bare_transfer = std::min(bare, shortest);
    joint.latest = items[latest].member.rank;
    joint.phase = ranks_[joint.latest].collectives.phase[items[latest].member.row];
    joint.first_start = *std::min_element(starts.begin(), starts.end());
    joint.last_start = items[latest].start;
    // The lower median: with two ranks the one that waits.
    std::sort(starts.begin(), starts.end());
    joint.median_start = starts[(starts.size() - 1) / 2];
    return joint;
  }

  const std::vector<RankSummary>& ranks_;
  const Knowledge& knowledge_;
  Nanos tolerance_;
  std::vector<Item> items_;  // by end
  std::vector<Item> sends_;
  std::vector<std::vector<std::size_t>> found_;  // members of each collective, as places in items_
  Joint result_;
};

}  // namespace

Joint MatchRanks(const std::vector<RankSummary>& ranks, const Clocks& clocks,
                 const Knowledge& knowledge) {
  Joint joint = Matcher(ranks, clocks, knowledge).Match();
  joint.owed = OwedToTransfers(ranks, clocks, joint, knowledge.Time("cluster.send_latency"));
  return joint;
}

Nanos Waited(const RankSummary& rank, const JointMember& member, const JointCollective& joint) {
  const RankCollectives& list = rank.collectives;
  return std::max<Nanos>(0, list.end[member.row] - list.start[member.row] - joint.transfer);
}

Nanos WaitedExposed(const RankSummary& rank, const JointMember& member,
                    const JointCollective& joint) {
  const Nanos exposed = rank.collectives.exposed[member.row];
  const Nanos waited = Waited(rank, member, joint);
  const Nanos owed = std::max(std::min(waited, exposed), exposed - joint.bare_transfer);
  if (!joint.of_two || waited == 0) return owed;
  return std::min(owed, exposed - std::min(joint.transfer, rank.collectives.BareEnd(member.row)));
}

Interval WaitOf(const RankSummary& rank, const JointMember& member, const JointCollective& joint) {
  const RankCollectives& list = rank.collectives;
  const Nanos waited = WaitedExposed(rank, member, joint);
  const Nanos met =
      std::max(list.start[member.row] + waited, list.end[member.row] - joint.transfer);
  return {met - waited, met};
}

}  // namespace advise
