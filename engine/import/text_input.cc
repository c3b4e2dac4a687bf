#include "engine/import/text_input.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <fstream>
#include <iterator>

#include "engine/base/ascii.h"

namespace advise {
namespace {

void AppendUtf8(std::uint32_t code, std::string* out) {
  if (code < 0x80) {
    *out += static_cast<char>(code);
  } else if (code < 0x800) {
    *out += static_cast<char>(0xC0 | (code >> 6));
    *out += static_cast<char>(0x80 | (code & 0x3F));
  } else if (code < 0x10000) {
    *out += static_cast<char>(0xE0 | (code >> 12));
    *out += static_cast<char>(0x80 | ((code >> 6) & 0x3F));
    *out += static_cast<char>(0x80 | (code & 0x3F));
  } else {
    *out += static_cast<char>(0xF0 | (code >> 18));
    *out += static_cast<char>(0x80 | ((code >> 12) & 0x3F));
    *out += static_cast<char>(0x80 | ((code >> 6) & 0x3F));
    *out += static_cast<char>(0x80 | (code & 0x3F));
  }
}

std::string FromUtf16(std::string_view raw, bool little) {
  std::string text;
  const auto unit = [&](std::size_t i) {
    const auto first = static_cast<unsigned char>(raw[i]);
    const auto second = static_cast<unsigned char>(raw[i + 1]);
    return static_cast<std::uint32_t>(little ? first | second << 8 : first << 8 | second);
  };
  for (std::size_t i = 0; i + 1 < raw.size(); i += 2) {
    std::uint32_t code = unit(i);
    if (code >= 0xD800 && code < 0xDC00 && i + 3 < raw.size()) {
      code = 0x10000 + ((code - 0xD800) << 10) + ((unit(i + 2) - 0xDC00) & 0x3FF);
      i += 2;
    }
    AppendUtf8(code, &text);
  }
  return text;
}

bool IsBlank(char c) { return c == ' ' || c == '\t'; }

bool Digits(std::string_view text, std::size_t at, std::size_t count, int* value) {
  if (at + count > text.size()) return false;
  const char* end = text.data() + at + count;
  const auto [stop, error] = std::from_chars(text.data() + at, end, *value);
  return error == std::errc() && stop == end;
}

// Days from 1970-01-01 of a date of the Gregorian calendar.
std::int64_t DaysOf(int year, int month, int day) {
  year -= month <= 2 ? 1 : 0;
  const int era = (year >= 0 ? year : year - 399) / 400;
  const int of_era = year - era * 400;
  const int of_year = (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + day - 1;
  const int days = of_era * 365 + of_era / 4 - of_era / 100 + of_year;
  return std::int64_t{era} * 146097 + days - 719468;
}

// "Mon Nov  3 01:24:26 2025" as "2025-11-03 01:24:26".
std::optional<std::string> DateInWords(std::string_view text) {
  static constexpr auto kMonths = std::to_array<std::string_view>(
      {"Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"});
  const auto words = WordsOf(text);
  if (words.size() != 5 || words[3].size() != 8 || words[2].size() > 2) return std::nullopt;
  const auto month = std::find(kMonths.begin(), kMonths.end(), words[1]) - kMonths.begin();
  if (month == std::ssize(kMonths)) return std::nullopt;
  const auto two = [](std::string digits) { return digits.size() < 2 ? "0" + digits : digits; };
  return std::string(words[4]) + "-" + two(std::to_string(month + 1)) + "-" +
         two(std::string(words[2])) + " " + std::string(words[3]);
}

}  // namespace

std::string NormalText(std::string_view raw) {
  std::string converted;
  if (raw.starts_with("\xEF\xBB\xBF")) raw.remove_prefix(3);
  if (raw.starts_with("\xFF\xFE") || raw.starts_with("\xFE\xFF")) {
    converted = FromUtf16(raw.substr(2), raw[0] == '\xFF');
    raw = converted;
  }
  std::string text;
  text.reserve(raw.size());
  for (std::size_t i = 0; i < raw.size(); ++i) {
    if (raw[i] == '\r') {
      if (i + 1 >= raw.size() || raw[i + 1] != '\n') text += '\n';
    } else if (raw[i] == '\x1b' && i + 1 < raw.size() && raw[i + 1] == '[') {
      // ESC [ parameters, then one letter.
      i += 2;
      while (i < raw.size() && (raw[i] < '@' || raw[i] > '~')) ++i;
    } else if (raw[i] == '\xC2' && i + 1 < raw.size() && raw[i + 1] == '\xA0') {
      text += ' ';  // no-break space
      ++i;
    } else {
      text += raw[i];
    }
  }
  return text;
}

Result<std::string> ReadTextFileAsLines(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) return Fail("cannot be opened", path, "check that you may read it");
  const std::string raw{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  return NormalText(raw);
}

std::vector<std::string_view> LinesOf(std::string_view text) {
  std::vector<std::string_view> lines;
  std::size_t at = 0;
  while (at < text.size()) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    lines.push_back(text.substr(at, end - at));
    at = end + 1;
  }
  return lines;
}

std::vector<std::string_view> WordsOf(std::string_view line) {
  std::vector<std::string_view> words;
  std::size_t at = 0;
  while (at < line.size()) {
    while (at < line.size() && IsBlank(line[at])) ++at;
    const std::size_t start = at;
    while (at < line.size() && !IsBlank(line[at])) ++at;
    if (at > start) words.push_back(line.substr(start, at - start));
  }
  return words;
}

std::vector<std::string> CellsOf(std::string_view line, bool* complete) {
  std::vector<std::string> cells;
  if (complete != nullptr) *complete = true;
  std::size_t at = 0;
  while (at <= line.size()) {
    while (at < line.size() && IsBlank(line[at])) ++at;
    std::string cell;
    if (at < line.size() && line[at] == '"') {
      bool closed = false;
      for (++at; at < line.size(); ++at) {
        if (line[at] != '"') {
          cell += line[at];
        } else if (at + 1 < line.size() && line[at + 1] == '"') {
          cell += line[at++];
        } else {
          closed = true;
          ++at;
          break;
        }
      }
      if (!closed && complete != nullptr) *complete = false;
      while (at < line.size() && line[at] != ',') ++at;
    } else {
      const std::size_t end = std::min(line.find(',', at), line.size());
      cell = Trimmed(line.substr(at, end - at));
      at = end;
    }
    cells.push_back(std::move(cell));
    if (at >= line.size()) break;
    ++at;  // the comma
  }
  return cells;
}

std::optional<double> NumberOf(std::string_view text) {
  text = Trimmed(text);
  if (!text.empty() && text.front() == '+') text.remove_prefix(1);
  if (text.empty() || IsLetter(text.back()) ||
      text.find_first_of("0123456789") == std::string_view::npos) {
    return std::nullopt;
  }
  double value = 0;
  const char* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, value);
  if (error != std::errc() || stop != end || !std::isfinite(value)) return std::nullopt;
  return value;
}

std::optional<double> TimestampOf(std::string_view text) {
  text = Trimmed(text);
  if (const auto seconds = NumberOf(text)) return seconds;
  if (const auto date = DateInWords(text)) return TimestampOf(*date);
  int year = 0, month = 0, day = 0, hour = 0, minute = 0;
  const bool date = Digits(text, 0, 4, &year) && Digits(text, 5, 2, &month) &&
                    Digits(text, 8, 2, &day) && (text[4] == '/' || text[4] == '-') &&
                    text[7] == text[4];
  const bool time = date && text.size() >= 19 && (text[10] == ' ' || text[10] == 'T') &&
                    Digits(text, 11, 2, &hour) && Digits(text, 14, 2, &minute) && text[13] == ':';
  if (!time) return std::nullopt;
  std::size_t end = 17;
  while (end < text.size() && (IsDigit(text[end]) || text[end] == '.')) {
    ++end;
  }
  const auto seconds = NumberOf(text.substr(17, end - 17));
  if (!seconds) return std::nullopt;
  return static_cast<double>(DaysOf(year, month, day)) * 86400 + hour * 3600 + minute * 60 +
         *seconds;
}

void NumberStyle::Learn(std::string_view cell) {
  const std::size_t comma = cell.rfind(',');
  const std::size_t point = cell.rfind('.');
  if (comma == std::string_view::npos) {
    // "1.234.567": points that group.
    if (std::count(cell.begin(), cell.end(), '.') > 1 && NumberOf(cell.substr(0, 1))) {
      comma_is_decimal_ = true;
    }
    return;
  }
  if (point != std::string_view::npos) {
    if (comma > point) comma_is_decimal_ = true;
    return;
  }
  const bool one = std::count(cell.begin(), cell.end(), ',') == 1;
  const std::size_t after = cell.size() - comma - 1;
  const bool digits =
      std::all_of(cell.begin() + static_cast<std::ptrdiff_t>(comma) + 1, cell.end(), IsDigit);
  if (one && digits && after != 3 && after > 0) comma_is_decimal_ = true;
}

std::optional<double> NumberStyle::Read(std::string_view cell) const {
  cell = Trimmed(cell);
  const std::size_t instances = cell.find(" (");
  if (instances != std::string_view::npos) cell = cell.substr(0, instances);
  std::string plain;
  for (const char c : cell) {
    const char group = comma_is_decimal_ ? '.' : ',';
    const char decimal = comma_is_decimal_ ? ',' : '.';
    if (c == group || c == '\'') continue;
    plain += c == decimal ? '.' : c;
  }
  return NumberOf(plain);
}

std::vector<std::pair<std::size_t, std::size_t>> DashesOf(std::string_view line) {
  std::vector<std::pair<std::size_t, std::size_t>> spans;
  for (std::size_t at = 0; at < line.size();) {
    if (line[at] == ' ') {
      ++at;
    } else if (line[at] == '-') {
      const std::size_t start = at;
      while (at < line.size() && line[at] == '-') ++at;
      spans.emplace_back(start, at);
    } else {
      return {};
    }
  }
  return spans;
}

}  // namespace advise
