// Name patterns for many names: the globs of base/glob.h behind a cheap test, because a trace has
// thousands of kernel names and the knowledge base hundreds of patterns.
#pragma once

#include <bitset>
#include <cstdint>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

namespace advise {

// A name prepared for matching: which runs of three characters it has.
class NameKey {
 public:
  explicit NameKey(std::string_view name);
  std::string_view name() const { return name_; }
  bool MayHave(std::uint16_t gram) const { return grams_[gram]; }

 private:
  std::string_view name_;  // the caller's text
  std::bitset<16384> grams_;
};

class NamePattern {
 public:
  NamePattern() = default;  // matches the empty name
  explicit NamePattern(std::string glob);
  bool Matches(const NameKey& key) const;
  const std::string& glob() const { return glob_; }
  // Characters that are not wildcards: how specific the pattern is.
  std::size_t LiteralLength() const { return literal_length_; }
  friend auto Fields(NamePattern& of) { return std::tie(of.glob_, of.grams_, of.literal_length_); }

 private:
  std::string glob_;
  std::vector<std::uint16_t>
      grams_;  // of the literal parts: a name without one of them cannot match
  std::size_t literal_length_ = 0;
};

// An ordered list's entry: some of `any` and none of `none` must match.
struct NameRule {
  std::vector<NamePattern> any;
  std::vector<NamePattern> none;
  std::string value;
  std::string family;
  std::string collective;
  std::vector<std::string> classes;   // kernel classes it is asked for; empty: all
  std::vector<std::string> examples;  // names that must get this value
  std::string where;                  // "kb/kernels.toml:12"

  bool Matches(const NameKey& key) const;
};

// The first entry that matches, or nullptr.
const NameRule* FirstMatch(const std::vector<NameRule>& rules, const NameKey& key,
                           std::string_view kernel_class = "");

}  // namespace advise
