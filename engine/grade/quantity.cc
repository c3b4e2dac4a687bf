#include "engine/grade/quantity.h"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cmath>
#include <map>

#include "engine/base/ascii.h"
#include "engine/base/trim.h"

namespace advise {
namespace {

// What a unit measures, and how much of the base (second, byte, one) it is.
struct Unit {
  char kind;  // 't' time, 'b' bytes, 'r' bytes a second, 's' share, 'n' number, 'f' flop a second
  double factor;
};

// Lower case but for what differs by case alone.
const std::map<std::string, Unit, std::less<>>& Units() {
  static const std::map<std::string, Unit, std::less<>> units = {{"ns", {'t', 1e-9}},
                                                                 {"us", {'t', 1e-6}},
                                                                 {"µs", {'t', 1e-6}},
                                                                 {"μs", {'t', 1e-6}},
                                                                 {"ms", {'t', 1e-3}},
                                                                 {"s", {'t', 1}},
                                                                 {"sec", {'t', 1}},
                                                                 {"seconds", {'t', 1}},
                                                                 {"min", {'t', 60}},
                                                                 {"b", {'b', 1}},
                                                                 {"byte", {'b', 1}},
                                                                 {"bytes", {'b', 1}},
                                                                 {"kb", {'b', 1e3}},
                                                                 {"mb", {'b', 1e6}},
                                                                 {"gb", {'b', 1e9}},
                                                                 {"tb", {'b', 1e12}},
                                                                 {"kib", {'b', 1024.0}},
                                                                 {"mib", {'b', 1048576.0}},
                                                                 {"gib", {'b', 1073741824.0}},
                                                                 {"b/s", {'r', 1}},
                                                                 {"kb/s", {'r', 1e3}},
                                                                 {"mb/s", {'r', 1e6}},
                                                                 {"gb/s", {'r', 1e9}},
                                                                 {"mib/s", {'r', 1048576.0}},
                                                                 {"gib/s", {'r', 1073741824.0}},
                                                                 {"%", {'s', 0.01}},
                                                                 {"percent", {'s', 0.01}},
                                                                 {"pct", {'s', 0.01}},
                                                                 {"share", {'s', 1}},
                                                                 {"x", {'n', 1}},
                                                                 {"times", {'n', 1}},
                                                                 {"count", {'n', 1}},
                                                                 {"num", {'n', 1}},
                                                                 {"flop/s", {'f', 1}},
                                                                 {"gflop/s", {'f', 1e9}},
                                                                 {"tflop/s", {'f', 1e12}}};
  return units;
}

std::optional<Unit> UnitOfFact(std::string_view unit) {
  if (unit == "ns") return Unit{'t', 1e-9};
  if (unit == "s") return Unit{'t', 1};
  if (unit == "bytes") return Unit{'b', 1};
  if (unit == "bytes_per_s") return Unit{'r', 1};
  if (unit == "flop_per_s") return Unit{'f', 1};
  if (unit == "share") return Unit{'s', 1};
  if (unit == "count" || unit == "num") return Unit{'n', 1};
  return std::nullopt;
}

std::optional<Unit> UnitNamed(std::string_view name) {
  const auto found = Units().find(Lower(name));
  if (found != Units().end()) return found->second;
  return UnitOfFact(name);
}

}  // namespace

std::optional<Quantity> ParseQuantity(std::string_view text) {
  text = Trimmed(text);
  if (!text.empty() && (text.front() == '~' || text.front() == '+')) text = Trimmed(text.substr(1));
  std::size_t end = 0;
  while (end < text.size() &&
         (IsDigit(text[end]) || text[end] == '.' || text[end] == ',' || text[end] == '-' ||
          text[end] == '\'' || text[end] == '_' ||
          ((text[end] == 'e' || text[end] == 'E') && end + 1 < text.size() && end > 0 &&
           IsDigit(text[end - 1]) && (IsDigit(text[end + 1]) || text[end + 1] == '-')))) {
    ++end;
  }
  std::string digits(text.substr(0, end));
  digits.erase(
      std::remove_if(digits.begin(), digits.end(), [](char c) { return c == '\'' || c == '_'; }),
      digits.end());
  const auto commas = std::count(digits.begin(), digits.end(), ',');
  const bool point = digits.find('.') != std::string::npos;
  if (commas == 1 && !point) {
    // "1,234" is one thousand; "0,234" and "12,5" are not.
    const std::size_t at = digits.find(',');
    const bool thousands = digits.size() - at == 4 && at >= 1 && at <= 3 && digits[0] != '0';
    if (thousands) {
      digits.erase(at, 1);
    } else {
      digits[at] = '.';
    }
  } else if (commas > 0) {
    digits.erase(std::remove(digits.begin(), digits.end(), ','), digits.end());
  }
  Quantity quantity;
  const char* last = digits.data() + digits.size();
  const auto [at, problem] = std::from_chars(digits.data(), last, quantity.value);
  if (digits.empty() || problem != std::errc() || at != last || !std::isfinite(quantity.value)) {
    return std::nullopt;
  }
  const std::string_view unit = Trimmed(text.substr(end));
  if (std::any_of(unit.begin(), unit.end(), IsDigit) || unit.size() > 16) return std::nullopt;
  quantity.unit = std::string(unit);
  return quantity;
}

bool UnitsFit(std::string_view unit, std::string_view fact_unit) {
  const auto from = UnitNamed(unit);
  const auto to = UnitOfFact(fact_unit);
  return from && to && from->kind == to->kind;
}

std::optional<double> ToFactUnit(const Quantity& quantity, std::string_view fact_unit,
                                 std::string_view assumed) {
  const std::string_view name = quantity.unit.empty() ? assumed : std::string_view(quantity.unit);
  const auto to = UnitOfFact(fact_unit);
  if (!to) return std::nullopt;
  if (name.empty()) return quantity.value;
  const auto from = UnitNamed(name);
  // "4 workers" is a count, whatever it counts.
  if (!from) {
    return to->kind == 'n' ? std::optional<double>(quantity.value) : std::nullopt;
  }
  if (from->kind != to->kind) return std::nullopt;
  return quantity.value * from->factor / to->factor;
}

}  // namespace advise
