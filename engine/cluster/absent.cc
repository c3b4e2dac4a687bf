#include "engine/cluster/absent.h"

#include <algorithm>
#include <map>
#include <string>
#include <tuple>
#include <utility>

#include "engine/cluster/transfer.h"
#include "engine/metrics/losses/ranks/collective_needs.h"

namespace advise {
namespace {

// Some rank of its communicator has no report.
bool LacksRanks(const std::vector<RankSummary>& ranks, const JointCollective& collective,
                bool some_missing) {
  const JointMember& member = collective.members.front();
  const RankSummary& rank = ranks[member.rank];
  const std::int16_t group = rank.collectives.group[member.row];
  const int size = group < 0 ? 0 : rank.groups[static_cast<std::size_t>(group)].size;
  return size > 0 ? static_cast<std::size_t>(size) > collective.members.size() : some_missing;
}

// The step of a rank at a time of its clock; as many as it has when in none.
std::size_t StepOf(const RankSummary& rank, Nanos time) {
  const auto after = std::upper_bound(rank.steps.begin(), rank.steps.end(), time,
                                      [](Nanos t, const RankStep& step) { return t < step.start; });
  if (after == rank.steps.begin() || time >= std::prev(after)->end) return rank.steps.size();
  return static_cast<std::size_t>(after - rank.steps.begin()) - 1;
}

// Collectives of one communicator: those of the same members; of one kind, where sizes are not
// known.
struct Alike {
  CollectiveNeeds needs;
  std::vector<std::pair<JointCollective*, std::int64_t>>
      all;  // and its size, as in CollectiveNeeds
  std::size_t step = 0;
  std::int64_t place = 0;  // in that step
};

using Key = std::tuple<std::string, std::int16_t, std::vector<std::uint32_t>>;

std::vector<std::uint32_t> MembersOf(const JointCollective& collective) {
  std::vector<std::uint32_t> members;
  for (const JointMember& member : collective.members) members.push_back(member.rank);
  return members;
}

Key KeyOf(const std::vector<RankSummary>& ranks, const Joint& joint,
          const JointCollective& collective) {
  const JointMember& first = collective.members.front();
  return {collective.bytes < 0 ? joint.Kind(collective) : "",
          ranks[first.rank].collectives.group[first.row], MembersOf(collective)};
}

// Collectives that follow a wait at once.
struct Delayed {
  Nanos room = 0;  // compute beside the wait, beyond what hides the transfer of the first
  Nanos end = 0;   // of the last of them
};

}  // namespace

void NoteWaitsForAbsent(const std::vector<RankSummary>& ranks, bool some_missing,
                        const Knowledge& knowledge, Joint* joint) {
  std::map<Key, Alike> kinds;
  for (JointCollective& collective : joint->all) {
    if (joint->IsPointToPoint(collective) || !LacksRanks(ranks, collective, some_missing)) continue;
    Alike& alike = kinds[KeyOf(ranks, *joint, collective)];
    // Bytes on each link: kinds that carry as many take as long.
    std::int64_t size = collective.bytes;
    if (size >= 0) {
      size = static_cast<std::int64_t>(
          static_cast<double>(size) *
          BusFactor(joint->Kind(collective), static_cast<double>(collective.members.size())));
    } else {
      const JointMember& member = collective.members.front();
      const RankSummary& rank = ranks[member.rank];
      const std::size_t step = StepOf(rank, rank.collectives.start[member.row]);
      if (step == rank.steps.size()) continue;
      alike.place = alike.place > 0 && alike.step == step ? alike.place + 1 : 1;
      alike.step = step;
      size = -alike.place;
    }
    alike.needs.Add(size, collective.transfer);
    alike.all.emplace_back(&collective, size);
  }
  for (auto& [key, alike] : kinds) {
    const auto needs = alike.needs.Settle(knowledge);
    for (auto& [collective, size] : alike.all) {
      const CollectiveNeeds::Need need = needs.at(size);
      if (need.time < 0) continue;
      const Nanos beyond = collective->transfer - need.time;
      if (!IsWait(beyond, need.time, knowledge)) continue;
      collective->for_absent = beyond;
      collective->by_places = need.of_places;
    }
  }
}

AbsentRanks FindAbsent(const std::vector<RankSummary>& ranks, const Joint& joint, const Job& job,
                       const Knowledge& knowledge) {
  const auto together = knowledge.Time("cluster.late_least");
  AbsentRanks found;
  std::map<std::vector<std::uint32_t>, Delayed> delayed;  // by members
  std::vector<double> parts;                              // of transfers, as Joint::all
  for (const JointCollective& one : joint.all) {
    Delayed& after = delayed[MembersOf(one)];
    double part = 0;
    if (one.for_absent > 0) {
      found.count += 1;
      found.by_places += one.by_places ? 1 : 0;
      found.longest_ns = std::max(found.longest_ns, static_cast<double>(one.for_absent));
      part = static_cast<double>(one.for_absent) / static_cast<double>(one.transfer);
      after.room = std::max<Nanos>(0, one.transfer - one.bare_transfer - one.Moving());
    } else if (one.first_start > after.end + together) {
      after.room = 0;
    } else if (const Nanos late = std::min(after.room, one.bare_transfer); late > 0) {
      part = static_cast<double>(late) / static_cast<double>(one.transfer);
      after.room -= late;
    }
    after.end = one.end;
    parts.push_back(part);
  }
  found.loss = CutOfTransfers(ranks, joint, job, [&](const JointCollective& one) {
    return parts[static_cast<std::size_t>(&one - joint.all.data())];
  });
  return found;
}

}  // namespace advise
