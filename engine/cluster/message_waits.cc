#include "engine/cluster/message_waits.h"

#include <algorithm>
#include <optional>

namespace advise {
namespace {

// Whether calls of these ranks that are long can be matched by time.
bool ShareOneClock(const std::vector<RankSummary>& ranks, const Clocks& clocks) {
  const RankSummary& first = ranks.front();
  return std::all_of(ranks.begin(), ranks.end(), [&](const RankSummary& rank) {
    return clocks.Known(rank.clock) &&
           (rank.path == first.path || (!rank.host.empty() && rank.host == first.host));
  });
}

// How long the call takes that a rank is in for most of [start, end); none where it is in none.
// `ahead`: what its clock is ahead of that of the times.
std::optional<Nanos> LengthMeanwhile(const std::vector<RankMessage>& calls, Nanos start, Nanos end,
                                     Nanos ahead) {
  // Calls of a thread follow each other: only the last one that begins before can reach into it.
  auto at = std::partition_point(calls.begin(), calls.end(), [&](const RankMessage& call) {
    return call.start - ahead <= start;
  });
  if (at != calls.begin()) --at;
  std::optional<Nanos> length;
  Nanos most = 0;
  for (; at != calls.end() && at->start - ahead < end; ++at) {
    const Nanos inside = std::min(end, at->end - ahead) - std::max(start, at->start - ahead);
    if (inside <= most) continue;
    most = inside;
    length = at->end - at->start;
  }
  return length;
}

}  // namespace

std::vector<double> LateShareOfMessages(const std::vector<RankSummary>& ranks,
                                        const Clocks& clocks) {
  std::vector<double> shares(ranks.size(), 1);
  if (ranks.size() < 2 || !ShareOneClock(ranks, clocks)) return shares;
  for (std::size_t r = 0; r < ranks.size(); ++r) {
    Nanos said = 0;
    Nanos waited = 0;
    for (const RankMessage& call : ranks[r].messages) {
      if (call.late <= 0) continue;
      said += call.late;
      // Ranks leave calls together. The one that enters last is in it for the shortest time, and
      // that is told without clocks that agree to the microsecond.
      Nanos shortest = call.end - call.start;
      bool all = true;
      for (std::size_t other = 0; other < ranks.size() && all; ++other) {
        if (other == r) continue;
        const Nanos ahead = clocks.offset[ranks[r].clock] - clocks.offset[ranks[other].clock];
        const auto length = LengthMeanwhile(ranks[other].messages, call.start, call.end, ahead);
        all = length.has_value();
        if (all) shortest = std::min(shortest, *length);
      }
      waited += all ? std::min(call.late, call.end - call.start - shortest) : call.late;
    }
    if (said > 0) shares[r] = static_cast<double>(waited) / static_cast<double>(said);
  }
  return shares;
}

}  // namespace advise
