#include "engine/report/first_clause.h"

#include <algorithm>
#include <array>
#include <string_view>

namespace advise {

std::string FirstClause(const std::string& sentence) {
  static constexpr std::array<std::string_view, 7> kMarks = {
      ": ", "; ", ", so ", ", but ", ", while ", ", although ", ", such as "};
  constexpr std::size_t kFewestWords = 6;
  std::size_t words = 1;
  int depth = 0;
  for (std::size_t i = 0; i < sentence.size(); ++i) {
    const std::string_view rest = std::string_view(sentence).substr(i);
    if (depth == 0 && std::any_of(kMarks.begin(), kMarks.end(),
                                  [&](std::string_view mark) { return rest.starts_with(mark); }))
      return words < kFewestWords ? sentence : sentence.substr(0, i) + ".";
    words += sentence[i] == ' ' ? 1 : 0;
    depth += sentence[i] == '(' ? 1 : sentence[i] == ')' ? -1 : 0;
  }
  return sentence;
}

}  // namespace advise
