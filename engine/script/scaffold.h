// The files of a new rule: `advise rules new area/name`.
#pragma once

#include <string>
#include <string_view>

#include "engine/base/error.h"

namespace advise {

struct Scaffold {
  std::string path;             // "rules/area/name.lua"; for site rules "name.lua" in their folder
  std::string text;             // a working rule with three tests, from rules/_template.lua
  std::string thresholds_path;  // the file that `thresholds` belongs into, at its end
  std::string thresholds;
};

// `id` is "area/name" or "site/name".
Result<Scaffold> NewRule(std::string_view id);

}  // namespace advise
