#include "engine/base/launcher_variables.h"

#include "engine/base/ascii.h"
#include "engine/base/parse_number.h"

namespace advise {

int WholeNumberIn(std::string_view text) {
  constexpr std::size_t kMostDigits = 7;
  return text.size() <= kMostDigits && IsDigits(text) ? NumberAtStart<int>(text) : -1;
}

}  // namespace advise
