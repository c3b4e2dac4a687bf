#include "engine/base/launcher_variables.h"

#include <charconv>

namespace advise {

int WholeNumberIn(std::string_view text) {
  int value = -1;
  if (text.empty() || text.size() > 7 || text.front() == '-') return -1;
  const auto [at, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc() && at == text.data() + text.size() ? value : -1;
}

}  // namespace advise
