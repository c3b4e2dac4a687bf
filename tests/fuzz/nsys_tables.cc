// SQLite reports of any schema, with values of any type.
#include "tests/fuzz/nsys_check.h"
#include "tests/fuzz/nsys_variants.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string report = advise::fuzz::NsysVariant(advise::fuzz::TextOf(data, size));
  if (!report.empty()) advise::fuzz::ReadBothWays(report);
  return 0;
}
