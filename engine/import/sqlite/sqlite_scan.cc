#include "engine/import/sqlite/sqlite_scan.h"

#include <fmt/format.h>

#include <algorithm>

namespace advise::sqlite {
namespace {

constexpr std::int64_t kLeastRowBytes = 8;  // a row of any table that is worth reserving for

// Which rows a part is when SQLite reads it.
std::string RowsOf(const Reader& reader, std::string_view table, TablePart part) {
  if (part.of == 1) return "";
  const std::size_t rows = RowLimit(reader, table) / part.of;
  const std::string above = fmt::format("rowid > {}", rows * part.number);
  const std::string below = fmt::format("rowid <= {}", rows * (part.number + 1));
  if (part.number == 0) return "WHERE " + below;
  return "WHERE " + above + (part.number + 1 < part.of ? " AND " + below : "");
}

}  // namespace

Scan::Scan(Reader& reader, std::string_view table, std::initializer_list<std::string_view> columns,
           TablePart part)
    : reader_(reader), table_(table), part_(part), is_whole_part_(true) {
  if (!reader.source.Has(table)) return;
  rest_ = RowsOf(reader, table, part);
  Choose(columns);
}

Scan::Scan(Reader& reader, std::string_view table, std::initializer_list<std::string_view> columns,
           std::string_view condition)
    : reader_(reader), table_(table), rest_(condition) {
  if (reader.source.Has(table)) Choose(columns);
}

void Scan::Choose(std::initializer_list<std::string_view> columns) {
  for (std::string_view wanted : columns) {
    std::string_view chosen;
    while (chosen.empty() && !wanted.empty()) {
      const std::string_view name = wanted.substr(0, wanted.find('|'));
      if (reader_.source.Has(table_, name)) chosen = name;
      wanted.remove_prefix(std::min(wanted.size(), name.size() + 1));
    }
    columns_.emplace_back(chosen);
    if (!list_.empty()) list_ += ", ";
    list_ += chosen.empty() ? "NULL" : fmt::format("\"{}\"", chosen);
  }
  Prepare(fmt::format("SELECT {} FROM \"{}\" {}", list_, table_, rest_));
}

Scan::Scan(Reader& reader, std::string_view table, const std::string& sql)
    : reader_(reader), table_(table) {
  Prepare(sql);
}

Scan::~Scan() { Finish(SQLITE_DONE); }

void Scan::Prepare(const std::string& sql) {
  const int code = sqlite3_prepare_v2(reader_.db, sql.c_str(), -1, &statement_, nullptr);
  if (code != SQLITE_OK) {
    Note(Level::kError, fmt::format("the table cannot be read: {}", sqlite3_errmsg(reader_.db)));
  }
}

void Scan::Finish(int code) {
  if (statement_ == nullptr) return;
  if (code != SQLITE_DONE) {
    Note(Level::kError,
         fmt::format("the table is damaged ({}): {} rows before the damage were read",
                     sqlite3_errmsg(reader_.db), rows_));
  }
  reader_.log.rows[table_] += rows_;
  sqlite3_finalize(statement_);
  statement_ = nullptr;
}

bool Scan::OpenCells() {
  if (statement_ == nullptr || reader_.pages == nullptr || !is_whole_part_) return false;
  auto places = reader_.pages->Columns(reader_.db, table_, columns_);
  if (!places) return false;
  places_ = std::move(*places);
  const std::vector<std::uint32_t>& leaves = reader_.pages->Leaves(table_);
  const std::size_t first = leaves.size() * part_.number / part_.of;
  const std::size_t end = leaves.size() * (part_.number + 1) / part_.of;
  cells_ = std::make_unique<Cells>(reader_.pages->file(),
                                   std::span(leaves).subspan(first, end - first), places_);
  return true;
}

void Scan::CloseCells() {
  cells_.reset();
  Finish(SQLITE_DONE);
}

std::string_view Scan::Text(int column) const {
  if (cells_ != nullptr) return cells_->Text(column);
  const unsigned char* text = values_ != nullptr ? sqlite3_value_text(values_[column])
                                                 : sqlite3_column_text(statement_, column);
  if (text == nullptr) return {};
  const int bytes = values_ != nullptr ? sqlite3_value_bytes(values_[column])
                                       : sqlite3_column_bytes(statement_, column);
  return {reinterpret_cast<const char*>(text), static_cast<std::size_t>(bytes)};
}

void Scan::DropForTime(int type) {
  const bool is_number = type == SQLITE_INTEGER || type == SQLITE_FLOAT;
  Drop(is_number ? "rows with an impossible time were dropped"
                 : "rows without a time were dropped");
}

void Scan::OnRow(sqlite3_context* context, int /*count*/, sqlite3_value** values) {
  Scan& scan = *static_cast<Scan*>(sqlite3_user_data(context));
  scan.values_ = values;
  scan.CountRow();
  try {
    scan.step_(scan.self_);
  } catch (...) {  // must not pass through SQLite
    scan.failure_ = std::current_exception();
    sqlite3_result_error_nomem(context);
  }
}

void Scan::Aggregate(void (*step)(void* self), void* self) {
  if (statement_ == nullptr) return;
  sqlite3_finalize(statement_);
  statement_ = nullptr;
  step_ = step;
  self_ = self;
  const auto on_end = [](sqlite3_context* context) { sqlite3_result_null(context); };
  sqlite3_create_function_v2(reader_.db, "each_row", -1, SQLITE_UTF8, this, nullptr, OnRow, on_end,
                             nullptr);
  Prepare(fmt::format("SELECT each_row({}) FROM \"{}\" {}", list_, table_, rest_));
  if (statement_ == nullptr) return;
  const int code = sqlite3_step(statement_);
  values_ = nullptr;
  Finish(code == SQLITE_ROW ? SQLITE_DONE : code);
  if (failure_) std::rethrow_exception(failure_);
}

std::size_t Scan::RowLimit() const {
  return statement_ == nullptr ? 0 : sqlite::RowLimit(reader_, table_);
}

std::size_t RowLimit(const Reader& reader, std::string_view table) {
  if (!reader.source.Has(table)) return 0;
  sqlite3_stmt* largest = nullptr;
  const std::string sql = fmt::format("SELECT max(rowid) FROM \"{}\"", table);
  std::int64_t limit = 0;
  if (sqlite3_prepare_v2(reader.db, sql.c_str(), -1, &largest, nullptr) == SQLITE_OK &&
      sqlite3_step(largest) == SQLITE_ROW) {
    limit = sqlite3_column_int64(largest, 0);
  }
  sqlite3_finalize(largest);
  return static_cast<std::size_t>(
      std::clamp<std::int64_t>(limit, 0, reader.source.bytes / kLeastRowBytes));
}

}  // namespace advise::sqlite
