#include "engine/base/shell_word.h"

#include <algorithm>

#include "engine/base/ascii.h"
#include "engine/base/text.h"

namespace advise {

std::string ShellQuote(std::string_view word) {
  std::string safe = SafeText(word);
  const auto harmless = [](char c) {
    return IsAlnum(c) || std::string_view("_-./,:=+@%").find(c) != std::string_view::npos;
  };
  if (!safe.empty() && std::all_of(safe.begin(), safe.end(), harmless)) return safe;
  // "!" is history expansion in interactive shells, even inside double quotes.
  if (safe.find_first_of("\"$`\\!") == std::string::npos) return '"' + safe + '"';
  return SingleQuoted(safe);
}

std::string SingleQuoted(std::string_view text) {
  std::string quoted = "'";
  for (const char c : text) quoted += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return quoted + "'";
}

}  // namespace advise
