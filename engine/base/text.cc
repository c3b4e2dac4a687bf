#include "engine/base/text.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <numeric>
#include <utility>

#include "engine/base/ascii.h"

namespace advise {
namespace {

// Letters to insert, to leave out, to change, or to swap with their neighbor, whatever their case.
std::size_t EditDistance(std::string_view a, std::string_view b) {
  const std::string from = Lower(a);
  const std::string to = Lower(b);
  std::vector<std::size_t> before;  // the row above the last one
  std::vector<std::size_t> last(to.size() + 1);
  std::iota(last.begin(), last.end(), std::size_t{0});
  for (std::size_t i = 0; i < from.size(); ++i) {
    std::vector<std::size_t> row(to.size() + 1, i + 1);
    for (std::size_t j = 0; j < to.size(); ++j) {
      const std::size_t change = last[j] + (from[i] == to[j] ? 0 : 1);
      row[j + 1] = std::min({change, last[j + 1] + 1, row[j] + 1});
      const bool swapped = i > 0 && j > 0 && from[i] == to[j - 1] && from[i - 1] == to[j];
      if (swapped) row[j + 1] = std::min(row[j + 1], before[j - 1] + 1);
    }
    before = std::exchange(last, std::move(row));
  }
  return last.back();
}

struct Scale {
  double at_least;
  const char* name;
};

// Three significant digits, the largest scale that leaves at least 1 before the point.
template <std::size_t N>
std::string Scaled(double value, const std::array<Scale, N>& scales) {
  const double magnitude = std::abs(value);
  for (const Scale& scale : scales) {
    // 0.9995 of the next scale would print as "1e+03": move up early.
    if (magnitude >= scale.at_least * 0.9995) {
      const double shown = value / scale.at_least;
      const double size = std::abs(shown);
      if (size >= 99.95) return fmt::format("{:.0f} {}", shown, scale.name);
      if (size >= 9.995) return fmt::format("{:.1f} {}", shown, scale.name);
      return fmt::format("{:.2f} {}", shown, scale.name);
    }
  }
  return fmt::format("{:.3g} {}", value / scales.back().at_least, scales.back().name);
}

constexpr std::array<Scale, 4> kTime = {{{1e9, "s"}, {1e6, "ms"}, {1e3, "µs"}, {1, "ns"}}};
constexpr double kMinute = 60e9, kHour = 3600e9;
constexpr std::array<Scale, 5> kBytes = {
    {{1e12, "TB"}, {1e9, "GB"}, {1e6, "MB"}, {1e3, "kB"}, {1, "B"}}};
constexpr std::array<Scale, 5> kByteRate = {
    {{1e12, "TB/s"}, {1e9, "GB/s"}, {1e6, "MB/s"}, {1e3, "kB/s"}, {1, "B/s"}}};
constexpr std::array<Scale, 4> kFlopRate = {
    {{1e12, "TFLOP/s"}, {1e9, "GFLOP/s"}, {1e6, "MFLOP/s"}, {1, "FLOP/s"}}};
constexpr std::array<Scale, 4> kHertz = {{{1e9, "GHz"}, {1e6, "MHz"}, {1e3, "kHz"}, {1, "Hz"}}};

// Seconds stay seconds up to ten minutes, and minutes up to two hours.
std::string Time(double ns) {
  if (ns == 0) return "0 s";
  if (std::abs(ns) >= 2 * kHour) return Scaled(ns, std::array<Scale, 1>{{{kHour, "h"}}});
  if (std::abs(ns) >= 10 * kMinute) return Scaled(ns, std::array<Scale, 1>{{{kMinute, "min"}}});
  return Scaled(ns, kTime);
}

// "12345" as "12,345".
std::string WithSeparators(std::string digits) {
  const std::size_t first = digits.starts_with('-') ? 1 : 0;
  for (std::size_t at = digits.size(); at > first + 3;) digits.insert(at -= 3, ",");
  return digits;
}

// Three significant digits of what is not whole, never as a power of ten.
std::string Plain(double value) {
  const double size = std::abs(value);
  const bool whole = value == std::floor(value);
  if (size >= 1e15 || (!whole && size < 999.5)) return fmt::format("{:.3g}", value);
  const double unit = whole ? 1 : std::pow(10, std::floor(std::log10(size)) - 2);
  return WithSeparators(fmt::format("{:.0f}", std::round(value / unit) * unit));
}

std::string Share(double share) {
  const double pct = share * 100;
  if (pct > 0 && pct < 0.0995) return "under 0.1 %";
  if (pct != 0 && std::abs(pct) < 0.995) return fmt::format("{:.2g} %", pct);
  return fmt::format("{:.0f} %", pct);
}

// Bytes that can be counted have no fractions.
std::string Bytes(double value) {
  const bool whole = value == std::floor(value) && std::abs(value) < 1e3;
  return whole ? fmt::format("{:.0f} B", value) : Scaled(value, kBytes);
}

}  // namespace

std::string FormatQuantity(double value, std::string_view unit) {
  if (!std::isfinite(value)) return "unknown";
  if (unit == "ns" || unit == "time") return Time(value);
  if (unit == "s") return Time(value * kTime[0].at_least);
  if (unit == "share" || unit == "pct") return Share(value);
  if (unit == "bytes") return Bytes(value);
  if (unit == "bytes_per_s" || unit == "rate") return Scaled(value, kByteRate);
  if (unit == "flop_per_s" || unit == "flops") return Scaled(value, kFlopRate);
  if (unit == "hz") return Scaled(value, kHertz);
  if (unit == "count" || unit == "num" || unit.empty()) return Plain(value);
  return fmt::format("{} {}", Plain(value), unit);
}

std::string Percent(double share) { return FormatQuantity(share, "share"); }

namespace {

// "f(int, g<float>)" without the last parentheses; "f" stays.
std::string_view WithoutParameters(std::string_view name) {
  constexpr std::string_view kConst = " const";
  if (name.ends_with(kConst)) name.remove_suffix(kConst.size());
  if (!name.ends_with(')')) return name;
  int depth = 0;
  for (std::size_t at = name.size(); at-- > 0;) {
    if (name[at] == ')') ++depth;
    if (name[at] == '(' && --depth == 0) return at == 0 ? name : name.substr(0, at);
  }
  return name;
}

// A name that a profiler cut within its parameters, without them: "f<int>(T2, cudnnTen…".
std::string_view WithoutCutParameters(std::string_view name) {
  if (!name.ends_with("…") && !name.ends_with("...")) return name;
  int arguments = 0;
  int parentheses = 0;
  std::size_t open = std::string_view::npos;
  for (std::size_t at = 0; at < name.size(); ++at) {
    if (parentheses == 0 && name[at] == '<') ++arguments;
    if (parentheses == 0 && name[at] == '>') --arguments;
    if (name[at] == '(' && parentheses++ == 0) open = arguments == 0 ? at : std::string_view::npos;
    if (name[at] == ')' && parentheses > 0 && --parentheses == 0) open = std::string_view::npos;
  }
  return open == std::string_view::npos || open == 0 ? name : name.substr(0, open);
}

// "f(int) [clone .kd]", as tools of AMD list kernels, without what the compiler added.
std::string_view WithoutClone(std::string_view name) {
  const std::size_t at = name.rfind(" [clone ");
  return name.ends_with(']') && at != std::string_view::npos && at > 0 ? name.substr(0, at) : name;
}

// What stands in <> and [], as "…".
std::string WithoutArguments(std::string_view name) {
  std::string words;
  int depth = 0;
  for (const char c : name) {
    const bool opens = c == '<' || c == '[';
    const bool closes = c == '>' || c == ']';
    if (closes && depth > 0 && --depth == 0) words += "…";
    if (depth == 0) words += c;
    if (opens) ++depth;
  }
  return words;
}

// Tags that compilers put behind a function's name: "f[abi:v1,cw51c…]", or "f[v1,cw51c…]" of older
// Numba, whose tags hold a hash of its options.
std::string WithoutTags(std::string_view name) {
  std::string words;
  for (std::size_t from = 0; from < name.size();) {
    const std::size_t at = std::min({name.find("[abi:", from), name.find("[v", from), name.size()});
    words += name.substr(from, at - from);
    const std::size_t end = name.find(']', at);
    from = at == name.size() || end == std::string_view::npos ? name.size() : end + 1;
  }
  return words;
}

}  // namespace

std::string KernelInWords(std::string_view name) {
  constexpr std::size_t kLong = 60;
  constexpr std::string_view kVoid = "void ";
  if (name.starts_with(kVoid)) name.remove_prefix(kVoid.size());
  while (name.ends_with(' ')) name.remove_suffix(1);
  name = WithoutCutParameters(WithoutParameters(WithoutClone(name)));
  while (name.ends_with(' ')) name.remove_suffix(1);
  const std::string words = WithoutTags(name);
  return SafeText(words.size() <= kLong ? words : WithoutArguments(words));
}

namespace {
constexpr std::string_view kUnnamed = "unnamed, ";
}  // namespace

std::string UnnamedKernel(std::uint64_t blocks, std::uint64_t threads_per_block) {
  const auto count = [](std::uint64_t n, const char* what) {
    return FormatQuantity(static_cast<double>(n), "count") + " " + what + (n == 1 ? "" : "s");
  };
  std::string name(kUnnamed);
  name += count(blocks, "block") + " of " + count(threads_per_block, "thread");
  return name;
}

bool IsUnnamedKernel(std::string_view name) { return name.starts_with(kUnnamed); }

std::string KernelFunction(std::string_view demangled) {
  if (IsUnnamedKernel(demangled)) return "";
  // Up to the arguments or template parameters of the function itself: those of a lambda or an
  // anonymous namespace before it close again, and so do a compiler's tags.
  std::string plain;
  int depth = 0;
  for (const char c : demangled) {
    if (c == '<' || c == '(' || c == '[') ++depth;
    if (depth == 0) plain += c;
    if ((c == '>' || c == ')' || c == ']') && depth > 0) --depth;
  }
  while (!plain.empty() && !IsWordChar(plain.back())) plain.pop_back();
  std::size_t begin = plain.size();
  while (begin > 0 && IsWordChar(plain[begin - 1])) --begin;
  return plain.substr(begin);
}

std::string DidYouMean(std::string_view word, const std::vector<std::string>& candidates) {
  std::string best;
  std::size_t best_distance = std::max<std::size_t>(1, word.size() / 3) + 1;
  for (const std::string& candidate : candidates) {
    const std::size_t distance = EditDistance(word, candidate);
    if (distance < best_distance) {
      best_distance = distance;
      best = candidate;
    }
  }
  constexpr std::size_t kTelling = 4;
  if (!best.empty() || word.size() < kTelling) return best;
  for (const std::string& candidate : candidates) {
    const bool holds = Lower(candidate).find(Lower(word)) != std::string::npos;
    if (holds && (best.empty() || candidate.size() < best.size())) best = candidate;
  }
  return best;
}

// "Thunk:#name=jit(step)/pure_callback,hlo_op=pure_callback.1,id=7#" is "jit(step)/pure_callback".
std::string RangeInWords(std::string_view name) {
  const std::size_t from = name.find(":#");
  if (from == std::string_view::npos || !name.ends_with('#')) return SafeText(name);
  for (const std::string_view key : {"name=", "hlo_op=", "hlo_module="}) {
    for (const char before : {'#', ','}) {
      const std::size_t at = name.find(std::string(1, before).append(key), from);
      if (at == std::string_view::npos) continue;
      const std::string_view rest = name.substr(at + 1 + key.size());
      return SafeText(rest.substr(0, rest.find_first_of(",#")));
    }
  }
  return SafeText(name);
}

std::string Suggestion(std::string_view word, const std::vector<std::string>& candidates) {
  const std::string near = DidYouMean(word, candidates);
  return near.empty() ? "" : fmt::format("did you mean \"{}\"?", near);
}

std::string WithoutNumbers(std::string_view name) {
  std::string family;
  bool in_number = false;
  for (const char c : name) {
    const bool digit = IsDigit(c);
    if (!digit) family += c;
    if (digit && !in_number) family += '#';
    in_number = digit;
  }
  return family;
}

std::vector<std::string> Sentences(const std::string& text) {
  std::vector<std::string> sentences;
  std::size_t from = 0;
  for (std::size_t at = text.find(". "); at != std::string::npos; at = text.find(". ", at + 1)) {
    const auto next = text[at + 2];
    if (!IsUpper(next)) continue;
    sentences.push_back(text.substr(from, at + 1 - from));
    from = at + 2;
  }
  sentences.push_back(text.substr(from));
  return sentences;
}

std::string SafeText(std::string_view raw) {
  std::string safe;
  safe.reserve(raw.size());
  std::size_t i = 0;
  while (i < raw.size()) {
    const auto lead = static_cast<unsigned char>(raw[i]);
    std::size_t length = 1;
    std::uint32_t minimum = 0;
    std::uint32_t code = lead;
    if (lead >= 0xC2 && lead <= 0xDF) {
      length = 2, minimum = 0x80, code = lead & 0x1FU;
    } else if (lead >= 0xE0 && lead <= 0xEF) {
      length = 3, minimum = 0x800, code = lead & 0x0FU;
    } else if (lead >= 0xF0 && lead <= 0xF4) {
      length = 4, minimum = 0x10000, code = lead & 0x07U;
    }
    bool valid = lead < 0x80 || length > 1;
    for (std::size_t k = 1; valid && k < length; ++k) {
      const unsigned char next = i + k < raw.size() ? static_cast<unsigned char>(raw[i + k]) : 0;
      valid = (next & 0xC0U) == 0x80;
      code = (code << 6U) | (next & 0x3FU);
    }
    valid = valid && code >= minimum && code <= 0x10FFFF && !(code >= 0xD800 && code <= 0xDFFF);
    // Line ends and what turns the direction of writing are control characters, too.
    const bool control = code < 0x20 || (code >= 0x7F && code < 0xA0) ||
                         (code >= 0x2028 && code <= 0x202E) || (code >= 0x2066 && code <= 0x2069);
    if (!valid) {
      safe += "\xEF\xBF\xBD";
      ++i;
    } else {
      safe += control ? std::string(" ") : std::string(raw.substr(i, length));
      i += length;
    }
  }
  return safe;
}

}  // namespace advise
