#include "engine/script/lua_tokens.h"

#include <algorithm>
#include <string>

#include "engine/base/ascii.h"
#include "engine/base/trim.h"

namespace advise {
namespace {

using Kind = LuaToken::Kind;

class Scanner {
 public:
  explicit Scanner(std::string_view text) : text_(text) {}

  std::vector<LuaToken> All() {
    while (at_ < text_.size()) Next();
    return std::move(tokens_);
  }

 private:
  char Peek(std::size_t ahead = 0) const {
    return at_ + ahead < text_.size() ? text_[at_ + ahead] : '\0';
  }

  void Take(Kind kind, std::size_t end, std::size_t quotes = 0) {
    end = std::min(end, text_.size());
    const std::string_view all = text_.substr(at_, end - at_);
    const std::size_t cut = all.size() >= 2 * quotes ? quotes : 0;
    tokens_.push_back({kind, all.substr(cut, all.size() - 2 * cut), line_});
    Skip(end);
  }

  void Skip(std::size_t end) {
    line_ += static_cast<int>(std::count(text_.begin() + static_cast<std::ptrdiff_t>(at_),
                                         text_.begin() + static_cast<std::ptrdiff_t>(end), '\n'));
    at_ = end;
  }

  // Where "[[…]]" or "[=[…]=]" that begins at `from` ends, or 0; `quotes` is the length of its
  // ends.
  std::size_t LongEnd(std::size_t from, std::size_t* quotes) const {
    if (from >= text_.size() || text_[from] != '[') return 0;
    const std::size_t open = text_.find_first_not_of('=', from + 1);
    if (open == std::string_view::npos || text_[open] != '[') return 0;
    *quotes = open - from + 1;
    const std::string close = "]" + std::string(text_.substr(from + 1, open - from - 1)) + "]";
    const std::size_t end = text_.find(close, open + 1);
    return end == std::string_view::npos ? text_.size() : end + close.size();
  }

  std::size_t QuotedEnd() const {
    for (std::size_t at = at_ + 1; at < text_.size(); ++at) {
      if (text_[at] == '\\')
        ++at;
      else if (text_[at] == text_[at_])
        return at + 1;
    }
    return text_.size();
  }

  std::size_t NumberEnd() const {
    std::size_t end = at_;
    while (end < text_.size()) {
      const bool sign = (text_[end] == '-' || text_[end] == '+') &&
                        (text_[end - 1] == 'e' || text_[end - 1] == 'E');
      if (!IsWordChar(text_[end]) && text_[end] != '.' && !sign) break;
      ++end;
    }
    return end;
  }

  void Next() {
    const char c = Peek();
    std::size_t quotes = 1;
    if (IsSpace(c)) return Skip(at_ + 1);
    if (c == '-' && Peek(1) == '-') {
      const std::size_t end = LongEnd(at_ + 2, &quotes);
      return Skip(end != 0 ? end : std::min(text_.find('\n', at_), text_.size()));
    }
    if (IsDigit(c) || (c == '.' && IsDigit(Peek(1)))) return Take(Kind::kNumber, NumberEnd());
    if (IsWordChar(c)) {
      std::size_t end = at_;
      while (end < text_.size() && IsWordChar(text_[end])) ++end;
      return Take(Kind::kName, end);
    }
    if (c == '"' || c == '\'') return Take(Kind::kText, QuotedEnd(), 1);
    if (const std::size_t end = LongEnd(at_, &quotes)) return Take(Kind::kText, end, quotes);
    const std::string_view two = text_.substr(at_, 2);
    const bool pair = two == "<=" || two == ">=" || two == "==" || two == "~=" || two == "..";
    Take(Kind::kSign, at_ + (pair ? 2 : 1));
  }

  std::string_view text_;
  std::size_t at_ = 0;
  int line_ = 1;
  std::vector<LuaToken> tokens_;
};

}  // namespace

std::vector<LuaToken> LuaTokens(std::string_view text) { return Scanner(text).All(); }

}  // namespace advise
