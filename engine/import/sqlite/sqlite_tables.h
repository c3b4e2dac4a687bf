// Which tables of a report can be read from their pages, and how their rows look.
#pragma once

#include <sqlite3.h>

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "engine/import/sqlite/sqlite_cells.h"

namespace advise::sqlite {

// The tables of one open file. Its methods may be called from several threads, each with a
// connection of its own.
class PageTables {
 public:
  // `file` must outlive this. Asks the schema for the trees of the tables.
  PageTables(const PageFile& file, sqlite3* db);

  const PageFile& file() const { return file_; }

  // Where the named columns stand ("": a column that the table does not have); nothing for tables
  // whose rows only SQLite should read: generated columns, defaults it cannot know, no row ids.
  std::optional<std::vector<CellColumn>> Columns(sqlite3* db, const std::string& table,
                                                 const std::vector<std::string>& names) const;

  // Found once. Throws Unusual.
  const std::vector<std::uint32_t>& Leaves(const std::string& table) const;

 private:
  struct Tree {
    std::uint32_t root = 0;
    bool has_descending_key = false;
    mutable std::mutex finding;
    mutable bool found = false;
    mutable std::vector<std::uint32_t> leaves;
  };

  const PageFile& file_;
  std::map<std::string, Tree, std::less<>> trees_;
};

}  // namespace advise::sqlite
