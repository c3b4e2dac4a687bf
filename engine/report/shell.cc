#include "engine/report/shell.h"

#include <algorithm>

namespace advise {

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

// Of JSON, one event per line first: many traces are a single line of megabytes. The names of some
// kernels hold what lines are made at.
std::string GrepCommand(std::string_view path, std::string_view pattern) {
  const std::string file = FileWord(path);
  const bool packed = path.ends_with(".gz");
  const std::string first = " | head -n 4";
  if (!pattern.starts_with('"')) {
    return std::string(packed ? "zgrep" : "grep") + " -n " + ShellQuote(pattern) + " " + file +
           first;
  }
  const std::string split = "tr '\\n}' ' \\n'";
  return (packed ? "zcat " + file + " | " + split : split + " < " + file) + " | grep " +
         ShellQuote(pattern.substr(0, pattern.find('}'))) + first;
}

std::vector<Piece> PiecesOf(const std::string& commands) {
  std::vector<Piece> pieces;
  for (std::size_t at = 0; at < commands.size();) {
    const std::size_t end = std::min(commands.find('\n', at), commands.size());
    const std::string line = commands.substr(at, end - at);
    const bool python = line.starts_with("profile(") || line.starts_with("model.");
    const char* const language = python ? "python" : "shell";
    if (!pieces.empty() && pieces.back().language == language) {
      pieces.back().code += "\n" + line;
    } else {
      pieces.push_back({language, line});
    }
    at = end + 1;
  }
  return pieces;
}

}  // namespace advise
