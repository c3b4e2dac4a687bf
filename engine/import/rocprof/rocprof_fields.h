// Fields of the records that rocprofv3 writes.
#pragma once

#include <array>

#include "engine/base/units.h"
#include "engine/import/json_fields.h"

namespace advise::rocprof {

namespace dom = simdjson::dom;
using json::ForEachIn;
using json::NumberAt;
using json::SmallAt;
using json::TextAt;

template <typename Json>
Nanos TimeAt(const Json& object, const char* key) {
  constexpr auto kMost = static_cast<std::uint64_t>(std::numeric_limits<Nanos>::max() / 2);
  return static_cast<Nanos>(std::min(NumberAt(object, key), kMost));
}

// {"handle": 37946}
template <typename Json>
std::uint64_t HandleAt(const Json& object, const char* key) {
  return NumberAt(object[key], "handle");
}

// {"x": 512, "y": 1, "z": 1}
template <typename Json>
std::array<std::uint32_t, 3> SizesAt(const Json& object, const char* key) {
  const auto sizes = object[key];
  return {SmallAt(sizes, "x"), SmallAt(sizes, "y"), SmallAt(sizes, "z")};
}

}  // namespace advise::rocprof
