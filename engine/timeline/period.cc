#include "engine/timeline/period.h"

#include <algorithm>
#include <map>
#include <set>

#include "engine/base/is_in.h"
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
  const std::uint32_t* weight = &tokens.weight[now.from];
  if (before.length == now.length) {
    Likeness likeness;
    for (std::size_t k = 0; k < now.length; ++k) {
      likeness.same += one[k] == two[k] ? weight[k] : 0;
      likeness.all += weight[k];
    }
    return likeness;
  }
  const std::size_t most = std::min(before.length, now.length);
  std::size_t front = 0;
  while (front < most && one[front] == two[front]) ++front;
  std::size_t back = 0;
  while (front + back < most && one[before.length - 1 - back] == two[now.length - 1 - back]) ++back;
  Likeness likeness;
  std::size_t other = 0;
  bool graph = false;
  for (std::size_t k = 0; k < now.length; ++k) {
    const bool same = k < front || k >= now.length - back;
    likeness.same += same ? weight[k] : 0;
    graph = graph || (same && weight[k] > 1);
    if (!same && (tokens.computes[now.from + k] != 0 || front + back < most)) other += weight[k];
  }
  // What a graph weighs is an estimate: something extra, such as a prompt that is read between two
  // tokens, counts no more than the iteration itself.
  likeness.all = likeness.same + (graph ? std::min(other, likeness.same) : other);
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

namespace {

// What a usual repeat computes: no copies of a checkpoint stand in it. Nothing where there is none.
std::set<std::uint64_t> UsuallyComputed(const Tokens& tokens, const Period& period) {
  const std::vector<std::size_t>& starts = period.starts;
  const auto usual = std::adjacent_find(
      starts.begin(), starts.end(),
      [&](std::size_t one, std::size_t next) { return next - one == period.length; });
  if (usual == starts.end()) return {};
  return ComputingTokens(tokens, *usual, period.length);
}

}  // namespace

std::size_t KindsComputed(const Tokens& tokens, const Period& period) {
  return UsuallyComputed(tokens, period).size();
}

bool ComputesNothingElse(const Tokens& tokens, const Period& period) {
  const auto inside = UsuallyComputed(tokens, period);
  for (std::size_t i = 0; i < tokens.what.size(); ++i) {
    if (tokens.computes[i] != 0 && !inside.contains(tokens.what[i])) return false;
  }
  return true;
}

namespace {

// Places of a token that may open a period.
struct Candidate {
  std::vector<std::size_t> places;
  std::size_t period = 0;  // the usual distance
  double even = 0;         // the share of distances that are as long
};

std::vector<std::size_t> Apart(const std::vector<std::size_t>& places) {
  std::vector<std::size_t> apart;
  for (std::size_t i = 1; i < places.size(); ++i) apart.push_back(places[i] - places[i - 1]);
  return apart;
}

// Goes on from each place to the one that is nearest to a period behind it, if one is no further
// off than `near` of a period. What lies between came once more inside a period, and opens none.
std::vector<std::size_t> WithoutInside(const std::vector<std::size_t>& places, std::size_t period,
                                       double near) {
  const double most = near * static_cast<double>(period);
  std::vector<std::size_t> kept;
  for (std::size_t i = 0; i < places.size();) {
    const std::size_t due = places[i] + period;
    kept.push_back(places[i++]);
    const auto off = [&](std::size_t at) {
      return std::max(places[at], due) - std::min(places[at], due);
    };
    while (i + 1 < places.size() && off(i + 1) <= off(i) && static_cast<double>(off(i + 1)) <= most)
      ++i;
  }
  return kept;
}

// Every `stride`-th of the places: a token may stand several times in each period.
Candidate Every(const std::vector<std::size_t>& at, std::size_t stride, double near) {
  Candidate candidate;
  for (std::size_t i = 0; i < at.size(); i += stride) candidate.places.push_back(at[i]);
  const std::vector<std::size_t> all = Apart(candidate.places);
  if (all.empty()) return candidate;
  candidate.period = Median(all);
  candidate.places = WithoutInside(candidate.places, candidate.period, near);
  const std::vector<std::size_t> apart = Apart(candidate.places);
  candidate.even = static_cast<double>(std::count(apart.begin(), apart.end(), candidate.period)) /
                   static_cast<double>(apart.size());
  return candidate;
}

class PeriodFinder {
 public:
  PeriodFinder(const Knowledge& knowledge, const Tokens& tokens,
               const std::function<bool(const std::vector<std::size_t>&, bool)>& meets_host,
               std::size_t fewest)
      : knowledge_(knowledge),
        tokens_(tokens),
        meets_host_(meets_host),
        any_computes_(IsIn(1, tokens.computes)),
        min_count_(std::max(fewest, knowledge.CountOf("step.min_count"))),
        min_match_(knowledge.Number("step.period_match")),
        min_cover_(knowledge.Number("step.period_cover")),
        min_even_(knowledge.Number("step.period_even")),
        near_(knowledge.Number("step.period_near")),
        again_cover_(knowledge.Number("step.period_again_cover")) {}

  Period Find() {
    std::map<std::uint64_t, std::vector<std::size_t>> places;
    for (std::size_t i = 0; i < tokens_.what.size(); ++i) places[tokens_.what[i]].push_back(i);
    std::vector<const std::vector<std::size_t>*> by_rarity;
    for (const auto& [token, at] : places) {
      if (at.size() >= min_count_) by_rarity.push_back(&at);
    }
    std::stable_sort(by_rarity.begin(), by_rarity.end(),
                     [](const auto* a, const auto* b) { return a->size() < b->size(); });
    // Enough distinct candidates are enough.
    for (const auto* at : by_rarity) {
      if (tries_ > 64) break;
      Try(*at);
    }
    return std::move(best_);
  }

 private:
  // The token's places, or as few of them as come at even distances.
  void Try(const std::vector<std::size_t>& at) {
    constexpr std::size_t kMostPerPeriod = 16;
    for (std::size_t stride = 1; stride <= kMostPerPeriod; ++stride) {
      Candidate candidate = Every(at, stride, near_);
      if (candidate.places.size() < min_count_) return;
      if (candidate.even < min_even_) continue;
      if (Consider(std::move(candidate))) return;
    }
  }

  // Whether the candidate is a period, if not the best.
  bool Consider(Candidate candidate) {
    const std::vector<std::size_t>& at = candidate.places;
    const std::size_t period = candidate.period;
    const std::size_t to = std::min(tokens_.what.size(), at.back() + period);
    if (static_cast<double>(to - at.front()) <
        min_cover_ * static_cast<double>(tokens_.what.size()))
      return false;
    // Another token may open the same period oftener, and then all through the run.
    const auto tried = tried_.find(period);
    if (tried != tried_.end()) {
      const bool oftener = tried->second.count < at.size() &&
                           static_cast<double>(to - at.front()) >=
                               again_cover_ * static_cast<double>(tokens_.what.size());
      if (tried->second.matches || !oftener) return tried->second.matches;
    }
    if (any_computes_ && !Computes(tokens_, at, period)) return false;
    const double match = MatchFrom(tokens_, at, period);
    ++tries_;
    tried_[period] = {match >= min_match_, at.size()};
    if (match < min_match_) return false;
    const bool shorter = best_.length > 0 && period < best_.length;
    if (best_.length == 0 || (shorter && (IsAsGood(at, period, match) || Iterates(at, period))) ||
        HoldsSeveral(at, period, match))
      best_ = {period, at, match};
    return true;
  }

  // A later (shorter) period wins when it leaves hardly more unexplained than the longer one:
  // layers leave what stands between two passes through them. Where sizes differ from step to step,
  // only the host tells: it takes part in each step, and the layers lack what the step computes
  // beside.
  bool IsAsGood(const std::vector<std::size_t>& at, std::size_t period, double match) const {
    const double loss = best_.match - match;
    const bool explains =
        match >= knowledge_.Number("step.period_exact") &&
        loss <= knowledge_.Number("step.period_loss") &&
        loss * static_cast<double>(best_.length) < knowledge_.Number("step.period_extra") &&
        TimeShare(tokens_, at, period) >= knowledge_.Number("step.period_time");
    if (!explains || meets_host_(at, false)) return explains;
    // The host does not take part in the shorter one. Where it feeds each longer one, that is the
    // iteration, also where its layers compute all there is.
    return !meets_host_(best_.starts, Beside(at, period) == 0);
  }

  // Or when each period meets the host: then the longer one is several iterations with something
  // extra in the last. Where the extra computes (an evaluation), each must take in data, since
  // layers may hand numbers back, too. Where most of what the longer one computes stands beside the
  // shorter one, that is a part of it, such as a train of copies that each feed one kernel. A graph
  // is one token, whatever it computes, so that its time has to say how much that is.
  bool Iterates(const std::vector<std::size_t>& at, std::size_t period) const {
    const std::size_t beside = Beside(at, period);
    const std::size_t usual = Usual(at, period);
    const bool most = beside <= ComputingTokens(tokens_, usual, period).size() ||
                      (HoldsGraph(usual, period) && 2 * TimeShare(tokens_, at, period) >= 1);
    return most && meets_host_(at, beside > 0);
  }

  // A step of several batches may have no kernel that runs once: what each batch runs is rarer than
  // what the update runs, and found first. The longer one is the iteration where it holds most of
  // the shorter ones, explains more, and is fed each time, while the host takes no part in each of
  // those.
  bool HoldsSeveral(const std::vector<std::size_t>& at, std::size_t period, double match) const {
    if (period <= best_.length || match <= best_.match ||
        match < knowledge_.Number("step.period_exact"))
      return false;
    const auto held = std::count_if(
        best_.starts.begin(), best_.starts.end(),
        [&](std::size_t start) { return start >= at.front() && start < at.back() + period; });
    const double share = knowledge_.Number("step.period_holds");
    return static_cast<double>(held) >= share * static_cast<double>(best_.starts.size()) &&
           !meets_host_(best_.starts, false) && meets_host_(at, true);
  }

  bool HoldsGraph(std::size_t from, std::size_t length) const {
    const std::size_t last = std::min(tokens_.weight.size(), from + length);
    return std::any_of(tokens_.weight.begin() + static_cast<std::ptrdiff_t>(from),
                       tokens_.weight.begin() + static_cast<std::ptrdiff_t>(last),
                       [](std::uint32_t weight) { return weight > 1; });
  }

  // Where a usual period begins, about in the middle: one that is followed by the next.
  static std::size_t Usual(const std::vector<std::size_t>& at, std::size_t period) {
    for (std::size_t i = at.size() / 2; i + 1 < at.size(); ++i) {
      if (at[i + 1] - at[i] == period) return at[i];
    }
    return at[at.size() / 2];
  }

  // Kinds of computing that the best period has beside this shorter one.
  std::size_t Beside(const std::vector<std::size_t>& at, std::size_t period) const {
    const auto inside = ComputingTokens(tokens_, Usual(at, period), period);
    const auto all = ComputingTokens(tokens_, Usual(best_.starts, best_.length), best_.length);
    return static_cast<std::size_t>(std::count_if(
        all.begin(), all.end(), [&](std::uint64_t token) { return !inside.contains(token); }));
  }

  struct Tried {
    bool matches = false;
    std::size_t count = 0;
  };

  const Knowledge& knowledge_;
  const Tokens& tokens_;
  const std::function<bool(const std::vector<std::size_t>&, bool)>& meets_host_;
  const bool any_computes_;
  const std::size_t min_count_;
  const double min_match_, min_cover_, min_even_, near_, again_cover_;
  std::map<std::size_t, Tried> tried_;  // by period
  std::size_t tries_ = 0;
  Period best_;
};

}  // namespace

Period FindPeriod(const Knowledge& knowledge, const Tokens& tokens,
                  const std::function<bool(const std::vector<std::size_t>&, bool)>& meets_host,
                  std::size_t fewest) {
  return PeriodFinder(knowledge, tokens, meets_host, fewest).Find();
}

}  // namespace advise
