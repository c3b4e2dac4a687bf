// Variables of the environment that this program runs in.
#pragma once

#include <cstdlib>
#include <string>

namespace advise {

// "" when it is not set.
inline std::string EnvironmentVariable(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

}  // namespace advise
