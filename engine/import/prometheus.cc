#include "engine/import/prometheus.h"

#include "engine/import/text_input.h"

namespace advise {
namespace {

// `name="value", …` inside the braces.
std::map<std::string, std::string> LabelsOf(std::string_view text) {
  std::map<std::string, std::string> labels;
  std::size_t at = 0;
  while (at < text.size()) {
    const std::size_t equals = text.find("=\"", at);
    if (equals == std::string_view::npos) break;
    std::string_view name = Trimmed(text.substr(at, equals - at));
    if (name.starts_with(",")) name = Trimmed(name.substr(1));
    std::size_t end = equals + 2;
    std::string value;
    for (; end < text.size() && text[end] != '"'; ++end) {
      if (text[end] == '\\' && end + 1 < text.size()) ++end;
      value += text[end];
    }
    labels[std::string(name)] = value;
    at = end + 1;
  }
  return labels;
}

}  // namespace

std::optional<PrometheusLine> PrometheusLineOf(std::string_view line) {
  line = Trimmed(line);
  if (line.empty() || line.starts_with("#")) return std::nullopt;
  PrometheusLine read;
  std::string_view rest;
  const std::size_t open = line.find('{');
  if (open == std::string_view::npos) {
    const std::size_t blank = line.find_first_of(" \t");
    if (blank == std::string_view::npos) return std::nullopt;
    read.name = line.substr(0, blank);
    rest = line.substr(blank);
  } else {
    const std::size_t close = line.rfind('}');
    if (close == std::string_view::npos || close < open) return std::nullopt;
    read.name = Trimmed(line.substr(0, open));
    read.labels = LabelsOf(line.substr(open + 1, close - open - 1));
    rest = line.substr(close + 1);
  }
  const auto words = WordsOf(rest);
  if (words.empty()) return std::nullopt;
  read.value = words[0];
  if (words.size() > 1) {
    if (const auto milliseconds = NumberOf(words[1])) read.time_s = *milliseconds / 1000;
  }
  return read;
}

}  // namespace advise
