// Every GPU that does work in a real capture is known by the name that its driver gives. Where
// captures are at hand: $ADVISE_TRACES, or shared/traces beside the source tree.
#include <algorithm>
#include <catch2/catch.hpp>
#include <cstdlib>
#include <filesystem>
#include <set>
#include <string>
#include <vector>

#include "engine/import/importer.h"
#include "engine/knowledge/embedded.h"
#include "engine/knowledge/knowledge.h"

namespace advise {
namespace {

namespace fs = std::filesystem;

std::vector<std::string> CapturesOf(const char* kind) {
  const char* root = std::getenv("ADVISE_TRACES");
  const fs::path folder =
      (root != nullptr ? fs::path(root)
                       : fs::path(ADVISE_SOURCE_DIR) / ".." / "shared" / "traces") /
      kind;
  std::vector<std::string> files;
  std::error_code absent;
  for (auto it = fs::recursive_directory_iterator(folder, absent);
       it != fs::recursive_directory_iterator(); it.increment(absent)) {
    if (absent) break;
    if (it->is_regular_file()) files.push_back(it->path().string());
  }
  std::sort(files.begin(), files.end());
  return files;
}

TEST_CASE("every GPU that works in a capture and has a name is known") {
  const auto knowledge = Knowledge::Load(EmbeddedFiles());
  REQUIRE(knowledge);
  int checked = 0;
  for (const char* kind : {"kineto", "nsys"}) {
    for (const std::string& path : CapturesOf(kind)) {
      const Result<Trace> trace = ImportReport(path, {});
      if (!trace) continue;
      INFO(path);
      const std::set<std::uint16_t> used(trace->ops.device.begin(), trace->ops.device.end());
      for (const std::uint16_t row : used) {
        const Device& device = trace->devices[row];
        if (device.name.empty() && device.sm_count == 0) continue;  // the file says nothing
        INFO(device.name);
        CHECK(knowledge->FindHardware(device.name) != nullptr);
        ++checked;
      }
    }
  }
  if (checked == 0) WARN("skipped: no captures here");
}

}  // namespace
}  // namespace advise
