// Calls whose arguments are laid out as PyTorch's schemas say. The schemas stand in tests as
// PyTorch prints them (names of arguments only), so that a test does not repeat the positions of
// the program.
#pragma once

#include <catch2/catch.hpp>
#include <map>
#include <sstream>
#include <string>

#include "tests/metrics/kernels/given.h"

namespace advise {

struct Argument {
  Sizes sizes = {};        // of a tensor
  std::string value = "";  // of anything else
};

// A call with these arguments, by name; "" and no sizes for all others.
inline OperatorInputs CallOf(const std::string& schema,
                             const std::map<std::string, Argument>& arguments) {
  OperatorInputs inputs;
  std::istringstream names(schema);
  std::size_t used = 0;
  for (std::string name; names >> name;) {
    const auto found = arguments.find(name);
    inputs.tensors.emplace_back();
    inputs.values.emplace_back();
    if (found == arguments.end()) continue;
    ++used;
    inputs.tensors.back().sizes = found->second.sizes;
    if (!found->second.sizes.empty()) inputs.tensors.back().type = kBf16;
    inputs.values.back() = found->second.value;
  }
  REQUIRE(used > 0);
  return inputs;
}

}  // namespace advise
