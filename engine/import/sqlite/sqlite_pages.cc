#include "engine/import/sqlite/sqlite_pages.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <string_view>

namespace advise::sqlite {
namespace {

constexpr std::size_t kFileHeader = 100;  // bytes of page 1
constexpr std::uint8_t kTableInterior = 5;
constexpr std::uint8_t kTableLeaf = 13;
constexpr std::uint32_t kInteriorHeader = 12;
constexpr int kDeepest = 20;                                 // levels that SQLite itself goes down
constexpr std::uint64_t kLockByte = std::uint64_t{1} << 30;  // its page holds no content

// Whether the first bytes of a file are those of a plain database.
bool IsPlain(const std::uint8_t* header) {
  constexpr std::string_view kMagic("SQLite format 3\0", 16);
  return std::memcmp(header, kMagic.data(), kMagic.size()) == 0 && header[18] == 1 &&
         header[19] == 1 &&                                             // no write-ahead log
         header[21] == 64 && header[22] == 32 && header[23] == 32 &&    // as the format demands
         FourBytes(header + 44) >= 1 && FourBytes(header + 44) <= 4 &&  // format of the schema
         FourBytes(header + 56) == 1;                                   // UTF-8
}

}  // namespace

bool HasContent(const std::string& path) {
  std::error_code error;
  const auto size = std::filesystem::file_size(path, error);
  return !error && size > 0;
}

std::uint64_t ReadVarint(const std::uint8_t*& at, const std::uint8_t* end) {
  std::uint64_t value = 0;
  for (int i = 0; i < 9; ++i) {
    if (at >= end) throw Unusual("a number passes the end of its page");
    const std::uint8_t byte = *at++;
    if (i == 8) return value << 8U | byte;
    value = value << 7U | (byte & 0x7fU);
    if (byte < 0x80) break;
  }
  return value;
}

std::unique_ptr<const PageFile> PageFile::Open(const std::string& path) {
  if (HasContent(path + "-journal") || HasContent(path + "-wal")) return nullptr;
  std::unique_ptr<PageFile> opened(new PageFile);
  opened->file_ = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  std::array<std::uint8_t, kFileHeader> header{};
  struct stat state = {};
  if (opened->file_ < 0 || fstat(opened->file_, &state) != 0 || !S_ISREG(state.st_mode) ||
      pread(opened->file_, header.data(), header.size(), 0) != ssize_t{kFileHeader} ||
      !IsPlain(header.data())) {
    return nullptr;
  }
  const std::uint32_t said = TwoBytes(header.data() + 16);
  opened->page_size_ = said == 1 ? 65536 : said;
  const bool is_power_of_two = (opened->page_size_ & (opened->page_size_ - 1)) == 0;
  opened->usable_ = opened->page_size_ - header[20];
  opened->pages_ = FourBytes(header.data() + 28);
  const bool counts_are_of_one_writer =
      FourBytes(header.data() + 24) == FourBytes(header.data() + 92);
  if (opened->page_size_ < 512 || !is_power_of_two || opened->usable_ < 480 ||
      !counts_are_of_one_writer ||
      static_cast<std::uint64_t>(state.st_size) !=
          std::uint64_t{opened->pages_} * opened->page_size_) {
    return nullptr;
  }
  return opened;
}

PageFile::~PageFile() {
  if (file_ >= 0) close(file_);
}

void PageFile::Read(std::uint32_t first, std::uint32_t count, std::uint8_t* into) const {
  if (first < 1 || count > pages_ || first > pages_ - count + 1) {
    throw Unusual("a page that the file does not have");
  }
  std::size_t left = std::size_t{count} * page_size_;
  auto offset = static_cast<off_t>(std::uint64_t{first - 1} * page_size_);
  while (left > 0) {
    const ssize_t got = pread(file_, into, left, offset);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) throw Unusual("a page that cannot be read");
    into += got;
    offset += got;
    left -= static_cast<std::size_t>(got);
  }
}

std::vector<std::uint32_t> PageFile::LeavesOf(std::uint32_t root) const {
  std::vector<std::uint8_t> page(page_size_);
  int levels = 0;  // of interior pages: all leaves of a tree lie equally deep
  for (std::uint32_t at = root;; ++levels) {
    if (at < 2 || levels > kDeepest) throw Unusual("a tree without a leaf");
    Read(at, 1, page.data());
    if (page[0] == kTableLeaf) break;
    if (page[0] != kTableInterior) throw Unusual("no page of a table");
    const std::uint32_t cells = TwoBytes(page.data() + 3);
    const std::uint32_t cell = TwoBytes(page.data() + kInteriorHeader);
    if (cells == 0 || cell > usable_ - 5) throw Unusual("a page without children");
    at = FourBytes(page.data() + cell);
  }
  std::vector<std::uint32_t> leaves;
  std::uint32_t visits = 0;
  AddLeaves(root, levels, &visits, &leaves);
  return leaves;
}

void PageFile::AddLeaves(std::uint32_t page, int levels_below, std::uint32_t* visits,
                         std::vector<std::uint32_t>* leaves) const {
  const bool is_lock_page = std::uint64_t{page - 1} * page_size_ == kLockByte;
  if (page < 2 || page > pages_ || is_lock_page || ++*visits > pages_) {
    throw Unusual("a page that cannot be in a table");
  }
  if (levels_below == 0) {
    leaves->push_back(page);
    return;
  }
  std::vector<std::uint8_t> content(page_size_);
  Read(page, 1, content.data());
  const std::uint8_t* data = content.data();
  const std::uint32_t cells = TwoBytes(data + 3);
  const std::uint32_t cells_begin = kInteriorHeader + 2 * cells;
  if (data[0] != kTableInterior || cells == 0 || cells > MostCells()) {
    throw Unusual("no page inside a tree of a table");
  }
  for (std::uint32_t i = 0; i < cells; ++i) {
    const std::uint32_t cell = TwoBytes(data + kInteriorHeader + std::size_t{2} * i);
    if (cell < cells_begin || cell > usable_ - 5) throw Unusual("a cell outside of its page");
    AddLeaves(FourBytes(data + cell), levels_below - 1, visits, leaves);
  }
  AddLeaves(FourBytes(data + 8), levels_below - 1, visits, leaves);
}

FileState::FileState(const std::string& path) {
  if (stat(path.c_str(), &state_) != 0) state_ = {};
}

bool FileState::operator==(const FileState& other) const {
  const struct stat& a = state_;
  const struct stat& b = other.state_;
  return a.st_dev == b.st_dev && a.st_ino == b.st_ino && a.st_size == b.st_size &&
         a.st_mtim.tv_sec == b.st_mtim.tv_sec && a.st_mtim.tv_nsec == b.st_mtim.tv_nsec;
}

}  // namespace advise::sqlite
