#include "engine/cluster/step_pairs.h"

#include <algorithm>
#include <map>
#include <numeric>

namespace advise {
namespace {

// For each step of the first rank the step of another one; kNone where there is none. Steps only go
// forward: no step is paired twice.
using Pairs = std::vector<std::uint32_t>;

// The step of a rank's own clock that holds a time; kNone when none does.
std::uint32_t StepOf(const std::vector<RankStep>& steps, Nanos time) {
  const auto after = std::partition_point(steps.begin(), steps.end(),
                                          [&](const RankStep& s) { return s.start <= time; });
  if (after == steps.begin() || time >= std::prev(after)->end) return kNone;
  return static_cast<std::uint32_t>(after - steps.begin() - 1);
}

// Steps without collectives, as those that only accumulate gradients, follow each other on all
// ranks alike: where as many lie between two pairs on both sides, they are paired by number, and so
// are those before the first pair and behind the last one.
void PairBetween(std::size_t own_steps, Pairs* pairs) {
  Pairs& found = *pairs;
  const auto pair = [&](std::size_t from, std::size_t to, std::int64_t shift) {
    for (std::size_t i = from; i < to; ++i) {
      const std::int64_t own = static_cast<std::int64_t>(i) + shift;
      if (own >= 0 && own < static_cast<std::int64_t>(own_steps))
        found[i] = static_cast<std::uint32_t>(own);
    }
  };
  std::size_t next = 0;  // step behind the last pair
  std::int64_t shift = 0;
  bool any = false;
  for (std::size_t i = 0; i < found.size(); ++i) {
    if (found[i] == kNone) continue;
    const std::int64_t here = static_cast<std::int64_t>(found[i]) - static_cast<std::int64_t>(i);
    if (!any || here == shift) pair(next, i, here);
    any = true;
    shift = here;
    next = i + 1;
  }
  if (any) pair(next, found.size(), shift);
}

// Steps that hold the same collectives, by majority on both sides: one that begins at the border of
// two steps may stand in the first on one rank, and in the second on another.
std::vector<Pairs> PairByCollectives(const std::vector<RankSummary>& ranks, const Joint& joint) {
  const std::size_t first_steps = ranks.front().steps.size();
  std::vector<std::vector<std::map<std::uint32_t, std::size_t>>> votes(
      ranks.size(), std::vector<std::map<std::uint32_t, std::size_t>>(first_steps));
  for (const JointCollective& collective : joint.all) {
    const JointMember& reference = collective.members.front();
    if (reference.rank != 0) continue;
    const std::uint32_t step = StepOf(ranks[0].steps, ranks[0].collectives.start[reference.row]);
    if (step == kNone) continue;
    for (const JointMember& member : collective.members) {
      const RankSummary& rank = ranks[member.rank];
      const std::uint32_t own = StepOf(rank.steps, rank.collectives.start[member.row]);
      if (own != kNone) ++votes[member.rank][step][own];
    }
  }
  std::vector<Pairs> pairs(ranks.size(), Pairs(first_steps, kNone));
  for (std::size_t r = 0; r < ranks.size(); ++r) {
    // Of each own step, how many collectives it shares with the step that it shares most with.
    std::vector<std::size_t> most(ranks[r].steps.size(), 0);
    for (const auto& of_step : votes[r])
      for (const auto& [own, count] : of_step) most[own] = std::max(most[own], count);
    std::uint32_t last = kNone;
    for (std::size_t i = 0; i < first_steps; ++i) {
      std::uint32_t best = kNone;
      for (const auto& [own, count] : votes[r][i]) {
        if ((last != kNone && own <= last) || count < most[own]) continue;
        if (best == kNone || count > votes[r][i].at(best)) best = own;
      }
      pairs[r][i] = best;
      if (best != kNone) last = best;
    }
    PairBetween(ranks[r].steps.size(), &pairs[r]);
  }
  return pairs;
}

// Steps that lie over each other on the common clock.
Pairs PairByTime(const std::vector<RankStep>& first, Nanos first_offset,
                 const std::vector<RankStep>& own, Nanos own_offset) {
  Pairs found(first.size(), kNone);
  std::size_t at = 0;
  for (std::size_t i = 0; i < first.size(); ++i) {
    const Nanos start = first[i].start + first_offset;
    const Nanos end = first[i].end + first_offset;
    while (at < own.size() && own[at].end + own_offset <= start) ++at;
    for (std::size_t j = at; j < own.size() && own[j].start + own_offset < end; ++j) {
      const Nanos overlap =
          std::min(end, own[j].end + own_offset) - std::max(start, own[j].start + own_offset);
      if (2 * overlap >= end - start) {
        found[i] = static_cast<std::uint32_t>(j);
        at = j + 1;
        break;
      }
    }
  }
  return found;
}

// Ranks that nothing recorded ties together do as many steps as each other, but some may be far
// ahead: from the first two steps that lie over each other they are paired by number.
Pairs PairOn(const Pairs& by_time, std::size_t own_steps) {
  Pairs found(by_time.size(), kNone);
  const auto first = std::find_if(by_time.begin(), by_time.end(),
                                  [](std::uint32_t step) { return step != kNone; });
  if (first == by_time.end()) return found;
  std::uint32_t own = *first;
  for (auto i = static_cast<std::size_t>(first - by_time.begin()); i < found.size(); ++i, ++own) {
    if (own < own_steps) found[i] = own;
  }
  return found;
}

}  // namespace

PairedSteps PairSteps(const std::vector<RankSummary>& ranks, const Clocks& clocks,
                      const Joint& joint) {
  PairedSteps paired;
  const std::vector<RankStep>& first = ranks.front().steps;
  std::size_t fewest = first.size();
  bool comparable = true;
  for (const RankSummary& rank : ranks) {
    fewest = std::min(fewest, rank.steps.size());
    paired.most_steps = std::max(paired.most_steps, rank.steps.size());
    comparable = comparable && clocks.Known(rank.clock);
  }
  std::vector<Pairs> pairs = PairByCollectives(ranks, joint);
  std::vector<std::uint8_t> common(first.size(), 1);
  for (std::size_t r = 0; r < ranks.size() && comparable; ++r) {
    const bool voted = std::any_of(pairs[r].begin(), pairs[r].end(),
                                   [](std::uint32_t step) { return step != kNone; });
    if (!voted) {
      pairs[r] = PairByTime(first, clocks.offset[ranks.front().clock], ranks[r].steps,
                            clocks.offset[ranks[r].clock]);
      if (joint.all.empty()) pairs[r] = PairOn(pairs[r], ranks[r].steps.size());
    }
    for (std::size_t i = 0; i < first.size(); ++i) {
      if (pairs[r][i] == kNone) common[i] = 0;
    }
  }
  const auto matched =
      static_cast<std::size_t>(std::accumulate(common.begin(), common.end(), std::size_t{0}));
  paired.by_clock = comparable && matched > 0;
  paired.steps = paired.by_clock ? matched : fewest;
  paired.index.reserve(ranks.size() * paired.steps);
  for (std::size_t r = 0; r < ranks.size(); ++r) {
    if (!paired.by_clock) {
      for (std::uint32_t s = 0; s < fewest; ++s) paired.index.push_back(s);
      continue;
    }
    for (std::size_t i = 0; i < first.size(); ++i) {
      if (common[i] != 0) paired.index.push_back(pairs[r][i]);
    }
  }
  return paired;
}

}  // namespace advise
