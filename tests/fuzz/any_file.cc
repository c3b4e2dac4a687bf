// A file of which nothing is known: told by its content, and read or refused.
#include "tests/fuzz/target.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace advise;
  static const fuzz::ScratchFile file;
  file.Write(fuzz::TextOf(data, size));
  if (ImporterNameOf(file.path()) == "nsys-sqlite") return 0;  // nsys_file.cc; no foreign program
  const Result<Trace> trace = ImportReport(file.path(), {.jobs = 1});
  if (!trace) fuzz::CheckError(trace.error());
  return 0;
}
