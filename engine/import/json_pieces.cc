#include "engine/import/json_pieces.h"

#include <algorithm>

namespace advise {

bool JsonPieces::Enter(char open) {
  at_ = std::min(text_.find_first_not_of(" \t\r\n,", at_), text_.size());
  if (at_ == text_.size() || text_[at_] != open) return false;
  ++at_;
  return true;
}

bool JsonPieces::SkipTo(char closing) {
  at_ = std::min(text_.find_first_not_of(" \t\r\n,", at_), text_.size());
  if (at_ == text_.size()) {
    cut_off_ = true;
    return false;
  }
  if (text_[at_] != closing) return true;
  ++at_;
  return false;
}

std::optional<std::string_view> JsonPieces::NextKey() {
  if (!SkipTo('}')) return std::nullopt;
  const std::size_t end = text_[at_] == '"' ? EndOfText(at_) : text_.size();
  const std::size_t colon = std::min(text_.find_first_not_of(" \t\r\n", end), text_.size());
  if (colon == text_.size() || text_[colon] != ':') {
    at_ = text_.size();
    cut_off_ = true;
    return std::nullopt;
  }
  const std::string_view key = text_.substr(at_ + 1, end - at_ - 2);
  at_ = colon + 1;
  return key;
}

bool JsonPieces::HasMore() { return SkipTo(']'); }

std::optional<std::string_view> JsonPieces::NextValue() {
  at_ = std::min(text_.find_first_not_of(" \t\r\n,", at_), text_.size());
  const std::size_t end = EndOfValue(at_);
  if (end == text_.size() || end == at_) {
    at_ = text_.size();
    cut_off_ = true;
    return std::nullopt;
  }
  const std::string_view value = text_.substr(at_, end - at_);
  at_ = end;
  return value;
}

// Behind the quote that closes the text which one opens.
std::size_t JsonPieces::EndOfText(std::size_t quote) const {
  std::size_t at = text_.find_first_of("\"\\", quote + 1);
  while (at < text_.size() && text_[at] != '"') {
    at = text_.find_first_of("\"\\", at + 2);  // behind what is escaped
  }
  return std::min(at, text_.size() - 1) + 1;
}

std::size_t JsonPieces::EndOfValue(std::size_t from) const {
  std::size_t depth = 0;
  for (std::size_t i = from; i < text_.size();) {
    i = std::min(text_.find_first_of("\"{}[],", i), text_.size());
    if (i == text_.size()) break;
    const char c = text_[i];
    if (c == '"') {
      i = EndOfText(i);
      if (depth == 0) return i;
      continue;
    }
    if (c == ',' && depth == 0) return i;
    if (c == '{' || c == '[') ++depth;
    if (c == '}' || c == ']') {
      if (depth == 0) return i;
      if (--depth == 0) return i + 1;
    }
    ++i;
  }
  return text_.size();
}

}  // namespace advise
