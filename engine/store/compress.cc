#include "engine/store/compress.h"

#include <zlib.h>
#include <zstd.h>

#include <memory>

#include "engine/store/dictionary.h"

namespace advise {
namespace {

constexpr std::size_t kLargest = std::size_t{1} << 30;
constexpr int kLevel = 19;  // a facts file is written once, and copied and kept often

std::string_view Dictionary() { return DictionaryFile("dictionary-1.json"); }

bool IsZstd(std::string_view bytes) { return bytes.starts_with("\x28\xB5\x2F\xFD"); }

bool UncompressFormat1(std::string_view packed, std::string* plain) {
  constexpr std::size_t kHead = 8;  // bytes of the length
  if (packed.size() < kHead) return false;
  std::size_t size = 0;
  for (std::size_t i = 0; i < kHead; ++i) {
    size |= static_cast<std::size_t>(static_cast<unsigned char>(packed[i])) << (8 * i);
  }
  if (size > kLargest) return false;
  plain->resize(size);
  uLongf got = size;
  return uncompress(reinterpret_cast<Bytef*>(plain->data()), &got,
                    reinterpret_cast<const Bytef*>(packed.data() + kHead),
                    packed.size() - kHead) == Z_OK &&
         got == size;
}

}  // namespace

std::string Compress(std::string_view plain) {
  const std::unique_ptr<ZSTD_CCtx, decltype(&ZSTD_freeCCtx)> context(ZSTD_createCCtx(),
                                                                     &ZSTD_freeCCtx);
  std::string packed(ZSTD_compressBound(plain.size()), '\0');
  const std::string_view dictionary = Dictionary();
  packed.resize(ZSTD_compress_usingDict(context.get(), packed.data(), packed.size(), plain.data(),
                                        plain.size(), dictionary.data(), dictionary.size(),
                                        kLevel));
  return packed;
}

bool Uncompress(std::string_view packed, std::string* plain) {
  if (!IsZstd(packed)) return UncompressFormat1(packed, plain);
  const unsigned long long size = ZSTD_getFrameContentSize(packed.data(), packed.size());
  if (size > kLargest) return false;  // also when it is not known
  const std::unique_ptr<ZSTD_DCtx, decltype(&ZSTD_freeDCtx)> context(ZSTD_createDCtx(),
                                                                     &ZSTD_freeDCtx);
  plain->resize(size);
  const std::string_view dictionary = Dictionary();
  const std::size_t got =
      ZSTD_decompress_usingDict(context.get(), plain->data(), plain->size(), packed.data(),
                                packed.size(), dictionary.data(), dictionary.size());
  return ZSTD_isError(got) == 0 && got == size;
}

}  // namespace advise
