#include "engine/metrics/losses/steps/rhythm.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <numeric>

#include "engine/base/median.h"

namespace advise {
namespace {

std::vector<std::size_t> Apart(const std::vector<SlowStep>& slow) {
  std::vector<std::size_t> apart;
  for (std::size_t i = 1; i < slow.size(); ++i) apart.push_back(slow[i].step - slow[i - 1].step);
  return apart;
}

class RhythmFinder {
 public:
  RhythmFinder(std::size_t first, std::size_t end, const Knowledge& knowledge)
      : first_(first),
        end_(end),
        single_factor_(knowledge.Number("step.single_factor")),
        least_seen_(knowledge.Number("step.periodic_seen")),
        least_even_(knowledge.Number("step.periodic_share")),
        chance_(knowledge.Number("step.periodic_chance")),
        least_due_(knowledge.CountOf("step.periodic_due")),
        longest_turn_(knowledge.CountOf("step.periodic_longest")) {}

  Rhythm Find(const std::vector<SlowStep>& slow) const {
    if (slow.empty()) return {};
    std::vector<Nanos> beyond;
    for (const SlowStep& one : slow) beyond.push_back(one.beyond);
    const auto largest = static_cast<double>(*std::max_element(beyond.begin(), beyond.end()));
    const auto middle = static_cast<double>(Median(std::move(beyond)));
    const auto with = [&](double least, double most) {
      std::vector<SlowStep> some;
      std::copy_if(slow.begin(), slow.end(), std::back_inserter(some), [&](const SlowStep& one) {
        const auto lost = static_cast<double>(one.beyond);
        return lost >= least && lost <= most;
      });
      return some;
    };
    // A single one that loses far more is no proof of the turn of the others.
    const std::vector<SlowStep> alike = with(0, single_factor_ * middle);
    const std::vector<SlowStep> all = alike.size() + 1 == slow.size() ? alike : slow;
    std::vector<SlowStep> kept;
    for (const std::vector<SlowStep>& some :
         {alike, with(largest / single_factor_, largest), all}) {
      if (DistanceOf(some) == 0) continue;
      kept = some;
      break;
    }
    // A few may be evenly apart while most of the time is lost in the turn of others.
    if (2 * LostIn(kept) < LostIn(all)) {
      std::vector<SlowStep> turn = InTurn(all);
      if (DistanceOf(turn) > 0 && LostIn(turn) > LostIn(kept)) kept = std::move(turn);
    }
    const std::vector<SlowStep> events = kept.empty() ? Events(slow) : kept;
    Rhythm rhythm{DistanceOf(events), {}};
    if (rhythm.every == 0) return {};
    for (const SlowStep& one : kept.empty() ? slow : kept) rhythm.steps.push_back(one.step);
    return rhythm;
  }

 private:
  // What stops the host once may show in several steps: it has no work in reserve behind it, so
  // that the GPU waits for what it does in the next one, too. Slow steps that follow each other
  // count as one, where the first of them.
  static std::vector<SlowStep> Events(const std::vector<SlowStep>& slow) {
    std::vector<SlowStep> events;
    for (std::size_t i = 0; i < slow.size(); ++i) {
      if (i > 0 && slow[i].step == slow[i - 1].step + 1) {
        events.back().beyond += slow[i].beyond;
      } else {
        events.push_back(slow[i]);
      }
    }
    const std::size_t behind = slow.size() - events.size();
    if (2 * behind < events.size()) return {};
    return events;
  }

  // Evenly apart, at least two that are alike, and not every step. In steps; 0 when not.
  std::size_t DistanceOf(const std::vector<SlowStep>& slow) const {
    const std::vector<std::size_t> apart = Apart(slow);
    if (apart.empty()) return 0;
    if (slow.size() == 2) {  // any two steps have a distance
      const auto [less, more] = std::minmax({slow[0].beyond, slow[1].beyond});
      if (static_cast<double>(more) > single_factor_ * static_cast<double>(less)) return 0;
    }
    const std::size_t every = Median(apart);
    if (every < 2) return 0;
    // Where the rhythm goes on, before the first and after the last of them, steps are slow, too.
    // Some may be hidden by work in reserve; two that are alike may be chance, so that none may be
    // missing.
    const std::size_t begin = slow.front().step;
    const std::size_t due = (begin - first_) / every + 1 + (end_ - 1 - begin) / every;
    if (slow.size() == 2 && due > slow.size()) return 0;
    if (static_cast<double>(slow.size()) < least_seen_ * static_cast<double>(due)) return 0;
    const auto even = static_cast<double>(std::count_if(
        apart.begin(), apart.end(), [every](std::size_t steps) { return steps % every == 0; }));
    return even >= least_even_ * static_cast<double>(apart.size()) ? every : 0;
  }

  // The slow steps of the turn that makes most steps slow, where so many others are slow, too, that
  // distances tell nothing. Of all turns that a loop of this length can show, so many of their
  // steps must hardly ever be slow by chance.
  std::vector<SlowStep> InTurn(const std::vector<SlowStep>& slow) const {
    const std::size_t longest = std::min((end_ - first_) / least_due_, longest_turn_);
    const double usual = static_cast<double>(slow.size()) / static_cast<double>(end_ - first_);
    const double turns = static_cast<double>(longest * (longest + 1)) / 2;
    std::vector<SlowStep> most;
    for (std::size_t every = 2; every <= longest; ++every) {
      std::vector<std::vector<SlowStep>> of_turn(every);
      for (const SlowStep& one : slow) of_turn[(one.step - first_) % every].push_back(one);
      for (std::size_t turn = 0; turn < every; ++turn) {
        const std::vector<SlowStep>& seen = of_turn[turn];
        const std::size_t due = (end_ - first_ - turn + every - 1) / every;
        if (seen.size() <= most.size() || seen.size() < least_due_) continue;
        if (static_cast<double>(seen.size()) < least_even_ * static_cast<double>(due)) continue;
        if (turns * ChanceOf(seen.size(), due, usual) < chance_) most = seen;
      }
    }
    return most;
  }

  // That at least `seen` of `due` steps are slow when each is so with this probability: the tail of
  // a binomial distribution.
  static double ChanceOf(std::size_t seen, std::size_t due, double usual) {
    double tail = 0;
    double ways = 0;  // to choose k of due, as a logarithm: of many steps it is no number
    for (std::size_t k = 0; k <= due; ++k) {
      const auto slow = static_cast<double>(k);
      const auto quick = static_cast<double>(due - k);
      if (k > 0) ways += std::log(quick + 1) - std::log(slow);
      if (k >= seen) tail += std::exp(ways + slow * std::log(usual) + quick * std::log1p(-usual));
    }
    return tail;
  }

  const std::size_t first_, end_;
  const double single_factor_, least_seen_, least_even_, chance_;
  const std::size_t least_due_, longest_turn_;
};

}  // namespace

Nanos LostIn(const std::vector<SlowStep>& slow) {
  return std::accumulate(slow.begin(), slow.end(), Nanos{0}, [](Nanos lost, const SlowStep& one) {
    return lost + std::max<Nanos>(0, one.beyond);
  });
}

Rhythm FindRhythm(const std::vector<SlowStep>& slow, std::size_t first, std::size_t end,
                  const Knowledge& knowledge) {
  return RhythmFinder(first, end, knowledge).Find(slow);
}

}  // namespace advise
