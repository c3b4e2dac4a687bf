// The part of a file that is being read: a buffer that moves forward over the text.
#pragma once

#include <cstdint>
#include <cstring>
#include <memory>
#include <string_view>
#include <utility>

#include "engine/import/byte_source.h"

namespace advise::kineto {

class Window {
 public:
  // `padding` bytes behind the text may be read (never used) by the JSON parser.
  Window(ByteSource& source, std::size_t padding) : source_(source), padding_(padding) {
    Grow(kFirst + padding_);
    begin_ = end_ = 1;  // one byte before the text is free, for the bracket that opens a batch
  }

  std::string_view text() const { return {buffer_.get() + begin_, end_ - begin_}; }
  char* data() { return buffer_.get() + begin_; }
  std::size_t size() const { return end_ - begin_; }
  // Bytes at data() that may be read, the padding included.
  std::size_t readable() const { return room_ - begin_; }
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
      std::memmove(buffer_.get() + 1, buffer_.get() + begin_, size());
      end_ = 1 + (end_ - begin_);
      begin_ = 1;
    } else if (end_ + padding_ == room_) {
      if (room_ >= kMost) return false;
      Grow(room_ * 2);
    }
    const std::size_t before = end_;
    while (end_ + padding_ < room_ && !ended_) {
      const std::size_t count = source_.Read(buffer_.get() + end_, room_ - padding_ - end_);
      ended_ = count == 0;
      end_ += count;
    }
    bytes_ += static_cast<std::int64_t>(end_ - before);
    return end_ > before;
  }

 private:
  // Memory that nothing was read into is not touched: most of it, for a short file.
  void Grow(std::size_t room) {
    auto larger = std::make_unique_for_overwrite<char[]>(room);
    if (buffer_ != nullptr) std::memcpy(larger.get(), buffer_.get(), end_);
    buffer_ = std::move(larger);
    room_ = room;
  }

  static constexpr std::size_t kFirst = 1 << 20;
  static constexpr std::size_t kMost = 64 << 20;
  ByteSource& source_;
  std::size_t padding_;
  std::unique_ptr<char[]> buffer_;
  std::size_t room_ = 0;
  std::size_t begin_ = 1;
  std::size_t end_ = 1;
  std::int64_t bytes_ = 0;
  std::int64_t position_ = 0;
  bool ended_ = false;
};

}  // namespace advise::kineto
