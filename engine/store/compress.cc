#include "engine/store/compress.h"

#include <zlib.h>

namespace advise {
namespace {

constexpr std::size_t kLargest = std::size_t{1} << 30;
constexpr std::size_t kHead = 8;  // bytes of the length

}  // namespace

std::string Compress(std::string_view plain) {
  std::string packed(kHead + compressBound(plain.size()), '\0');
  for (std::size_t i = 0; i < kHead; ++i) {
    packed[i] = static_cast<char>((plain.size() >> (8 * i)) & 0xFFU);
  }
  uLongf size = packed.size() - kHead;
  compress2(reinterpret_cast<Bytef*>(packed.data() + kHead), &size,
            reinterpret_cast<const Bytef*>(plain.data()), plain.size(), 9);
  packed.resize(kHead + size);
  return packed;
}

bool Uncompress(std::string_view packed, std::string* plain) {
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

}  // namespace advise
