// The whole way from a report to every form of the answer, for seconds: smoke_diagnosis FOLDER
// SECONDS SEEDS. Without the sanitizers it takes a tenth of the time, so that far more reports are
// tried: most of what is promised is seen without them. SEEDS holds what the tests of import read,
// of every kind. Reports of Nsight Systems are lists of changes to a simulated one; the first of
// these lists are drawn by a fixed number, and written into FOLDER.
#include <filesystem>
#include <fstream>
#include <random>

#include "tests/fuzz/smoke.h"

#define LLVMFuzzerTestOneInput FuzzDiagnosis
#include "tests/fuzz/diagnosis.cc"
#undef LLVMFuzzerTestOneInput

namespace {

int FuzzDiagnosisOfFiles(const std::uint8_t* data, std::size_t size) {
  DiagnoseContent(advise::fuzz::TextOf(data, size), std::accumulate(data, data + size, 0U));
  return 0;
}

void WriteSeeds(const std::string& folder) {
  std::filesystem::create_directories(folder);
  std::mt19937 dice(1);
  for (int seed = 0; seed < 64; ++seed) {
    std::string changes;
    for (int i = 0; i < 8 + 4 * (seed % 16); ++i) changes += static_cast<char>(dice() & 255U);
    std::ofstream(folder + "/" + std::to_string(seed), std::ios::binary) << changes;
  }
}

}  // namespace

int main(int count, char** arguments) {
  if (count != 4) {
    std::fprintf(stderr, "usage: smoke_diagnosis FOLDER SECONDS SEEDS\n");
    return 2;
  }
  const std::string folder = arguments[1];
  WriteSeeds(folder);
  return advise::fuzz::Smoke({{"diagnosis", FuzzDiagnosis, 400, {folder}},
                              {"diagnosis-of-files", FuzzDiagnosisOfFiles, 20000, {arguments[3]}}},
                             std::atof(arguments[2]));
}
