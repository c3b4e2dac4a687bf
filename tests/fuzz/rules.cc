// Rules of a site: Lua text of strangers, compiled, checked and run on made-up facts, in the
// sandbox with its limits.
#include "engine/facts/catalog.h"
#include "engine/knowledge/embedded.h"
#include "engine/script/rule_check.h"
#include "engine/script/runner.h"
#include "engine/script/sandbox.h"
#include "tests/fuzz/target.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace advise;
  static const Knowledge knowledge = std::move(*Knowledge::Load(EmbeddedKnowledge()));
  static const std::vector<FactInfo> facts = FactList(knowledge);
  const std::string text(fuzz::TextOf(data, size));
  {
    Sandbox sandbox({.memory_bytes = 1U << 20U,
                     .text_bytes = 4096,
                     .turnover_bytes = 4U << 20U,
                     .instructions = 20'000,
                     .cpu_seconds = 1});
    (void)sandbox.Protect([&](lua_State* state) {
      sandbox.CallChunk(state, sandbox.Compile(state, text, "input.lua"));
    });
  }
  std::vector<RuleFile> files;
  files.push_back({"transfer/input.lua", text, true});
  const auto rules = RuleSet::Load(std::move(files), knowledge, facts);
  if (!rules) {
    for (const Error& error : rules.error()) fuzz::CheckError(error);
    return 0;
  }
  for (const RuleInfo& rule : rules->rules()) {
    for (const Error& error : CheckRule(*rules, rule).problems) fuzz::CheckError(error);
  }
  return 0;
}
