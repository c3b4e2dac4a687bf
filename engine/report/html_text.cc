#include "engine/report/html_text.h"

#include <fmt/format.h>

#include "engine/base/text.h"

namespace advise {
namespace {

std::string Escaped(std::string_view safe) {
  std::string text;
  text.reserve(safe.size());
  for (const char c : safe) {
    switch (c) {
      case '&':
        text += "&amp;";
        break;
      case '<':
        text += "&lt;";
        break;
      case '>':
        text += "&gt;";
        break;
      case '"':
        text += "&quot;";
        break;
      case '\'':
        text += "&#39;";
        break;
      default:
        text += c;
    }
  }
  return text;
}

}  // namespace

std::string HtmlText(std::string_view raw) { return Escaped(SafeText(raw)); }

std::string HtmlCode(std::string_view raw) {
  std::string text;
  std::size_t at = 0;
  while (at < raw.size()) {
    const std::size_t end = std::min(raw.find('\n', at), raw.size());
    text += HtmlText(raw.substr(at, end - at));
    if (end < raw.size()) text += '\n';
    at = end + 1;
  }
  return text;
}

std::string ScriptSafeJson(std::string_view json) {
  std::string safe;
  safe.reserve(json.size());
  for (std::size_t i = 0; i < json.size(); ++i) {
    const char c = json[i];
    if (c == '<' || c == '>' || c == '&') {
      safe += fmt::format("\\u{:04x}", static_cast<unsigned>(c));
    } else if (json.substr(i, 3) == "\xE2\x80\xA8" || json.substr(i, 3) == "\xE2\x80\xA9") {
      safe += json[i + 2] == '\xA8' ? "\\u2028" : "\\u2029";
      i += 2;
    } else {
      safe += c;
    }
  }
  return safe;
}

std::string HtmlLink(std::string_view address) {
  std::string text = HtmlText(address);
  const bool web = address.starts_with("https://") || address.starts_with("http://");
  if (!web) return text;
  return fmt::format("<a href=\"{0}\" rel=\"noopener noreferrer\">{0}</a>", text);
}

}  // namespace advise
