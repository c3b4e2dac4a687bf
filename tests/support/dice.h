// Random numbers that are the same on every machine: what a property test throws.
#pragma once

#include <cstdint>
#include <random>

namespace advise {

// How many random inputs to try: a fifth of `rounds` in a sanitized build, where each takes ten
// times as long.
constexpr int Rounds(int rounds) {
#if defined(__SANITIZE_ADDRESS__)
  return rounds / 5;
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
  return rounds / 5;
#endif
#endif
  return rounds;
}

class Dice {
 public:
  explicit Dice(std::uint32_t seed) : engine_(seed) {}
  // A number of [0, sides).
  std::int64_t Roll(std::int64_t sides) { return static_cast<std::int64_t>(engine_()) % sides; }
  // A number of [from, to].
  std::int64_t Between(std::int64_t from, std::int64_t to) { return from + Roll(to - from + 1); }
  bool Chance(std::int64_t one_in) { return Roll(one_in) == 0; }

 private:
  std::mt19937 engine_;
};

}  // namespace advise
