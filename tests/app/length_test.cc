// How long reports are on a terminal of 80 columns: one with one finding fits its screen, one with
// four fits two, each finding takes a dozen lines, and the rest fits a small terminal; what holds
// a few kernels, or no timeline, is answered in twenty lines. Over all scenarios, and all captures
// at hand (find_capture.h).
#include <catch2/catch.hpp>
#include <cctype>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <sstream>
#include <string>
#include <vector>

#include "engine/report/layout.h"
#include "tests/app/find_capture.h"
#include "tests/app/simulated.h"

namespace advise {
namespace {

constexpr int kColumns = 80;
constexpr int kRowsOfFinding = 12;
constexpr int kRowsBeside = 25;  // a long name of a file takes one
constexpr int kScreen = 30;
constexpr int kSmallScreen = 24;  // with the prompt
constexpr int kEachInSmallTerminal = 14;
constexpr int kRowsOfLittle = 21;

// A line that is longer than the terminal goes on in the next.
int RowsOf(const std::string& line) {
  return std::max(1, (DisplayWidth(line) + kColumns - 1) / kColumns);
}

// " 3  Use pinned memory": the title of a finding, behind an empty line or another finding.
bool BeginsFinding(const std::string& line) {
  const std::size_t digit = line.find_first_not_of(' ');
  if (digit > 1 || std::isdigit(static_cast<unsigned char>(line[digit])) == 0) return false;
  const std::size_t end = line.find_first_not_of("0123456789", digit);
  return end != std::string::npos && line.compare(end, 2, "  ") == 0 && line[end + 2] != ' ';
}

struct Length {
  std::vector<int> findings;
  int beside = 0;     // lines between findings are nobody's
  int unchecked = 0;  // of what could not be checked, without the command
  int all = 0;
};

// A few kernels, or what shows no timeline at all.
bool HoldsLittle(const std::string& report) {
  return report.find("\nA few kernels") != std::string::npos ||
         report.find("\nOne kernel launch") != std::string::npos ||
         report.find("\nWhere the time went") == std::string::npos;
}

int ScreensOf(std::size_t findings) { return findings < 2 ? 1 : findings < 5 ? 2 : 3; }

Length LengthOf(const std::string& report) {
  Length length;
  std::istringstream in(report);
  bool inside = false;
  bool unchecked = false;
  bool between = false;
  bool opens = false;  // behind an empty line
  for (std::string line; std::getline(in, line); opens = line.empty()) {
    length.all += RowsOf(line);
    const bool begins = (opens || inside) && BeginsFinding(line);
    if (begins) length.findings.push_back(0);
    inside = begins || (inside && !line.empty());
    between = line.empty() && !length.findings.empty();
    if (inside) {
      length.findings.back() += RowsOf(line);
    } else if (!between) {
      length.beside += RowsOf(line);
    }
    const bool label = line.starts_with("Could not be checked");
    unchecked = label || (unchecked && line.starts_with("                    "));
    length.unchecked += unchecked ? RowsOf(line) : 0;
  }
  return length;
}

struct Total {
  int reports = 0, findings = 0, longest = 0, single = 0, without_code = 0, hold_little = 0;
};

void Check(const std::string& name, const std::string& report, Total* total) {
  const Length length = LengthOf(report);
  INFO(name << "\n" << report);
  for (const int rows : length.findings) CHECK(rows <= kRowsOfFinding);
  CHECK(length.beside <= kRowsBeside);
  CHECK(length.unchecked <= 3);
  CHECK(length.all <= kScreen * ScreensOf(length.findings.size()));
  ++total->reports;
  if (HoldsLittle(report)) {
    CHECK(length.all <= kRowsOfLittle);
    ++total->hold_little;
  }
  total->findings += static_cast<int>(length.findings.size());
  if (length.findings.size() > 1) return;
  total->longest = std::max(total->longest, length.all);
  total->single += static_cast<int>(length.findings.size());
  const bool code_is_left_out = report.find("example: -v") != std::string::npos;
  total->without_code += length.findings.size() == 1 && code_is_left_out ? 1 : 0;
}

void Print(const char* of, const Total& total) {
  std::printf(
      "%s: %d reports with %d findings, %d of a few kernels or without a timeline; the longest "
      "with one finding has %d lines, and %d of these leave its code out\n",
      of, total.reports, total.findings, total.hold_little, total.longest, total.without_code);
}

TEST_CASE("lines of a report are told apart as a reader does") {
  const Length length = LengthOf(
      "run.sqlite\n\nBusy.\n\n 1  Do this\n    saves\n\n 2  Do that\n 3  And that\n\nOther\n"
      "Could not be checked  3 rules\n                      more\n  nsys\n");
  CHECK(length.findings == std::vector<int>{2, 1, 1});
  CHECK(length.beside == 8);
  CHECK(length.all == 14);
  CHECK(length.unchecked == 2);
}

TEST_CASE("real captures: reports fit their screens, and findings a dozen lines") {
  const Folder folder;
  Total total;
  for (const char* kind : {"kineto", "nsys", "nsys_other", "ncu", "smi"}) {
    for (const std::string& file : FindCaptures(kind)) {
      // Called as by somebody who works beside it.
      const std::string name = std::filesystem::path(file).filename().string();
      std::filesystem::remove(folder / name);
      std::filesystem::create_symlink(file, folder / name);
      const Ran ran = RunAdvise(folder, "'" + name + "'");
      if (ran.status == 0) Check(file, ran.out, &total);
    }
  }
  if (total.reports > 0) Print("captures", total);
}

// As printed in a terminal of 24 rows; empty where no terminal can be had.
std::string InSmallTerminal(const Folder& folder) {
  const std::string command =
      "stty rows 24 cols 80; NO_COLOR=1 '" ADVISE_PROGRAM "' run.sqlite 2>/dev/null";
  const Ran ran = RunAdvise(folder, "-qec \"" + command + "\" /dev/null", "script");
  std::string text = ran.out;
  text.erase(std::remove(text.begin(), text.end(), '\r'), text.end());
  return text;
}

std::vector<std::filesystem::path> FilesThatEnd(const std::string& ending,
                                                const std::filesystem::path& folder) {
  std::vector<std::filesystem::path> found;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder)) {
    if (entry.path().string().ends_with(ending)) found.push_back(entry.path());
  }
  std::sort(found.begin(), found.end());
  return found;
}

TEST_CASE("scenarios: in a terminal of 24 rows reports fit screens of that size") {
  const std::filesystem::path scenarios = ADVISE_SOURCE_DIR "/fixtures/scenarios";
  const std::vector<std::filesystem::path> paths = FilesThatEnd(".toml", scenarios);
  for (std::size_t i = 0; i < paths.size(); i += kEachInSmallTerminal) {
    const Folder folder;
    const std::string scenario = "'" + paths[i].string() + "'";
    REQUIRE(RunAdvise(folder, scenario + " -o run.sqlite", ADVISE_SIM_PROGRAM).status == 0);
    const std::string large = RunAdvise(folder, "run.sqlite").out;  // a folder of several ranks
    const std::string small = InSmallTerminal(folder);
    const Length length = LengthOf(small);
    INFO(scenario << "\n" << small);
    CHECK(small.substr(0, small.find('\n')) == large.substr(0, large.find('\n')));
    CHECK(length.all < kSmallScreen * ScreensOf(length.findings.size()));
    CHECK(length.findings.size() == LengthOf(large).findings.size());
  }
}

// What the test `accuracy` leaves behind, for the test `lengths` (tests/CMakeLists.txt).
TEST_CASE("reports of all scenarios fit their screens, and findings a dozen lines") {
  const char* folder = std::getenv("ADVISE_SCENARIO_REPORTS");
  if (folder == nullptr) {
    std::puts("left out: ADVISE_SCENARIO_REPORTS names no folder");
    return;
  }
  Total total;
  for (const std::filesystem::path& path : FilesThatEnd(".report.txt", folder)) {
    Check(path.filename().string(), ReadAll(path), &total);
  }
  REQUIRE(total.reports > 800);
  CHECK(3 * total.without_code <= total.single);
  Print("scenarios", total);
}

}  // namespace
}  // namespace advise
