// The part of a file that is being read: a buffer that moves forward over the text.
#pragma once

#include <cstdint>
#include <cstring>
#include <string_view>
#include <vector>

#include "engine/import/byte_source.h"

namespace advise::kineto {

class Window {
 public:
  // `padding` bytes behind the text may be read (never used) by the JSON parser.
  Window(ByteSource& source, std::size_t padding) : source_(source), padding_(padding) {
    buffer_.resize(kFirst + padding_);
    begin_ = end_ = 1;  // one byte before the text is free, for the bracket that opens a batch
  }

  std::string_view text() const { return {buffer_.data() + begin_, end_ - begin_}; }
  char* data() { return buffer_.data() + begin_; }
  std::size_t size() const { return end_ - begin_; }
  // Bytes at data() that may be read, the padding included.
  std::size_t readable() const { return buffer_.size() - begin_; }
  bool ended() const { return ended_; }
  std::int64_t bytes() const { return bytes_; }

  void Drop(std::size_t count) {
    begin_ += count;
    position_ += static_cast<std::int64_t>(count);
  }
  std::int64_t position() const { return position_; }  // of data() in the text of the file

  // Moves the text to the front and reads until the buffer is full or the file ends. A buffer that
  // is still full is doubled, up to kMost. False when nothing was added.
  bool Refill() {
    if (ended_) return false;
    if (begin_ > 1) {
      std::memmove(buffer_.data() + 1, buffer_.data() + begin_, size());
      end_ = 1 + (end_ - begin_);
      begin_ = 1;
    } else if (end_ + padding_ == buffer_.size()) {
      if (buffer_.size() >= kMost) return false;
      buffer_.resize(buffer_.size() * 2);
    }
    const std::size_t before = end_;
    while (end_ + padding_ < buffer_.size() && !ended_) {
      const std::size_t count =
          source_.Read(buffer_.data() + end_, buffer_.size() - padding_ - end_);
      ended_ = count == 0;
      end_ += count;
    }
    bytes_ += static_cast<std::int64_t>(end_ - before);
    return end_ > before;
  }

 private:
  static constexpr std::size_t kFirst = 1 << 20;
  static constexpr std::size_t kMost = 64 << 20;
  ByteSource& source_;
  std::size_t padding_;
  std::vector<char> buffer_;
  std::size_t begin_ = 1;
  std::size_t end_ = 1;
  std::int64_t bytes_ = 0;
  std::int64_t position_ = 0;
  bool ended_ = false;
};

}  // namespace advise::kineto
