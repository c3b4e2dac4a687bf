#include "engine/import/byte_source.h"

#include <fcntl.h>
#include <isa-l/igzip_lib.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <condition_variable>
#include <cstring>
#include <deque>
#include <mutex>
#include <thread>
#include <vector>

namespace advise {
namespace {

constexpr std::size_t kPackedBytes = 256 << 10;

class PlainSource : public ByteSource {
 public:
  PlainSource(int file, HowFar* how_far) : file_(file), how_far_(how_far) {}
  ~PlainSource() override { close(file_); }
  PlainSource(const PlainSource&) = delete;
  PlainSource& operator=(const PlainSource&) = delete;

  std::size_t Read(char* into, std::size_t size) override {
    while (true) {
      const ssize_t count = read(file_, into, size);
      if (count > 0 && how_far_ != nullptr) how_far_->Did(static_cast<std::uint64_t>(count));
      if (count >= 0) return static_cast<std::size_t>(count);
      if (errno == EINTR) continue;
      problem_ = std::string("reading stopped: ") + std::strerror(errno);
      return 0;
    }
  }
  std::string Problem() const override { return problem_; }

 private:
  int file_;
  HowFar* how_far_;
  std::string problem_;
};

class GzipSource : public ByteSource {
 public:
  explicit GzipSource(std::unique_ptr<ByteSource> packed)
      : packed_(std::move(packed)), input_(kPackedBytes) {
    isal_inflate_init(&state_);
    state_.crc_flag = ISAL_GZIP;
  }

  std::size_t Read(char* into, std::size_t size) override {
    state_.next_out = reinterpret_cast<std::uint8_t*>(into);
    state_.avail_out = static_cast<std::uint32_t>(size);
    while (state_.avail_out == size && !done_) Step();
    return size - state_.avail_out;
  }
  std::string Problem() const override { return problem_; }

 private:
  void Step() {
    if (state_.avail_in == 0) Refill();
    if (member_ended_) {
      // Another member, or what tape drives and careless copies leave after the last one.
      if (state_.avail_in == 0 || *state_.next_in != 0x1f) {
        done_ = true;
        return;
      }
      isal_inflate_reset(&state_);
      state_.crc_flag = ISAL_GZIP;
      member_ended_ = false;
    }
    const std::uint32_t room = state_.avail_out;
    const std::uint32_t packed = state_.avail_in;
    const int failed = isal_inflate(&state_);
    if (failed != ISAL_DECOMP_OK) {
      problem_ = failed == ISAL_INCORRECT_CHECKSUM ? "the gzip checksum is wrong"
                                                   : "the gzip data are damaged";
      done_ = true;
    } else if (state_.block_state == ISAL_BLOCK_FINISH) {
      member_ended_ = true;
    } else if (ended_ && state_.avail_out == room && state_.avail_in == packed) {
      problem_ = packed_->Problem().empty() ? "the gzip file is cut off" : packed_->Problem();
      done_ = true;
    }
  }

  void Refill() {
    const std::size_t count = packed_->Read(reinterpret_cast<char*>(input_.data()), input_.size());
    state_.next_in = input_.data();
    state_.avail_in = static_cast<std::uint32_t>(count);
    ended_ = count == 0;
  }

  std::unique_ptr<ByteSource> packed_;
  std::vector<std::uint8_t> input_;
  inflate_state state_{};
  bool ended_ = false;
  bool member_ended_ = false;
  bool done_ = false;
  std::string problem_;
};

// Reads another source on a thread of its own, a few blocks ahead.
class AheadSource : public ByteSource {
 public:
  explicit AheadSource(std::unique_ptr<ByteSource> source)
      : source_(std::move(source)), reader_([this](const std::stop_token& stop) { Fill(stop); }) {}

  std::size_t Read(char* into, std::size_t size) override {
    std::size_t count = 0;
    while (count == 0) {
      if (used_ == block_.size() && !Next()) return 0;
      count = std::min(size, block_.size() - used_);
      std::memcpy(into, block_.data() + used_, count);
      used_ += count;
    }
    return count;
  }
  std::string Problem() const override { return problem_; }

 private:
  static constexpr std::size_t kBlocks = 4;
  static constexpr std::size_t kBlockBytes = 1 << 20;

  void Fill(const std::stop_token& stop) {
    while (true) {
      std::string block(kBlockBytes, '\0');
      block.resize(source_->Read(block.data(), block.size()));
      const bool last = block.empty();
      std::unique_lock lock(mutex_);
      if (!changed_.wait(lock, stop, [this] { return ready_.size() < kBlocks; })) return;
      ready_.push_back(std::move(block));
      if (last) problem_ = source_->Problem();
      changed_.notify_all();
      if (last) return;
    }
  }

  // Takes the next block; false at the end.
  bool Next() {
    if (ended_) return false;
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return !ready_.empty(); });
    block_ = std::move(ready_.front());
    ready_.pop_front();
    used_ = 0;
    ended_ = block_.empty();
    changed_.notify_all();
    return !ended_;
  }

  std::unique_ptr<ByteSource> source_;
  std::string block_;  // being handed out
  std::size_t used_ = 0;
  bool ended_ = false;
  std::mutex mutex_;
  std::condition_variable_any changed_;
  std::deque<std::string> ready_;  // an empty block is the end
  std::string problem_;
  std::jthread reader_;  // the last member: it stops before the others go
};

}  // namespace

Result<std::unique_ptr<ByteSource>> OpenBytes(const std::string& path, bool ahead,
                                              HowFar* how_far) {
  const int file = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (file < 0) {
    return Fail(std::string("cannot be opened: ") + std::strerror(errno), path,
                "check that you may read it");
  }
  unsigned char magic[2] = {};
  const bool packed =
      pread(file, magic, sizeof magic, 0) == sizeof magic && magic[0] == 0x1f && magic[1] == 0x8b;
  struct stat about = {};
  if (how_far != nullptr && fstat(file, &about) == 0) {
    how_far->Begin(HowFar::Unit::kBytes, static_cast<std::uint64_t>(about.st_size));
  }
  std::unique_ptr<ByteSource> source = std::make_unique<PlainSource>(file, how_far);
  if (packed) source = std::make_unique<GzipSource>(std::move(source));
  if (packed && ahead) source = std::make_unique<AheadSource>(std::move(source));
  return source;
}

Result<std::string> WholeText(const std::string& path, const ImportOptions& options) {
  auto source = OpenBytes(path, options.jobs > 1, options.how_far);
  if (!source) return tl::unexpected(source.error());
  constexpr std::size_t kPiece = 1 << 22;
  std::string text;
  for (std::size_t filled = 0;; text.resize(filled)) {
    text.resize(filled + kPiece);
    const std::size_t count = (*source)->Read(text.data() + filled, kPiece);
    filled += count;
    if (count > 0) continue;
    text.resize(filled);
    return text;
  }
}

std::string UnpackedHead(std::string_view head, const std::string& path) {
  constexpr std::size_t kMost = 65536;
  if (!head.starts_with("\x1f\x8b")) return std::string(head);
  auto source = OpenBytes(path);
  if (!source) return "";
  std::string text(kMost, '\0');
  text.resize((*source)->Read(text.data(), text.size()));
  return text;
}

}  // namespace advise
