// Rows read from the pages of a file are those that SQLite reads, value by value; where they might
// not be, the reader says so and reads nothing. Files of every shape are made here, and damaged.
#include "engine/import/sqlite/sqlite_cells.h"

#include <fcntl.h>
#include <sqlite3.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <charconv>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <optional>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "engine/import/importer.h"
#include "engine/import/sqlite/sqlite_tables.h"
#include "tests/app/find_capture.h"
#include "tests/import/nsys_builder.h"

namespace advise::sqlite {
namespace {

using namespace advise::testing;

using TableRows = std::vector<std::string>;
using Connection = std::unique_ptr<sqlite3, int (*)(sqlite3*)>;

Connection OpenPlain(const std::string& path, bool to_write = false) {
  sqlite3* db = nullptr;
  const int how = to_write ? SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE : SQLITE_OPEN_READONLY;
  sqlite3_open_v2(path.c_str(), &db, how, nullptr);
  return {db, sqlite3_close};
}

void Execute(sqlite3* db, const std::string& sql) {
  INFO(sql);
  REQUIRE(sqlite3_exec(db, sql.c_str(), nullptr, nullptr, nullptr) == SQLITE_OK);
}

// A value as text at the end of a row; both readers must give the same.
void Show(int type, std::int64_t whole, double real, std::string_view text, std::string* row) {
  char digits[80];
  switch (type) {
    case SQLITE_INTEGER: {
      char* const end = std::to_chars(digits, digits + sizeof(digits), whole).ptr;
      row->append("i").append(digits, end);
      break;
    }
    case SQLITE_FLOAT:
      std::snprintf(digits, sizeof(digits), "r%lld %a", static_cast<long long>(whole), real);
      row->append(digits);
      break;
    case SQLITE_TEXT:
    case SQLITE_BLOB:
      row->append(type == SQLITE_TEXT ? "t" : "b").append(text);
      break;
    default:
      row->append("n");
  }
  row->append("|");
}

// Nothing when SQLite calls the table damaged.
std::optional<TableRows> BySqlite(sqlite3* db, const std::string& table,
                                  const std::vector<std::string>& names) {
  std::string list;
  for (const std::string& name : names) list += (list.empty() ? "\"" : ", \"") + name + "\"";
  sqlite3_stmt* statement = nullptr;
  const std::string sql = "SELECT " + list + " FROM \"" + table + "\"";
  if (sqlite3_prepare_v2(db, sql.c_str(), -1, &statement, nullptr) != SQLITE_OK) return {};
  TableRows rows;
  int code = SQLITE_OK;
  while ((code = sqlite3_step(statement)) == SQLITE_ROW) {
    std::string row;
    for (int i = 0; i < sqlite3_column_count(statement); ++i) {
      const int type = sqlite3_column_type(statement, i);
      const std::int64_t whole = sqlite3_column_int64(statement, i);
      const double real = sqlite3_column_double(statement, i);
      std::string_view text;
      if (type == SQLITE_TEXT || type == SQLITE_BLOB) {
        const void* bytes = sqlite3_column_blob(statement, i);
        const int size = sqlite3_column_bytes(statement, i);
        if (size > 0) text = {static_cast<const char*>(bytes), static_cast<std::size_t>(size)};
      }
      Show(type, whole, real, text, &row);
    }
    rows.push_back(std::move(row));
  }
  sqlite3_finalize(statement);
  if (code != SQLITE_DONE) return {};
  return rows;
}

// Nothing when the table is one that SQLite should read.
std::optional<TableRows> ByPages(const std::string& path, sqlite3* db, const std::string& table,
                                 const std::vector<std::string>& names, std::size_t parts = 1) {
  const auto file = PageFile::Open(path);
  if (file == nullptr) return {};
  try {
    const PageTables tables(*file, db);
    const auto columns = tables.Columns(db, table, names);
    if (!columns) return {};
    const std::span<const std::uint32_t> leaves(tables.Leaves(table));
    TableRows rows;
    for (std::size_t part = 0; part < parts; ++part) {
      const std::size_t first = leaves.size() * part / parts;
      const std::size_t end = leaves.size() * (part + 1) / parts;
      Cells cells(*file, leaves.subspan(first, end - first), *columns);
      while (cells.Next()) {
        std::string row;
        for (int i = 0; i < static_cast<int>(names.size()); ++i) {
          const int type = cells.Type(i);
          const bool is_number = type == SQLITE_INTEGER || type == SQLITE_FLOAT;
          const bool is_text = type == SQLITE_TEXT || type == SQLITE_BLOB;
          Show(type, is_number ? cells.Int(i) : 0, is_number ? cells.Real(i) : 0,
               is_text ? cells.Text(i) : "", &row);
        }
        rows.push_back(std::move(row));
      }
    }
    return rows;
  } catch (const Unusual&) {
    return {};
  }
}

std::vector<std::string> TablesOf(sqlite3* db) {
  std::vector<std::string> tables;
  const auto rows = BySqlite(db, "sqlite_master", {"type", "name"});
  for (const std::string& row : rows.value_or(TableRows())) {
    if (row.starts_with("ttable|t")) tables.push_back(row.substr(8, row.size() - 9));
  }
  return tables;
}

std::vector<std::string> ColumnsOf(sqlite3* db, const std::string& table) {
  std::vector<std::string> columns;
  sqlite3_stmt* statement = nullptr;
  sqlite3_prepare_v2(db, "SELECT name FROM pragma_table_info(?1)", -1, &statement, nullptr);
  sqlite3_bind_text(statement, 1, table.c_str(), -1, SQLITE_STATIC);
  while (sqlite3_step(statement) == SQLITE_ROW) {
    columns.emplace_back(reinterpret_cast<const char*>(sqlite3_column_text(statement, 0)));
  }
  sqlite3_finalize(statement);
  return columns;
}

// Rows of every kind of value. The last column is often beyond the page.
void WriteValues(const std::string& path, int page_size, int rows, unsigned seed) {
  const Connection db = OpenPlain(path, true);
  Execute(db.get(), "PRAGMA page_size = " + std::to_string(page_size));
  Execute(db.get(), "CREATE TABLE t(a INT, id INTEGER PRIMARY KEY, r REAL, b, s TEXT, last)");
  Execute(db.get(), "CREATE TABLE other(x, y)");
  Execute(db.get(), "BEGIN");
  std::mt19937_64 random(seed);
  const auto whole = [&] {
    return std::to_string(static_cast<std::int64_t>(random()) >> (random() % 64));
  };
  for (int i = 0; i < rows; ++i) {
    std::string value;
    switch (random() % 6) {
      case 0:
        value = "NULL";
        break;
      case 1:
        value = std::to_string(static_cast<double>(random()) * 1e-9);
        break;
      case 2:
        value = "zeroblob(" + std::to_string(random() % 90) + ")";
        break;
      case 3:
        value = random() % 2 == 0 ? "9e999" : "-9e999";
        break;
      default:
        value = whole();
    }
    const bool is_long = random() % 10 == 0;
    const std::string length = std::to_string(random() % (is_long ? 3 * page_size : 60));
    Execute(db.get(), "INSERT INTO t VALUES(" + whole() + ", NULL, " + whole() + " >> 8, " + value +
                          ", hex(zeroblob(" + length + ")), " + whole() + ")");
    if (i % 3 == 0) Execute(db.get(), "INSERT INTO other VALUES(" + whole() + ", 'y')");
  }
  Execute(db.get(), "DELETE FROM t WHERE id % 7 = 3");
  Execute(db.get(), "COMMIT");
}

std::string FileContent(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

void WriteFile(const std::string& path, const std::string& content) {
  std::ofstream(path, std::ios::binary) << content;
}

}  // namespace

TEST_CASE("rows from pages are SQLite's own, for all sizes of pages and all kinds of values") {
  const TempDir dir;
  for (const int page_size : {512, 1024, 4096, 65536}) {
    CAPTURE(page_size);
    const std::string path = dir.File(std::to_string(page_size));
    WriteValues(path, page_size, 2000, 7);
    const Connection db = OpenPlain(path);
    for (const std::vector<std::string>& names :
         {std::vector<std::string>{"a", "id", "r", "b", "s", "last"},
          std::vector<std::string>{"last", "a", "a"}, std::vector<std::string>{"id"}}) {
      const auto expected = BySqlite(db.get(), "t", names);
      REQUIRE(expected);
      REQUIRE(expected->size() > 1700);
      for (const std::size_t parts : {1, 3, 16}) {
        const auto rows = ByPages(path, db.get(), "t", names, parts);
        REQUIRE(rows);
        REQUIRE(*rows == *expected);
      }
    }
  }
}

TEST_CASE("tables that only SQLite should read are left to it") {
  const TempDir dir;
  const std::string path = dir.File("tables");
  {
    const Connection db = OpenPlain(path, true);
    Execute(db.get(), "CREATE TABLE plain(a, b); INSERT INTO plain VALUES(1, 2)");
    Execute(db.get(), "CREATE TABLE empty(a)");
    Execute(db.get(),
            "CREATE TABLE keyed(a PRIMARY KEY) WITHOUT ROWID; INSERT INTO keyed VALUES(1)");
    Execute(db.get(), "CREATE TABLE made(a, b AS (a + 1)); INSERT INTO made(a) VALUES(1)");
    Execute(db.get(), "CREATE TABLE down(a INTEGER PRIMARY KEY DESC); INSERT INTO down VALUES(5)");
    Execute(db.get(), "CREATE TABLE grown(a); INSERT INTO grown VALUES(1)");
    Execute(db.get(), "ALTER TABLE grown ADD COLUMN later");
    Execute(db.get(), "ALTER TABLE grown ADD COLUMN preset DEFAULT 5");
  }
  const Connection db = OpenPlain(path);
  CHECK(ByPages(path, db.get(), "plain", {"b", "a"}) == TableRows{"i2|i1|"});
  CHECK(ByPages(path, db.get(), "empty", {"a"}) == TableRows());
  CHECK(ByPages(path, db.get(), "plain", {"", "a"}) == TableRows{"n|i1|"});
  CHECK(ByPages(path, db.get(), "grown", {"a", "later"}) == TableRows{"i1|n|"});
  CHECK_FALSE(ByPages(path, db.get(), "grown", {"preset"}));
  CHECK_FALSE(ByPages(path, db.get(), "keyed", {"a"}));
  CHECK_FALSE(ByPages(path, db.get(), "made", {"a"}));
  CHECK_FALSE(ByPages(path, db.get(), "down", {"a"}));
  CHECK_FALSE(ByPages(path, db.get(), "none", {"a"}));
}

TEST_CASE("files that only SQLite should read are left to it") {
  const TempDir dir;
  const auto make = [&](const std::string& name, const std::string& first) {
    const Connection db = OpenPlain(dir.File(name), true);
    sqlite3_exec(db.get(), first.c_str(), nullptr, nullptr, nullptr);
    Execute(db.get(), "CREATE TABLE t(a); INSERT INTO t VALUES('x')");
    return dir.File(name);
  };
  CHECK(PageFile::Open(make("plain", "")) != nullptr);
  CHECK(PageFile::Open(make("utf16", "PRAGMA encoding = 'UTF-16le'")) == nullptr);
  CHECK(PageFile::Open(make("log", "PRAGMA journal_mode = WAL")) == nullptr);
  const std::string journal = make("journal", "");
  WriteFile(journal + "-journal", "something");
  CHECK(PageFile::Open(journal) == nullptr);
  const std::string cut = make("cut", "");
  std::filesystem::resize_file(cut, std::filesystem::file_size(cut) - 1);
  CHECK(PageFile::Open(cut) == nullptr);
  CHECK(PageFile::Open(dir.File("none")) == nullptr);
  CHECK(PageFile::Open(dir.path()) == nullptr);
}

TEST_CASE("a damaged file gives SQLite's rows or none from its pages") {
  const TempDir dir;
  const std::string whole = dir.File("whole");
  WriteValues(whole, 512, 300, 3);
  const std::string content = FileContent(whole);
  const std::string path = dir.File("damaged");
  std::mt19937_64 random(11);
  int read = 0, refused = 0, damaged = 0;
  for (int round = 0; round < 1500; ++round) {
    CAPTURE(round);
    std::string bytes = content;
    const std::size_t flips = 1 + random() % 4;
    for (std::size_t i = 0; i < flips; ++i) {
      // Most at the beginning of a page, where its structure is.
      const std::size_t page = random() % (bytes.size() / 512) * 512;
      const std::size_t at = page + random() % (random() % 2 == 0 ? 24 : 512);
      bytes[at] =
          static_cast<char>(random() % 3 == 0 ? bytes[at] ^ (1 << (random() % 8)) : random());
    }
    WriteFile(path, bytes);
    const Connection db = OpenPlain(path);
    for (const char* table : {"t", "other"}) {
      const std::vector<std::string> names = table[0] == 't'
                                                 ? std::vector<std::string>{"a", "id", "r", "last"}
                                                 : std::vector<std::string>{"y", "x"};
      const auto rows = ByPages(path, db.get(), table, names);
      const auto expected = BySqlite(db.get(), table, names);
      damaged += expected ? 0 : 1;
      if (!rows) {
        ++refused;
        continue;
      }
      ++read;
      REQUIRE(expected);
      REQUIRE(*rows == *expected);
    }
  }
  CHECK(read > 500);
  CHECK(refused > 500);
  CHECK(damaged > 300);
}

TEST_CASE("a damaged report is read as SQLite alone would read it") {
  const TempDir dir;
  const std::string whole = dir.File("whole.sqlite");
  {
    NsysBuilder builder(whole, NsysBuilder::Schema::k3_25);
    builder.Sql("BEGIN");
    for (std::int64_t i = 0; i < 400; ++i) {
      builder.Add(CallRow{.start = 10 * i, .end = 10 * i + 1, .correlation = i + 1})
          .Add(KernelRow{.start = 10 * i + 2, .end = 10 * i + 9, .correlation = i + 1});
    }
    builder.Sql("COMMIT");
  }
  const std::string content = FileContent(whole);
  const std::string path = dir.File("damaged.sqlite");
  std::mt19937_64 random(5);
  for (int round = 0; round < 60; ++round) {
    CAPTURE(round);
    std::string bytes = content;
    const std::size_t page = (1 + random() % (bytes.size() / 4096 - 1)) * 4096;
    bytes[page + random() % 64] = static_cast<char>(random());
    WriteFile(path, bytes);
    const Result<Trace> read = ImportReport(path, {});
    // A journal that belongs to nothing keeps the reader from the pages, and SQLite ignores it.
    WriteFile(path + "-journal", "x");
    const Result<Trace> expected = ImportReport(path, {});
    std::filesystem::remove(path + "-journal");
    REQUIRE(read.has_value() == expected.has_value());
    if (!read) continue;
    CHECK(read->ops.start == expected->ops.start);
    CHECK(read->ops.end == expected->ops.end);
    CHECK(read->ops.call == expected->ops.call);
    CHECK(read->calls.start == expected->calls.start);
    CHECK(read->calls.end == expected->calls.end);
    CHECK(read->table_rows == expected->table_rows);
  }
}

TEST_CASE("a file that is cut or written while it is read is noticed") {
  const TempDir dir;
  const std::string path = dir.File("cut");
  WriteValues(path, 1024, 500, 1);
  const auto file = PageFile::Open(path);
  REQUIRE(file != nullptr);
  const Connection db = OpenPlain(path);
  const PageTables tables(*file, db.get());
  const auto columns = tables.Columns(db.get(), "t", {"a"});
  REQUIRE(columns);
  const std::vector<std::uint32_t> leaves = tables.Leaves("t");
  const FileState before(path);
  CHECK(FileState(path) == before);
  std::filesystem::resize_file(path, 8192);
  CHECK_FALSE(FileState(path) == before);
  const auto read = [&] {
    Cells cells(*file, leaves, *columns);
    while (cells.Next()) {
    }
  };
  CHECK_THROWS_AS(read(), Unusual);
}

TEST_CASE("every table of every real capture has the same rows from its pages as from SQLite") {
  for (const std::string& path : FindCaptures("nsys")) {
    INFO(path);
    if (PageFile::Open(path) == nullptr) continue;
    const Connection db = OpenPlain(path);
    for (const std::string& table : TablesOf(db.get())) {
      INFO(table);
      const std::vector<std::string> names = ColumnsOf(db.get(), table);
      const auto expected = BySqlite(db.get(), table, names);
      REQUIRE(expected);
      const auto rows = ByPages(path, db.get(), table, names);
      REQUIRE(rows);
      REQUIRE(*rows == *expected);
    }
  }
}

}  // namespace advise::sqlite
