// Sections as format 1 of the facts files has them: zlib, with the length in front.
#pragma once

#include <zlib.h>

#include <string>

namespace advise {

inline std::string Format1(const std::string& plain) {
  std::string packed(8 + compressBound(plain.size()), '\0');
  for (std::size_t i = 0; i < 8; ++i) {
    packed[i] = static_cast<char>((plain.size() >> (8 * i)) & 0xFFU);
  }
  uLongf size = packed.size() - 8;
  compress2(reinterpret_cast<Bytef*>(packed.data() + 8), &size,
            reinterpret_cast<const Bytef*>(plain.data()), plain.size(), 9);
  packed.resize(8 + size);
  return packed;
}

}  // namespace advise
