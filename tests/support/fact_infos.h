// Descriptions of facts that a test makes up, kept to the end of the tests: reports point to them.
#pragma once

#include <deque>
#include <string>
#include <utility>

#include "engine/facts/facts.h"

namespace advise {

inline const FactInfo* InfoOf(std::string name, std::string unit = "",
                              std::string definition = "") {
  static std::deque<FactInfo> infos;
  infos.push_back({std::move(name), std::move(unit), std::move(definition)});
  return &infos.back();
}

}  // namespace advise
