#include "engine/import/sqlite/sqlite_tables.h"

#include <algorithm>
#include <functional>

#include "engine/base/ascii.h"

namespace advise::sqlite {
namespace {

constexpr int kMostColumns = 250;

std::string TextAt(sqlite3_stmt* statement, int column) {
  const auto* text = reinterpret_cast<const char*>(sqlite3_column_text(statement, column));
  return text == nullptr ? "" : text;
}

// Whether SQLite keeps the numbers of a column of this declared type as real ones.
bool HoldsReals(const std::string& type) {
  const auto has = [&](std::string_view part) { return type.find(part) != std::string::npos; };
  for (const std::string_view other : {"INT", "CHAR", "CLOB", "TEXT", "BLOB"}) {
    if (has(other)) return false;
  }
  return has("REAL") || has("FLOA") || has("DOUB");
}

// Calls `visit(statement)` for each row of a query.
template <typename Visit>
void EachRow(sqlite3* db, const char* sql, const std::string* argument, Visit visit) {
  sqlite3_stmt* prepared = nullptr;
  int code = sqlite3_prepare_v2(db, sql, -1, &prepared, nullptr);
  const std::unique_ptr<sqlite3_stmt, int (*)(sqlite3_stmt*)> statement(prepared, sqlite3_finalize);
  if (code != SQLITE_OK) throw Unusual("a schema that cannot be asked");
  if (argument != nullptr) {
    sqlite3_bind_text(prepared, 1, argument->data(), static_cast<int>(argument->size()),
                      SQLITE_STATIC);
  }
  while ((code = sqlite3_step(prepared)) == SQLITE_ROW) visit(prepared);
  if (code != SQLITE_DONE) throw Unusual("a schema that cannot be read");
}

}  // namespace

PageTables::PageTables(const PageFile& file, sqlite3* db) : file_(file) {
  constexpr const char* kTables =
      "SELECT name, rootpage, sql FROM sqlite_master WHERE type = 'table'";
  EachRow(db, kTables, nullptr, [&](sqlite3_stmt* row) {
    Tree& tree = trees_[TextAt(row, 0)];
    const std::int64_t root = sqlite3_column_int64(row, 1);
    tree.root = root > 1 && root <= file.pages() ? static_cast<std::uint32_t>(root) : 0;
    tree.has_descending_key = Upper(TextAt(row, 2)).find("DESC") != std::string::npos;
  });
}

std::optional<std::vector<CellColumn>> PageTables::Columns(
    sqlite3* db, const std::string& table, const std::vector<std::string>& names) const {
  const auto tree = trees_.find(table);
  if (tree == trees_.end() || tree->second.root == 0) return {};
  std::vector<CellColumn> columns(names.size());
  bool is_plain = true;
  int keys = 0;
  std::ptrdiff_t key_column = -1;  // of `columns`
  bool key_is_integer = false;
  constexpr const char* kColumns =
      "SELECT cid, name, type, dflt_value, pk, hidden FROM pragma_table_xinfo(?1)";
  EachRow(db, kColumns, &table, [&](sqlite3_stmt* row) {
    const int place = sqlite3_column_int(row, 0);
    const std::string type = Upper(TextAt(row, 2));
    is_plain = is_plain && place < kMostColumns && sqlite3_column_int(row, 5) == 0;
    const auto named = std::find(names.begin(), names.end(), TextAt(row, 1));
    if (sqlite3_column_int(row, 4) != 0) {
      ++keys;
      key_is_integer = type == "INTEGER";
      key_column = named == names.end() ? -1 : named - names.begin();
    }
    // A column may be wanted twice.
    for (auto at = named; at != names.end(); at = std::find(at + 1, names.end(), *named)) {
      CellColumn& column = columns[static_cast<std::size_t>(at - names.begin())];
      column.place = place;
      column.is_real = HoldsReals(type);
      column.has_default = sqlite3_column_type(row, 3) != SQLITE_NULL;
    }
  });
  if (keys == 1 && key_is_integer) {
    if (tree->second.has_descending_key) return {};  // then it may be a column like any other
    for (std::size_t i = 0; i < columns.size() && key_column >= 0; ++i) {
      if (names[i] == names[static_cast<std::size_t>(key_column)]) {
        columns[i].place = CellColumn::kRowId;
      }
    }
  }
  if (!is_plain) return {};
  return columns;
}

const std::vector<std::uint32_t>& PageTables::Leaves(const std::string& table) const {
  const Tree& tree = trees_.at(table);
  // Not std::call_once: exceptions do not pass the C library's code in a program of one file.
  const std::lock_guard lock(tree.finding);
  if (!tree.found) tree.leaves = file_.LeavesOf(tree.root);
  tree.found = true;
  return tree.leaves;
}

}  // namespace advise::sqlite
