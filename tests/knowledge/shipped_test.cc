// The knowledge base as it is shipped: embedded, sound, and what its comments promise.
#include <filesystem>
#include <fstream>
#include <sstream>

#include "engine/knowledge/embedded.h"
#include "tests/knowledge/kb_text.h"

using namespace advise;

TEST_CASE("the embedded files are those of the source tree") {
  REQUIRE(EmbeddedFiles().size() > 3);
  for (const Knowledge::File& file : EmbeddedFiles()) {
    std::ifstream stream(std::filesystem::path(ADVISE_SOURCE_DIR) / file.path);
    std::stringstream text;
    text << stream.rdbuf();
    INFO(file.path);
    CHECK(text.str() == file.text);
  }
}

TEST_CASE("the shipped knowledge base has no problems") {
  const Knowledge knowledge = LoadKb(EmbeddedFiles());
  CHECK(Lines(knowledge.CheckExamples()).empty());
  CHECK(knowledge.hardware().size() > 20);
  CHECK(knowledge.FallbackHardware() != nullptr);
}

TEST_CASE("the severities are in order") {
  const Knowledge knowledge = LoadKb(EmbeddedFiles());
  CHECK(knowledge.Number("ranking.critical_share") > knowledge.Number("ranking.high_share"));
  CHECK(knowledge.Number("ranking.high_share") > knowledge.Number("ranking.medium_share"));
}

TEST_CASE("the example of a site file can be applied") {
  Knowledge knowledge = LoadKb(EmbeddedFiles());
  for (const Knowledge::File& file : EmbeddedFiles()) {
    if (file.path == "kb/site.example.toml") CHECK(Lines(knowledge.ApplySite(file)).empty());
  }
  CHECK(knowledge.SiteChanges().size() >= 1);
}

TEST_CASE("each tag has a hint on how to capture it") {
  const Knowledge knowledge = LoadKb(EmbeddedFiles());
  for (const char* tag : {"cuda", "nvtx", "osrt", "gpu-metrics", "cuda-memory", "cpu-sampling",
                          "cuda-graph-node", "nic-metrics", "ranks", "hardware", "steps"}) {
    INFO(tag);
    CHECK(knowledge.FindCaptureHint(tag) != nullptr);
  }
}
