// Fields of small JSON records, for writers that may leave them out.
#pragma once

#include <simdjson.h>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <string>
#include <string_view>

namespace advise::json {

namespace dom = simdjson::dom;

// A missing field, or one of another type, is 0 or "".
template <typename Json>
std::uint64_t NumberAt(const Json& object, const char* key) {
  std::uint64_t number = 0;
  return object[key].get_uint64().get(number) == simdjson::SUCCESS ? number : 0;
}

template <typename Json>
std::uint32_t SmallAt(const Json& object, const char* key) {
  constexpr std::uint64_t kMost = std::numeric_limits<std::uint32_t>::max();
  return static_cast<std::uint32_t>(std::min(NumberAt(object, key), kMost));
}

template <typename Json>
std::string TextAt(const Json& object, const char* key) {
  std::string_view text;
  return object[key].get_string().get(text) == simdjson::SUCCESS ? std::string(text) : "";
}

// Calls `each` with all items of an array, where there is one.
template <typename Each>
void ForEachIn(const dom::element& object, const char* key, const Each& each) {
  dom::array items;
  if (object[key].get_array().get(items) != simdjson::SUCCESS) return;
  for (const dom::element item : items) each(item);
}

}  // namespace advise::json
