// StringIds(id, value) → StringPool. Ids are dense from 0 in full exports and sparse in trimmed
// ones; a file may hold a million names and texts of megabytes (the program's output), so only the
// texts that some row refers to are fetched.
#include "engine/import/nsys/nsys_sqlite_strings.h"

namespace advise::nsys {

StringTable::StringTable(Reader& reader, const StringIdSet& wanted, StringPool& pool) {
  const std::vector<NameRef> ids = wanted.Sorted();
  if (ids.empty()) return;
  const std::size_t dense_limit = 8 * ids.size() + (1U << 20);
  if (ids.back() < dense_limit) dense_.resize(ids.back() + std::size_t{1});

  std::size_t found = 0;
  sqlite::Scan scan(reader, "StringIds", {"id", "value"});
  while (found < ids.size() && scan.Next()) {
    const std::int64_t id = scan.Int(0);
    if (id < 0 || id >= kInline || !wanted.Has(static_cast<NameRef>(id))) continue;
    ++found;
    const StringId name = pool.Intern(scan.Text(1));
    if (dense_.empty()) {
      sparse_.emplace(static_cast<NameRef>(id), name);
    } else {
      dense_[static_cast<std::size_t>(id)] = name;
    }
  }
  if (found < ids.size()) {
    reader.log.diagnostics.Add(Level::kWarning, "names are missing from the table of strings",
                               "StringIds", static_cast<std::int64_t>(ids.size() - found));
  }
}

}  // namespace advise::nsys
