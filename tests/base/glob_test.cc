#include "engine/base/glob.h"

#include <catch2/catch.hpp>
#include <chrono>
#include <string>

#include "tests/support/dice.h"

namespace advise {
namespace {

// What the header promises, said in the simplest way; exponential, so for short texts only.
bool Naive(std::string_view name, std::string_view pattern) {
  if (pattern.empty()) return name.empty();
  if (pattern[0] == '*') {
    return Naive(name, pattern.substr(1)) || (!name.empty() && Naive(name.substr(1), pattern));
  }
  const auto lower = [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; };
  return !name.empty() && (pattern[0] == '?' || lower(pattern[0]) == lower(name[0])) &&
         Naive(name.substr(1), pattern.substr(1));
}

TEST_CASE("a pattern without wildcards matches the whole name and nothing else") {
  CHECK(MatchesGlob("cudaMalloc", "cudaMalloc"));
  CHECK_FALSE(MatchesGlob("cudaMallocHost", "cudaMalloc"));
  CHECK_FALSE(MatchesGlob("cudaMallo", "cudaMalloc"));
  CHECK_FALSE(MatchesGlob("xcudaMalloc", "cudaMalloc"));
}

TEST_CASE("case does not matter, in the name or in the pattern") {
  CHECK(MatchesGlob("NCCLDevKernel", "nccl*"));
  CHECK(MatchesGlob("nccldevkernel", "NCCL*"));
}

TEST_CASE("a star is any run of characters, also none") {
  CHECK(MatchesGlob("gemm", "*gemm*"));
  CHECK(MatchesGlob("a_gemm_b", "*gemm*"));
  CHECK(MatchesGlob("", "*"));
  CHECK(MatchesGlob("abc", "a**c"));
  CHECK_FALSE(MatchesGlob("abd", "a*c"));
}

TEST_CASE("[0-9] is exactly one digit, and other brackets stand for themselves") {
  CHECK(MatchesGlob("step_12", "step_[0-9]*"));
  CHECK_FALSE(MatchesGlob("step_size", "step_[0-9]*"));
  CHECK_FALSE(MatchesGlob("step_", "step_[0-9]"));
  CHECK(MatchesGlob("a1b", "*[0-9]b"));
  CHECK(MatchesGlob("[pl][profile]run", "[pl]*"));
  CHECK_FALSE(MatchesGlob("p", "[pl]"));
}

TEST_CASE("a question mark is exactly one character") {
  CHECK(MatchesGlob("v2", "v?"));
  CHECK_FALSE(MatchesGlob("v", "v?"));
  CHECK_FALSE(MatchesGlob("v12", "v?"));
}

TEST_CASE("an empty pattern matches only the empty name") {
  CHECK(MatchesGlob("", ""));
  CHECK_FALSE(MatchesGlob("a", ""));
  CHECK_FALSE(MatchesGlob("", "?"));
}

TEST_CASE("brackets and backslashes are ordinary characters") {
  CHECK(MatchesGlob("step[1]", "step[1]"));
  CHECK_FALSE(MatchesGlob("step1", "step[1]"));
  CHECK(MatchesGlob("a\\b", "a\\b"));
}

TEST_CASE("a star gives back what it took when the rest does not fit") {
  CHECK(MatchesGlob("aXbXc", "*X?"));
  CHECK(MatchesGlob("mississippi", "m*iss*ip*i"));
  CHECK_FALSE(MatchesGlob("mississippi", "m*iss*ix*i"));
}

TEST_CASE("short random names and patterns match as the definition says") {
  Dice dice(17);
  const auto text = [&dice](const std::string& letters, std::int64_t longest) {
    std::string made(static_cast<std::size_t>(dice.Roll(longest + 1)), ' ');
    for (char& c : made) c = letters[static_cast<std::size_t>(dice.Roll(std::ssize(letters)))];
    return made;
  };
  int matched = 0;
  for (int i = 0; i < 20000; ++i) {
    const std::string name = text("abA", 7);
    const std::string pattern = text("ab*?B", 6);
    INFO("name '" << name << "' pattern '" << pattern << "'");
    REQUIRE(MatchesGlob(name, pattern) == Naive(name, pattern));
    matched += MatchesGlob(name, pattern) ? 1 : 0;
  }
  CHECK(matched > 1000);  // the generator makes both kinds
}

TEST_CASE("a hostile pattern costs no more than name times pattern") {
  const std::string name(20000, 'a');
  std::string pattern;
  for (int i = 0; i < 50; ++i) pattern += "a*";
  pattern += "b";
  const auto before = std::chrono::steady_clock::now();
  CHECK_FALSE(MatchesGlob(name, pattern));
  CHECK_FALSE(MatchesGlob(name, "*" + std::string(60, '?') + "*b*b*b*b"));
  // Exponential or cubic work would take minutes; the bound leaves room for a busy machine.
  CHECK(std::chrono::steady_clock::now() - before < std::chrono::seconds(5));
}

}  // namespace
}  // namespace advise
