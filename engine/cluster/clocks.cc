#include "engine/cluster/clocks.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <map>
#include <optional>
#include <tuple>

#include "engine/base/median.h"
#include "engine/cluster/coincide.h"

namespace advise {
namespace {

constexpr std::size_t kSampled = 64;  // pairs looked at for a shift
constexpr std::uint64_t kWhole = std::uint64_t{1} << 32;
constexpr std::uint64_t kGolden = 2'654'435'769;  // of kWhole: multiples never fall into a rhythm
constexpr std::int64_t kShifts = 4096;            // tried to either side
constexpr std::int64_t kNear = 64;                // shifts looked at beside a guess that fits
constexpr std::size_t kReferences = 4;  // aligned ranks tried for one that does not match the first

// When a shift fits, and when it is the only one.
struct FitRules {
  explicit FitRules(const Knowledge& knowledge)
      : at_once(knowledge.Time("cluster.align_at_once")),
        least(knowledge.CountOf("cluster.align_least")),
        overlap(knowledge.Number("cluster.align_overlap")),
        unlike(knowledge.Number("cluster.align_unlike")),
        far(knowledge.Number("cluster.align_far")),
        alone(knowledge.Number("cluster.align_alone")),
        distinct(knowledge.Number("cluster.align_distinct")) {}
  Nanos at_once;      // a fit this good needs no search
  std::size_t least;  // events of one kind and stream that tell an offset
  double overlap;     // of the events of the rank with fewer that must meet one
  double unlike;      // of the pairs, that may be of different kinds
  double far;         // ns: ends that differ by more are those of different collectives
  double alone;       // pairs that tell as much as one
  double distinct;    // times as far off: any other shift
};

struct Event {
  Nanos end = 0;
  const std::string* kind = nullptr;
  std::uint16_t lane = 0;
};

// Those whose kernels end together on every rank; with `all`, sends and receives, too. By end.
// Where two of different kinds end closer than `scatter`, by which the ends of one differ from rank
// to rank, their order says nothing: they are put in order of kind and stream.
std::vector<Event> EventsOf(const RankSummary& rank, bool all, Nanos scatter) {
  std::vector<Event> events;
  for (std::size_t i = 0; i < rank.collectives.size(); ++i) {
    const std::string& kind = rank.kinds[rank.collectives.kind[i]];
    const bool together = kind != "sendrecv" && kind != "broadcast" && kind != "reduce";
    if (together || all) {
      events.push_back({rank.collectives.end[i], &kind, rank.collectives.lane[i]});
    }
  }
  std::sort(events.begin(), events.end(),
            [](const Event& a, const Event& b) { return a.end < b.end; });
  for (std::size_t begin = 0, end = 1; begin < events.size(); begin = end++) {
    while (end < events.size() && events[end].end - events[begin].end <= scatter) ++end;
    std::stable_sort(events.begin() + static_cast<std::ptrdiff_t>(begin),
                     events.begin() + static_cast<std::ptrdiff_t>(end),
                     [](const Event& a, const Event& b) {
                       return std::tie(*a.kind, a.lane) < std::tie(*b.kind, b.lane);
                     });
  }
  return events;
}

std::vector<Nanos> SendsOf(const RankSummary& rank) {
  std::vector<Nanos> ends;
  for (std::size_t i = 0; i < rank.collectives.size(); ++i) {
    if (rank.kinds[rank.collectives.kind[i]] == "sendrecv") ends.push_back(rank.collectives.end[i]);
  }
  std::sort(ends.begin(), ends.end());
  return ends;
}

// What the hosts' UTC says of the offset between two clocks, and how far it is trusted.
struct Utc {
  bool known = false;
  Nanos offset = 0;
  double scatter = 1;      // ns by which it may well be wrong: closer than this it says nothing
  double end_scatter = 1;  // ns by which the ends of a collective usually differ
  double most = 0;  // the most that it counts, in units of scatter: hosts without a time service

  // How unlikely a fit is, smaller is better. Steps of a regular program are alike, so that a shift
  // by whole steps fits as well as the true one: among shifts that fit about equally well, UTC
  // decides; where it is off by far, every shift is as unlikely and the fit alone decides.
  double Cost(Nanos found, double misfit_ns) const {
    const double misfit = misfit_ns / end_scatter;
    if (!known) return misfit;
    const double off = static_cast<double>(std::abs(found - offset)) / scatter;
    return misfit + std::clamp(off - 1, 0.0, most);
  }
};

struct Fit {
  Nanos offset = 0;
  Nanos deviation = std::numeric_limits<Nanos>::max();  // median
  // Mean deviation, times how much the pairs tell: where a step holds many collectives at even
  // distances, a shift by one leaves few pairs that do not fit, but those by far.
  double misfit = 0;
  double cost = std::numeric_limits<double>::max();  // see Utc::Cost
  // Of the best other shift. Steps of a regular program are alike: a shift by a step may fit nearly
  // as well as the true one.
  Nanos runner_up = std::numeric_limits<Nanos>::max();
  Nanos rough = std::numeric_limits<Nanos>::max();  // deviation over all kinds together
  bool Distinct(const FitRules& rules) const {
    return rules.distinct * static_cast<double>(rough) <= static_cast<double>(runner_up);
  }
};

// How well `other` shifted by `shift` events fits `first`.
std::optional<Fit> Try(const std::vector<Event>& first, const std::vector<Event>& other,
                       std::int64_t shift, const FitRules& rules) {
  const std::int64_t from = std::max<std::int64_t>(0, -shift);
  const std::int64_t to = std::min(static_cast<std::int64_t>(first.size()),
                                   static_cast<std::int64_t>(other.size()) - shift);
  const auto least = static_cast<std::int64_t>(
      rules.overlap * static_cast<double>(std::min(first.size(), other.size())));
  if (to - from < std::max<std::int64_t>(3, least)) return std::nullopt;
  std::vector<Nanos> offsets;
  std::size_t unlike = 0;
  const auto all = static_cast<std::uint64_t>(to - from);
  const std::uint64_t looked_at = std::min<std::uint64_t>(all, kSampled);
  for (std::uint64_t k = 0; k < looked_at; ++k) {
    // Spread evenly, but at no stride, which may see one of the collectives of each step only.
    const std::uint64_t at = looked_at < all ? (k * kGolden) % kWhole * all / kWhole : k;
    const std::int64_t i = from + static_cast<std::int64_t>(at);
    const Event& a = first[static_cast<std::size_t>(i)];
    const Event& b = other[static_cast<std::size_t>(i + shift)];
    unlike += *a.kind == *b.kind ? 0 : 1;
    offsets.push_back(a.end - b.end);
    if (offsets.size() == 8 && unlike > 4) return std::nullopt;
  }
  if (static_cast<double>(unlike) > rules.unlike * static_cast<double>(offsets.size()))
    return std::nullopt;
  Fit fit;
  fit.offset = Median(offsets);
  fit.deviation = MedianDeviation(offsets, fit.offset);
  double sum = 0;
  for (const Nanos offset : offsets)
    sum += std::min(rules.far, static_cast<double>(std::abs(offset - fit.offset)));
  const auto pairs = static_cast<double>(offsets.size());
  fit.misfit = sum / pairs * std::max(1.0, pairs / rules.alone);
  return fit;
}

// Two ranks that share some collectives only (copies of shards, but not the shards) have the same
// kinds in the same order all the same, and what they do not share ends a little apart. The offset
// is that of the kind and stream whose ends fit best.
void Refine(const std::vector<Event>& first, const std::vector<Event>& other, std::int64_t shift,
            const FitRules& rules, Fit* fit) {
  std::map<std::pair<std::string, std::uint16_t>, std::vector<Nanos>> offsets;
  const std::int64_t from = std::max<std::int64_t>(0, -shift);
  const std::int64_t to = std::min(static_cast<std::int64_t>(first.size()),
                                   static_cast<std::int64_t>(other.size()) - shift);
  for (std::int64_t i = from; i < to; ++i) {
    const Event& a = first[static_cast<std::size_t>(i)];
    const Event& b = other[static_cast<std::size_t>(i + shift)];
    if (*a.kind == *b.kind && a.lane == b.lane) offsets[{*a.kind, a.lane}].push_back(a.end - b.end);
  }
  if (offsets.size() < 2) return;
  for (auto& [key, list] : offsets) {
    if (list.size() < rules.least) continue;
    const Nanos offset = Median(list);
    for (Nanos& one : list) one = std::abs(one - offset);
    const Nanos deviation = Median(std::move(list));
    if (deviation >= fit->deviation) continue;
    fit->offset = offset;
    fit->deviation = deviation;
  }
}

// The likeliest shift. `guess` is tried first, and taken when it fits at once.
Fit Best(const std::vector<Event>& first, const std::vector<Event>& other, std::int64_t guess,
         const Utc& utc, const FitRules& rules) {
  Fit best;
  const auto most = static_cast<std::int64_t>(std::max(first.size(), other.size()));
  std::int64_t shift_of_best = 0;
  std::int64_t until = std::min(kShifts, most);
  for (std::int64_t step = 0; step <= until; ++step) {
    for (const std::int64_t shift : {guess + step, guess - step}) {
      auto fit = Try(first, other, shift, rules);
      if (fit) fit->cost = utc.Cost(fit->offset, fit->misfit);
      if (fit && fit->cost < best.cost) {
        const Nanos beaten = std::min(best.deviation, best.runner_up);
        best = *fit;
        best.runner_up = beaten;
        shift_of_best = shift;
      } else if (fit) {
        best.runner_up = std::min(best.runner_up, fit->deviation);
      }
      if (step == 0) break;
    }
    // Shifts by a few steps tell whether another one fits as well.
    if (step == 0 && best.deviation <= rules.at_once) until = std::min(until, kNear);
  }
  best.rough = best.deviation;
  if (best.deviation < std::numeric_limits<Nanos>::max()) {
    Refine(first, other, shift_of_best, rules, &best);
  }
  return best;
}

// The event of `other` that UTC puts nearest to the middle of `first`, as a shift.
std::int64_t GuessShift(const std::vector<Event>& first, const std::vector<Event>& other,
                        Nanos utc_offset) {
  const std::size_t middle = first.size() / 2;
  const Nanos wanted = first[middle].end - utc_offset;
  const auto at = std::lower_bound(other.begin(), other.end(), wanted,
                                   [](const Event& e, Nanos time) { return e.end < time; });
  if (at == other.begin() || at == other.end()) return 0;  // these clocks do not overlap
  const auto nearest = std::prev(at)->end - wanted + (at->end - wanted) > 0 ? std::prev(at) : at;
  return (nearest - other.begin()) - static_cast<std::int64_t>(middle);
}

// Of the clock of `own` against that of `against`.
Utc UtcBetween(const RankSummary& own, const RankSummary& against, const Knowledge& knowledge) {
  Utc utc;
  utc.end_scatter = knowledge.Number("cluster.end_scatter");
  utc.known = own.utc_origin_ns > 0 && against.utc_origin_ns > 0;
  if (!utc.known) return utc;
  utc.offset = own.utc_origin_ns - against.utc_origin_ns;
  utc.scatter = knowledge.Number("cluster.utc_scatter");
  utc.most = knowledge.Number("cluster.utc_most");
  return utc;
}

// The offset between the clocks of two ranks that their sends tell, on the first one's.
std::optional<Coincidence> FromSends(const RankSummary& own, const RankSummary& other,
                                     const std::vector<Nanos>& sends,
                                     const std::vector<Nanos>& theirs, const Knowledge& knowledge) {
  CoincideRules rules(knowledge);
  if (own.utc_origin_ns > 0 && other.utc_origin_ns > 0)
    rules.guess = own.utc_origin_ns - other.utc_origin_ns;
  auto found = Coincide(theirs, sends, rules);
  if (!found && rules.guess) {
    rules.guess.reset();  // UTC may be wrong by hours
    found = Coincide(theirs, sends, rules);
  }
  return found;
}

// For ranks that share only sends with ranks at powers of two before them, where neighbours of a
// pipeline usually are. `speaker`: a rank of each clock.
bool AlignBySends(const std::vector<const RankSummary*>& speaker, std::uint32_t clock,
                  const Knowledge& knowledge, Clocks* clocks) {
  const std::vector<Nanos> sends = SendsOf(*speaker[clock]);
  if (sends.empty()) return false;
  for (std::uint32_t near = 1; near <= clock; near *= 2) {
    const std::uint32_t other = clock - near;
    if (speaker[other] == nullptr || !clocks->Known(other)) continue;
    const auto found =
        FromSends(*speaker[clock], *speaker[other], sends, SendsOf(*speaker[other]), knowledge);
    if (!found) continue;
    clocks->offset[clock] = found->offset + clocks->offset[other];
    clocks->source[clock] = ClockSource::kCollectives;
    clocks->residual = std::max(clocks->residual, found->deviation);
    return true;
  }
  return false;
}

// Each stage of a pipeline may sum up with the copies of itself alone: the sums of two stages
// follow each other at the same distance in each step, and look like one operation under clocks
// that are apart by so much. But two stages that send to each other end these sends together: where
// they do so at another offset, which UTC calls likelier, and hardly any does at the one from the
// sums, the sums are different ones.
void CorrectBySends(const std::vector<const RankSummary*>& speaker, std::uint32_t clock,
                    const Knowledge& knowledge, Clocks* clocks) {
  const RankSummary& own = *speaker[clock];
  const std::vector<Nanos> sends = SendsOf(own);
  if (sends.empty() || own.utc_origin_ns <= 0) return;
  const auto apart = knowledge.Time("cluster.end_together");
  const auto together = knowledge.Time("cluster.late_least");
  const double few = knowledge.Number("cluster.coincide_candidate");
  for (std::uint32_t near = 1; near <= clock; near *= 2) {
    const std::uint32_t other = clock - near;
    if (speaker[other] == nullptr || !clocks->Known(other)) continue;
    if (speaker[other]->utc_origin_ns <= 0) continue;
    const std::vector<Nanos> theirs = SendsOf(*speaker[other]);
    const auto found = FromSends(own, *speaker[other], sends, theirs, knowledge);
    if (!found) continue;
    const Nanos so_far = clocks->offset[clock] - clocks->offset[other];
    const Nanos utc = own.utc_origin_ns - speaker[other]->utc_origin_ns;
    if (std::abs(found->offset - so_far) <= apart) continue;
    const auto then = static_cast<double>(CountTogether(theirs, sends, found->offset, together));
    const auto now = static_cast<double>(CountTogether(theirs, sends, so_far, together));
    if (now >= few * then || std::abs(found->offset - utc) >= std::abs(so_far - utc)) continue;
    clocks->offset[clock] = found->offset + clocks->offset[other];
    clocks->residual = std::max(clocks->residual, found->deviation);
    return;
  }
}

}  // namespace

Clocks AlignClocks(const std::vector<RankSummary>& ranks, const Knowledge& knowledge) {
  Clocks clocks;
  std::uint32_t count = 0;
  for (const RankSummary& rank : ranks) count = std::max(count, rank.clock + 1);
  clocks.offset.assign(count, 0);
  clocks.utc_error.assign(count, 0);
  clocks.source.assign(count, ClockSource::kApart);
  if (count == 0) return clocks;
  clocks.source[ranks.front().clock] = ClockSource::kOne;
  const FitRules rules(knowledge);
  const auto within = knowledge.Time("cluster.align_within");
  const auto stray = knowledge.Time("cluster.utc_stray");
  const auto sharp = knowledge.Time("cluster.late_least");
  const auto near_utc = knowledge.Time("cluster.utc_within");
  const auto scatter = static_cast<Nanos>(knowledge.Number("cluster.end_scatter"));

  // One rank speaks for its clock: the first of the report.
  std::vector<const RankSummary*> speaker(count, nullptr);
  for (const RankSummary& rank : ranks) {
    if (speaker[rank.clock] == nullptr) speaker[rank.clock] = &rank;
  }
  struct Aligned {
    std::uint32_t clock;
    std::vector<Event> events;
    std::vector<Event> all;
  };
  std::vector<Aligned> references;
  const std::uint32_t first = ranks.front().clock;
  references.push_back(
      {first, EventsOf(*speaker[first], false, scatter), EventsOf(*speaker[first], true, scatter)});

  // Ranks of other groups may match only ranks that are aligned later: two rounds.
  for (int round = 0; round < 2; ++round) {
    for (std::uint32_t clock = 0; clock < count; ++clock) {
      if (clocks.Known(clock) || speaker[clock] == nullptr) continue;
      const RankSummary& own = *speaker[clock];
      for (const bool all : {false, true}) {
        const std::vector<Event> events = EventsOf(own, all, scatter);
        Fit best;
        std::uint32_t best_reference = 0;
        const auto look = [&](std::uint32_t reference, const std::vector<Event>& other) {
          if (events.size() < 3 || other.size() < 3 || best.deviation <= sharp) return;
          const RankSummary& against = *speaker[reference];
          const Utc utc = UtcBetween(own, against, knowledge);
          const std::int64_t guess = utc.known ? GuessShift(other, events, utc.offset) : 0;
          const Fit fit = Best(other, events, guess, utc, rules);
          if (fit.deviation > within || fit.cost >= best.cost) return;
          const bool agrees = !utc.known || std::abs(fit.offset - utc.offset) <= stray;
          if (!agrees && !fit.Distinct(rules)) return;
          best = fit;
          best_reference = reference;
        };
        for (const Aligned& reference : references) {
          look(reference.clock, all ? reference.all : reference.events);
        }
        // Others of its groups, where the first ones fit, but not well.
        for (std::uint32_t near = 1; near <= clock && best.deviation <= within; near *= 2) {
          if (best.deviation <= sharp) break;
          const std::uint32_t other = clock - near;
          if (speaker[other] == nullptr || !clocks.Known(other)) continue;
          look(other, EventsOf(*speaker[other], all, scatter));
        }
        if (best.deviation <= within) {
          clocks.offset[clock] = best.offset + clocks.offset[best_reference];
          clocks.source[clock] = ClockSource::kCollectives;
          clocks.residual = std::max(clocks.residual, best.deviation);
          CorrectBySends(speaker, clock, knowledge, &clocks);
        }
        if (clocks.Known(clock)) break;
        if (!all && AlignBySends(speaker, clock, knowledge, &clocks)) break;
      }
      if (clocks.Known(clock) && references.size() < kReferences) {
        references.push_back({clock, EventsOf(own, false, scatter), EventsOf(own, true, scatter)});
      }
    }
  }
  for (std::uint32_t clock = 0; clock < count; ++clock) {
    if (speaker[clock] == nullptr) continue;
    const std::int64_t own = speaker[clock]->utc_origin_ns;
    const std::int64_t base = speaker[first]->utc_origin_ns;
    if (own <= 0 || base <= 0) continue;
    if (clocks.source[clock] == ClockSource::kApart) {
      // Only where the windows then lie beside each other: clocks that are hours apart tell
      // nothing.
      const Nanos distance =
          own + speaker[clock]->window_start - base - speaker[first]->window_start;
      if (std::abs(distance) > near_utc + speaker[first]->Window()) continue;
      clocks.offset[clock] = own - base;
      clocks.source[clock] = ClockSource::kUtc;
    }
    clocks.utc_error[clock] = clocks.offset[clock] - (own - base);
    clocks.skew = std::max<Nanos>(clocks.skew, std::abs(clocks.utc_error[clock]));
  }
  return clocks;
}

}  // namespace advise
