// Chrome traces that are to be passed on.
#include "engine/scrub/scrub_kineto.h"
#include "tests/fuzz/target.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace advise;
  static const fuzz::ScratchFile file;
  static const std::string output = file.path() + ".out";
  file.Write(fuzz::TextOf(data, size));
  unlink(output.c_str());
  const Result<ScrubSummary> summary = ScrubKineto(file.path(), output);
  if (!summary) fuzz::CheckError(summary.error());
  unlink(output.c_str());
  return 0;
}
