// Packed bytes of any kind, as far as they can be unpacked.
#include <array>

#include "engine/import/byte_source.h"
#include "tests/fuzz/target.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace advise;
  static const fuzz::ScratchFile file;
  file.Write(fuzz::TextOf(data, size));
  auto source = OpenBytes(file.path());
  if (!source) return 0;
  std::array<char, 4096> block;
  // A byte of Deflate gives at most 1032.
  std::size_t left = size * 1032 + 4096;
  while (const std::size_t got = (*source)->Read(block.data(), block.size())) {
    if (got > left) fuzz::Broken("unpacking gives no more than Deflate can hold");
    left -= got;
  }
  (void)(*source)->Problem();
  return 0;
}
