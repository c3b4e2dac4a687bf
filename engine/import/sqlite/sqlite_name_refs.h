// Names during reading: a table's name column holds references, and only when all tables are read
// are the texts that anything refers to fetched from the table of names and put into the pool.
//
// A reference is the id of a name, or kInline | n for the n-th text that stood in the row itself,
// or kNone for no name.
#pragma once

#include <cstdint>
#include <unordered_set>
#include <vector>

#include "engine/base/units.h"

namespace advise::sqlite {

using NameRef = std::uint32_t;
inline constexpr NameRef kInline = 0x8000'0000;

// A set of ids of names: a bit each for usual ids, a hash set for far ones.
class StringIdSet {
 public:
  void Add(NameRef id) {
    if (id >= kFar) {
      far_.insert(id);
      return;
    }
    if (id >= near_.size()) near_.resize(std::max<std::size_t>(id + 1, near_.size() * 2));
    near_[id] = true;
  }
  void Add(const StringIdSet& other);
  bool Has(NameRef id) const {
    return id < near_.size() ? near_[id] : !far_.empty() && far_.contains(id);
  }
  std::vector<NameRef> Sorted() const;

 private:
  static constexpr NameRef kFar = 1U << 26;
  std::vector<bool> near_;
  std::unordered_set<NameRef> far_;
};

}  // namespace advise::sqlite
