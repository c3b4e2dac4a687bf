// Words of a POSIX shell.
#pragma once

#include <string>
#include <string_view>

namespace advise {

// `word` as one word of a shell: as it is when harmless, else in double quotes when that needs no
// escapes, else in single quotes. Control characters become spaces.
std::string ShellQuote(std::string_view word);

// The text in single quotes, as it is.
std::string SingleQuoted(std::string_view text);

}  // namespace advise
