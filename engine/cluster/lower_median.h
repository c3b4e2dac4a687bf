// The middle of what ranks have.
#pragma once

#include <algorithm>
#include <vector>

namespace advise {

// The lower median: of two, what the other rank has.
template <typename T>
T LowerMedian(std::vector<T> values) {
  if (values.empty()) return T{};
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>((values.size() - 1) / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

}  // namespace advise
