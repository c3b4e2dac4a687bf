#include "engine/import/sqlite/sqlite_name_refs.h"

#include <algorithm>

namespace advise::sqlite {

void StringIdSet::Add(const StringIdSet& other) {
  if (near_.size() < other.near_.size()) near_.resize(other.near_.size());
  for (std::size_t id = 0; id < other.near_.size(); ++id) {
    if (other.near_[id]) near_[id] = true;
  }
  far_.insert(other.far_.begin(), other.far_.end());
}

std::vector<NameRef> StringIdSet::Sorted() const {
  std::vector<NameRef> ids;
  for (std::size_t id = 0; id < near_.size(); ++id) {
    if (near_[id]) ids.push_back(static_cast<NameRef>(id));
  }
  const std::size_t far_begin = ids.size();
  ids.insert(ids.end(), far_.begin(), far_.end());
  std::sort(ids.begin() + static_cast<std::ptrdiff_t>(far_begin), ids.end());
  return ids;
}

}  // namespace advise::sqlite
