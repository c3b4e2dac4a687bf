// Name patterns: `*` is any run of characters, `?` any one, `[0-9]` any digit; other brackets stand
// for themselves; case does not matter; the whole name must match. Linear in practice and never
// worse than |name| x |pattern|: hostile names and patterns cannot stall it.
#pragma once

#include <string_view>

namespace advise {

inline constexpr std::string_view kAnyDigit = "[0-9]";

bool MatchesGlob(std::string_view name, std::string_view pattern);

}  // namespace advise
