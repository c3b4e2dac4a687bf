#include "engine/base/glob.h"

#include <cstddef>

#include "engine/base/ascii.h"

namespace advise {
namespace {}  // namespace

bool MatchesGlob(std::string_view name, std::string_view pattern) {
  std::size_t n = 0;
  std::size_t p = 0;
  std::size_t star =
      std::string_view::npos;  // the last `*` seen: the only place worth going back to
  std::size_t resume = 0;
  while (n < name.size()) {
    if (p < pattern.size() && pattern[p] == '*') {
      star = p++;
      resume = n;
    } else if (pattern.substr(p, kAnyDigit.size()) == kAnyDigit && IsDigit(name[n])) {
      p += kAnyDigit.size();
      ++n;
    } else if (p < pattern.size() && (pattern[p] == '?' || Lower(pattern[p]) == Lower(name[n]))) {
      ++p;
      ++n;
    } else if (star != std::string_view::npos) {
      p = star + 1;
      n = ++resume;
    } else {
      return false;
    }
  }
  while (p < pattern.size() && pattern[p] == '*') ++p;
  return p == pattern.size();
}

}  // namespace advise
