// Exports that lost their kernels: what is left repeats, but is no loop, and nothing is advised.
#ifdef ADVISE_SIM_PROGRAM

#include <catch2/catch.hpp>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "tests/app/simulated.h"

using Catch::Matchers::Contains;

namespace advise {
namespace {

using Json = nlohmann::json;

TEST_CASE("an export without its kernels gets no advice, with copies or without") {
  const Folder folder;
  const std::string report = folder / "run.sqlite";
  std::filesystem::copy(Simulated("scenarios/ranks/uneven-loading"), report);
  for (const char* table : {"CUPTI_ACTIVITY_KIND_KERNEL", "CUPTI_ACTIVITY_KIND_MEMCPY"}) {
    INFO("without " << table);
    const Ran cut =
        RunAdvise(folder, "run.sqlite 'drop table " + std::string(table) + "'", "sqlite3");
    REQUIRE(cut.status == 0);
    const Json json = Json::parse(RunAdvise(folder, "run.sqlite --format json").out);
    CHECK(json["run"]["kind"] == "no-gpu");
    for (const Json& finding : json["findings"]) CHECK(finding["severity"] == "info");
    const std::string text = RunAdvise(folder, "run.sqlite").out;
    CHECK_THAT(text, Contains("No kernel was recorded"));
    CHECK_THAT(text, !Contains("steps come from") && !Contains("Parallel efficiency"));
  }
}

}  // namespace
}  // namespace advise

#endif
