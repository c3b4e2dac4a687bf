#include "engine/import/kineto/kineto_scan.h"

namespace advise::kineto {

std::size_t EndOfValue(std::string_view text) {
  int depth = 0;
  for (std::size_t at = 0; at < text.size(); ++at) {
    const char c = text[at];
    if (c == '"') {
      for (++at; at < text.size() && text[at] != '"'; ++at) {
        if (text[at] == '\n') return kNoValue;
        if (text[at] == '\\') ++at;
      }
      if (at >= text.size()) return kNotWhole;
      if (depth == 0) return at + 1;
    } else if (c == '{' || c == '[') {
      ++depth;
    } else if (c == '}' || c == ']') {
      if (depth == 0) return at;  // the end of what surrounds a scalar
      if (--depth == 0) return at + 1;
    } else if (depth == 0 && (c == ',' || IsSpace(c))) {
      return at;
    }
  }
  return kNotWhole;
}

std::size_t NextStart(std::string_view text, std::size_t from) {
  while (true) {
    std::size_t at = text.find('}', from);
    if (at == std::string_view::npos) return at;
    from = ++at;
    for (const char wanted : {',', '{', '"'}) {
      while (at < text.size() && IsSpace(text[at])) ++at;
      if (at >= text.size() || text[at] != wanted) {
        at = 0;
        break;
      }
      if (wanted == '"') break;
      ++at;
    }
    if (at > 0) return text.rfind('{', at);
  }
}

std::size_t EndOfArray(std::string_view text) {
  for (std::size_t at = text.find(']'); at != std::string_view::npos; at = text.find(']', at + 1)) {
    std::size_t before = at;
    while (before > 0 && IsSpace(text[before - 1])) --before;
    std::size_t after = at + 1;
    while (after < text.size() && IsSpace(text[after])) ++after;
    const bool closes = before > 0 && text[before - 1] == '}';
    if (closes && after < text.size() && text[after] == '}') return at;
    if (!closes || after >= text.size() || text[after] != ',') continue;
    for (++after; after < text.size() && IsSpace(text[after]);) ++after;
    if (after < text.size() && text[after] == '"') return at;
  }
  return std::string_view::npos;
}

std::size_t LastStart(std::string_view text) {
  for (std::size_t at = text.rfind('{'); at != std::string_view::npos && at > 0;
       at = text.rfind('{', at - 1)) {
    std::size_t after = at + 1;
    while (after < text.size() && IsSpace(text[after])) ++after;
    if (after >= text.size() || text[after] != '"') continue;
    std::size_t before = at;
    while (before > 0 && IsSpace(text[before - 1])) --before;
    if (before == 0 || text[before - 1] != ',') continue;
    --before;
    while (before > 0 && IsSpace(text[before - 1])) --before;
    if (before > 0 && text[before - 1] == '}') return at;
  }
  return std::string_view::npos;
}

}  // namespace advise::kineto
