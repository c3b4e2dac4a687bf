// Which of a few families of operators (kb/families.toml) a name belongs to.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <string_view>
#include <vector>

#include "engine/timeline/run.h"

namespace advise {

class OperatorFamilies {
 public:
  static constexpr int kNoFamily = -1;

  // The program stops when there is no such family: silence would look like a run without any.
  OperatorFamilies(const Run& run, std::initializer_list<std::string_view> families);

  // The first of the families that the name belongs to, by its place in the list; kNoFamily for
  // none. Each name is matched once.
  int Of(StringId name);

 private:
  static constexpr std::int8_t kUnread = -2;

  const Run& run_;
  std::vector<std::size_t> asked_;  // indices into Knowledge::families()
  std::vector<std::int8_t> known_;  // by name
};

}  // namespace advise
