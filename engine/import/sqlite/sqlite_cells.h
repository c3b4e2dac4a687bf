// Rows of one table straight from its leaf pages: only the columns that are wanted, nothing copied.
//
//   page   type, number of cells, … then two bytes a cell: where in the page it begins
//   cell   bytes of the record, row id, the record (its end on other pages when it is long)
//   record header: its length, a number a column that says type and length; then the values
#pragma once

#include <sqlite3.h>

#include <bit>
#include <cstdint>
#include <cstring>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "engine/import/sqlite/sqlite_pages.h"

namespace advise::sqlite {

// Where a wanted column stands in the records of a table.
struct CellColumn {
  static constexpr int kNowhere = -1;  // the table does not have it: NULL
  static constexpr int kRowId = -2;    // INTEGER PRIMARY KEY: the row id itself
  int place = kNowhere;
  bool is_real = false;      // whole numbers are read as real ones
  bool has_default = false;  // of rows that were written before the column was added
};

class Cells {
 public:
  // Both must outlive this.
  Cells(const PageFile& file, std::span<const std::uint32_t> leaves,
        const std::vector<CellColumn>& columns);

  // False at the end. Throws Unusual.
  bool Next() {
    while (cell_ == cells_) {
      if (!NextPage()) return false;
    }
    ReadCell();
    return true;
  }

  // Of the row, as SQLite's own functions of these names have them; texts and blobs are no numbers
  // here, and numbers no texts (Unusual).
  int Type(int column) const;
  std::int64_t Int(int column) const {
    const Field& field = fields_[static_cast<std::size_t>(column)];
    // Types 1 … 6 are whole numbers of 1, 2, 3, 4, 6 and 8 bytes.
    if (field.type - 1U < 6U) {
      return static_cast<std::int64_t>(EightBytes(values_ + field.offset)) >> kShift[field.type];
    }
    return OtherInt(field);
  }
  double Real(int column) const;
  std::string_view Text(int column) const;

 private:
  struct Field {
    std::uint32_t type = 0;    // as the header of a record has it
    std::uint32_t offset = 0;  // from the end of the header
  };
  // What of Type, beside the numbers of the format: a row id, which is no part of the record.
  static constexpr std::uint32_t kRowIdType = 10;
  static constexpr int kShift[7] = {0, 56, 48, 40, 32, 16, 0};

  static std::uint64_t EightBytes(const std::uint8_t* at) {
    std::uint64_t value = 0;
    std::memcpy(&value, at, sizeof(value));
    return std::endian::native == std::endian::little ? __builtin_bswap64(value) : value;
  }

  bool NextPage();
  void ReadBlock();
  void ReadCell();
  void ReadHeader(const std::uint8_t* header, std::uint32_t bytes, std::uint32_t record);
  const std::uint8_t* Gather(const std::uint8_t* local, std::uint32_t local_bytes,
                             std::uint32_t record);
  std::int64_t OtherInt(const Field& field) const;

  const PageFile& file_;
  std::span<const std::uint32_t> leaves_;
  const std::vector<CellColumn>& columns_;
  int last_place_ = -1;  // of the wanted columns

  std::vector<std::uint8_t> block_;  // neighboring pages
  std::uint32_t block_first_ = 0;    // its first page
  std::uint32_t block_pages_ = 0;
  std::size_t leaf_ = 0;  // the next one

  const std::uint8_t* page_ = nullptr;
  std::uint32_t cell_ = 0;
  std::uint32_t cells_ = 0;

  std::int64_t row_id_ = 0;
  const std::uint8_t* values_ = nullptr;  // of the row
  std::vector<Field> fields_;             // by column
  std::vector<Field> places_;             // by place in the record
  // Neighboring rows have the same header more often than not: then the fields stand.
  std::vector<std::uint8_t> header_;
  std::uint32_t needed_ = 0;            // bytes of values up to the last wanted column
  bool header_ended_ = false;           // there is no column behind it
  std::vector<std::uint8_t> gathered_;  // a record that does not fit into its page
};

}  // namespace advise::sqlite
