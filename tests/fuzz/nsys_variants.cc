#include "tests/fuzz/nsys_variants.h"

#include <sqlite3.h>

#include <array>
#include <cmath>
#include <cstring>
#include <limits>
#include <memory>
#include <vector>

#include "nsys_writer.h"
#include "observe.h"
#include "scenario.h"
#include "simulate.h"
#include "tests/fuzz/target.h"

namespace advise::fuzz {
namespace {

using Connection = std::unique_ptr<sqlite3, int (*)(sqlite3*)>;

void Run(sqlite3* db, const std::string& sql) {
  sqlite3_exec(db, sql.c_str(), nullptr, nullptr, nullptr);  // what does not work changes nothing
}

std::string Quoted(std::string_view name) {
  std::string quoted = "\"";
  for (const char c : name) quoted += c == '"' ? std::string("\"\"") : std::string(1, c);
  return quoted + "\"";
}

struct Table {
  std::string name;
  std::vector<std::string> columns;
};

struct Base {
  std::string content;
  std::vector<Table> tables;
};

std::vector<std::string> Column(sqlite3* db, const std::string& sql) {
  std::vector<std::string> values;
  sqlite3_exec(
      db, sql.c_str(),
      [](void* into, int, char** cells, char**) {
        static_cast<std::vector<std::string>*>(into)->emplace_back(cells[0] ? cells[0] : "");
        return 0;
      },
      &values, nullptr);
  return values;
}

std::string Content(sqlite3* db) {
  sqlite3_int64 size = 0;
  unsigned char* bytes = sqlite3_serialize(db, "main", &size, 0);
  std::string content;
  if (bytes != nullptr) content.assign(reinterpret_cast<char*>(bytes), size);
  sqlite3_free(bytes);
  return content;
}

// A simulated run of a few steps, with no more than `kRows` rows a table and small pages.
Base Simulated(const std::string& scenario, sim::NsysSchema schema) {
  constexpr const char* kRows = "60";
  const std::string path = "/dev/shm/advise-fuzz-base-" + std::to_string(getpid());
  unlink(path.c_str());
  sim::Scenario read = sim::ReadScenario(ADVISE_SOURCE_DIR "/fixtures/scenarios/" + scenario);
  read.job.steps = 2;
  sim::WriteNsys(sim::Observe(sim::Simulate(sim::JobWith(read, {})), false), schema, path);
  sqlite3* opened = nullptr;
  sqlite3_open(path.c_str(), &opened);
  const Connection db(opened, sqlite3_close);
  Base base;
  for (const std::string& name :
       Column(db.get(), "SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY name")) {
    Run(db.get(), "DELETE FROM " + Quoted(name) + " WHERE rowid > " + kRows);
    base.tables.push_back(
        {name, Column(db.get(), "SELECT name FROM pragma_table_info(" + Quoted(name) + ")")});
  }
  Run(db.get(), "PRAGMA page_size = 1024; VACUUM");
  base.content = Content(db.get());
  unlink(path.c_str());
  if (base.content.empty() || base.tables.size() < 5) Broken("the simulator writes a report");
  return base;
}

const std::array<Base, 4>& Bases() {
  static const std::array<Base, 4> bases = {
      Simulated("pairs/loading-over-pageable.toml", sim::NsysSchema::k2026),
      Simulated("pairs/loading-over-pageable.toml", sim::NsysSchema::k2022),
      Simulated("comm/small-messages-a100-x2.toml", sim::NsysSchema::k2026),
      Simulated("mpi/staged-h100-x2-2022.toml", sim::NsysSchema::k2022),
  };
  return bases;
}

// Takes the input apart, front to back; zeros past its end.
class Script {
 public:
  explicit Script(std::string_view input) : rest_(input) {}
  bool done() const { return rest_.empty(); }
  unsigned Byte() { return TakeByte(&rest_); }
  std::uint64_t Number(int bytes) {
    std::uint64_t value = 0;
    for (int i = 0; i < bytes; ++i) value = value << 8U | Byte();
    return value;
  }
  std::string Bytes(std::size_t size) {
    std::string bytes(rest_.substr(0, size));
    rest_.remove_prefix(bytes.size());
    return bytes;
  }

 private:
  std::string_view rest_;
};

// A value as SQL has it.
std::string ValueOf(Script& script) {
  switch (script.Byte() % 9) {
    case 0:
      return "NULL";
    case 1:
      return std::to_string(static_cast<std::int8_t>(script.Byte()));
    case 2:
      return std::to_string(static_cast<std::int64_t>(script.Number(4)));
    case 3:
      return std::to_string(static_cast<std::int64_t>(script.Number(8)));
    case 4:
      return script.Byte() % 2 == 0 ? "9223372036854775807" : "(-9223372036854775807 - 1)";
    case 5:
      return script.Byte() % 2 == 0 ? "9e999" : "-9e999";
    case 6: {
      const std::string bytes = script.Bytes(8);
      std::array<char, 8> whole = {};
      std::memcpy(whole.data(), bytes.data(), bytes.size());
      double value = 0;
      std::memcpy(&value, whole.data(), sizeof(value));
      if (!std::isfinite(value)) return "0.5";
      std::array<char, 40> digits;
      std::snprintf(digits.data(), digits.size(), "%.17g", value);
      return digits.data();
    }
    default: {
      const bool is_text = script.Byte() % 4 != 0;
      const std::string bytes = script.Bytes(script.Byte());
      std::string hex = "x'";
      for (const char c : bytes) {
        constexpr const char* kDigits = "0123456789abcdef";
        const auto byte = static_cast<unsigned char>(c);
        hex += kDigits[byte >> 4U];
        hex += kDigits[byte & 15U];
      }
      return is_text ? "CAST(" + hex + "' AS TEXT)" : hex + "'";
    }
  }
}

void Change(Script& script, sqlite3* db, const std::vector<Table>& tables) {
  const unsigned what = script.Byte();
  const Table& table = tables[script.Byte() % tables.size()];
  const std::string name = Quoted(table.name);
  if (table.columns.empty()) return;
  const std::string column = Quoted(table.columns[script.Byte() % table.columns.size()]);
  const std::string row = std::to_string(1 + script.Byte() % 60);
  switch (what % 16) {
    case 8:
      return Run(db, "ALTER TABLE " + name + " DROP COLUMN " + column);
    case 9:
      return Run(db, "ALTER TABLE " + name + " RENAME COLUMN " + column + " TO renamed");
    case 10:
      return Run(db, "DROP TABLE " + name);
    case 11:
      return Run(db, "DELETE FROM " + name + " WHERE rowid > " + row);
    case 12:
      return Run(db, "INSERT INTO " + name + " SELECT * FROM " + name + " LIMIT " + row);
    case 13:
      return Run(db, "UPDATE " + name + " SET " + column + " = " + ValueOf(script));
    case 14:
      return Run(db, "CREATE TABLE copied AS SELECT * FROM " + name + "; DROP TABLE " + name +
                         "; ALTER TABLE copied RENAME TO " + name);
    case 15:
      return Run(db, "ALTER TABLE " + name + " RENAME TO hidden; CREATE VIEW " + name +
                         " AS SELECT * FROM hidden");
    default:
      return Run(db, "UPDATE " + name + " SET " + column + " = " + ValueOf(script) +
                         " WHERE rowid = " + row);
  }
}

}  // namespace

std::string NsysVariant(std::string_view input) {
  Script script(input);
  if (script.done()) return "";
  const Base& base = Bases()[script.Byte() % Bases().size()];
  sqlite3* opened = nullptr;
  if (sqlite3_open(":memory:", &opened) != SQLITE_OK) Broken("SQLite opens a database in memory");
  const Connection db(opened, sqlite3_close);
  const auto size = static_cast<sqlite3_int64>(base.content.size());
  auto* bytes = static_cast<unsigned char*>(sqlite3_malloc64(base.content.size()));
  std::memcpy(bytes, base.content.data(), base.content.size());
  sqlite3_deserialize(db.get(), "main", bytes, size, size,
                      SQLITE_DESERIALIZE_FREEONCLOSE | SQLITE_DESERIALIZE_RESIZEABLE);
  Run(db.get(), "PRAGMA journal_mode = off; BEGIN");
  for (int changes = 0; changes < 40 && !script.done(); ++changes) {
    Change(script, db.get(), base.tables);
  }
  Run(db.get(), "COMMIT");
  return Content(db.get());
}

}  // namespace advise::fuzz
