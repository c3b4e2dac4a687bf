// Command lines that a reader can paste into a POSIX shell.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "engine/base/shell_word.h"

namespace advise {

// sqlite3 PATH "SQL". The statement is put on one line.
std::string SqliteCommand(std::string_view path, std::string_view sql);

// Prints an event of a text, packed or not, and little else of it.
std::string GrepCommand(std::string_view path, std::string_view pattern);

// How to capture more, in pieces of one language each: "python" for PyTorch's profiler, else
// "shell".
struct Piece {
  std::string language, code;
};
std::vector<Piece> PiecesOf(const std::string& commands);

}  // namespace advise
