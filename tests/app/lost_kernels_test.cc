// Exports that lost their kernels: what is left repeats, but is no loop, and nothing is advised.
#include <catch2/catch.hpp>
#include <filesystem>

#include "tests/app/json.h"
#include "tests/app/simulated.h"

using Catch::Matchers::Contains;

namespace advise {
namespace {

TEST_CASE("an export without its kernels gets no advice, with copies or without") {
  const Folder folder;
  const std::string report = folder / "run.sqlite";
  std::filesystem::copy(Simulated("scenarios/ranks/uneven-loading"), report);
  for (const char* table : {"CUPTI_ACTIVITY_KIND_KERNEL", "CUPTI_ACTIVITY_KIND_MEMCPY"}) {
    INFO("without " << table);
    const Ran cut =
        RunAdvise(folder, "run.sqlite 'drop table " + std::string(table) + "'", "sqlite3");
    REQUIRE(cut.status == 0);
    const Json json = ParseJson(RunAdvise(folder, "run.sqlite --format json").out);
    CHECK(json["run"]["kind"] == "no-gpu");
    for (const Json& finding : json["findings"]) CHECK(finding["severity"] == "info");
    const std::string text = RunAdvise(folder, "run.sqlite").out;
    CHECK_THAT(text, Contains("No kernel was recorded"));
    CHECK_THAT(text, !Contains("steps come from") && !Contains("Parallel efficiency"));
  }
}

// What is said of a report whose kernels `sql` changes.
std::string SaidOf(const std::string& sql, const std::string& options) {
  const Folder folder;
  std::filesystem::copy(Simulated("scenarios/ranks/uneven-loading"), folder / "run.sqlite");
  const Ran ran = RunAdvise(folder, "run.sqlite '" + sql + "'", "sqlite3");
  INFO(ran.err);
  REQUIRE(ran.status == 0);
  return RunAdvise(folder, "run.sqlite " + options).out;
}
Json WithKernels(const std::string& sql) { return ParseJson(SaidOf(sql, "--format json")); }

TEST_CASE("where much of the work was lost, the next step is to record it") {
  const Json report =
      WithKernels("delete from CUPTI_ACTIVITY_KIND_KERNEL where correlationId % 5 < 2");
  CHECK_THAT(report["verdict"].dump(), Contains("Next, capture again, for a shorter time:"));
}

TEST_CASE("kernels without a name are told apart by their grids, and said to have none") {
  const std::string text = SaidOf(
      "update CUPTI_ACTIVITY_KIND_KERNEL set demangledName = 987654, shortName = 987654", "-v");
  CHECK_THAT(text, Contains("kernels without a name take 100 %"));
  CHECK_THAT(text, !Contains("One kernel, ,") && !Contains("mostly ."));
}

TEST_CASE("kernels of no length were recorded, and tell nothing") {
  const Json report = WithKernels("update CUPTI_ACTIVITY_KIND_KERNEL set \"end\" = start");
  CHECK_THAT(report["verdict"].dump(), Contains("recorded kernels have a length of zero"));
  CHECK(report["run"]["kind"] == "no-gpu");
  for (const Json& finding : report["findings"]) CHECK(finding["severity"] == "info");
}

}  // namespace
}  // namespace advise
