// Writes a C++ source that holds the knowledge base, for engine/knowledge/embedded.h:
//   embed_knowledge ROOT LIST OUTPUT
// LIST has one path a line, under ROOT. What the program would read and check each time it starts
// is read and checked here. Other files stay texts.
#include "cmake/embed.h"
#include "engine/knowledge/embedded.h"

namespace advise {
namespace {

std::vector<MadeReady> MakeReady(const std::vector<Knowledge::File>& files) {
  const auto knowledge = Knowledge::Load(files);
  if (!knowledge) FailWith(knowledge.error());
  std::vector<MadeReady> ready = {{std::string(kPackedKnowledge), "", PackKnowledge(*knowledge)}};
  for (const Knowledge::File& file : files) {
    if (!IsKnowledge(file.path)) ready.push_back({file.path, file.text, ""});
  }
  return ready;
}

}  // namespace
}  // namespace advise

int main(int argc, char** argv) try {
  if (argc != 4) throw std::runtime_error("embed_knowledge ROOT LIST OUTPUT");
  advise::WriteSource(advise::MakeReady(advise::FilesOf(argv[1], argv[2])),
                      "engine/knowledge/embedded.h", "EmbeddedKnowledge", argv[3]);
} catch (const std::exception& problem) {
  std::cerr << problem.what() << "\n";
  return 1;
}
