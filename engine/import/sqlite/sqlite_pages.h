// The pages of a database file, read without SQLite: for the large tables, where stepping through
// rows costs more than all else (docs/decisions/0029-large-tables-below-sqlite.md). The format is
// that of https://www.sqlite.org/fileformat2.html.
//
// Nothing is repaired or guessed here. Whatever is not plain is Unusual, and then SQLite reads the
// whole report: its answer is the only one.
#pragma once

#include <sys/stat.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

namespace advise::sqlite {

// Thrown where a file, a table or a row is not as this reader knows it.
struct Unusual : std::runtime_error {
  using std::runtime_error::runtime_error;
};

// Whether there is such a file, with something in it.
bool HasContent(const std::string& path);

// Big-endian numbers, as the format has them.
inline std::uint32_t TwoBytes(const std::uint8_t* at) { return at[0] * 256U + at[1]; }
inline std::uint32_t FourBytes(const std::uint8_t* at) {
  return TwoBytes(at) << 16U | TwoBytes(at + 2);
}

// Reads a number of one to nine bytes and moves behind it. Throws Unusual when it passes `end`.
std::uint64_t ReadVarint(const std::uint8_t*& at, const std::uint8_t* end);

// An open database file whose pages may be read from several threads. Read in blocks, not mapped:
// a file that is cut while it is read gives an error and no signal.
class PageFile {
 public:
  // None when the file is better left to SQLite: other encodings than UTF-8, a write-ahead log, a
  // journal beside it, a size that its header does not say.
  static std::unique_ptr<const PageFile> Open(const std::string& path);
  ~PageFile();
  PageFile(const PageFile&) = delete;
  PageFile& operator=(const PageFile&) = delete;

  std::uint32_t page_size() const { return page_size_; }
  std::uint32_t usable() const { return usable_; }  // bytes of a page that hold content
  std::uint32_t pages() const { return pages_; }
  std::uint32_t MostCells() const { return (page_size_ - 8) / 6; }  // of a page

  // Reads `count` pages from `first` (counted from 1). Throws Unusual when they are not there.
  void Read(std::uint32_t first, std::uint32_t count, std::uint8_t* into) const;

  // The leaf pages of the table whose tree begins at `root`, in the order of its rows.
  std::vector<std::uint32_t> LeavesOf(std::uint32_t root) const;

 private:
  PageFile() = default;
  void AddLeaves(std::uint32_t page, int levels_below, std::uint32_t* visits,
                 std::vector<std::uint32_t>* leaves) const;

  int file_ = -1;
  std::uint32_t page_size_ = 0;
  std::uint32_t usable_ = 0;
  std::uint32_t pages_ = 0;
};

// What a file was like at a time; differs after it was written, cut or replaced.
class FileState {
 public:
  explicit FileState(const std::string& path);
  bool operator==(const FileState& other) const;

 private:
  struct stat state_ = {};
};

}  // namespace advise::sqlite
