// SQLite reports as bytes: the pages may be anything. The project's own reader of pages and SQLite
// must give the same.
#include "tests/fuzz/nsys_check.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  advise::fuzz::ReadBothWays(advise::fuzz::TextOf(data, size));
  return 0;
}
