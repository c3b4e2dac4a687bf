#include "engine/import/kineto/kineto_event.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <span>

#include "engine/base/ascii.h"

namespace advise::kineto {
namespace {

// A fixed set of words, found by one probe or few: words are looked up for every key of every
// event.
template <typename Value, std::size_t kSlots = 256>
class Words {
 public:
  Words(std::initializer_list<std::pair<std::string_view, Value>> entries)
      : Words(std::span(entries)) {}
  explicit Words(std::span<const std::pair<std::string_view, Value>> entries) {
    for (const auto& [word, value] : entries) {
      std::size_t slot = Slot(word);
      while (!slots_[slot].first.empty()) slot = (slot + 1) % kSlots;
      slots_[slot] = {word, value};
    }
  }
  const Value* Find(std::string_view word) const {
    for (std::size_t slot = Slot(word); !slots_[slot].first.empty(); slot = (slot + 1) % kSlots) {
      const std::string_view known = slots_[slot].first;
      const auto is_same = [](char a, char b) { return Lower(a) == Lower(b); };
      if (known == word || (known.size() == word.size() &&
                            std::equal(known.begin(), known.end(), word.begin(), is_same))) {
        return &slots_[slot].second;
      }
    }
    return nullptr;
  }

 private:
  static std::size_t Slot(std::string_view word) {
    if (word.empty()) return 0;
    const auto code = [](char c) { return static_cast<std::size_t>(Lower(c)); };
    return (word.size() * 31 + code(word.front()) * 7 + code(word.back()) * 13 +
            code(word[word.size() / 2]) * 57) %
           kSlots;
  }
  std::array<std::pair<std::string_view, Value>, kSlots> slots_{};
};

// As PyTorch writes them, in the order of Arg; then what other versions call the same.
constexpr std::array<std::pair<std::string_view, Arg>, 40> kArgNames = {{
    {"External id", Arg::kExternalId},
    {"device", Arg::kDevice},
    {"context", Arg::kContext},
    {"stream", Arg::kStream},
    {"correlation", Arg::kCorrelation},
    {"bytes", Arg::kBytes},
    {"registers per thread", Arg::kRegisters},
    {"shared memory", Arg::kSharedMemory},
    {"graph id", Arg::kGraphId},
    {"graph node id", Arg::kGraphNode},
    {"Sequence number", Arg::kSequenceNumber},
    {"Fwd thread id", Arg::kForwardThread},
    {"name", Arg::kName},
    {"Addr", Arg::kAddress},
    {"Total Allocated", Arg::kTotalAllocated},
    {"Total Reserved", Arg::kTotalReserved},
    {"Device Id", Arg::kDeviceId},
    {"Device Type", Arg::kDeviceType},
    {"Collective name", Arg::kCollective},
    {"dtype", Arg::kElementType},
    {"In msg nelems", Arg::kInElements},
    {"Out msg nelems", Arg::kOutElements},
    {"Group size", Arg::kGroupSize},
    {"Process Group Name", Arg::kGroupName},
    {"Process Group Description", Arg::kGroupDescription},
    {"Process Group Ranks", Arg::kGroupRanks},
    {"Src Rank", Arg::kSourceRank},
    {"Dst Rank", Arg::kTargetRank},
    {"Seq", Arg::kSequence},
    {"cuda_sync_kind", Arg::kSyncKind},
    {"cuda_event_id", Arg::kEventId},
    {"toDevice", Arg::kToDevice},
    {"fromDevice", Arg::kFromDevice},
    {"Input Dims", Arg::kInputSizes},
    {"Input type", Arg::kInputTypes},
    {"Input Strides", Arg::kInputStrides},
    {"Concrete Inputs", Arg::kInputValues},
    {"Process Group ID", Arg::kGroupName},
    {"wait_on_cuda_event_id", Arg::kEventId},
    {"event_id", Arg::kEventId},
}};

constexpr bool IsInOrder() {
  for (std::size_t i = 0; i < static_cast<std::size_t>(Arg::kCount); ++i) {
    if (kArgNames[i].second != static_cast<Arg>(i)) return false;
  }
  return true;
}
static_assert(IsInOrder(), "NameOf takes an argument's name by its place");

void AppendCodePoint(std::uint32_t code, std::string* text) {
  const auto byte = [text](std::uint32_t value) { *text += static_cast<char>(value); };
  if (code < 0x80) {
    byte(code);
  } else if (code < 0x800) {
    byte(0xc0 | code >> 6);
    byte(0x80 | (code & 0x3f));
  } else if (code < 0x10000) {
    byte(0xe0 | code >> 12);
    byte(0x80 | (code >> 6 & 0x3f));
    byte(0x80 | (code & 0x3f));
  } else {
    byte(0xf0 | code >> 18);
    byte(0x80 | (code >> 12 & 0x3f));
    byte(0x80 | (code >> 6 & 0x3f));
    byte(0x80 | (code & 0x3f));
  }
}

// Four hexadecimal digits at `at`.
std::optional<std::uint32_t> HexAt(std::string_view raw, std::size_t at) {
  std::uint32_t code = 0;
  if (at + 4 > raw.size()) return {};
  const char* end = raw.data() + at + 4;
  const auto [stop, failed] = std::from_chars(raw.data() + at, end, code, 16);
  if (failed != std::errc() || stop != end) return {};
  return code;
}

// The character behind "\u" at `at`, surrogate pairs joined; moves `at` behind it.
std::optional<std::uint32_t> UnicodeAt(std::string_view raw, std::size_t* at) {
  const auto high = HexAt(raw, *at);
  if (!high) return {};
  *at += 4;
  if (*high < 0xd800 || *high >= 0xe000) return high;
  if (*high < 0xdc00 && raw.substr(*at).starts_with("\\u")) {
    const auto low = HexAt(raw, *at + 2);
    if (low && *low >= 0xdc00 && *low < 0xe000) {
      *at += 6;
      return 0x10000 + ((*high - 0xd800) << 10) + (*low - 0xdc00);
    }
  }
  return 0xfffd;
}

}  // namespace

Category CategoryOf(std::string_view text) {
  static const Words<Category> kCategories = {
      {"cpu_op", Category::kOperator},
      {"operator", Category::kOperator},
      {"user_annotation", Category::kAnnotation},
      {"python_function", Category::kPython},
      {"cuda_runtime", Category::kCall},
      {"cuda_driver", Category::kCall},
      {"runtime", Category::kCall},
      {"driver", Category::kCall},
      {"hip_runtime", Category::kCall},
      {"kernel", Category::kKernel},
      {"gpu_memcpy", Category::kCopy},
      {"memcpy", Category::kCopy},
      {"gpu_memset", Category::kMemset},
      {"memset", Category::kMemset},
      {"cuda_sync", Category::kSync},
      {"cuda_event", Category::kEventRecord},
      {"overhead", Category::kOverhead},
      {"cpu_instant_event", Category::kInstant},
      {"ac2g", Category::kIgnored},
      {"async", Category::kIgnored},
      {"async_cpu_to_gpu", Category::kIgnored},
      {"async_gpu", Category::kIgnored},
      {"fwdbwd", Category::kIgnored},
      {"forward_backward", Category::kIgnored},
      {"gpu_user_annotation", Category::kIgnored},
      {"trace", Category::kIgnored},
      {"cuda_profiler_range", Category::kCounterRange},
      {"external_correlation", Category::kIgnored},
      {"collective_comm", Category::kIgnored},
      {"hardware_counters", Category::kIgnored},
      {"glow_runtime", Category::kIgnored},
      {"mtia_ccp_events", Category::kOtherDevice},
      {"mtia_runtime", Category::kOtherDevice},
      {"mtia_workloadd", Category::kOtherDevice},
      {"mtia_insight", Category::kOtherDevice},
      {"xpu_runtime", Category::kOtherDevice},
      {"xpu_driver", Category::kOtherDevice},
      {"hpu_op", Category::kOtherDevice},
      {"privateuse1_runtime", Category::kOtherDevice},
      {"privateuse1_driver", Category::kOtherDevice},
  };
  const Category* found = kCategories.Find(text);
  return found == nullptr ? Category::kUnknown : *found;
}

bool IsAnnotation(std::string_view operator_name) {
  return operator_name.find('#') != std::string_view::npos &&
         operator_name.find("::") == std::string_view::npos;
}

std::optional<Arg> ArgOf(std::string_view key) {
  static const Words<Arg> kArgs(kArgNames);
  const Arg* found = kArgs.Find(key);
  return found == nullptr ? std::nullopt : std::optional(*found);
}

std::string_view NameOf(Arg arg) { return kArgNames[static_cast<std::size_t>(arg)].first; }

bool IsSkipped(const Event& event) {
  if (event.phase.size() == 1) {
    const char phase = event.phase[0];
    if (phase != 'X' && phase != 'i' && phase != 'I' && phase != 'M') return true;
  }
  return event.category == Category::kIgnored;
}

std::int64_t Event::Int(Arg arg, std::int64_t otherwise) const {
  return Has(arg) ? ParseInt(Text(arg)).value_or(otherwise) : otherwise;
}

namespace {

constexpr std::size_t kSafeDigits = 18;  // so many always fit into 64 bits

// Digits and nothing else, as nearly all numbers are.
std::optional<std::int64_t> ParseDigits(std::string_view text) {
  if (text.empty() || text.size() > kSafeDigits) return {};
  std::int64_t value = 0;
  for (const char c : text) {
    const unsigned digit = static_cast<unsigned>(c) - '0';
    if (digit > 9) return {};
    value = value * 10 + digit;
  }
  return value;
}

// "123.456": three digits behind the point.
std::optional<Nanos> ParseThousandths(std::string_view text) {
  if (text.size() < 5 || text[text.size() - 4] != '.') return {};
  const auto whole = ParseDigits(text.substr(0, text.size() - 4));
  const auto rest = ParseDigits(text.substr(text.size() - 3));
  if (!whole || !rest || text.size() > kSafeDigits) return {};
  return *whole * 1000 + *rest;
}

}  // namespace

std::optional<Nanos> ParseMicroseconds(std::string_view text) {
  if (const auto usual = ParseThousandths(text)) return usual;
  constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max() / 10 - 1;
  const char* at = text.data();
  const char* const end = at + text.size();
  const bool negative = at < end && *at == '-';
  if (negative) ++at;
  if (at == end || !IsDigit(*at)) return {};
  std::int64_t value = 0;
  while (at < end && IsDigit(*at)) {
    if (value > kMost) return {};
    value = value * 10 + (*at++ - '0');
  }
  int digits = 0;
  bool rounds_up = false;
  if (at < end && *at == '.') {
    for (++at; at < end && IsDigit(*at); ++at) {
      if (digits < 3) {
        if (value > kMost) return {};
        value = value * 10 + (*at - '0');
      } else if (digits == 3) {
        rounds_up = *at >= '5';
      }
      ++digits;
    }
  }
  if (at < end) {  // "1.7e+15": rare, and no more exact than a double to begin with
    if (*at != 'e' && *at != 'E') return {};
    const std::string copy(text);
    char* stop = nullptr;
    const long double number = std::strtold(copy.c_str(), &stop) * 1000.0L;
    if (stop != copy.c_str() + copy.size() || !(std::fabs(number) < 9.0e18L)) return {};
    return static_cast<Nanos>(std::llroundl(number));
  }
  for (; digits < 3; ++digits) {
    if (value > kMost) return {};
    value *= 10;
  }
  if (rounds_up) ++value;
  return negative ? -value : value;
}

std::optional<std::int64_t> ParseInt(std::string_view text) {
  if (text.empty()) return {};
  if (const auto usual = ParseDigits(text)) return usual;
  std::int64_t value = 0;
  const char* const end = text.data() + text.size();
  if (text.starts_with("0x") || text.starts_with("0X")) {
    std::uint64_t address = 0;
    const auto [stop, failed] = std::from_chars(text.data() + 2, end, address, 16);
    if (failed != std::errc() || stop != end) return {};
    return static_cast<std::int64_t>(address);
  }
  const auto [stop, failed] = std::from_chars(text.data(), end, value);
  if (failed == std::errc() && stop == end) return value;
  if (text == "true") return 1;
  if (text == "false") return 0;
  if (failed == std::errc::result_out_of_range) {
    std::uint64_t wide = 0;
    const auto [wide_stop, wide_failed] = std::from_chars(text.data(), end, wide);
    if (wide_failed == std::errc() && wide_stop == end) return static_cast<std::int64_t>(wide);
    return {};
  }
  if (failed == std::errc() && (*stop == '.' || *stop == 'e' || *stop == 'E')) {
    double number = 0;
    const auto [number_stop, number_failed] = std::from_chars(text.data(), end, number);
    if (number_failed == std::errc() && number_stop == end && std::fabs(number) < 9e15) {
      return static_cast<std::int64_t>(number);
    }
  }
  return {};
}

std::string Unescaped(std::string_view raw) {
  std::string text;
  text.reserve(raw.size());
  for (std::size_t i = 0; i < raw.size();) {
    if (raw[i] != '\\' || i + 1 == raw.size()) {
      text += raw[i++];
      continue;
    }
    static constexpr std::string_view kLetters = "\"\\/bfnrt";
    static constexpr std::string_view kMeanings = "\"\\/\b\f\n\r\t";
    const std::size_t letter = kLetters.find(raw[i + 1]);
    if (letter != std::string_view::npos) {
      text += kMeanings[letter];
      i += 2;
      continue;
    }
    std::size_t at = i + 2;
    const auto code = raw[i + 1] == 'u' ? UnicodeAt(raw, &at) : std::nullopt;
    if (!code) {
      text += raw[i++];
      continue;
    }
    AppendCodePoint(*code, &text);
    i = at;
  }
  return text;
}

}  // namespace advise::kineto
