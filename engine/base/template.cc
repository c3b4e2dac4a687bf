#include "engine/base/template.h"

#include <fmt/format.h>

#include <charconv>
#include <cmath>
#include <map>

#include "engine/base/ascii.h"
#include "engine/base/text.h"

namespace advise {

namespace {

// "1 small copies" as people say it, where `at` is the end of the "1": the noun is one of the next
// three words.
void MakeSingular(std::string* text, std::size_t at) {
  static const std::map<std::string_view, std::string_view> kSingular = {
      {"algorithms", "algorithm"},
      {"allocations", "allocation"},
      {"batches", "batch"},
      {"blocks", "block"},
      {"broadcasts", "broadcast"},
      {"calls", "call"},
      {"casts", "cast"},
      {"collectives", "collective"},
      {"convolutions", "convolution"},
      {"copies", "copy"},
      {"cores", "core"},
      {"CPUs", "CPU"},
      {"directions", "direction"},
      {"files", "file"},
      {"GPUs", "GPU"},
      {"graphs", "graph"},
      {"hosts", "host"},
      {"iterations", "iteration"},
      {"kernels", "kernel"},
      {"launches", "launch"},
      {"loads", "load"},
      {"memsets", "memset"},
      {"messages", "message"},
      {"migrations", "migration"},
      {"nodes", "node"},
      {"operations", "operation"},
      {"operators", "operator"},
      {"pairs", "pair"},
      {"passes", "pass"},
      {"ports", "port"},
      {"processes", "process"},
      {"products", "product"},
      {"programs", "program"},
      {"ranks", "rank"},
      {"reduces", "reduce"},
      {"requests", "request"},
      {"rows", "row"},
      {"runs", "run"},
      {"samples", "sample"},
      {"sequences", "sequence"},
      {"steps", "step"},
      {"streams", "stream"},
      {"switches", "switch"},
      {"threads", "thread"},
      {"tokens", "token"},
      {"uploads", "upload"},
      {"values", "value"},
      {"waits", "wait"},
      {"waves", "wave"},
      {"workers", "worker"}};
  constexpr int kWords = 3;
  std::size_t from = at;
  for (int word = 0; word < kWords && from < text->size() && (*text)[from] == ' '; ++word) {
    std::size_t to = ++from;
    while (to < text->size() && IsLetter((*text)[to])) ++to;
    const std::string_view noun = std::string_view(*text).substr(from, to - from);
    if (word == 0 && noun == "times" && text->compare(to, 4, " as ") != 0) {
      text->replace(at - 1, to - at + 1, "once");
      return;
    }
    const auto singular = kSingular.find(noun);
    if (singular != kSingular.end()) {
      text->replace(from, to - from, singular->second);
      return;
    }
    // "1 element-wise kernels": the rest of a compound belongs to the word.
    while (to < text->size() && (*text)[to] == '-') {
      ++to;
      while (to < text->size() && IsLetter((*text)[to])) ++to;
    }
    from = to;
  }
}

// "0.18 times per step" as people say it, "about once in 6 steps", where the number stands at
// [begin, end).
void MakeRare(std::string* text, std::size_t begin, std::size_t end) {
  constexpr std::string_view kTimesPer = " times per ";
  constexpr double kOften = 0.67;  // "about once in 1 step" would say nothing
  double rate = 0;
  const char* const first = text->data() + begin;
  const auto parsed = std::from_chars(first, text->data() + end, rate);
  if (parsed.ec != std::errc() || rate <= 0 || rate > kOften) return;
  if (text->compare(end, kTimesPer.size(), kTimesPer) != 0) return;
  std::size_t to = end + kTimesPer.size();
  while (to < text->size() && IsLetter((*text)[to])) ++to;
  const std::string unit = text->substr(end + kTimesPer.size(), to - end - kTimesPer.size());
  text->replace(begin, to - begin,
                fmt::format("about once in {:.0f} {}{}", std::round(1 / rate), unit,
                            unit.ends_with('s') || unit.ends_with("ch") ? "es" : "s"));
}

// Kinds of places that code has: the name of a kernel, and words that stand in it as they are.
bool IsOfCode(std::string_view kind) { return kind == "function" || kind == "code"; }

}  // namespace

std::string FillTemplate(
    std::string_view text,
    const std::function<std::optional<std::string>(std::string_view name, std::string_view kind)>&
        value_of) {
  std::string filled;
  filled.reserve(text.size());
  constexpr std::string_view kTimes = " times";
  struct Count {
    std::size_t begin, end;
    bool few;  // one or two
  };
  std::vector<Count> counts;
  std::size_t at = 0;
  while (at < text.size()) {
    const std::size_t open = text.find('{', at);
    const std::size_t close = open == std::string_view::npos ? open : text.find('}', open);
    if (close == std::string_view::npos) break;
    filled += text.substr(at, open - at);
    const std::string_view place = text.substr(open + 1, close - open - 1);
    const std::size_t colon = place.find(':');
    std::optional<std::string> value;
    if (colon != std::string_view::npos)
      value = value_of(place.substr(0, colon), place.substr(colon + 1));
    const std::size_t begin = filled.size();
    filled += value ? *value : std::string(text.substr(open, close - open + 1));
    if (value && (place.ends_with(":count") || place.ends_with(":num")))
      counts.push_back({begin, filled.size(), value == "1" || value == "2"});
    at = close + 1;
  }
  filled += text.substr(at);
  for (auto count = counts.rbegin(); count != counts.rend(); ++count) {
    if (!count->few)
      MakeRare(&filled, count->begin, count->end);
    else if (filled[count->begin] == '1')
      MakeSingular(&filled, count->end);
    else if (filled.compare(count->end, kTimes.size(), kTimes) == 0)
      filled.replace(count->begin, kTimes.size() + 1, "twice");
  }
  return filled;
}

bool IsText(std::string_view kind) { return kind == "text" || kind == "kernel" || IsOfCode(kind); }

std::string TextInPlace(std::string_view words, std::string_view kind) {
  if (kind == "kernel") return KernelInWords(words);
  return SafeText(kind == "function" ? KernelFunction(words) : std::string(words));
}

std::string FillCode(
    std::string_view code,
    const std::function<std::optional<std::string>(std::string_view name)>& name_of) {
  return FillTemplate(
      code, [&](std::string_view name, std::string_view kind) -> std::optional<std::string> {
        if (!IsOfCode(kind)) return std::nullopt;
        const std::optional<std::string> words = name_of ? name_of(name) : std::nullopt;
        const std::string filled = words ? TextInPlace(*words, kind) : "";
        return filled.empty() ? "NAME" : filled;
      });
}

std::vector<std::pair<std::string, std::string>> TemplatePlaces(std::string_view text) {
  std::vector<std::pair<std::string, std::string>> places;
  FillTemplate(text, [&](std::string_view name, std::string_view kind) {
    places.emplace_back(name, kind);
    return std::string();
  });
  return places;
}

std::vector<std::pair<std::string, std::string>> CodePlaces(std::string_view code) {
  auto places = TemplatePlaces(code);
  std::erase_if(places, [](const auto& place) { return !IsOfCode(place.second); });
  return places;
}

}  // namespace advise
