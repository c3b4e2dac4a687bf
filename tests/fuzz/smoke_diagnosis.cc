// The whole way from a report to every form of the answer, for seconds: smoke_diagnosis FOLDER
// SECONDS. Without the sanitizers it takes a tenth of the time, so that far more reports are tried:
// most of what is promised is seen without them. Each input is a list of changes to a simulated
// report; the first ones, which are written into the folder, are drawn by a fixed number.
#include <filesystem>
#include <fstream>
#include <random>

#include "tests/fuzz/smoke.h"

#define LLVMFuzzerTestOneInput FuzzDiagnosis
#include "tests/fuzz/diagnosis.cc"
#undef LLVMFuzzerTestOneInput

namespace {

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
  if (count != 3) {
    std::fprintf(stderr, "usage: smoke_diagnosis FOLDER SECONDS\n");
    return 2;
  }
  const std::string folder = arguments[1];
  WriteSeeds(folder);
  return advise::fuzz::Smoke({{"diagnosis", FuzzDiagnosis, 400, {folder}}},
                             std::atof(arguments[2]));
}
