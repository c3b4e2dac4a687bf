#include "engine/store/facts_file.h"

#include <SQLiteCpp/SQLiteCpp.h>
#include <fmt/format.h>

#include <array>
#include <cstdio>
#include <filesystem>
#include <fstream>

#include "engine/base/leftovers.h"
#include "engine/base/parse_number.h"
#include "engine/base/replace.h"

namespace advise {
namespace {

constexpr int kApplication = 0x41445646;  // "ADVF"
constexpr int kFormat = 7;                // raised when something is added
constexpr int kReadsFrom = 5;             // raised when older readers would misread the file
constexpr int kOldest = 4;                // that this version reads
constexpr std::size_t kIdAt = 68;         // of the application id in SQLite's header

const char* const kTables =
    "pragma page_size = 512; pragma journal_mode = off; pragma synchronous = off;"
    "create table meta (name text primary key, value text) without rowid;"
    "create table sections (name text primary key, checksum integer, content blob) without rowid;";

}  // namespace

bool IsFactsFile(std::string_view head) {
  if (head.size() < kIdAt + 4 || !head.starts_with(std::string_view("SQLite format 3\0", 16))) {
    return false;
  }
  std::uint32_t id = 0;
  for (std::size_t i = 0; i < 4; ++i) {
    id = (id << 8U) | static_cast<unsigned char>(head[kIdAt + i]);
  }
  return id == static_cast<std::uint32_t>(kApplication);
}

bool IsFactsFileAt(const std::string& path) {
  std::error_code failed;
  if (!std::filesystem::is_regular_file(path, failed)) return false;  // a pipe would be waited for
  std::ifstream file(path, std::ios::binary);
  std::string head(100, '\0');
  file.read(head.data(), static_cast<std::streamsize>(head.size()));
  head.resize(static_cast<std::size_t>(file.gcount()));
  return IsFactsFile(head);
}

Result<void> WriteFactsFile(const SavedReport& saved, const std::string& path) {
  // Written beside and moved into place: a reader never sees half a file.
  const std::string beside = path + ".part";
  const Leftover leftovers[] = {Leftover(beside), Leftover(beside + "-journal")};
  std::error_code ignored;
  std::filesystem::remove(beside, ignored);
  try {
    SQLite::Database db(beside, SQLite::OPEN_READWRITE | SQLite::OPEN_CREATE);
    db.exec(kTables);
    db.exec(fmt::format("pragma application_id = {}; pragma user_version = {};", kApplication,
                        kFormat));
    db.exec("begin");
    SQLite::Statement meta(db, "insert into meta values (?, ?)");
    const std::array<std::pair<std::string, std::string>, 3> rows = {
        {{"format", std::to_string(kFormat)},
         {"reads_from", std::to_string(kReadsFrom)},
         {"tool", "advise " + saved.report.tool_version}}};
    for (const auto& [name, value] : rows) {
      meta.reset();
      meta.bind(1, name);
      meta.bind(2, value);
      meta.exec();
    }
    SQLite::Statement insert(db, "insert into sections values (?, ?, ?)");
    for (const auto& [name, bytes] : Encode(saved)) {
      insert.reset();
      insert.bind(1, name);
      insert.bind(2, static_cast<std::int64_t>(ChecksumOf(bytes)));
      insert.bind(3, bytes.data(), static_cast<int>(bytes.size()));
      insert.exec();
    }
    db.exec("commit");
  } catch (const SQLite::Exception& problem) {
    std::filesystem::remove(beside, ignored);
    return Fail(std::string("cannot be written: ") + problem.what(), path);
  }
  return MoveIntoPlace(beside, path);
}

Result<Sections> ReadFactsSections(const std::string& path) {
  const char* const again = "write it again: advise facts REPORT -o run.facts";
  try {
    SQLite::Database db(path, SQLite::OPEN_READONLY);
    const auto meta = [&db](const char* name) {
      SQLite::Statement query(db, "select value from meta where name = ?");
      query.bind(1, name);
      return query.executeStep() ? NumberAtStart<int>(query.getColumn(0).getString()) : 0;
    };
    const int reads_from = meta("reads_from");
    if (reads_from > kFormat) {
      return Fail(
          fmt::format("facts of a later version of advise (format {}, this one reads up to {})",
                      reads_from, kFormat),
          path, "use that version, or write the facts with this one");
    }
    const int format = meta("format");
    if (format < kOldest) {
      return Fail(
          fmt::format("facts of an earlier version of advise (format {}, this one reads from {})",
                      format, kOldest),
          path, again);
    }
    Sections sections;
    SQLite::Statement query(db, "select name, checksum, content from sections order by name");
    while (query.executeStep()) {
      const SQLite::Column content = query.getColumn(2);
      std::string bytes(static_cast<const char*>(content.getBlob()),
                        static_cast<std::size_t>(content.getBytes()));
      const std::string name = query.getColumn(0).getString();
      if (static_cast<std::int64_t>(ChecksumOf(bytes)) != query.getColumn(1).getInt64()) {
        return Fail(fmt::format("the section \"{}\" is damaged: its checksum is wrong", name), path,
                    again);
      }
      sections.emplace_back(name, std::move(bytes));
    }
    return sections;
  } catch (const SQLite::Exception& problem) {
    return Fail(std::string("the facts file is damaged: ") + problem.what(), path, again);
  }
}

Result<SavedReport> ReadFactsFile(const std::string& path, const Vocabulary& known) {
  Result<Sections> sections = ReadFactsSections(path);
  if (!sections) return tl::unexpected(sections.error());
  return Decode(*sections, known, path);
}

}  // namespace advise
