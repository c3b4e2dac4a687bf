// The targets of files, for seconds each: smoke_readers SEEDS SECONDS. SEEDS is what the tests of
// `import` keep of their inputs (tests/support/seeds.h).
#include <filesystem>
#include <set>

#include "tests/fuzz/smoke.h"

#define LLVMFuzzerTestOneInput FuzzAnyFile
#include "tests/fuzz/any_file.cc"
#undef LLVMFuzzerTestOneInput
#define LLVMFuzzerTestOneInput FuzzGzip
#include "tests/fuzz/gzip.cc"
#undef LLVMFuzzerTestOneInput
#define LLVMFuzzerTestOneInput FuzzKineto
#include "tests/fuzz/kineto.cc"
#undef LLVMFuzzerTestOneInput
#define LLVMFuzzerTestOneInput FuzzNcuReport
#include "tests/fuzz/ncu_report.cc"
#undef LLVMFuzzerTestOneInput
#define LLVMFuzzerTestOneInput FuzzNsysFile
#include "tests/fuzz/nsys_file.cc"
#undef LLVMFuzzerTestOneInput
#define LLVMFuzzerTestOneInput FuzzTextReaders
#include "tests/fuzz/text_readers.cc"
#undef LLVMFuzzerTestOneInput

int main(int count, char** arguments) {
  if (count != 3) {
    std::fprintf(stderr, "usage: smoke_readers SEEDS SECONDS\n");
    return 2;
  }
  const std::string seeds = arguments[1];
  std::vector<std::string> texts;
  for (const auto& kind : std::filesystem::directory_iterator(seeds)) {
    static const std::set<std::string> others = {"kineto", "ncu-rep", "nsys-sqlite", "unknown"};
    if (others.count(kind.path().filename().string()) == 0) texts.push_back(kind.path().string());
  }
  return advise::fuzz::Smoke({{"any_file", FuzzAnyFile, 20000, {seeds}},
                              {"gzip", FuzzGzip, 20000, {seeds + "/unknown", seeds + "/kineto"}},
                              {"kineto", FuzzKineto, 100000, {seeds + "/kineto"}},
                              {"ncu_report", FuzzNcuReport, 20000, {seeds + "/ncu-rep"}},
                              {"nsys_file", FuzzNsysFile, 100000, {seeds + "/nsys-sqlite"}},
                              {"text_readers", FuzzTextReaders, 20000, texts}},
                             std::atof(arguments[2]));
}
