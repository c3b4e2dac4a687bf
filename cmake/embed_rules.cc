// Writes a C++ source that holds the rules, for engine/script/embedded_rules.h:
//   embed_rules ROOT LIST OUTPUT
// LIST has one path a line, under ROOT. What the program would read, check and compile each time it
// starts is made ready here. Other files stay texts.
#include <algorithm>

#include "cmake/embed.h"
#include "engine/facts/catalog.h"
#include "engine/knowledge/embedded.h"
#include "engine/script/embedded_rules.h"
#include "engine/script/runner.h"

namespace advise {
namespace {

std::vector<MadeReady> MakeReady(const std::vector<Knowledge::File>& files) {
  const auto knowledge = Knowledge::Load(EmbeddedKnowledge());
  if (!knowledge) FailWith(knowledge.error());
  std::vector<RuleFile> texts;
  for (const Knowledge::File& file : files) {
    if (IsRule(file.path)) texts.push_back({file.path, file.text});
  }
  const auto rules = RuleSet::Load(std::move(texts), *knowledge, FactList(*knowledge));
  if (!rules) FailWith(rules.error());
  std::vector<MadeReady> ready;
  for (const RuleInfo& rule : rules->rules()) ready.push_back({rule.path, "", rules->Packed(rule)});
  for (const Knowledge::File& file : files) {
    if (!IsRule(file.path)) ready.push_back({file.path, file.text, ""});
  }
  std::sort(ready.begin(), ready.end(),
            [](const MadeReady& a, const MadeReady& b) { return a.path < b.path; });
  return ready;
}

}  // namespace
}  // namespace advise

int main(int argc, char** argv) try {
  if (argc != 4) throw std::runtime_error("embed_rules ROOT LIST OUTPUT");
  advise::WriteSource(advise::MakeReady(advise::FilesOf(argv[1], argv[2])),
                      "engine/script/embedded_rules.h", "EmbeddedRules", argv[3]);
} catch (const std::exception& problem) {
  std::cerr << problem.what() << "\n";
  return 1;
}
