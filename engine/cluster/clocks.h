// Bringing the clocks of several reports together. The kernels of a collective end together, so the
// ends of the same collectives, seen by two clocks, differ by the offset between these clocks.
#pragma once

#include <vector>

#include "engine/cluster/rank_summary.h"
#include "engine/knowledge/knowledge.h"

namespace advise {

enum class ClockSource : std::uint8_t {
  kOne,          // the first clock, or a run with one clock
  kCollectives,  // offset from the ends of collectives
  kUtc,          // no collectives matched; the hosts' UTC
  kApart,        // not brought together: times of this clock compare with no other
};

struct Clocks {
  std::vector<Nanos> offset;  // by clock: own time + offset = time of the first clock
  std::vector<ClockSource> source;
  std::vector<std::int64_t>
      utc_error;       // offset less what UTC says, by clock; 0 when UTC is unknown
  Nanos residual = 0;  // largest median deviation of the ends of a collective after alignment
  Nanos skew = -1;     // largest difference of the hosts' UTC clocks; -1 unknown
  bool Known(std::uint32_t clock) const { return source[clock] != ClockSource::kApart; }
};

// `ranks` in any order, RankSummary::clock dense from 0. O(ranks x collectives) when captures begin
// at the same collective, else O(ranks x collectives x candidate shifts).
Clocks AlignClocks(const std::vector<RankSummary>& ranks, const Knowledge& knowledge);

}  // namespace advise
