// Whether a value stands in a list.
#pragma once

#include <algorithm>
#include <iterator>

namespace advise {

template <typename Value, typename List>
constexpr bool IsIn(const Value& value, const List& list) {
  return std::find(std::begin(list), std::end(list), value) != std::end(list);
}

}  // namespace advise
