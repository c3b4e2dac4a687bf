// Medians and other quantiles: values that are there, none between two of them.
#pragma once

#include <algorithm>
#include <cstddef>
#include <span>
#include <vector>

namespace advise {

// The upper median: the value with half of the others on either side. A value-initialized T for no
// values, as below. Reorders them. O(n).
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

// The value below which this share of the others lies.
template <typename T>
T Quantile(std::vector<T> values, double share) {
  if (values.empty()) return T{};
  const auto place = static_cast<std::size_t>(share * static_cast<double>(values.size()));
  const auto at = values.begin() + static_cast<std::ptrdiff_t>(std::min(place, values.size() - 1));
  std::nth_element(values.begin(), at, values.end());
  return *at;
}

// The lower median: of two, the smaller one.
template <typename T>
T LowerMedian(std::vector<T> values) {
  if (values.empty()) return T{};
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>((values.size() - 1) / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

// How far values lie from `middle`, as a rule.
template <typename T>
T MedianDeviation(std::vector<T> values, T middle) {
  for (T& value : values) value = value > middle ? value - middle : middle - value;
  return MedianInPlace(std::span<T>(values));
}

}  // namespace advise
