// Whole numbers in as few bytes as they need, small negative ones too.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace advise {

class NumberWriter {
 public:
  void Put(std::int64_t value) {
    auto rest = (static_cast<std::uint64_t>(value) << 1U) ^ static_cast<std::uint64_t>(value >> 63);
    while (rest >= 0x80) {
      bytes_ += static_cast<char>(rest | 0x80U);
      rest >>= 7U;
    }
    bytes_ += static_cast<char>(rest);
  }
  const std::string& bytes() const { return bytes_; }

 private:
  std::string bytes_;
};

// The bytes must outlive the reader. Past their end it gives 0 and is broken.
class NumberReader {
 public:
  explicit NumberReader(std::string_view bytes) : bytes_(bytes) {}
  std::int64_t Take() {
    std::uint64_t value = 0;
    for (unsigned shift = 0; shift < 64; shift += 7) {
      if (at_ == bytes_.size()) {
        broken_ = true;
        return 0;
      }
      const auto byte = static_cast<unsigned char>(bytes_[at_++]);
      value |= static_cast<std::uint64_t>(byte & 0x7FU) << shift;
      if ((byte & 0x80U) == 0) break;
    }
    return static_cast<std::int64_t>(value >> 1U) ^ -static_cast<std::int64_t>(value & 1U);
  }
  bool broken() const { return broken_; }
  std::size_t left() const { return bytes_.size() - at_; }

 private:
  std::string_view bytes_;
  std::size_t at_ = 0;
  bool broken_ = false;
};

}  // namespace advise
