// A hash that is the same everywhere and always. Not for adversaries.
#pragma once

#include <cstdint>

namespace advise {

// FNV-1a, 64 bits (Fowler, Noll and Vo).
class Fnv1a {
 public:
  void Add(std::uint64_t value) {
    hash_ ^= value;
    hash_ *= 0x100000001B3ULL;
  }
  std::uint64_t value() const { return hash_; }

 private:
  std::uint64_t hash_ = 0xCBF29CE484222325ULL;
};

}  // namespace advise
