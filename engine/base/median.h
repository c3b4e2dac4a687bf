// The upper median: the value with half of the others on either side.
#pragma once

#include <algorithm>
#include <cstddef>
#include <span>
#include <vector>

namespace advise {

// A value-initialised T for no values. Reorders them. O(n).
template <typename T>
T MedianInPlace(std::span<T> values) {
  if (values.empty()) return T{};
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}
template <typename T>
T Median(std::vector<T> values) {
  return MedianInPlace(std::span<T>(values));
}

}  // namespace advise
