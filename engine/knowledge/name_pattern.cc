#include "engine/knowledge/name_pattern.h"

#include <algorithm>

#include "engine/base/ascii.h"
#include "engine/base/glob.h"
#include "engine/base/is_in.h"

namespace advise {
namespace {

constexpr std::size_t kGram = 3;

std::uint16_t GramAt(std::string_view text, std::size_t at) {
  const auto code = [&](std::size_t i) {
    return static_cast<unsigned>(static_cast<unsigned char>(Lower(text[at + i])));
  };
  const unsigned mixed = (code(0) * 31 + code(1)) * 31 + code(2);
  return static_cast<std::uint16_t>((mixed ^ (mixed >> 14U)) & 16383U);
}

bool IsWild(char c) { return c == '*' || c == '?'; }

// With '?' for each digit: of what is left, all but the wildcards is literal.
std::string Plain(std::string glob) {
  for (std::size_t at = 0; (at = glob.find(kAnyDigit, at)) != std::string::npos; ++at)
    glob.replace(at, kAnyDigit.size(), "?");
  return glob;
}

}  // namespace

NameKey::NameKey(std::string_view name) : name_(name) {
  for (std::size_t i = 0; i + kGram <= name.size(); ++i) grams_.set(GramAt(name, i));
}

NamePattern::NamePattern(std::string glob) : glob_(std::move(glob)) {
  const std::string plain = Plain(glob_);
  std::size_t run = 0;  // characters since the last wildcard
  for (std::size_t i = 0; i < plain.size(); ++i) {
    run = IsWild(plain[i]) ? 0 : run + 1;
    if (run > 0) ++literal_length_;
    if (run >= kGram) grams_.push_back(GramAt(plain, i + 1 - kGram));
  }
}

bool NamePattern::Matches(const NameKey& key) const {
  return std::all_of(grams_.begin(), grams_.end(),
                     [&](std::uint16_t gram) { return key.MayHave(gram); }) &&
         MatchesGlob(key.name(), glob_);
}

bool NameRule::Matches(const NameKey& key) const {
  const auto hit = [&](const NamePattern& pattern) { return pattern.Matches(key); };
  return std::any_of(any.begin(), any.end(), hit) && std::none_of(none.begin(), none.end(), hit);
}

const NameRule* FirstMatch(const std::vector<NameRule>& rules, const NameKey& key,
                           std::string_view kernel_class) {
  for (const NameRule& rule : rules) {
    const bool asked = rule.classes.empty() || IsIn(kernel_class, rule.classes);
    if (asked && rule.Matches(key)) return &rule;
  }
  return nullptr;
}

}  // namespace advise
