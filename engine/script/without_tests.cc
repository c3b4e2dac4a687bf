#include "engine/script/without_tests.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>

namespace advise {
namespace {

// What a byte outside texts and comments begins.
enum class Byte : std::uint8_t { kSign, kBlank, kName, kQuote, kOpen, kClose };

constexpr std::array<Byte, 256> kBytes = [] {
  std::array<Byte, 256> bytes{};
  const auto set = [&](std::string_view which, Byte kind) {
    for (const char c : which) bytes[static_cast<unsigned char>(c)] = kind;
  };
  set(" \t\n\r\v\f", Byte::kBlank);
  set("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_0123456789", Byte::kName);
  set("\"'", Byte::kQuote);
  set("{([", Byte::kOpen);
  set("})]", Byte::kClose);
  return bytes;
}();

Byte KindOf(char c) { return kBytes[static_cast<unsigned char>(c)]; }

// How a word changes the depth of blocks.
int DepthChange(std::string_view word) {
  switch (word[0]) {
    case 'd':
      return word == "do" ? 1 : 0;
    case 'e':
      return word == "end" ? -1 : 0;
    case 'f':
      return word == "function" ? 1 : 0;
    case 'i':
      return word == "if" ? 1 : 0;
    case 'r':
      return word == "repeat" ? 1 : 0;
    case 'u':
      return word == "until" ? -1 : 0;
    default:
      return 0;
  }
}

struct Token {
  std::string_view text;  // empty at the end of the chunk
  int depth_change = 0;   // of brackets and blocks
};

// Splits a chunk as far as is needed to tell code from texts and comments (Lua 5.4 manual, 3.1); a
// number may come in pieces.
class Scanner {
 public:
  explicit Scanner(std::string_view text) : text_(text) {}

  Token Next() {
    SkipBlanks();
    if (at_ == text_.size()) return {};
    const std::size_t start = at_;
    const auto token = [&] { return text_.substr(start, at_ - start); };
    switch (KindOf(text_[at_])) {
      case Byte::kName:
        while (at_ < text_.size() && KindOf(text_[at_]) == Byte::kName) ++at_;
        return {token(), DepthChange(token())};
      case Byte::kQuote:
        SkipQuoted();
        return {token()};
      case Byte::kOpen:
        if (SkipLong()) return {token()};
        ++at_;
        return {token(), 1};
      case Byte::kClose:
        ++at_;
        return {token(), -1};
      default:
        ++at_;
        return {token()};
    }
  }

  // Where the token that was given last ends.
  std::size_t at() const { return at_; }

 private:
  void SkipBlanks() {
    while (at_ < text_.size()) {
      if (KindOf(text_[at_]) == Byte::kBlank) {
        ++at_;
      } else if (text_[at_] == '-' && text_.substr(at_, 2) == "--") {
        at_ += 2;
        if (!SkipLong()) at_ = std::min(text_.find('\n', at_), text_.size());
      } else {
        return;
      }
    }
  }

  void SkipQuoted() {
    const std::size_t start = at_ + 1;
    std::size_t end = at_;
    bool escaped = true;
    while (escaped) {
      end = text_.find(text_[at_], end + 1);
      if (end == std::string_view::npos) break;
      const std::size_t before = text_.find_last_not_of('\\', end - 1);  // never before the quote
      escaped = (end - before) % 2 == 0 && end > start;
    }
    at_ = end == std::string_view::npos ? text_.size() : end + 1;
  }

  // Skips "[[…]]", "[=[…]=]", … if one begins here.
  bool SkipLong() {
    if (at_ == text_.size() || text_[at_] != '[') return false;
    const std::size_t open = text_.find_first_not_of('=', at_ + 1);
    if (open == std::string_view::npos || text_[open] != '[') return false;
    const std::string close = "]" + std::string(text_.substr(at_ + 1, open - at_ - 1)) + "]";
    const std::size_t end = text_.find(close, open + 1);
    at_ = end == std::string_view::npos ? text_.size() : end + close.size();
    return true;
  }

  std::string_view text_;
  std::size_t at_ = 0;
};

struct Range {
  std::size_t begin = 0;
  std::size_t end = 0;
};

// The table of a field whose name was just read, if its value is a table and nothing else.
std::optional<Range> TableBehind(Scanner& scanner) {
  if (scanner.Next().text != "=" || scanner.Next().text != "{") return std::nullopt;
  Range table{scanner.at() - 1, 0};
  for (int depth = 1; depth > 0;) {
    const Token token = scanner.Next();
    if (token.text.empty()) return std::nullopt;
    depth += token.depth_change;
  }
  table.end = scanner.at();
  const std::string_view behind = scanner.Next().text;
  if (behind != "," && behind != ";" && behind != "}") return std::nullopt;
  return table;
}

// Outside all brackets and blocks only the chunk returns.
std::optional<Range> FindTests(std::string_view text) {
  Scanner scanner(text);
  int depth = 0;
  bool returned = false;
  std::string_view last;
  for (Token token = scanner.Next(); !token.text.empty(); token = scanner.Next()) {
    if (depth == 0) returned = last == "return" && token.text == "{";
    const bool field = returned && depth == 1 && (last == "{" || last == "," || last == ";");
    if (field && token.text == "tests") return TableBehind(scanner);
    depth += token.depth_change;
    last = token.text;
  }
  return std::nullopt;
}

}  // namespace

std::string WithoutTests(std::string_view text) {
  const std::optional<Range> tests = FindTests(text);
  if (!tests) return std::string(text);
  const std::string_view table = text.substr(tests->begin, tests->end - tests->begin);
  std::string left(text.substr(0, tests->begin));
  left += "nil";
  left.append(static_cast<std::size_t>(std::count(table.begin(), table.end(), '\n')), '\n');
  left += text.substr(tests->end);
  return left;
}

}  // namespace advise
