// Name patterns: `*` is any run of characters, `?` any one; case does not matter; the whole name
// must match. Linear in practice and never worse than |name| x |pattern|: hostile names and
// patterns cannot stall it.
#pragma once

#include <string_view>

namespace advise {

bool MatchesGlob(std::string_view name, std::string_view pattern);

}  // namespace advise
