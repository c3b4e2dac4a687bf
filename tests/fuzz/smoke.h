// A fuzzer for machines without clang: seeds, and mutations of them that a fixed number draws, so
// that the same inputs come in the same order. It does not see which branches an input takes, as
// libFuzzer does (scripts/fuzz.sh); it finds what has become fragile, within seconds.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace advise::fuzz {

struct SmokeTarget {
  std::string name;
  int (*run)(const std::uint8_t* data, std::size_t size);
  std::size_t largest = 20000;  // bytes of an input
  // Files that are inputs, and folders whose files are.
  std::vector<std::string> seeds;
};

// Runs each target for `seconds`. An input that ends the program, or that takes over 10 s, is kept
// in the working directory, and the exit status is 1. Returns the exit status.
int Smoke(const std::vector<SmokeTarget>& targets, double seconds);

}  // namespace advise::fuzz
