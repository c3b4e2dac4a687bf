#include "engine/report/html_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "engine/base/ascii.h"
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

constexpr std::array<std::string_view, 22> kUnits = {
    "%",  "s",   "ms",  "µs",  "ns",   "min",  "h",    "B",  "kB",  "MB",  "GB",
    "TB", "KiB", "MiB", "GiB", "MB/s", "GB/s", "TB/s", "Hz", "MHz", "GHz", "TFLOP/s"};

// Whether the word that starts here is a unit.
bool IsUnit(std::string_view text) {
  return std::any_of(kUnits.begin(), kUnits.end(), [&](std::string_view unit) {
    const std::size_t size = unit.size();
    return text.starts_with(unit) &&
           (text.size() == size || (!IsAlnum(text[size]) && text[size] != '/'));
  });
}

// With a no-break space between a number and its unit: no line begins with a unit.
std::string WithUnitsJoined(const std::string& text) {
  std::string joined;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const bool number = i > 0 && IsDigit(text[i - 1]);
    if (text[i] == ' ' && number && IsUnit(std::string_view(text).substr(i + 1))) {
      joined += "\xC2\xA0";
    } else {
      joined += text[i];
    }
  }
  return joined;
}

}  // namespace

std::string HtmlText(std::string_view raw) { return Escaped(WithUnitsJoined(SafeText(raw))); }

std::string HtmlCode(std::string_view raw) {
  std::string text;
  std::size_t at = 0;
  while (at < raw.size()) {
    const std::size_t end = std::min(raw.find('\n', at), raw.size());
    text += Escaped(SafeText(raw.substr(at, end - at)));  // to be copied as it stands
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

std::string HtmlPath(const std::string& path, const std::string& more) {
  // Of a folder the last part is its name.
  const std::size_t end = path.find_last_not_of('/');
  const std::size_t slash = end == std::string::npos ? end : path.rfind('/', end);
  const std::size_t file = slash == std::string::npos ? 0 : slash + 1;
  std::string name =
      fmt::format("<span class=\"file\">{}</span>", HtmlText(path.substr(file) + more));
  if (file == 0) return name;
  return fmt::format("<span class=\"folders\">{}</span>{}", HtmlText(path.substr(0, file)), name);
}

std::string HtmlPage(const std::string& title, const std::string& style, const std::string& body) {
  return fmt::format(
      "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\n"
      "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
      "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src "
      "'unsafe-inline'\">\n<title>{0}</title>\n<style>\n{1}</style></head><body>\n<h1>{0}</h1>\n"
      "{2}</body></html>\n",
      HtmlText(title), style, body);
}

}  // namespace advise
