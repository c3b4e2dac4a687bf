// Every GPU that does work in a real capture is known by the name that its driver gives.
#include <catch2/catch.hpp>
#include <set>
#include <string>

#include "engine/import/importer.h"
#include "engine/knowledge/embedded.h"
#include "engine/knowledge/knowledge.h"
#include "tests/app/find_capture.h"

namespace advise {
namespace {

TEST_CASE("real captures: every GPU that works and has a name is known") {
  if (CapturesFolder().empty()) return;
  const auto knowledge = Knowledge::Load(EmbeddedKnowledge());
  REQUIRE(knowledge);
  int checked = 0;
  for (const char* kind : {"kineto", "nsys"}) {
    for (const std::string& path : FindCaptures(kind)) {
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
  CHECK(checked > 0);
}

}  // namespace
}  // namespace advise
