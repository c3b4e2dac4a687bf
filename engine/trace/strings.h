// Names, each kept once. Ids are stable for the life of the pool; id 0 is the empty string.
#pragma once

#include <deque>
#include <string>
#include <string_view>
#include <unordered_map>

#include "engine/base/units.h"

namespace advise {

class StringPool {
 public:
  StringPool() { Intern(""); }
  StringPool(StringPool&&) = default;
  StringPool& operator=(StringPool&&) = default;
  StringPool(const StringPool&) = delete;
  StringPool& operator=(const StringPool&) = delete;

  StringId Intern(std::string_view text) {
    const auto found = ids_.find(text);
    if (found != ids_.end()) return found->second;
    const auto id = static_cast<StringId>(texts_.size());
    texts_.emplace_back(text);
    ids_.emplace(texts_.back(), id);
    return id;
  }

  // Another pool with the same ids.
  StringPool Copy() const {
    StringPool copy;
    for (const std::string& text : texts_) copy.Intern(text);
    return copy;
  }

  const std::string& operator[](StringId id) const { return texts_[id]; }
  std::size_t size() const { return texts_.size(); }

 private:
  std::deque<std::string> texts_;  // a deque: the views in ids_ stay valid
  std::unordered_map<std::string_view, StringId> ids_;
};

}  // namespace advise
