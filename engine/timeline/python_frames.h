// Which python functions are the program's own: "train.py(62): step", but no library's
// ("torch/nn/modules/module.py(1511): _call_impl"), "<built-in …>" or "nn.Module: Linear_0".
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "engine/timeline/run.h"

namespace advise {

// Code that came with the interpreter or an installed package is true, but not what a user changes.
inline bool IsLibraryFile(const Knowledge& knowledge, std::string_view file) {
  return !knowledge.ValueIn(NameList::kPythonLibrary, file).empty();
}

class OwnPythonFrames {
 public:
  explicit OwnPythonFrames(const Run& run) : run_(run) {}

  // Each name is looked at once.
  bool Has(StringId name) {
    if (own_.empty()) own_.assign(run_.trace.strings.size(), kUnread);
    std::int8_t& own = own_[name];
    if (own == kUnread) own = IsOwn(run_.trace.strings[name]) ? 1 : 0;
    return own == 1;
  }

 private:
  static constexpr std::int8_t kUnread = -1;

  bool IsOwn(std::string_view frame) const {
    constexpr std::string_view kEnding = ".py";
    const std::size_t line = frame.find(".py(");
    return line != std::string_view::npos &&
           !IsLibraryFile(run_.knowledge, frame.substr(0, line + kEnding.size()));
  }

  const Run& run_;
  std::vector<std::int8_t> own_;  // by name
};

}  // namespace advise
