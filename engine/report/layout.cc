#include "engine/report/layout.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <utility>

#include "engine/base/ascii.h"
#include "engine/base/is_in.h"
#include "engine/base/text.h"

namespace advise {
namespace {

constexpr int kNarrowest = 12;  // a column is not cut below this

using CodeRange = std::pair<std::uint32_t, std::uint32_t>;

constexpr std::array<CodeRange, 5> kZeroWidth = {
    {{0x0300, 0x036F}, {0x200B, 0x200F}, {0x20D0, 0x20FF}, {0xFE00, 0xFE0F}, {0xFEFF, 0xFEFF}}};
constexpr std::array<CodeRange, 9> kDoubleWidth = {{{0x1100, 0x115F},
                                                    {0x2E80, 0xA4CF},
                                                    {0xAC00, 0xD7A3},
                                                    {0xF900, 0xFAFF},
                                                    {0xFE30, 0xFE6F},
                                                    {0xFF00, 0xFF60},
                                                    {0xFFE0, 0xFFE6},
                                                    {0x1F300, 0x1FAFF},
                                                    {0x20000, 0x3FFFD}}};

template <std::size_t N>
bool InRanges(std::uint32_t code, const std::array<CodeRange, N>& ranges) {
  return std::any_of(ranges.begin(), ranges.end(), [code](const CodeRange& range) {
    return code >= range.first && code <= range.second;
  });
}

std::size_t SequenceLength(char lead) {
  const auto byte = static_cast<unsigned char>(lead);
  if (byte >= 0xF0) return 4;
  if (byte >= 0xE0) return 3;
  return byte >= 0xC0 ? 2 : 1;
}

std::uint32_t Decode(std::string_view sequence) {
  constexpr std::array<std::uint32_t, 5> kLeadBits = {0, 0x7F, 0x1F, 0x0F, 0x07};
  std::uint32_t code = static_cast<unsigned char>(sequence[0]) & kLeadBits[sequence.size()];
  for (std::size_t i = 1; i < sequence.size(); ++i) {
    code = (code << 6U) | (static_cast<unsigned char>(sequence[i]) & 0x3FU);
  }
  return code;
}

// The first character of a text that is not empty.
std::string_view FirstCharacter(std::string_view utf8) {
  return utf8.substr(0, SequenceLength(utf8.front()));
}

std::vector<std::string_view> Characters(std::string_view utf8) {
  std::vector<std::string_view> characters;
  while (!utf8.empty()) {
    characters.push_back(FirstCharacter(utf8));
    utf8.remove_prefix(characters.back().size());
  }
  return characters;
}

int CharacterWidth(std::string_view character) {
  if (character.size() == 1) return 1;
  const std::uint32_t code = Decode(character);
  if (InRanges(code, kZeroWidth)) return 0;
  return InRanges(code, kDoubleWidth) ? 2 : 1;
}

// A number and its unit ("93 %", "1.2 GB/s"), or a multiplication ("2 × H100"), read as one word.
bool BelongsToNumber(std::string_view number, std::string_view next) {
  constexpr std::array<std::string_view, 17> kUnitsOfNumbers = {
      "%",  "ns",   "µs",   "ms",   "s",    "B",   "kB",  "MB", "GB",
      "TB", "kB/s", "MB/s", "GB/s", "TB/s", "GHz", "MHz", "×"};
  if (number.empty() || number.back() < '0' || number.back() > '9') return false;
  while (!next.empty() && std::string_view(",.;:)").find(next.back()) != std::string_view::npos) {
    next.remove_suffix(1);
  }
  return IsIn(next, kUnitsOfNumbers);
}

std::vector<std::string> Words(std::string_view text) {
  std::vector<std::string> words;
  std::size_t at = 0;
  while (at < text.size()) {
    const std::size_t end = std::min(text.find_first_of(" \n\t", at), text.size());
    if (end > at) {
      const std::string_view word = text.substr(at, end - at);
      if (!words.empty() && BelongsToNumber(words.back(), word)) {
        words.back() += " " + std::string(word);
      } else {
        words.emplace_back(word);
      }
    }
    at = end + 1;
  }
  return words;
}

std::string Spaces(int count) {
  return std::string(static_cast<std::size_t>(std::max(0, count)), ' ');
}

void TrimRight(std::string& line) { line.erase(line.find_last_not_of(' ') + 1); }

}  // namespace

int DisplayWidth(std::string_view utf8) {
  int width = 0;
  while (!utf8.empty()) {
    const std::string_view character = FirstCharacter(utf8);
    width += CharacterWidth(character);
    utf8.remove_prefix(character.size());
  }
  return width;
}

std::string PadRight(std::string_view text, int width) {
  return std::string(text) + Spaces(width - DisplayWidth(text));
}

std::string PadLeft(std::string_view text, int width) {
  return Spaces(width - DisplayWidth(text)) + std::string(text);
}

std::string CutEnd(std::string_view text, int width) {
  if (DisplayWidth(text) <= width) return std::string(text);
  std::string head;
  int room = width - 1;
  for (const std::string_view character : Characters(text)) {
    room -= CharacterWidth(character);
    if (room < 0) break;
    head += character;
  }
  TrimRight(head);
  return head + "…";
}

std::string CutMiddle(std::string_view text, int width) {
  if (DisplayWidth(text) <= width) return std::string(text);
  std::vector<std::string_view> characters = Characters(text);
  std::reverse(characters.begin(), characters.end());
  int room = std::max(0, width - 1) / 3;
  std::string tail;
  for (const std::string_view character : characters) {
    room -= CharacterWidth(character);
    if (room < 0) break;
    tail.insert(0, character);
  }
  return CutEnd(text, width - DisplayWidth(tail)) + tail;
}

std::vector<std::string> ShortenedApart(const std::vector<std::string>& names, int width) {
  std::vector<std::string> cut;
  for (const std::string& name : names) cut.push_back(CutMiddle(name, width));
  std::vector<std::string> apart = cut;
  for (std::size_t i = 0; i < names.size(); ++i) {
    std::size_t same = std::string::npos;  // how many bytes it has in common with those cut alike
    for (std::size_t k = 0; k < names.size(); ++k) {
      if (names[k] == names[i] || cut[k] != cut[i]) continue;
      const auto differ =
          std::mismatch(names[i].begin(), names[i].end(), names[k].begin(), names[k].end()).first;
      same = std::min(same, static_cast<std::size_t>(differ - names[i].begin()));
    }
    if (same == std::string::npos) continue;
    // From the beginning of the word that differs.
    std::size_t from = same;
    const auto in_word = [&](std::size_t at) {
      return at < names[i].size() && IsAlnum(names[i][at]);
    };
    while (from > 0 && in_word(from - 1)) --from;
    const std::string head = CutEnd(names[i], std::max(2, width / 3));
    apart[i] = head + CutEnd(std::string_view(names[i]).substr(from), width - DisplayWidth(head));
  }
  return apart;
}

std::vector<std::string> WrapWords(std::string_view text, int width) {
  std::vector<std::string> lines(1);
  int used = 0;
  for (const std::string& word : Words(text)) {
    const int wide = DisplayWidth(word);
    if (used > 0 && used + 1 + wide > width) {
      lines.emplace_back();
      used = 0;
    }
    if (used > 0) lines.back() += ' ';
    lines.back() += word;
    used += wide + (used > 0 ? 1 : 0);
  }
  return lines;
}

namespace {

// Columns that a line takes, in which Paint may have put codes for colors.
int WidthWithoutInk(const std::string& line) {
  std::string plain;
  for (std::size_t at = 0; at < line.size();) {
    const std::size_t code = std::min(line.find("\x1b[", at), line.size());
    plain += line.substr(at, code - at);
    at = code == line.size() ? code : std::min(line.find('m', code), line.size() - 1) + 1;
  }
  return DisplayWidth(plain);
}

}  // namespace

std::string Page::Paint(std::string_view text, Ink ink) const {
  constexpr std::array<const char*, 7> kCodes = {"", "1", "2", "1;31", "33", "36", "32"};
  std::string safe = SafeText(text);
  if (!color_ || ink == Ink::kPlain || safe.empty()) return safe;
  return std::string("\x1b[") + kCodes[static_cast<std::size_t>(ink)] + "m" + safe + "\x1b[0m";
}

void Page::Blank() {
  if (text_.empty() || text_.ends_with("\n\n")) return;
  text_ += '\n';
  ++rows_;
}

void Page::Line(std::string_view text) {
  std::string line(text);
  TrimRight(line);
  text_ += line + "\n";
  rows_ += std::max(1, (WidthWithoutInk(line) + width_ - 1) / width_);
}

void Page::Append(const Page& other) {
  text_ += other.text_;
  rows_ += other.rows_;
}

void Page::Wrapped(std::string_view text, int indent, Ink ink) {
  for (const std::string& line : WrapWords(text, width_ - indent)) {
    Line(Spaces(indent) + Paint(line, ink));
  }
}

void Page::Labelled(std::string_view label, int indent, int column, std::string_view text,
                    Ink ink) {
  bool first = true;
  for (const std::string& line : WrapWords(text, width_ - column)) {
    const std::string lead = first ? Spaces(indent) + Paint(label, Ink::kDim) +
                                         Spaces(column - indent - DisplayWidth(label))
                                   : Spaces(column);
    Line(lead + Paint(line, ink));
    first = false;
  }
}

void Page::Verbatim(std::string_view text, int indent, Ink ink) {
  std::size_t at = 0;
  while (at < text.size()) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    Line(Spaces(indent) + Paint(text.substr(at, end - at), ink));
    at = end + 1;
  }
}

void Page::Parts(std::string_view label, int column, const std::vector<std::string>& parts,
                 std::string_view separator) {
  std::string line = PadRight(label, column);
  int used = column;
  if (!label.empty()) line = Paint(label, Ink::kDim) + Spaces(column - DisplayWidth(label));
  bool first = true;
  for (const std::string& part : parts) {
    const int wide = DisplayWidth(part) + DisplayWidth(separator);
    if (!first && used + wide > width_) {
      Line(line);
      line = Spaces(column);
      used = column;
      first = true;
    }
    if (!first) line += separator;
    used += first ? DisplayWidth(part) : wide;
    line += Paint(part, Ink::kPlain);
    first = false;
  }
  Line(line);
}

void WriteTable(Page& page, const std::vector<std::string>& header,
                const std::vector<std::vector<std::string>>& rows, int indent) {
  const std::size_t columns = header.size();
  std::vector<std::string> names(header);
  std::vector<bool> right(columns);
  std::vector<int> widths(columns);
  int total = indent;
  for (std::size_t c = 0; c < columns; ++c) {
    right[c] = names[c].ends_with('>');
    if (right[c]) names[c].pop_back();
    widths[c] = DisplayWidth(names[c]);
    for (const auto& row : rows) {
      if (c < row.size()) widths[c] = std::max(widths[c], DisplayWidth(row[c]));
    }
    total += widths[c] + (c == 0 ? 0 : 2);
  }
  const auto widest = std::max_element(widths.begin(), widths.end());
  if (widest != widths.end() && total > page.width() && *widest > kNarrowest) {
    *widest = std::max(kNarrowest, *widest - (total - page.width()));
  }
  const auto write = [&](const std::vector<std::string>& cells, Ink ink) {
    std::string line;
    for (std::size_t c = 0; c < columns; ++c) {
      const std::string cell = CutMiddle(c < cells.size() ? cells[c] : "", widths[c]);
      line +=
          (c == 0 ? "" : "  ") + (right[c] ? PadLeft(cell, widths[c]) : PadRight(cell, widths[c]));
    }
    TrimRight(line);
    page.Line(Spaces(indent) + page.Paint(line, ink));
  };
  write(names, Ink::kDim);
  for (const auto& row : rows) write(row, Ink::kPlain);
}

std::string MarkdownCell(std::string_view text) {
  std::string cell;
  for (const char c : SafeText(text)) {
    if (c == '|') cell += '\\';
    cell += c;
  }
  return cell;
}

}  // namespace advise
