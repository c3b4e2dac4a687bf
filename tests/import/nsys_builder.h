// Small Nsight Systems exports, written row by row: what a test says is what the file holds.
#pragma once

#include <sqlite3.h>

#include <cstdint>
#include <string>
#include <vector>

#include "engine/trace/tables.h"

namespace advise::testing {

// A directory that goes away with the test.
class TempDir {
 public:
  TempDir();
  ~TempDir();
  TempDir(const TempDir&) = delete;
  TempDir& operator=(const TempDir&) = delete;
  std::string File(const std::string& name) const { return path_ + "/" + name; }
  const std::string& path() const { return path_; }
  std::vector<std::string> Names() const;  // of the files inside, sorted

 private:
  std::string path_;
};

inline constexpr std::int64_t GlobalPid(std::int64_t pid) { return (1LL << 48) | (pid << 24); }
inline constexpr std::int64_t GlobalTid(std::int64_t pid, std::int64_t tid) {
  return GlobalPid(pid) | tid;
}

struct KernelRow {
  std::int64_t start = 0;
  std::int64_t end = 0;
  std::int64_t pid = 100;
  std::int64_t device = 0;
  std::int64_t context = 1;
  std::int64_t stream = 7;
  std::int64_t correlation = 0;
  std::int64_t name = 1;  // StringIds id
  std::int64_t grid_x = 1;
  std::int64_t graph_node = 0;
};

struct CallRow {
  std::int64_t start = 0;
  std::int64_t end = 0;
  std::int64_t pid = 100;
  std::int64_t tid = 100;
  std::int64_t correlation = 0;
  std::int64_t name = 2;  // StringIds id
  std::int64_t result = 0;
};

struct CopyRow {
  std::int64_t start = 0;
  std::int64_t end = 0;
  std::int64_t kind = 1;
  std::int64_t bytes = 1;
  std::int64_t pid = 100;
  std::int64_t device = 0;
  std::int64_t context = 1;
  std::int64_t stream = 7;
  std::int64_t correlation = 0;
  std::int64_t source_kind = 0;
  std::int64_t target_kind = 2;
};

// Writes a database file. Every method throws std::runtime_error when SQLite refuses.
class NsysBuilder {
 public:
  enum class Schema {
    k2_9,    // 2022: EXPORT_META_DATA, NULL_STREAM, no ENUM_* tables, no timestamp of events
    k3_25,   // 2026: META_DATA_*, CONTEXT_INFO, CUDA_DEVICE
    kEmpty,  // no tables: the test makes its own
  };
  NsysBuilder(std::string path, Schema schema);
  ~NsysBuilder();
  NsysBuilder(const NsysBuilder&) = delete;
  NsysBuilder& operator=(const NsysBuilder&) = delete;

  NsysBuilder& Sql(const std::string& sql);
  NsysBuilder& Text(std::int64_t id, const std::string& value);  // a StringIds row
  NsysBuilder& Add(const KernelRow& row);
  NsysBuilder& Add(const CallRow& row);
  NsysBuilder& Add(const CopyRow& row);

  sqlite3* db() { return db_; }
  const std::string& path() const { return path_; }
  void Close();

 private:
  std::string path_;
  sqlite3* db_ = nullptr;
};

// Closes the file and imports it; fails the test when that fails.
Trace Read(NsysBuilder& builder, int jobs = 2);

// All of a trace as text, so that two traces can be compared and a difference be seen.
std::string Describe(const Trace& trace);

// How often the diagnostics count entries whose text contains `text`; 0 when none does.
std::int64_t CountOf(const Trace& trace, const std::string& text, const std::string& table = "");

// The one value of a query on a file.
std::int64_t QueryNumber(const std::string& path, const std::string& sql);

}  // namespace advise::testing
