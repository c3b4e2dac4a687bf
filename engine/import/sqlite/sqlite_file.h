// Opening a SQLite file so that nothing is ever written beside or into it, and its schema.
#pragma once

#include <SQLiteCpp/Database.h>

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <string_view>

#include "engine/base/error.h"
#include "engine/trace/diagnostics.h"

namespace advise::sqlite {

// A database that can be opened: how, and what tables it has.
struct Source {
  std::string path;
  std::string uri;          // "file:…?mode=ro", with immutable=1 where locking cannot be had
  bool is_damaged = false;  // shorter than its header says, or its schema has holes
  std::int64_t bytes = 0;   // size of the file
  Diagnostics diagnostics;  // what opening it says about the rows
  std::map<std::string, std::set<std::string, std::less<>>, std::less<>> tables;  // their columns

  bool Has(std::string_view table) const { return tables.find(table) != tables.end(); }
  bool Has(std::string_view table, std::string_view column) const {
    const auto found = tables.find(table);
    return found != tables.end() && found->second.find(column) != found->second.end();
  }
};

// Whether a file that begins with `head` is a database of SQLite.
bool IsDatabase(std::string_view head);

// Whether the name of a table begins with `prefix`, letters, digits and underscores. Quick, for
// telling formats apart: looks at the file as it stands on disk, and says no where that fails.
bool HasTableNamed(const std::string& path, std::string_view prefix);

// Finds out how `path` can be opened and reads its schema. Fails when it is no database, when it
// cannot be opened, or when nothing of the schema can be read.
Result<Source> OpenSource(const std::string& path);

// One more connection to a source, for one thread at a time. Throws SQLite::Exception.
SQLite::Database Connect(const Source& source);

}  // namespace advise::sqlite
