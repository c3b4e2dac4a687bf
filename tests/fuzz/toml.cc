// TOML of strangers: settings of a site, hardware files, exercises.
#include "engine/facts/catalog.h"
#include "engine/grade/exercise.h"
#include "engine/knowledge/embedded.h"
#include "engine/knowledge/toml_tree.h"
#include "tests/fuzz/target.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace advise;
  static const Knowledge shipped = std::move(*Knowledge::Load(EmbeddedKnowledge()));
  static const std::vector<FactInfo> facts = FactList(shipped);
  static const std::vector<std::string> rules = {"transfer/pageable-copy", "input/stall"};
  const std::string text(fuzz::TextOf(data, size));
  if (!ParseToml("input.toml", text)) return 0;
  // To copy all of it takes most of the time: only after an input that may have changed it.
  static Knowledge knowledge = shipped;
  for (const Error& error : knowledge.ApplySite({"input.toml", text})) fuzz::CheckError(error);
  for (const char* changed : {"thresholds", "numbers", "rules", "families", "match"}) {
    if (text.find(changed) == text.npos) continue;
    knowledge = shipped;
    break;
  }
  const auto exercise = ReadExercise("input.toml", text, facts, rules);
  if (exercise) (void)AnswerSheet(*exercise);
  return 0;
}
