// What the fuzz targets share. Each target is one file with LLVMFuzzerTestOneInput, and takes what
// one reader of the program takes from strangers. A target that finds a broken promise aborts, and
// libFuzzer keeps the input.
#pragma once

#include <fcntl.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>

#include "engine/import/importer.h"

namespace advise::fuzz {

inline std::string_view TextOf(const std::uint8_t* data, std::size_t size) {
  return {reinterpret_cast<const char*>(data), size};
}

// Takes the first byte: which of several readers gets the rest.
inline unsigned TakeByte(std::string_view* input) {
  if (input->empty()) return 0;
  const auto byte = static_cast<unsigned char>(input->front());
  input->remove_prefix(1);
  return byte;
}

[[noreturn]] inline void Broken(const char* promise) {
  std::fprintf(stderr, "broken promise: %s\n", promise);
  std::abort();
}

// A file in memory, of this process alone, that is written anew for each input.
class ScratchFile {
 public:
  explicit ScratchFile(const std::string& ending = "")
      : path_("/dev/shm/advise-fuzz-" + std::to_string(getpid()) + ending),
        file_(open(path_.c_str(), O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600)) {
    if (file_ < 0) Broken("/dev/shm can be written");
  }
  ~ScratchFile() {
    close(file_);
    unlink(path_.c_str());
  }
  ScratchFile(const ScratchFile&) = delete;
  ScratchFile& operator=(const ScratchFile&) = delete;

  const std::string& path() const { return path_; }
  void Write(std::string_view content) const {
    if (ftruncate(file_, 0) != 0 ||
        pwrite(file_, content.data(), content.size(), 0) != static_cast<ssize_t>(content.size())) {
      Broken("/dev/shm has room");
    }
  }

 private:
  std::string path_;
  int file_;
};

// Errors are one line for a person, whatever the file holds.
inline void CheckError(const Error& error) {
  if (error.what.empty()) Broken("an error says what is wrong");
}

// Reads a file with the importer of that kind.
inline Result<Trace> ImportAs(std::string_view kind, const std::string& path) {
  for (const Importer& importer : Importers()) {
    if (importer.kind == kind) return ImportWith(importer, path, {.jobs = 1});
  }
  Broken("the importer exists");
}

}  // namespace advise::fuzz
