// The targets of settings, rules, texts and facts files, for seconds each: smoke_rest SEEDS
// SECONDS, as smoke_readers.cc, and a facts file as SEEDS/facts/run.facts. With "planted" as a
// third argument it runs a target that fails, to see that that is noticed.
#include <fstream>

#include "tests/fuzz/smoke.h"

#define LLVMFuzzerTestOneInput FuzzAnswers
#include "tests/fuzz/answers.cc"
#undef LLVMFuzzerTestOneInput
#define LLVMFuzzerTestOneInput FuzzFactsFile
#include "tests/fuzz/facts_file.cc"
#undef LLVMFuzzerTestOneInput
#define LLVMFuzzerTestOneInput FuzzRules
#include "tests/fuzz/rules.cc"
#undef LLVMFuzzerTestOneInput
#define LLVMFuzzerTestOneInput FuzzScrubReport
#include "tests/fuzz/scrub_report.cc"
#undef LLVMFuzzerTestOneInput
#define LLVMFuzzerTestOneInput FuzzScrubText
#include "tests/fuzz/scrub_text.cc"
#undef LLVMFuzzerTestOneInput
#define LLVMFuzzerTestOneInput FuzzToml
#include "tests/fuzz/toml.cc"
#undef LLVMFuzzerTestOneInput
#define LLVMFuzzerTestOneInput FuzzWords
#include "tests/fuzz/words.cc"
#undef LLVMFuzzerTestOneInput

namespace {

// The text inside of a facts file, as facts_file.cc takes it, beside the file itself.
void WritePlain(const std::string& facts_file) {
  const auto sections = advise::ReadFactsSections(facts_file);
  if (!sections) advise::fuzz::Broken("the facts file of the test is one");
  std::string summary;
  std::string collectives;
  for (const auto& [name, packed] : *sections) {
    if (name == "summary") (void)advise::Uncompress(packed, &summary);
    if (name == "collectives") (void)advise::Uncompress(packed, &collectives);
  }
  std::ofstream(facts_file + ".plain", std::ios::binary) << 'S' << summary << '\0' << collectives;
}

int FailsOnNumbers(const std::uint8_t* data, std::size_t size) {
  const std::string_view text = advise::fuzz::TextOf(data, size);
  if (text.find("18446744073709551616") != text.npos) advise::fuzz::Broken("no large numbers");
  return 0;
}

}  // namespace

int main(int count, char** arguments) {
  if (count != 3 && count != 4) {
    std::fprintf(stderr, "usage: smoke_rest SEEDS SECONDS [planted]\n");
    return 2;
  }
  const std::string seeds = arguments[1];
  const std::string source = ADVISE_SOURCE_DIR;
  WritePlain(seeds + "/facts/run.facts");
  std::vector<advise::fuzz::SmokeTarget> targets = {
      {"answers", FuzzAnswers, 20000, {source + "/kb/exercises"}},
      {"facts_file", FuzzFactsFile, 100000, {seeds + "/facts"}},
      {"rules", FuzzRules, 20000, {source + "/rules"}},
      {"scrub_report", FuzzScrubReport, 100000, {seeds + "/kineto"}},
      {"scrub_text", FuzzScrubText, 20000, {seeds, source + "/docs"}},
      {"toml", FuzzToml, 20000, {source + "/kb"}},
      {"words", FuzzWords, 2000, {seeds}}};
  if (count == 4) targets = {{"planted", FailsOnNumbers, 20000, {source + "/kb"}}};
  return advise::fuzz::Smoke(targets, std::atof(arguments[2]));
}
