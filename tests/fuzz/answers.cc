// Answer sheets of students, and the quantities in them.
#include "engine/base/text.h"
#include "engine/grade/answer_sheet.h"
#include "engine/grade/quantity.h"
#include "tests/fuzz/target.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace advise;
  const std::string_view text = fuzz::TextOf(data, size);
  for (const char* name : {"answers.toml", "answers.csv"}) {
    const Result<Answers> answers = ReadAnswers(name, text);
    if (!answers) {
      fuzz::CheckError(answers.error());
      continue;
    }
    for (const auto& [question, answer] : *answers) {
      const auto quantity = ParseQuantity(answer);
      if (!quantity) continue;
      for (const char* unit : {"ns", "s", "share", "bytes", "bytes_per_s", "count", "num", "hz"}) {
        (void)ToFactUnit(*quantity, unit, "ms");
        (void)FormatQuantity(quantity->value, unit);
      }
    }
  }
  return 0;
}
