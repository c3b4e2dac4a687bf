#include "engine/timeline/period.h"

#include <algorithm>
#include <map>
#include <set>

#include "engine/base/median.h"

namespace advise {
namespace {

// A stretch of tokens.
struct Stretch {
  std::size_t from = 0;
  std::size_t length = 0;
};

// What of a stretch is as in the one before.
struct Likeness {
  std::size_t same = 0;
  std::size_t all = 0;  // that should be the same
};

// Of unequal lengths, one holds something extra: then what is alike from the front and from the
// back counts. Extra copies (a checkpoint) are held against nobody; what computes (an evaluation)
// is.
Likeness Compare(const Tokens& tokens, Stretch before, Stretch now) {
  const std::uint64_t* one = &tokens.what[before.from];
  const std::uint64_t* two = &tokens.what[now.from];
  if (before.length == now.length) {
    std::size_t same = 0;
    for (std::size_t k = 0; k < now.length; ++k) same += one[k] == two[k] ? 1 : 0;
    return {same, now.length};
  }
  const std::size_t most = std::min(before.length, now.length);
  std::size_t front = 0;
  while (front < most && one[front] == two[front]) ++front;
  std::size_t back = 0;
  while (front + back < most && one[before.length - 1 - back] == two[now.length - 1 - back]) ++back;
  Likeness likeness{front + back, front + back};
  for (std::size_t k = front; k < now.length - back; ++k)
    likeness.all += tokens.computes[now.from + k] != 0 || front + back < most ? 1 : 0;
  return likeness;
}

// Share of the tokens from the second anchor on that are as in the stretch before.
double MatchFrom(const Tokens& tokens, const std::vector<std::size_t>& anchors,
                 std::size_t period) {
  Likeness sum;
  for (std::size_t i = 1; i < anchors.size(); ++i) {
    Stretch before{anchors[i - 1], anchors[i] - anchors[i - 1]};
    Stretch now{anchors[i], 0};
    // The last stretch may be cut off by the end of the trace: as much as there is, from the front.
    if (i + 1 == anchors.size()) {
      now.length = std::min({period, before.length, tokens.what.size() - anchors[i]});
      before.length = now.length;
    } else {
      now.length = anchors[i + 1] - anchors[i];
    }
    const Likeness likeness = Compare(tokens, before, now);
    sum.same += likeness.same;
    sum.all += likeness.all;
  }
  return sum.all == 0 ? 0 : static_cast<double>(sum.same) / static_cast<double>(sum.all);
}

// Whether the stretches of `period` tokens from these places on mostly compute. A train of copies
// repeats itself too, and is part of an iteration.
bool Computes(const Tokens& tokens, const std::vector<std::size_t>& places, std::size_t period) {
  const std::vector<std::uint8_t>& computes = tokens.computes;
  std::size_t stretches = 0;
  for (const std::size_t place : places) {
    const auto from = computes.begin() + static_cast<std::ptrdiff_t>(place);
    const auto to =
        computes.begin() + static_cast<std::ptrdiff_t>(std::min(computes.size(), place + period));
    stretches += std::find(from, to, 1) != to ? 1 : 0;
  }
  return 2 * stretches > places.size();
}

// Kinds of computing (tokens of kernels and graphs) in a stretch.
std::set<std::uint64_t> ComputingTokens(const Tokens& tokens, std::size_t from,
                                        std::size_t length) {
  std::set<std::uint64_t> seen;
  for (std::size_t i = from; i < std::min(tokens.what.size(), from + length); ++i) {
    if (tokens.computes[i] != 0) seen.insert(tokens.what[i]);
  }
  return seen;
}

// The share of the computing time that falls into the stretches of `period` tokens from these
// places on: a train of tiny kernels repeats itself, and is a small part of an iteration.
double TimeShare(const Tokens& tokens, const std::vector<std::size_t>& places, std::size_t period) {
  double all = 0;
  for (std::size_t i = 0; i < tokens.what.size(); ++i)
    all += tokens.computes[i] != 0 ? static_cast<double>(tokens.time[i]) : 0;
  double inside = 0;
  std::size_t next = 0;  // what is not counted yet
  for (const std::size_t place : places) {
    const std::size_t end = std::min(tokens.what.size(), place + period);
    for (next = std::max(next, place); next < end; ++next)
      inside += tokens.computes[next] != 0 ? static_cast<double>(tokens.time[next]) : 0;
  }
  return all > 0 ? inside / all : 1;
}

}  // namespace

bool ComputesNothingElse(const Tokens& tokens, const Period& period) {
  // A usual repeat: no copies of a checkpoint stand in it.
  const std::vector<std::size_t>& starts = period.starts;
  const auto usual = std::adjacent_find(
      starts.begin(), starts.end(),
      [&](std::size_t one, std::size_t next) { return next - one == period.length; });
  if (usual == starts.end()) return false;
  const auto inside = ComputingTokens(tokens, *usual, period.length);
  for (std::size_t i = 0; i < tokens.what.size(); ++i) {
    if (tokens.computes[i] != 0 && !inside.contains(tokens.what[i])) return false;
  }
  return true;
}

Period FindPeriod(const Knowledge& knowledge, const Tokens& tokens,
                  const std::function<bool(const std::vector<std::size_t>&, bool)>& meets_host) {
  const auto min_count = static_cast<std::size_t>(knowledge.Number("step.min_count"));
  const double min_match = knowledge.Number("step.period_match");
  const double min_cover = knowledge.Number("step.period_cover");
  const double min_even = knowledge.Number("step.period_even");
  const double exact = knowledge.Number("step.period_exact");
  const double most_loss = knowledge.Number("step.period_loss");
  const double extra = knowledge.Number("step.period_extra");
  const double most_time = knowledge.Number("step.period_time");
  std::map<std::uint64_t, std::vector<std::size_t>> places;
  for (std::size_t i = 0; i < tokens.what.size(); ++i) places[tokens.what[i]].push_back(i);
  std::vector<const std::vector<std::size_t>*> by_rarity;
  for (const auto& [token, at] : places) {
    if (at.size() >= min_count) by_rarity.push_back(&at);
  }
  std::stable_sort(by_rarity.begin(), by_rarity.end(),
                   [](const auto* a, const auto* b) { return a->size() < b->size(); });
  const bool any_computes =
      std::find(tokens.computes.begin(), tokens.computes.end(), 1) != tokens.computes.end();
  Period best;
  std::map<std::size_t, double> tried;
  for (const auto* at : by_rarity) {
    std::vector<std::size_t> apart;
    for (std::size_t i = 1; i < at->size(); ++i) apart.push_back((*at)[i] - (*at)[i - 1]);
    const std::size_t period = Median(apart);
    const auto even = static_cast<std::size_t>(
        std::count_if(apart.begin(), apart.end(), [period](std::size_t d) { return d == period; }));
    if (static_cast<double>(even) < min_even * static_cast<double>(apart.size())) continue;
    const std::size_t from = at->front();
    const std::size_t to = std::min(tokens.what.size(), at->back() + period);
    if (static_cast<double>(to - from) < min_cover * static_cast<double>(tokens.what.size()))
      continue;
    if (tried.contains(period)) continue;
    if (any_computes && !Computes(tokens, *at, period)) continue;
    const double match = MatchFrom(tokens, *at, period);
    tried[period] = match;
    if (match < min_match) continue;
    // A later (shorter) period wins when it leaves hardly more unexplained than the longer one:
    // layers leave what stands between two passes through them. Or when each period meets the host:
    // then the longer one is several iterations with something extra in the last. Where the extra
    // computes (an evaluation), each must take in data, since layers may hand numbers back, too.
    const double loss = best.match - match;
    const bool as_good = match >= exact && loss <= most_loss &&
                         loss * static_cast<double>(best.length) < extra &&
                         TimeShare(tokens, *at, period) >= most_time;
    const auto iterates = [&] {
      const auto inside = ComputingTokens(tokens, (*at)[at->size() / 2], period);
      std::size_t beside = 0;
      for (const std::uint64_t token :
           ComputingTokens(tokens, best.starts[best.starts.size() / 2], best.length)) {
        beside += inside.contains(token) ? 0 : 1;
      }
      // Most of what the longer one computes stands beside the shorter one: that is a part of it,
      // such as a train of copies that each feed one kernel.
      return beside <= inside.size() && meets_host(*at, beside > 0);
    };
    if (best.length == 0 || (period < best.length && (as_good || iterates()))) {
      best = {period, *at, match};
    }
    if (tried.size() > 64) break;  // enough distinct candidates
  }
  return best;
}

}  // namespace advise
