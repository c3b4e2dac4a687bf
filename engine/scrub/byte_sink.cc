#include "engine/scrub/byte_sink.h"

#include <isa-l/igzip_lib.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <utility>
#include <vector>

namespace advise {
namespace {

constexpr std::size_t kBlock = 1 << 18;

class FileSink : public ByteSink {
 public:
  FileSink(std::FILE* file, std::string path) : file_(file), path_(std::move(path)) {
    std::setvbuf(file_, nullptr, _IOFBF, kBlock);
  }
  ~FileSink() override {
    if (file_ != nullptr) std::fclose(file_);
  }
  void Write(std::string_view bytes) override {
    if (std::fwrite(bytes.data(), 1, bytes.size(), file_) != bytes.size()) Failed();
  }
  Result<void> Close() override {
    if (std::fclose(std::exchange(file_, nullptr)) != 0) Failed();
    if (problem_.empty()) return {};
    return Fail("cannot be written: " + problem_, path_, "is the disk full?");
  }

 private:
  void Failed() {
    if (problem_.empty()) problem_ = std::strerror(errno);
  }
  std::FILE* file_;
  std::string path_;
  std::string problem_;
};

class GzipSink : public ByteSink {
 public:
  explicit GzipSink(std::unique_ptr<ByteSink> file)
      : file_(std::move(file)), work_(ISAL_DEF_LVL1_DEFAULT), output_(kBlock) {
    isal_deflate_init(&stream_);
    stream_.level = 1;
    stream_.level_buf = work_.data();
    stream_.level_buf_size = static_cast<std::uint32_t>(work_.size());
    stream_.gzip_flag = IGZIP_GZIP;
    stream_.flush = NO_FLUSH;
    input_.reserve(kBlock);
  }
  void Write(std::string_view bytes) override {
    input_ += bytes;
    if (input_.size() >= kBlock) Pack(false);
  }
  Result<void> Close() override {
    Pack(true);
    return file_->Close();
  }

 private:
  void Pack(bool last) {
    stream_.next_in = reinterpret_cast<std::uint8_t*>(input_.data());
    stream_.avail_in = static_cast<std::uint32_t>(input_.size());
    stream_.end_of_stream = last ? 1 : 0;
    do {
      stream_.next_out = output_.data();
      stream_.avail_out = static_cast<std::uint32_t>(output_.size());
      isal_deflate(&stream_);
      file_->Write(
          {reinterpret_cast<const char*>(output_.data()), output_.size() - stream_.avail_out});
    } while (stream_.avail_in > 0 || stream_.avail_out == 0 ||
             (last && stream_.internal_state.state != ZSTATE_END));
    input_.clear();
  }

  std::unique_ptr<ByteSink> file_;
  std::vector<std::uint8_t> work_;
  std::vector<std::uint8_t> output_;
  std::string input_;
  isal_zstream stream_{};
};

}  // namespace

Result<std::unique_ptr<ByteSink>> CreateFile(const std::string& path, bool packed) {
  std::FILE* const file = std::fopen(path.c_str(), "wbx");
  if (file == nullptr) {
    return Fail(std::string("cannot be written: ") + std::strerror(errno), path,
                "name another file with -o");
  }
  std::unique_ptr<ByteSink> sink = std::make_unique<FileSink>(file, path);
  if (packed) sink = std::make_unique<GzipSink>(std::move(sink));
  return sink;
}

}  // namespace advise
