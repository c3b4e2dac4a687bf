#include "engine/metrics/losses/kernels/time_alone.h"

#include <algorithm>
#include <iterator>

namespace advise {

std::size_t PartOf(double share, std::size_t count) {
  return static_cast<std::size_t>(share * static_cast<double>(count));
}

Nanos TimeAlone(const std::vector<Nanos>& alone, Nanos length, double stragglers) {
  const std::size_t usual = alone.size() - PartOf(stragglers, alone.size());
  const auto last = alone.begin() + static_cast<std::ptrdiff_t>(usual);
  const auto above = std::upper_bound(alone.begin(), last, length);
  return above == alone.begin() ? length : *std::prev(above);
}

}  // namespace advise
