// Text files of tools as lines and cells, whatever encoding, line ends and colors they were saved
// with.
#pragma once

#include <algorithm>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "engine/base/ascii.h"
#include "engine/base/error.h"
#include "engine/base/trim.h"

namespace advise {

// UTF-8 without byte-order mark, carriage returns and terminal colors. UTF-16 is recognized by its
// mark.
std::string NormalText(std::string_view raw);

// The whole file, as NormalText has it.
Result<std::string> ReadTextFileAsLines(const std::string& path);

// Views into `text`, one a line, without line breaks. A text that ends in a break has no last empty
// line.
std::vector<std::string_view> LinesOf(std::string_view text);

std::vector<std::string_view> WordsOf(std::string_view line);  // split at blanks and tabs

// Cells of a line of comma-separated values, trimmed. Quoted cells may hold commas and doubled
// quotes. `complete`, when given, is set to false when a quote is not closed in this line.
std::vector<std::string> CellsOf(std::string_view line, bool* complete = nullptr);

// A plain decimal number that fills the text ("-1.5e3"), or nothing. Not "nan", not "inf".
std::optional<double> NumberOf(std::string_view text);

// What a whole number of this type holds of a number in a file: without its fraction, 0 of what is
// no number, and of what is too large half of the most, so that two of them can be added.
template <typename Whole>
Whole WholeOf(double value) {
  constexpr auto kMost = static_cast<double>(std::numeric_limits<Whole>::max()) / 2;
  const double least = std::numeric_limits<Whole>::is_signed ? -kMost : 0;
  return value == value ? static_cast<Whole>(std::clamp(value, least, kMost)) : Whole{0};
}

// Seconds since 1970 of "2024/11/20 10:15:02.123", "2024-11-20T10:15:02+08:00" (the zone is left
// out: one log has one), "Wed Nov 20 10:15:02 2024", or of a plain number of seconds.
std::optional<double> TimestampOf(std::string_view text);

// How numbers are written: learnt from all of a column, since "1,234" alone could mean either.
class NumberStyle {
 public:
  void Learn(std::string_view cell);
  // Nothing for "n/a", "(!) nan", words. Of "5.1 (3.0; 7.2)" the first number.
  std::optional<double> Read(std::string_view cell) const;

 private:
  bool comma_is_decimal_ = false;
};

// Begin and end of each run of dashes in a line that holds nothing but dashes and blanks: how tools
// rule off the columns of a printed table. Empty for other lines.
std::vector<std::pair<std::size_t, std::size_t>> DashesOf(std::string_view line);

}  // namespace advise
