#include "engine/cluster/stalled.h"

#include <map>
#include <utility>

#include "engine/base/median.h"
#include "engine/cluster/transfer.h"

namespace advise {
namespace {

// Collectives of one kind among the same ranks.
struct Group {
  std::vector<std::size_t> sized;                           // rows of Joint::all
  std::map<std::size_t, std::vector<std::size_t>> by_step;  // those of unknown size
};

using Groups = std::map<std::pair<std::uint32_t, std::vector<std::uint32_t>>, Group>;

// By step: whether ranks compute clearly longer than in most. Then they may well send more, too, as
// in a step of a server that reads a prompt.
std::vector<bool> ComputesMore(const std::vector<RankSummary>& ranks, const Job& job,
                               const Knowledge& knowledge) {
  std::vector<Nanos> compute(job.steps, 0);
  for (std::size_t s = 0; s < job.steps; ++s) {
    for (std::size_t r = 0; r < job.ranks; ++r) compute[s] += job.TimeOf(ranks, r, s).compute;
  }
  const double most =
      knowledge.Number("cluster.stalled_compute") * static_cast<double>(Median(compute));
  std::vector<bool> more;
  for (const Nanos time : compute) more.push_back(static_cast<double>(time) > most);
  return more;
}

Groups GroupsOf(const std::vector<RankSummary>& ranks, const Joint& joint, const Job& job,
                const Knowledge& knowledge) {
  const std::vector<bool> computes_more = ComputesMore(ranks, job, knowledge);
  Groups groups;
  for (std::size_t i = 0; i < joint.all.size(); ++i) {
    const JointCollective& one = joint.all[i];
    if (joint.IsPointToPoint(one) || one.transfer <= 0) continue;
    std::vector<std::uint32_t> members;
    for (const JointMember& member : one.members) members.push_back(member.rank);
    Group& group = groups[{one.kind, std::move(members)}];
    if (one.bytes >= 0) {
      group.sized.push_back(i);
      continue;
    }
    const JointMember& first = one.members.front();
    const std::size_t step =
        job.StepAt(ranks, first.rank, ranks[first.rank].collectives.start[first.row]);
    if (step < job.steps && !computes_more[step]) group.by_step[step].push_back(i);
  }
  return groups;
}

// By size, or by place in those steps that have as many as most.
std::vector<std::vector<std::size_t>> LikeOnes(const Joint& joint, const Group& group) {
  std::map<std::int64_t, std::vector<std::size_t>> like;
  for (const std::size_t i : group.sized) like[joint.all[i].bytes].push_back(i);
  std::vector<std::size_t> counts;
  for (const auto& [step, rows] : group.by_step) counts.push_back(rows.size());
  const std::size_t usual = Median(std::move(counts));
  for (const auto& [step, rows] : group.by_step) {
    for (std::size_t place = 0; rows.size() == usual && place < usual; ++place)
      like[-1 - static_cast<std::int64_t>(place)].push_back(rows[place]);
  }
  std::vector<std::vector<std::size_t>> lists;
  for (auto& [size, rows] : like) lists.push_back(std::move(rows));
  return lists;
}

// Those that stand out of their like, and what their like take; none where too many do.
struct Outstanding {
  std::vector<std::size_t> rows;
  double usual = 0;
};

Outstanding FindOutstanding(const Joint& joint, const std::vector<std::size_t>& like,
                            const Knowledge& knowledge) {
  Outstanding found;
  if (like.size() < knowledge.CountOf("cluster.stalled_least")) return found;
  std::vector<Nanos> transfers;
  for (const std::size_t i : like) transfers.push_back(joint.all[i].Moving());
  found.usual = static_cast<double>(Median(std::move(transfers)));
  const double long_time = knowledge.Number("cluster.stalled_ratio") * found.usual;
  for (const std::size_t i : like) {
    if (static_cast<double>(joint.all[i].Moving()) >= long_time) found.rows.push_back(i);
  }
  const double most = knowledge.Number("cluster.stalled_most") * static_cast<double>(like.size());
  if (static_cast<double>(found.rows.size()) > most) found.rows.clear();
  return found;
}

}  // namespace

StalledCollectives FindStalled(const std::vector<RankSummary>& ranks, const Joint& joint,
                               const Job& job, const Knowledge& knowledge) {
  StalledCollectives found;
  std::vector<double> parts(joint.all.size(), 0);  // of transfers
  for (const auto& [key, group] : GroupsOf(ranks, joint, job, knowledge)) {
    for (const std::vector<std::size_t>& like : LikeOnes(joint, group)) {
      const Outstanding stalled = FindOutstanding(joint, like, knowledge);
      found.all += stalled.rows.empty() ? 0 : static_cast<double>(like.size());
      for (const std::size_t i : stalled.rows) {
        const auto transfer = static_cast<double>(joint.all[i].Moving());
        found.count += 1;
        parts[i] = 1 - stalled.usual / transfer;
        if (transfer <= found.longest_ns) continue;
        found.longest_ns = transfer;
        found.usual_ns = stalled.usual;
      }
    }
  }
  found.loss = TransferLoss(ranks, joint, job, [&](const JointCollective& one) {
    return parts[static_cast<std::size_t>(&one - joint.all.data())];
  });
  return found;
}

}  // namespace advise
