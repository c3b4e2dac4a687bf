// Units that columns and facts are given in.
#pragma once

#include <cstdint>
#include <limits>

namespace advise {

using Nanos = std::int64_t;      // a time on the trace's clock, or a duration; whole nanoseconds
using StringId = std::uint32_t;  // index into a StringPool; 0 is the empty string

// "No such row": an index that points nowhere.
inline constexpr std::uint32_t kNone = std::numeric_limits<std::uint32_t>::max();

inline constexpr double kNanosPerSecond = 1e9;

}  // namespace advise
