#include "engine/store/compress.h"

#include <zstd.h>

namespace advise {
namespace {

constexpr std::size_t kLargest = std::size_t{1} << 28;
constexpr int kLevel = 19;  // a facts file is written once, and copied and kept often

}  // namespace

std::string Compress(std::string_view plain) {
  std::string packed(ZSTD_compressBound(plain.size()), '\0');
  packed.resize(ZSTD_compress(packed.data(), packed.size(), plain.data(), plain.size(), kLevel));
  return packed;
}

bool Uncompress(std::string_view packed, std::string* plain) {
  const unsigned long long size = ZSTD_getFrameContentSize(packed.data(), packed.size());
  if (size > kLargest) return false;  // also when it is not known
  plain->resize(size);
  const std::size_t got =
      ZSTD_decompress(plain->data(), plain->size(), packed.data(), packed.size());
  return ZSTD_isError(got) == 0 && got == size;
}

}  // namespace advise
