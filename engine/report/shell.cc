#include "engine/report/shell.h"

#include <algorithm>

#include "engine/base/text.h"

namespace advise {

std::string ShellQuote(std::string_view word) {
  std::string safe = SafeText(word);
  constexpr std::string_view kHarmless =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-./,:=+@%";
  const bool plain = !safe.empty() && safe.find_first_not_of(kHarmless) == std::string::npos;
  if (plain) return safe;
  // "!" is history expansion in interactive shells, even inside double quotes.
  if (safe.find_first_of("\"$`\\!") == std::string::npos) return '"' + safe + '"';
  std::string quoted = "'";
  for (const char c : safe) {
    if (c == '\'') {
      quoted += "'\\''";
    } else {
      quoted += c;
    }
  }
  return quoted + "'";
}

namespace {

// A path that begins with "-" would be read as an option.
std::string FileWord(std::string_view path) {
  return ShellQuote(path.starts_with('-') ? "./" + std::string(path) : std::string(path));
}

}  // namespace

std::string SqliteCommand(std::string_view path, std::string_view sql) {
  std::string line(sql);
  std::replace(line.begin(), line.end(), '\n', ' ');
  return "sqlite3 " + FileWord(path) + " " + ShellQuote(line);
}

std::string GrepCommand(std::string_view path, std::string_view pattern) {
  const char* const program = path.ends_with(".gz") ? "zgrep" : "grep";
  return std::string(program) + " -n -B 3 -A 9 " + ShellQuote(pattern) + " " + FileWord(path);
}

}  // namespace advise
