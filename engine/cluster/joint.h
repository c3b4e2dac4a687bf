// Collectives as the ranks took part in them: which kernels of different ranks are the same
// operation, who came last, how long the transfer itself took, and how long each rank waited.
#pragma once

#include <vector>

#include "engine/cluster/clocks.h"
#include "engine/cluster/rank_summary.h"

namespace advise {

struct JointMember {
  std::uint32_t rank = 0;  // index into the ranks of the run
  std::uint32_t row = 0;   // of its RankCollectives
};

struct JointCollective {
  std::vector<JointMember> members;  // at least two, by rank index
  std::uint32_t kind = 0;            // -> Joint::kinds
  Nanos end = 0;                     // on the first clock, of the member that ended first
  Nanos transfer = 0;                // shortest kernel: that of the rank that came last
  Nanos bare_transfer = 0;           // the part of it that is exposed on every member
  Nanos for_absent = 0;              // of `transfer`: all wait for a rank without a report
  bool by_places = false;            // which others in the step tell, not like ones
  Nanos first_start = 0;             // on the first clock
  Nanos median_start = 0;
  Nanos last_start = 0;
  std::uint32_t latest = 0;   // rank index
  std::int64_t bytes = -1;    // per rank; -1 unknown
  std::uint8_t phase = 0;     // enum Phase, of the latest
  bool groups_known = false;  // the report names the communicator
  bool of_two = false;        // a send and its receive
  Nanos Spread() const { return last_start - first_start; }
  Nanos Moving() const { return transfer - for_absent; }
};

struct Joint {
  std::vector<std::string> kinds;
  std::vector<JointCollective> all;  // by end
  std::size_t rows = 0;              // collectives of all ranks
  std::size_t matched = 0;           // of them in `all`
  // By rank and row: what a rank idles because of the transfers of sends, see OwedToTransfers().
  std::vector<std::vector<Nanos>> owed;
  const std::string& Kind(const JointCollective& c) const { return kinds[c.kind]; }
  // Pairs only: an exchange by sends among more ranks is an "alltoall".
  bool IsPointToPoint(const JointCollective& c) const { return kinds[c.kind] == "sendrecv"; }
};

// Matches by communicator where reports name it, by kind, and by ending together; sends and
// receives as in sends.h. O(n log n + n x ranks) in the collectives of all ranks.
Joint MatchRanks(const std::vector<RankSummary>& ranks, const Clocks& clocks,
                 const Knowledge& knowledge);

// What a member waited for the last one, and the part of its exposed time that it owes to others:
// what it has beyond the transfer that is exposed on all. A rank that is ahead has no compute left
// to hide transfers behind that are hidden on the rank that it waits for. Of two ranks, the one
// that asked early has computed all that it could before the data comes: it needs the transfer at
// the end of its kernel, whatever the sender computes meanwhile.
Nanos Waited(const RankSummary& rank, const JointMember& member, const JointCollective& joint);
Nanos WaitedExposed(const RankSummary& rank, const JointMember& member,
                    const JointCollective& joint);
// When the member waits, on the clock of its rank: until the transfer begins. A rank may wait in
// several collectives at once, on streams of their own.
Interval WaitOf(const RankSummary& rank, const JointMember& member, const JointCollective& joint);

}  // namespace advise
