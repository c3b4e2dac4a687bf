// Text files of tools as lines and cells, whatever encoding, line ends and colours they were saved
// with.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "engine/base/error.h"

namespace advise {

// UTF-8 without byte-order mark, carriage returns and terminal colours. UTF-16 is told by its mark.
std::string NormalText(std::string_view raw);

// The whole file, as NormalText has it.
Result<std::string> ReadTextFileAsLines(const std::string& path);

// Views into `text`, one a line, without line breaks. A text that ends in a break has no last empty
// line.
std::vector<std::string_view> LinesOf(std::string_view text);

std::string_view Trimmed(std::string_view text);
std::vector<std::string_view> WordsOf(std::string_view line);  // split at blanks and tabs

// Cells of a line of comma-separated values, trimmed. Quoted cells may hold commas and doubled
// quotes. `complete`, when given, is set to false when a quote is not closed in this line.
std::vector<std::string> CellsOf(std::string_view line, bool* complete = nullptr);

// A plain decimal number that fills the text ("-1.5e3"), or nothing. Not "nan", not "inf".
std::optional<double> NumberOf(std::string_view text);

// Seconds since 1970 of "2024/11/20 10:15:02.123", "2024-11-20T10:15:02+08:00" (the zone is left
// out: one log has one), or of a plain number of seconds.
std::optional<double> TimestampOf(std::string_view text);

bool StartsWith(std::string_view text, std::string_view start);
std::string Lower(std::string_view text);

}  // namespace advise
