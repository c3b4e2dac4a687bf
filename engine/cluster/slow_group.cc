#include "engine/cluster/slow_group.h"

#include <algorithm>
#include <map>
#include <set>
#include <tuple>
#include <utility>

#include "engine/base/median.h"
#include "engine/cluster/transfer.h"

namespace advise {
namespace {

using Rows = std::vector<std::size_t>;  // of Joint::all

struct PeerGroup {
  std::vector<std::uint32_t> members;
  bool across = false;             // nodes
  std::vector<Rows> places;        // by place in a step, of steps with the usual number
  std::vector<double> usual;       // median transfer, by place
  std::vector<std::int64_t> sent;  // bytes, by place; -1 unknown
  double Sum() const {
    double sum = 0;
    for (const double one : usual) sum += one;
    return sum;
  }
};

// How much each takes follows from how much it sends, and not from where tokens are routed.
bool SendsAsMuch(const std::string& kind) {
  return kind == "allreduce" || kind == "allgather" || kind == "reducescatter";
}

// Whether each ends together with one among other ranks: these may be one collective, or wait for
// each other, so that their times say nothing of a path.
std::vector<std::uint8_t> EndTogether(const Joint& joint, Nanos tolerance) {
  std::vector<std::uint8_t> together(joint.all.size(), 0);
  for (std::size_t i = 0; i < joint.all.size(); ++i) {
    for (std::size_t j = i + 1; j < joint.all.size(); ++j) {
      if (joint.all[j].end - joint.all[i].end > tolerance) break;
      if (joint.all[i].kind != joint.all[j].kind) continue;
      together[i] = together[j] = 1;
    }
  }
  return together;
}

void FillPlaces(const Joint& joint, const std::map<std::size_t, Rows>& by_step, PeerGroup* group) {
  std::vector<std::size_t> counts;
  for (const auto& [step, rows] : by_step) counts.push_back(rows.size());
  group->places.resize(Median(std::move(counts)));
  for (const auto& [step, rows] : by_step) {
    if (rows.size() != group->places.size()) continue;
    for (std::size_t place = 0; place < rows.size(); ++place)
      group->places[place].push_back(rows[place]);
  }
  for (const Rows& rows : group->places) {
    std::vector<Nanos> times;
    for (const std::size_t i : rows) times.push_back(joint.all[i].Moving());
    group->usual.push_back(static_cast<double>(Median(std::move(times))));
    group->sent.push_back(rows.empty() ? -1 : joint.all[rows.front()].bytes);
  }
}

// What can be compared: kind, stream, number of ranks, across nodes, bytes of each in a step.
using Likeness =
    std::tuple<std::uint32_t, std::uint16_t, std::size_t, bool, std::vector<std::int64_t>>;

// Groups that mostly end apart from others; of one kind and stream, since each communicator has a
// stream of its own.
std::map<Likeness, std::vector<PeerGroup>> PeerGroups(const std::vector<RankSummary>& ranks,
                                                      const Joint& joint, const Job& job,
                                                      Nanos tolerance) {
  const std::vector<std::uint8_t> together = EndTogether(joint, tolerance);
  struct Key {
    std::uint32_t kind;
    std::uint16_t lane;
    std::vector<std::uint32_t> members;
    auto operator<=>(const Key&) const = default;
  };
  std::map<Key, std::map<std::size_t, Rows>> rows;
  std::map<Key, std::pair<std::size_t, std::size_t>> apart;  // of so many
  for (std::size_t i = 0; i < joint.all.size(); ++i) {
    const JointCollective& one = joint.all[i];
    if (!SendsAsMuch(joint.Kind(one)) || one.members.size() == ranks.size()) continue;
    std::vector<std::uint32_t> members;
    for (const JointMember& member : one.members) members.push_back(member.rank);
    const JointMember& first = one.members.front();
    const std::size_t step =
        job.StepAt(ranks, first.rank, ranks[first.rank].collectives.start[first.row]);
    if (step == job.steps) continue;
    const Key key{one.kind, ranks[first.rank].collectives.lane[first.row], std::move(members)};
    rows[key][step].push_back(i);
    apart[key].first += together[i] == 0 ? 1 : 0;
    ++apart[key].second;
  }
  std::map<Likeness, std::vector<PeerGroup>> like;
  for (const auto& [key, by_step] : rows) {
    if (2 * apart[key].first < apart[key].second) continue;
    PeerGroup group;
    group.members = key.members;
    group.across = AcrossNodes(ranks, joint.all[by_step.begin()->second.front()]);
    FillPlaces(joint, by_step, &group);
    Likeness likeness{key.kind, key.lane, group.members.size(), group.across, group.sent};
    like[std::move(likeness)].push_back(std::move(group));
  }
  return like;
}

// Each rank is in one of them: others share ranks by chance, because they end together.
bool AreDisjoint(const std::vector<PeerGroup>& groups) {
  std::set<std::uint32_t> seen;
  for (const PeerGroup& group : groups)
    for (const std::uint32_t rank : group.members)
      if (!seen.insert(rank).second) return false;
  return true;
}

}  // namespace

SlowGroups FindSlowGroups(const std::vector<RankSummary>& ranks, const Joint& joint, const Job& job,
                          const Knowledge& knowledge) {
  SlowGroups found;
  const std::size_t least = knowledge.CountOf("cluster.slow_group_least");
  const double ratio = knowledge.Number("cluster.slow_group_ratio");
  const auto tolerance = knowledge.Time("cluster.late_least");
  std::vector<double> parts(joint.all.size(), 0);  // of transfers
  std::set<std::uint32_t> members;
  for (const auto& [likeness, groups] : PeerGroups(ranks, joint, job, tolerance)) {
    if (groups.size() < 2 || !AreDisjoint(groups)) continue;
    std::vector<double> sums;
    for (const PeerGroup& group : groups) sums.push_back(group.Sum());
    const double usual = LowerMedian(sums);
    const PeerGroup& other =
        groups[static_cast<std::size_t>(std::find(sums.begin(), sums.end(), usual) - sums.begin())];
    for (const PeerGroup& group : groups) {
      const std::size_t count = group.places.empty() ? 0 : group.places[0].size();
      if (count * group.places.size() < least || group.Sum() < ratio * usual) continue;
      members.insert(group.members.begin(), group.members.end());
      for (std::size_t place = 0; place < group.places.size(); ++place) {
        for (const std::size_t i : group.places[place]) {
          const auto transfer = static_cast<double>(joint.all[i].Moving());
          found.count += 1;
          found.time_ns += transfer;
          found.usual_ns += other.usual[place];
          if (transfer > 0) parts[i] = std::max(0.0, 1 - other.usual[place] / transfer);
        }
      }
    }
  }
  if (found.count > 0) found.time_ns /= found.count, found.usual_ns /= found.count;
  found.members.assign(members.begin(), members.end());
  found.loss = TransferLoss(ranks, joint, job, [&](const JointCollective& one) {
    return parts[static_cast<std::size_t>(&one - joint.all.data())];
  });
  return found;
}

}  // namespace advise
