// One pass over a table: the only place that steps through rows. Missing tables have no rows,
// missing columns are NULL, and rows that cannot be used are counted with their reason.
//
// Small tables are read row by row (Next). Big ones go through ForEach, which takes rows from the
// pages of the file (sqlite_cells). Where that cannot be, it hands rows to an aggregate
// function inside SQLite: half the cost of a row is otherwise the way in and out.
#pragma once

#include <sqlite3.h>

#include <algorithm>
#include <cstdint>
#include <exception>
#include <initializer_list>
#include <limits>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "engine/base/how_far.h"
#include "engine/base/units.h"
#include "engine/import/sqlite/sqlite_cells.h"
#include "engine/import/sqlite/sqlite_file.h"
#include "engine/import/sqlite/sqlite_name_refs.h"
#include "engine/import/sqlite/sqlite_tables.h"
#include "engine/trace/diagnostics.h"
#include "engine/trace/strings.h"

namespace advise::sqlite {

// What one reading task leaves beside its rows.
struct ReadLog {
  Diagnostics diagnostics;
  std::map<std::string, std::int64_t> rows;  // stepped through, by table
  StringIdSet string_ids;                    // that rows refer to
  StringPool texts;                          // that stood in rows themselves

  NameRef Inline(std::string_view text) { return kInline | texts.Intern(text); }
};

// How far a reading task is, by the rows of its largest table.
class TaskRows {
 public:
  TaskRows(HowFar* how_far, std::string_view table, std::size_t rows)
      : how_far_(how_far), table_(table), left_(rows) {}

  void Did(std::string_view table, std::size_t rows) {
    if (table == table_) Tell(std::min(rows, left_));
  }
  void End() { Tell(left_); }

 private:
  void Tell(std::size_t rows) {
    if (how_far_ != nullptr) how_far_->Did(rows);
    left_ -= rows;
  }

  HowFar* how_far_;
  std::string_view table_;
  std::size_t left_;  // of an upper bound
};

// What a reading task works with. One thread at a time.
struct Reader {
  const Source& source;
  sqlite3* db;
  ReadLog& log;
  const PageTables* pages = nullptr;  // none: SQLite reads all tables
  TaskRows* task = nullptr;           // none: nobody asks how far it is
};

// One of `of` parts of a table's rows, of about the same size, in the order of the table.
struct TablePart {
  std::size_t number = 0;
  std::size_t of = 1;
};

class Scan {
 public:
  // The named columns in this order; "a|b" takes the first that the table has.
  Scan(Reader& reader, std::string_view table, std::initializer_list<std::string_view> columns,
       TablePart part = {});
  // The same of the rows that `condition` names, SQL from "WHERE" on. By SQLite alone.
  Scan(Reader& reader, std::string_view table, std::initializer_list<std::string_view> columns,
       std::string_view condition);
  // Any query; `table` names it in diagnostics.
  Scan(Reader& reader, std::string_view table, const std::string& sql);
  ~Scan();
  Scan(const Scan&) = delete;
  Scan& operator=(const Scan&) = delete;

  // False at the end, and at damage, which is put into the log.
  bool Next() {
    if (statement_ == nullptr) return false;
    const int code = sqlite3_step(statement_);
    if (code == SQLITE_ROW) {
      CountRow();
      return true;
    }
    Finish(code);
    return false;
  }

  // Calls `visit()` for each row; inside it, the reads below are of that row. Not with a query that
  // was given as SQL. Throws Unusual when the rows must be read again by SQLite alone.
  template <typename Visit>
  void ForEach(Visit visit);

  int Type(int column) const {
    if (cells_ != nullptr) return cells_->Type(column);
    return values_ != nullptr ? sqlite3_value_type(values_[column])
                              : sqlite3_column_type(statement_, column);
  }
  bool IsNull(int column) const { return Type(column) == SQLITE_NULL; }
  // 0 for NULL and for what is no number.
  std::int64_t Int(int column) const {
    if (cells_ != nullptr) return cells_->Int(column);
    return values_ != nullptr ? sqlite3_value_int64(values_[column])
                              : sqlite3_column_int64(statement_, column);
  }
  double Real(int column) const {
    if (cells_ != nullptr) return cells_->Real(column);
    return values_ != nullptr ? sqlite3_value_double(values_[column])
                              : sqlite3_column_double(statement_, column);
  }
  // Clamped to what the type holds; negative is 0.
  std::uint32_t Unsigned(int column) const {
    return static_cast<std::uint32_t>(
        std::clamp<std::int64_t>(Int(column), 0, std::numeric_limits<std::uint32_t>::max()));
  }
  // Valid until the next row.
  std::string_view Text(int column) const;
  // A StringIds id, remembered as wanted; kNone for NULL or an impossible id.
  NameRef Name(int column) { return Want(PeekName(column)); }
  // The same in two steps, for rows whose names are known already.
  NameRef PeekName(int column) const {
    if (IsNull(column)) return kNone;
    const std::int64_t id = Int(column);
    return id < 0 || id >= kInline ? kNone : static_cast<NameRef>(id);
  }
  NameRef Want(NameRef id) {
    if (id != kNone) reader_.log.string_ids.Add(id);
    return id;
  }

  // Reads one time; false, and the row counted as dropped, when it is NULL or beyond ±2^62 ns.
  bool Instant(int column, Nanos& time) {
    const int type = Type(column);
    time = Int(column);
    if ((type == SQLITE_INTEGER || type == SQLITE_FLOAT) && time > -kTimeLimit &&
        time < kTimeLimit) {
      return true;
    }
    DropForTime(type);
    return false;
  }
  // Reads start and end from `column` and the next; also drops rows that end before they start.
  bool Span(int column, Nanos& start, Nanos& end) {
    if (!Instant(column, start) || !Instant(column + 1, end)) return false;
    if (end >= start) return true;
    Drop("rows end before they start and were dropped");
    return false;
  }
  void Drop(std::string_view reason) { Note(Level::kWarning, reason); }
  void Note(Level level, std::string_view text) {
    reader_.log.diagnostics.Add(level, text, table_);
  }

  // See below; 0 for a table that cannot be read.
  std::size_t RowLimit() const;

 private:
  static constexpr Nanos kTimeLimit = Nanos{1} << 62;

  void CountRow() {
    constexpr std::int64_t kTold = 1 << 16;  // at a time
    ++rows_;
    if (rows_ % kTold == 0 && reader_.task != nullptr) reader_.task->Did(table_, kTold);
  }
  void Choose(std::initializer_list<std::string_view> columns);
  bool OpenCells();  // false: SQLite is to read the rows
  void CloseCells();
  void Prepare(const std::string& sql);
  void Finish(int code);
  void DropForTime(int type);
  // Runs the query with `step(self)` called for each row, and rethrows what that throws.
  void Aggregate(void (*step)(void* self), void* self);
  static void OnRow(sqlite3_context* context, int count, sqlite3_value** values);

  Reader& reader_;
  std::string table_;
  std::vector<std::string> columns_;  // that were chosen; "": NULL
  std::string list_;                  // of them, as SQL
  std::string rest_;                  // of the query
  TablePart part_;
  bool is_whole_part_ = false;  // no condition beside the part
  sqlite3_stmt* statement_ = nullptr;
  std::int64_t rows_ = 0;
  // While ForEach runs, with pages or with SQLite:
  std::unique_ptr<Cells> cells_;
  std::vector<CellColumn> places_;
  sqlite3_value** values_ = nullptr;
  void (*step_)(void* self) = nullptr;
  void* self_ = nullptr;
  std::exception_ptr failure_;
};

template <typename Visit>
void Scan::ForEach(Visit visit) {
  if (OpenCells()) {
    while (cells_->Next()) {
      CountRow();
      visit();
    }
    CloseCells();
    return;
  }
  Aggregate([](void* self) { (*static_cast<Visit*>(self))(); }, &visit);
}

// An upper bound of a table's number of rows, cheap and never absurd: for reserving and for sharing
// out work. 0 when unknown: tables without row ids.
std::size_t RowLimit(const Reader& reader, std::string_view table);

}  // namespace advise::sqlite
