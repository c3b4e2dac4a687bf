// Chrome traces of PyTorch's profiler, plain and packed.
#include "tests/fuzz/target.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace advise;
  static const fuzz::ScratchFile file;
  file.Write(fuzz::TextOf(data, size));
  const Result<Trace> trace = fuzz::ImportAs("kineto", file.path());
  if (!trace) fuzz::CheckError(trace.error());
  return 0;
}
