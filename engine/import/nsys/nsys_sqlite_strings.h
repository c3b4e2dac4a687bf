// The names of an export, which stand in StringIds.
#pragma once

#include <unordered_map>
#include <vector>

#include "engine/import/sqlite/sqlite_scan.h"
#include "engine/trace/strings.h"

namespace advise::nsys {

using sqlite::kInline;
using sqlite::NameRef;
using sqlite::Reader;
using sqlite::StringIdSet;

// StringIds ids → names in the pool, for the ids that were asked for.
class StringTable {
 public:
  // Reads StringIds once. Ids without a row resolve to "" and are counted in the log.
  StringTable(Reader& reader, const StringIdSet& wanted, StringPool& pool);

  StringId operator[](NameRef id) const {
    if (id < dense_.size()) return dense_[id];
    const auto found = sparse_.find(id);
    return found == sparse_.end() ? 0 : found->second;
  }

 private:
  std::vector<StringId> dense_;  // by id, while ids are no more than a few times the names
  std::unordered_map<NameRef, StringId> sparse_;
};

}  // namespace advise::nsys
