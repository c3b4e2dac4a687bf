#include "engine/cluster/cut_alike.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

namespace advise {
namespace {

// Gaps between steps count.
Nanos MeanStep(const std::vector<RankStep>& steps) {
  return (steps.back().end - steps.front().start) / static_cast<Nanos>(steps.size());
}

void AddTimes(const RankTime& more, RankTime* sum) {
  sum->compute += more.compute;
  sum->comm_exposed += more.comm_exposed;
  sum->copy_exposed += more.copy_exposed;
  sum->memset_exposed += more.memset_exposed;
  sum->idle += more.idle;
  sum->loading_beside_comm += more.loading_beside_comm;
  sum->copying_beside_comm += more.copying_beside_comm;
  sum->writing += more.writing;
  for (std::size_t c = 0; c < kIdleCauseCount; ++c) sum->causes[c] += more.causes[c];
}

// How many of a rank's steps fall on one of the longer ones, on average over those; `ahead`: what
// the rank's clock is ahead of that of the others. 1 where that is no whole number: being off by
// half a long step in all of them is.
std::size_t StepsInOne(const std::vector<RankStep>& own, const std::vector<RankStep>& longer,
                       Nanos ahead) {
  const auto inside = std::count_if(own.begin(), own.end(), [&](const RankStep& step) {
    const Nanos middle = step.start + step.Length() / 2 - ahead;
    return middle >= longer.front().start && middle < longer.back().end;
  });
  const double ratio = static_cast<double>(longer.back().end - longer.front().start) /
                       static_cast<double>(longer.size()) / static_cast<double>(MeanStep(own));
  const double count = std::round(ratio);
  const double off = static_cast<double>(inside) - count * static_cast<double>(longer.size());
  return count >= 2 && 2 * std::abs(off) <= count ? static_cast<std::size_t>(count) : 1;
}

// Where each group of `count` steps begins: with the step behind the last group, unless another one
// is nearer to the beginning of the longer step by more than a step.
std::vector<std::size_t> GroupBeginnings(const std::vector<RankStep>& own,
                                         const std::vector<RankStep>& longer, Nanos ahead,
                                         std::size_t count) {
  std::vector<std::size_t> found;
  std::size_t next = 0;
  const Nanos usual = MeanStep(own);
  for (const RankStep& step : longer) {
    const Nanos start = step.start + ahead;
    const auto away = [&](std::size_t i) { return std::abs(own[i].start - start); };
    if (next >= own.size()) break;
    std::size_t nearest = next;
    while (nearest + 1 < own.size() && away(nearest + 1) <= away(nearest)) ++nearest;
    const bool goes_on = !found.empty() && away(next) <= usual;
    const std::size_t first = goes_on ? next : nearest;
    if (first + count > own.size()) break;
    if (away(first) > usual) continue;
    found.push_back(first);
    next = first + count;
  }
  return found;
}

bool FollowEachOther(const std::vector<RankStep>& steps, std::size_t first, std::size_t count) {
  for (std::size_t i = first + 1; i < first + count; ++i)
    if (steps[i].start != steps[i - 1].end) return false;
  return true;
}

// Puts the steps together; false, and nothing is changed, where that leaves less than two.
bool PutTogether(const std::vector<std::size_t>& beginnings, std::size_t count, RankSummary* rank) {
  std::vector<RankStep> steps;
  std::vector<Nanos> works;
  std::vector<Nanos> exchanges;
  const auto sum_of = [&](const std::vector<Nanos>& column, std::size_t first) {
    Nanos sum = 0;
    for (std::size_t i = first; i < first + count; ++i) sum += column[i];
    return sum;
  };
  for (const std::size_t first : beginnings) {
    if (!FollowEachOther(rank->steps, first, count)) continue;
    RankStep one = rank->steps[first];
    for (std::size_t i = first + 1; i < first + count; ++i)
      AddTimes(rank->steps[i].time, &one.time);
    one.end = rank->steps[first + count - 1].end;
    steps.push_back(one);
    if (rank->host_works.size() == rank->steps.size())
      works.push_back(sum_of(rank->host_works, first));
    if (rank->host_exchanges.size() == rank->steps.size())
      exchanges.push_back(sum_of(rank->host_exchanges, first));
  }
  if (steps.size() < 2) return false;
  rank->window_steps = static_cast<double>(rank->steps.size()) / static_cast<double>(count);
  rank->steps = std::move(steps);
  rank->host_works = std::move(works);
  rank->host_exchanges = std::move(exchanges);
  return true;
}

}  // namespace

std::vector<std::string> CutAlike(const Clocks& clocks, std::vector<RankSummary>* ranks) {
  const RankSummary* longest = nullptr;
  for (const RankSummary& rank : *ranks) {
    if (rank.steps.size() < 2 || !clocks.Known(rank.clock)) return {};
    if (longest == nullptr || MeanStep(rank.steps) > MeanStep(longest->steps)) longest = &rank;
  }
  if (longest == nullptr) return {};
  const std::vector<RankStep> longer = longest->steps;
  const Nanos offset = clocks.offset[longest->clock];
  std::vector<std::string> notes;
  for (RankSummary& rank : *ranks) {
    const Nanos ahead = offset - clocks.offset[rank.clock];
    const std::size_t count = StepsInOne(rank.steps, longer, ahead);
    if (count < 2 || !PutTogether(GroupBeginnings(rank.steps, longer, ahead, count), count, &rank))
      continue;
    notes.push_back(fmt::format(
        "{} counts shorter steps than other ranks: {} of them are compared with one",
        rank.rank >= 0 ? fmt::format("rank {}", rank.rank) : fmt::format("GPU {}", rank.device),
        count));
  }
  return notes;
}

}  // namespace advise
