#include "engine/cluster/coincide.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>

#include "engine/base/median.h"
#include "engine/knowledge/knowledge.h"

namespace advise {
namespace {

constexpr std::size_t kSampledEvents = 96;  // events of the second clock that are looked at
struct Peak {
  std::size_t begin = 0;  // differences that lie together
  std::size_t count = 0;
  Nanos middle = 0;
};

}  // namespace

CoincideRules::CoincideRules(const Knowledge& knowledge)
    : together(knowledge.Time("cluster.late_least")),
      least(knowledge.CountOf("cluster.align_least")),
      least_share(knowledge.Number("cluster.coincide_share")),
      candidate_share(knowledge.Number("cluster.coincide_candidate")),
      distinct(knowledge.Number("cluster.coincide_distinct")),
      resolution(knowledge.Time("cluster.clock_resolution")),
      stray(knowledge.Time("cluster.utc_stray")) {}

std::optional<Coincidence> Coincide(const std::vector<Nanos>& first,
                                    const std::vector<Nanos>& second, const CoincideRules& rules) {
  std::vector<Nanos> differences;
  const std::size_t stride = std::max<std::size_t>(1, second.size() / kSampledEvents);
  std::size_t sampled = 0;
  // In uneven strides: every other send may be one to the other side.
  for (std::size_t i = 0; i < second.size(); i += 1 + (i * 7919 + 13) % (2 * stride - 1)) {
    ++sampled;
    auto from = first.begin();
    auto to = first.end();
    if (rules.guess) {
      const Nanos expected = second[i] + *rules.guess;
      from = std::lower_bound(first.begin(), first.end(), expected - rules.stray);
      to = std::upper_bound(first.begin(), first.end(), expected + rules.stray);
    }
    for (auto at = from; at != to; ++at) differences.push_back(*at - second[i]);
  }
  std::sort(differences.begin(), differences.end());
  // Peaks: as many differences as possible within the width, without overlap.
  std::vector<Peak> peaks;
  std::size_t begin = 0;
  for (std::size_t end = 0; end < differences.size(); ++end) {
    while (differences[end] - differences[begin] > rules.together) ++begin;
    const std::size_t count = end + 1 - begin;
    if (count < rules.least) continue;
    const Nanos middle = differences[begin + count / 2];
    if (!peaks.empty() && middle - peaks.back().middle <= rules.together) {
      if (count > peaks.back().count) peaks.back() = {begin, count, middle};
    } else {
      peaks.push_back({begin, count, middle});
    }
  }
  const auto best = std::max_element(
      peaks.begin(), peaks.end(), [](const Peak& a, const Peak& b) { return a.count < b.count; });
  if (best == peaks.end() ||
      static_cast<double>(best->count) < rules.least_share * static_cast<double>(sampled)) {
    return std::nullopt;
  }
  // Other offsets fit as well: by a micro-batch, or by a transfer from one stage to the next. But
  // the ends of the same operation differ by less than the lengths of these.
  std::vector<Coincidence> candidates;
  std::vector<double> blur;
  for (const Peak& peak : peaks) {
    if (static_cast<double>(peak.count) < rules.candidate_share * static_cast<double>(best->count))
      continue;
    const auto from = differences.begin() + static_cast<std::ptrdiff_t>(peak.begin);
    std::vector<Nanos> together(from, from + static_cast<std::ptrdiff_t>(peak.count));
    Coincidence one;
    one.offset = Median(together);
    for (Nanos& difference : together) difference = std::abs(difference - one.offset);
    one.deviation = Median(std::move(together));
    candidates.push_back(one);
    blur.push_back(static_cast<double>(one.deviation + rules.resolution) /
                   static_cast<double>(peak.count));
  }
  const double sharpest = *std::min_element(blur.begin(), blur.end());
  std::optional<Coincidence> chosen;
  for (std::size_t c = 0; c < candidates.size(); ++c) {
    if (blur[c] > rules.distinct * sharpest) continue;
    if (chosen && !rules.guess) return std::nullopt;
    if (!chosen ||
        std::abs(candidates[c].offset - *rules.guess) < std::abs(chosen->offset - *rules.guess)) {
      chosen = candidates[c];
    }
  }
  return chosen;
}

std::size_t CountTogether(const std::vector<Nanos>& first, const std::vector<Nanos>& second,
                          Nanos offset, Nanos together) {
  return static_cast<std::size_t>(std::count_if(second.begin(), second.end(), [&](Nanos end) {
    const auto at = std::lower_bound(first.begin(), first.end(), end + offset - together);
    return at != first.end() && *at <= end + offset + together;
  }));
}

}  // namespace advise
