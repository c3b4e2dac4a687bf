#include "engine/metrics/losses/rhythm.h"

#include <algorithm>
#include <iterator>

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
        least_even_(knowledge.Number("step.periodic_share")) {}

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
    for (const std::vector<SlowStep>& some :
         {alike, with(largest / single_factor_, largest), all, WithoutIntruder(slow)}) {
      Rhythm rhythm{DistanceOf(some), {}};
      if (rhythm.every == 0) continue;
      for (const SlowStep& one : some) rhythm.steps.push_back(one.step);
      return rhythm;
    }
    return {};
  }

 private:
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

  // Without the one slow step that comes out of turn, where at least four others are evenly apart,
  // which is no chance; none where that is not so.
  std::vector<SlowStep> WithoutIntruder(const std::vector<SlowStep>& slow) const {
    if (slow.size() < 5) return {};
    // It stands at an end of each distance that is no multiple of the usual one, of which there are
    // two at most.
    const std::vector<std::size_t> apart = Apart(slow);
    const std::size_t usual = Median(apart);
    std::vector<std::size_t> odd;
    for (std::size_t i = 0; i < apart.size() && odd.size() <= 2; ++i) {
      if (apart[i] % usual != 0) odd.push_back(i);
    }
    if (odd.size() > 2) return {};
    for (const std::size_t distance : odd) {
      for (const std::size_t i : {distance, distance + 1}) {
        std::vector<SlowStep> others = slow;
        others.erase(others.begin() + static_cast<std::ptrdiff_t>(i));
        const std::size_t every = DistanceOf(others);
        const auto in_turn = [&](const SlowStep& one) {
          return (one.step - others.front().step) % every == 0;
        };
        if (every > 0 && std::all_of(others.begin(), others.end(), in_turn)) return others;
      }
    }
    return {};
  }

  const std::size_t first_, end_;
  const double single_factor_, least_seen_, least_even_;
};

}  // namespace

Rhythm FindRhythm(const std::vector<SlowStep>& slow, std::size_t first, std::size_t end,
                  const Knowledge& knowledge) {
  return RhythmFinder(first, end, knowledge).Find(slow);
}

}  // namespace advise
