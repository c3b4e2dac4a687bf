// How a file is opened, from its state on disk:
//   plain                                     mode=ro
//   cannot be locked, or a hot journal that   immutable=1, with a warning: SQLite then reads the
//   only a writer may roll back               pages as they stand and creates no file
//   write-ahead log (-wal) with an index      mode=ro: a live database, read as of now
//   write-ahead log without one               immutable=1 (mode=ro would create the index file),
//                                             with a warning when the log holds rows
//   cut off, or with holes in its schema      writable_schema=ON, which on a read-only connection
//                                             only means: go on with what can be read
#include "engine/import/sqlite/sqlite_file.h"

#include <SQLiteCpp/Exception.h>
#include <SQLiteCpp/Statement.h>
#include <fmt/format.h>
#include <sqlite3.h>

#include <filesystem>
#include <fstream>

#include "engine/base/ascii.h"
#include "engine/import/sqlite/sqlite_pages.h"
#include "engine/import/sqlite/sqlite_scan.h"

namespace advise::sqlite {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kWriteVersionByte = 18;  // of the header: 2 = write-ahead log

std::string EncodeUri(const std::string& path) {
  std::string uri = path.starts_with('/') ? "file://" : "file:./";
  for (const char c : path) {
    const auto byte = static_cast<unsigned char>(c);
    if (IsAlnum(c) || std::string_view("/-_.~").find(c) != std::string_view::npos) {
      uri += c;
    } else {
      uri += fmt::format("%{:02X}", byte);
    }
  }
  return uri;
}

// True when the file uses a write-ahead log that cannot be joined without creating its index.
bool LogWithoutIndex(const std::string& path, const std::string& head) {
  return head[kWriteVersionByte] == 2 && !(HasContent(path + "-wal") && HasContent(path + "-shm"));
}

// The result code of a first read; `message` says what failed.
int TryFirstRead(const Source& source, std::string& message) {
  try {
    const SQLite::Database db = Connect(source);
    sqlite3_stmt* statement = nullptr;
    int code = sqlite3_prepare_v2(db.getHandle(), "SELECT count(*) FROM sqlite_master", -1,
                                  &statement, nullptr);
    if (code == SQLITE_OK) code = sqlite3_step(statement);
    if (code != SQLITE_ROW) message = sqlite3_errmsg(db.getHandle());
    sqlite3_finalize(statement);
    return code == SQLITE_ROW ? SQLITE_OK : code;
  } catch (const SQLite::Exception& error) {
    message = error.what();
    return error.getExtendedErrorCode();
  }
}

// Errors that come from locks, journals and permissions, not from the content.
bool IsAccessError(int code) {
  switch (code & 0xff) {
    case SQLITE_BUSY:
    case SQLITE_CANTOPEN:
    case SQLITE_IOERR:
    case SQLITE_LOCKED:
    case SQLITE_NOLFS:
    case SQLITE_PERM:
    case SQLITE_PROTOCOL:
    case SQLITE_READONLY:
      return true;
    default:
      return false;
  }
}

void ReadSchema(const SQLite::Database& db, Source& source) {
  ReadLog log;
  Reader reader{source, db.getHandle(), log};
  std::vector<std::string> names;
  {
    Scan scan(reader, "sqlite_master", "SELECT name FROM sqlite_master WHERE type = 'table'");
    while (scan.Next()) names.emplace_back(scan.Text(0));
  }
  for (const std::string& name : names) {
    if (name.starts_with("sqlite_")) continue;
    auto& columns = source.tables[name];
    std::string quoted;
    for (const char c : name) quoted += c == '\'' ? "''" : std::string(1, c);
    Scan scan(reader, name, "SELECT name FROM pragma_table_info('" + quoted + "')");
    while (scan.Next()) columns.emplace(scan.Text(0));
  }
  for (const Diagnostic& d : log.diagnostics.list()) {
    source.diagnostics.Add(d.level, d.text, d.table, d.count);
  }
}

}  // namespace

bool IsDatabase(std::string_view head) {
  return head.starts_with(std::string_view("SQLite format 3\0", 16));
}

bool HasTableNamed(const std::string& path, std::string_view prefix) {
  try {
    SQLite::Database db(EncodeUri(path) + "?mode=ro&immutable=1",
                        SQLite::OPEN_READONLY | SQLite::OPEN_URI);
    db.exec("PRAGMA writable_schema = ON");  // files that were cut off, too
    SQLite::Statement tables(db, "SELECT 1 FROM sqlite_master WHERE substr(name, 1, ?1) = ?2");
    tables.bind(1, static_cast<std::int64_t>(prefix.size()));
    tables.bind(2, std::string(prefix));
    return tables.executeStep();
  } catch (const SQLite::Exception&) {
    return false;
  }
}

SQLite::Database Connect(const Source& source) {
  SQLite::Database db(source.uri, SQLite::OPEN_READONLY | SQLite::OPEN_URI | SQLITE_OPEN_NOMUTEX);
  // The file is foreign: no function that its schema calls may have side effects.
  sqlite3_db_config(db.getHandle(), SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, nullptr);
  sqlite3_extended_result_codes(db.getHandle(), 1);
  if (source.is_damaged) db.exec("PRAGMA writable_schema = ON");
  return db;
}

Result<Source> OpenSource(const std::string& path) {
  Source source;
  source.path = path;
  std::string head(100, '\0');
  std::ifstream file(path, std::ios::binary);
  if (!file) return Fail("cannot be read", path, "check that it exists and that you may read it");
  file.read(head.data(), static_cast<std::streamsize>(head.size()));
  if (!IsDatabase(head)) {
    return Fail("not a SQLite database", path, "make one with: nsys export --type sqlite");
  }
  if (file.gcount() < static_cast<std::streamsize>(head.size())) {
    return Fail("the database is cut off inside its header", path, "export the report again");
  }
  std::error_code ignored;
  source.bytes = static_cast<std::int64_t>(fs::file_size(path, ignored));

  source.uri = EncodeUri(path) + "?mode=ro";
  const std::string immutable = source.uri + "&immutable=1";
  const bool ignores_log = LogWithoutIndex(path, head);
  if (ignores_log) {
    source.uri = immutable;
    if (HasContent(path + "-wal")) {
      source.diagnostics.Add(Level::kWarning,
                             "the database has a write-ahead log that was not read: rows that its "
                             "writer added last may be missing");
    }
  }
  std::string message;
  int code = TryFirstRead(source, message);
  if (IsAccessError(code) && !ignores_log) {
    source.uri = immutable;
    source.diagnostics.Add(Level::kWarning,
                           "the database could not be opened normally (" + message +
                               ") and was read as it is: if a program was writing it, rows "
                               "may be missing");
    code = TryFirstRead(source, message);
  }
  if ((code & 0xff) == SQLITE_CORRUPT) {
    source.is_damaged = true;
    source.diagnostics.Add(Level::kError,
                           "the file is damaged or was cut off: what could be read was read");
  } else if (code != SQLITE_OK) {
    return Fail("the database cannot be read: " + message, path, "export the report again");
  }
  try {
    ReadSchema(Connect(source), source);
  } catch (const SQLite::Exception& error) {
    return Fail(std::string("the database cannot be read: ") + error.what(), path,
                "export the report again");
  }
  if (source.is_damaged && source.tables.empty()) {
    return Fail("the database is damaged: no table can be found", path, "export the report again");
  }
  return source;
}

}  // namespace advise::sqlite
