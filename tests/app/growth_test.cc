// A diagnosis takes time in proportion to the report: what looks through all steps for each step,
// or through all gaps for each finding, is found out here and not on a report of a gigabyte.
#include <algorithm>
#include <catch2/catch.hpp>
#include <cstdlib>
#include <ctime>
#include <filesystem>
#include <string>

#include "engine/pipeline/diagnose.h"
#include "tests/app/simulated_ranks.h"
#include "tests/support/training_story.h"

namespace advise {
namespace {

// Seconds of all cores: another program's work does not count.
double SecondsFor(const Session& session, const Trace& trace) {
  const std::clock_t begin = std::clock();
  const auto report = DiagnoseTrace(session, {}, trace, {});
  const double seconds = static_cast<double>(std::clock() - begin) / CLOCKS_PER_SEC;
  REQUIRE(report);
  REQUIRE(report->report.findings.size() > 2);
  REQUIRE(report->report.step_count > 1000);
  return seconds;
}

TEST_CASE("eight times the steps take about eight times the time") {
  const bool named = GENERATE(true, false);
  DiagnoseOptions options;
  options.ignore_working_directory = true;
  const auto session = LoadSession(options);
  REQUIRE(session);
  const Trace small = Training(1'250, named);
  const Trace large = Training(10'000, named);
  SecondsFor(*session, small);  // the first time reads pages that the others find
  const double once = std::min(SecondsFor(*session, small), SecondsFor(*session, small));
  const double eight_times = std::min(SecondsFor(*session, large), SecondsFor(*session, large));
  INFO(once << " s and " << eight_times << " s");
  CHECK(eight_times < 14 * once);  // 64 times, were all of it quadratic
}

// The highest memory of a run, in KiB.
long PeakOf(const Folder& folder, const std::string& arguments) {
  const Ran ran =
      RunAdvise(folder, "-f %M -o peak '" ADVISE_PROGRAM "' " + arguments, "/usr/bin/time");
  INFO(ran.err);
  REQUIRE(ran.status == 0);
  return std::atol(ReadAll(folder / "peak").c_str());
}

TEST_CASE("one more facts file takes a quarter of a megabyte") {
  const Folder folder;
  const std::string reports = RanksOf("scenarios/rank/straggler-compute-x4");
  REQUIRE(RunAdvise(folder, "facts " + reports + " -o made/").status == 0);
  const auto peak_of = [&](int copies) {
    const std::string into = "facts" + std::to_string(copies);
    std::filesystem::create_directories(folder / into);
    for (const auto& file : std::filesystem::directory_iterator(folder / "made")) {
      for (int copy = 0; copy < copies; ++copy) {
        const std::string name = std::to_string(copy) + file.path().filename().string();
        std::filesystem::copy(file.path(), std::filesystem::path(folder / into) / name);
      }
    }
    return PeakOf(folder, into);
  };
  const long few = peak_of(1);
  const long many = peak_of(16);
  const double each = static_cast<double>(many - few) / (15 * 4);
  INFO(few << " and " << many << " KiB");
  CHECK(each < 256);
}

}  // namespace
}  // namespace advise
