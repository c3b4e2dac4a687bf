// Whatever was captured, the report says what kind of run it is, what to do next and how sure that
// is: over all real captures at hand ($ADVISE_TRACES, or shared/traces beside the source tree).
#include <algorithm>
#include <catch2/catch.hpp>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <vector>

#include "tests/app/program.h"
#include "tests/report/schema.h"

namespace advise {
namespace {

using Json = nlohmann::json;
namespace fs = std::filesystem;

std::vector<std::string> AllCaptures() {
  const char* root = std::getenv("ADVISE_TRACES");
  const fs::path traces =
      root != nullptr ? fs::path(root) : fs::path(ADVISE_SOURCE_DIR) / ".." / "shared" / "traces";
  std::vector<std::string> files;
  std::error_code failed;
  for (const char* folder : {"kineto", "nsys", "nsys_other"}) {
    for (fs::recursive_directory_iterator at(traces / folder, failed), end; !failed && at != end;
         at.increment(failed)) {
      const std::string name = at->path().filename().string();
      if (at->is_regular_file() && !name.ends_with(".md")) files.push_back(at->path().string());
    }
    failed.clear();
  }
  std::sort(files.begin(), files.end());
  return files;
}

bool HasGpuWork(const Json& report) {
  return std::any_of(report["devices"].begin(), report["devices"].end(), [](const Json& device) {
    return device["budget"]["idle_ns"] < device["budget"]["window_ns"];
  });
}

}  // namespace

TEST_CASE("real captures: each with GPU work gets its kind, a next step and a confidence") {
  const Folder folder;
  const std::vector<std::string> files = AllCaptures();
  if (files.empty()) {
    WARN("skipped: no captures (set ADVISE_TRACES to the folder that holds them)");
    return;
  }
  int with_work = 0;
  int answered = 0;
  std::string unanswered;
  for (const std::string& file : files) {
    const Ran ran = RunAdvise(folder, "'" + file + "' --format json");
    if (ran.status != 0) continue;  // other formats lie beside the captures
    const Json report = Json::parse(ran.out);
    INFO(file);
    CHECK(SchemaProblems(report) == std::vector<std::string>());
    if (!HasGpuWork(report)) {
      CHECK(report["healthy"] == false);
      continue;
    }
    ++with_work;
    const std::string verdict = report["verdict"];
    const bool kind = !report["run"]["kind"].get<std::string>().empty() &&
                      report["run"]["kind"] != "no-gpu" &&
                      !report["run"]["unit"].get<std::string>().empty();
    const bool next = verdict.find(" Next: ") != std::string::npos || report["healthy"] == true;
    const bool sure =
        std::all_of(report["findings"].begin(), report["findings"].end(), [&](const Json& finding) {
          const bool told =
              finding["tentative"] == report["run"]["tentative"] || report["devices"].size() > 1;
          return finding["confidence"].get<double>() > 0 && told;
        });
    if (kind && next && sure) {
      ++answered;
    } else {
      unanswered += "\n  " + file;
    }
    // Busy of unmeasured efficiency is not healthy.
    if (report["healthy"] == true) CHECK(report["efficiency"]["measured_share"] >= 0.5);
  }
  std::printf(
      "captures with GPU work: %d, answered with kind, next step and confidence: %d (%.1f %%)\n",
      with_work, answered, with_work > 0 ? 100.0 * answered / with_work : 0.0);
  INFO("without an answer:" << unanswered);
  CHECK(answered >= 0.95 * with_work);
}

}  // namespace advise
