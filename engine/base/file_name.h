// The last part of a path.
#pragma once

#include <string>
#include <string_view>

namespace advise {

inline std::string FileName(std::string_view path) {
  return std::string(path.substr(path.rfind('/') + 1));  // all of it without a slash
}

}  // namespace advise
