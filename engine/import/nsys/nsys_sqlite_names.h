// What names of an export become: one pool for all tasks, and sizes of operators read out of them.
#pragma once

#include <string>
#include <vector>

#include "engine/import/nsys/nsys_sqlite_assemble.h"

namespace advise::nsys {

// The names of one task. A reference becomes a name in place.
class Names {
 public:
  Names(const StringTable& table, const ReadLog& log, StringPool& pool) : table_(table) {
    for (StringId id = 0; id < log.texts.size(); ++id)
      inline_.push_back(pool.Intern(log.texts[id]));
  }
  StringId operator()(NameRef ref) const {
    if (ref == kNone) return 0;
    return ref >= kInline ? inline_[ref - kInline] : table_[ref];
  }
  void Replace(std::vector<NameRef>& column) const {
    for (NameRef& name : column) name = (*this)(name);
  }

 private:
  const StringTable& table_;
  std::vector<StringId> inline_;
};

// Applies a rule to a column of names, once for each distinct name.
template <typename Rule>
void Rename(std::vector<StringId>& column, StringPool& pool, Rule rule) {
  std::vector<StringId> renamed(pool.size(), kNone);
  for (StringId& name : column) {
    StringId& to = renamed[name];
    if (to == kNone) to = pool.Intern(std::string(rule(pool[name])));
    name = to;
  }
}

// Sizes of operators' tensors in names that came from the table; those in rows are read.
inline void ReadSizes(const StringPool& pool, RangeRows* rows) {
  RangeTable& ranges = rows->ranges;
  constexpr std::uint32_t kUnread = kNone - 1;
  std::vector<std::uint32_t> lists(pool.size(), kUnread);  // by name
  for (std::size_t row = 0; row < ranges.size(); ++row) {
    std::uint32_t& list = lists[ranges.name[row]];
    if (list == kUnread) {
      const std::string& name = pool[ranges.name[row]];
      list = KeepsInputs(name) ? rows->inputs.Intern(SizesInName(name)) : kNone;
    }
    if (list == kNone) continue;
    ranges.inputs.resize(ranges.size(), kNone);
    ranges.inputs[row] = list;
  }
}

}  // namespace advise::nsys
