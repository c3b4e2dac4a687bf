#include "engine/import/sqlite/sqlite_cells.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

namespace advise::sqlite {
namespace {

constexpr std::uint32_t kBlockBytes = 256 * 1024;
constexpr std::size_t kSlack = 8;  // numbers are read eight bytes at a time
constexpr std::uint8_t kTableLeafPage = 13;
constexpr std::uint32_t kLeafHeader = 8;
constexpr std::uint32_t kWidestWholeType = 6;
constexpr std::uint32_t kRealType = 7;
constexpr std::uint32_t kZeroType = 8;
constexpr std::uint32_t kOneType = 9;
constexpr std::uint32_t kFirstBlobType = 12;  // even: a blob; odd: a text

// Bytes of a value. Types 10 and 11 are for SQLite's own use.
std::uint64_t BytesOf(std::uint64_t type) {
  constexpr std::array<std::uint8_t, 10> kBytes = {0, 1, 2, 3, 4, 6, 8, 8, 0, 0};
  if (type < kBytes.size()) return kBytes[type];
  if (type < kFirstBlobType) throw Unusual("a value of a reserved type");
  return (type - kFirstBlobType) / 2;
}

}  // namespace

Cells::Cells(const PageFile& file, std::span<const std::uint32_t> leaves,
             const std::vector<CellColumn>& columns)
    : file_(file), leaves_(leaves), columns_(columns), fields_(columns.size()) {
  block_.resize(std::max(kBlockBytes, file.page_size()) + kSlack);
  for (const CellColumn& column : columns) last_place_ = std::max(last_place_, column.place);
  places_.resize(static_cast<std::size_t>(last_place_) + 1);
}

// Reads the next leaf and those near behind it; pages of other tables in between come along.
void Cells::ReadBlock() {
  const std::uint32_t most = std::max(kBlockBytes / file_.page_size(), 1U);
  block_first_ = leaves_[leaf_];
  std::uint32_t last = block_first_;
  for (std::size_t i = leaf_ + 1; i < leaves_.size(); ++i) {
    if (leaves_[i] <= last || leaves_[i] - block_first_ >= most) break;
    last = leaves_[i];
  }
  block_pages_ = last - block_first_ + 1;
  file_.Read(block_first_, block_pages_, block_.data());
}

bool Cells::NextPage() {
  if (leaf_ == leaves_.size()) return false;
  const std::uint32_t page = leaves_[leaf_];
  if (page < block_first_ || page - block_first_ >= block_pages_) ReadBlock();
  ++leaf_;
  page_ = block_.data() + std::size_t{page - block_first_} * file_.page_size();
  cell_ = 0;
  cells_ = TwoBytes(page_ + 3);
  const bool is_only_one = leaves_.size() == 1;  // an empty table is one empty page
  if (page_[0] != kTableLeafPage || cells_ > file_.MostCells() || (cells_ == 0 && !is_only_one)) {
    throw Unusual("no leaf page of a table");
  }
  return true;
}

void Cells::ReadCell() {
  const std::uint32_t usable = file_.usable();
  const std::uint32_t begin = TwoBytes(page_ + kLeafHeader + std::size_t{2} * cell_);
  ++cell_;
  if (begin < kLeafHeader + 2 * cells_ || begin >= usable) throw Unusual("a cell outside its page");
  const std::uint8_t* at = page_ + begin;
  const std::uint8_t* const end = page_ + usable;
  const std::uint64_t record = ReadVarint(at, end);
  row_id_ = static_cast<std::int64_t>(ReadVarint(at, end));
  if (record == 0 || record > std::numeric_limits<std::int32_t>::max()) {
    throw Unusual("a row of an impossible length");
  }
  const auto bytes = static_cast<std::uint32_t>(record);
  const std::uint32_t most = usable - 35;  // these numbers are the format's
  std::uint32_t local = bytes;
  if (bytes > most) {
    const std::uint32_t least = (usable - 12) * 32 / 255 - 23;
    local = least + (bytes - least) % (usable - 4);
    if (local > most) local = least;
  }
  if (local + (local < bytes ? 4 : 0) > static_cast<std::size_t>(end - at)) {
    throw Unusual("a row that passes the end of its page");
  }
  const std::uint8_t* header = local < bytes ? Gather(at, local, bytes) : at;
  const std::size_t known = header_.size();
  if (known == 0 || bytes < known || std::memcmp(header, header_.data(), known) != 0) {
    ReadHeader(header, local, bytes);
  } else if (header_ended_ ? bytes != known + needed_ : bytes < known + needed_) {
    throw Unusual("a row that is longer or shorter than its header says");
  }
  values_ = header + header_.size();
}

// `bytes`: how much of the record is in its page, which holds the whole header. What SQLite would
// call damage is left to it.
void Cells::ReadHeader(const std::uint8_t* header, std::uint32_t bytes, std::uint32_t record) {
  const std::uint8_t* at = header;
  const std::uint64_t length = ReadVarint(at, header + bytes);
  if (length > bytes || length < static_cast<std::uint64_t>(at - header)) {
    throw Unusual("a row without a header");
  }
  const std::uint8_t* const end = header + length;
  std::uint64_t offset = 0;
  std::size_t count = 0;
  while (at < end && count < places_.size()) {
    const std::uint64_t type = ReadVarint(at, end);
    if (type > std::numeric_limits<std::uint32_t>::max()) throw Unusual("a value without an end");
    places_[count++] = {static_cast<std::uint32_t>(type), static_cast<std::uint32_t>(offset)};
    offset += BytesOf(type);
    if (offset > record - length) throw Unusual("a value that passes the end of its row");
  }
  header_ended_ = at == end;
  if (header_ended_ && offset != record - length) throw Unusual("bytes that belong to no column");
  needed_ = static_cast<std::uint32_t>(offset);
  header_.assign(header, end);
  for (std::size_t i = 0; i < columns_.size(); ++i) {
    const int place = columns_[i].place;
    fields_[i] = {};
    if (place == CellColumn::kRowId) fields_[i].type = kRowIdType;
    if (place < 0) continue;
    if (static_cast<std::size_t>(place) < count) {
      fields_[i] = places_[static_cast<std::size_t>(place)];
      if (columns_[i].is_real && fields_[i].type == kWidestWholeType) {
        throw Unusual("a whole number that a real column cannot hold");
      }
    } else if (columns_[i].has_default) {
      throw Unusual("a row from before its column was added");
    }
  }
}

// A record whose end stands on other pages, in one piece.
const std::uint8_t* Cells::Gather(const std::uint8_t* local, std::uint32_t local_bytes,
                                  std::uint32_t record) {
  const std::uint32_t of_page = file_.usable() - 4;
  if (record / of_page > file_.pages()) throw Unusual("a row longer than the file");
  std::vector<std::uint8_t> page(file_.page_size());
  gathered_.resize(record + kSlack);
  std::copy_n(local, local_bytes, gathered_.begin());
  std::uint32_t next = FourBytes(local + local_bytes);
  for (std::uint32_t have = local_bytes; have < record;) {
    file_.Read(next, 1, page.data());
    const std::uint32_t more = std::min(record - have, of_page);
    std::copy_n(page.data() + 4, more, gathered_.begin() + have);
    have += more;
    next = FourBytes(page.data());
  }
  return gathered_.data();
}

int Cells::Type(int column) const {
  const Field& field = fields_[static_cast<std::size_t>(column)];
  switch (field.type) {
    case 0:
      return SQLITE_NULL;
    case kRealType: {  // which is NULL when it is no number
      const auto value = std::bit_cast<double>(EightBytes(values_ + field.offset));
      return std::isnan(value) ? SQLITE_NULL : SQLITE_FLOAT;
    }
    default:
      if (field.type >= kFirstBlobType) return field.type % 2 == 0 ? SQLITE_BLOB : SQLITE_TEXT;
      return columns_[static_cast<std::size_t>(column)].is_real ? SQLITE_FLOAT : SQLITE_INTEGER;
  }
}

std::int64_t Cells::OtherInt(const Field& field) const {
  switch (field.type) {
    case 0:
    case kZeroType:
      return 0;
    case kOneType:
      return 1;
    case kRowIdType:
      return row_id_;
    case kRealType: {  // the nearest number that is not farther from zero, as SQLite has it
      const auto value = std::bit_cast<double>(EightBytes(values_ + field.offset));
      constexpr std::int64_t kLeast = std::numeric_limits<std::int64_t>::min();
      constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max();
      if (std::isnan(value)) return 0;
      if (value <= static_cast<double>(kLeast)) return kLeast;
      if (value >= static_cast<double>(kMost)) return kMost;
      return static_cast<std::int64_t>(value);
    }
    default:
      throw Unusual("a text where a number was expected");
  }
}

double Cells::Real(int column) const {
  const Field& field = fields_[static_cast<std::size_t>(column)];
  if (field.type == kRealType) {
    const auto value = std::bit_cast<double>(EightBytes(values_ + field.offset));
    return std::isnan(value) ? 0 : value;
  }
  return static_cast<double>(Int(column));
}

std::string_view Cells::Text(int column) const {
  const Field& field = fields_[static_cast<std::size_t>(column)];
  if (field.type == 0) return {};
  if (field.type < kFirstBlobType) throw Unusual("a number where a text was expected");
  return {reinterpret_cast<const char*>(values_ + field.offset), (field.type - kFirstBlobType) / 2};
}

}  // namespace advise::sqlite
