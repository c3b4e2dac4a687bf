// docs/validation.md has a table of real captures before and after a change: it says what `compare`
// says of them. Captures that are not there are skipped (find_capture.h).
#include <catch2/catch.hpp>
#include <cstdio>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "tests/app/find_capture.h"
#include "tests/app/json.h"
#include "tests/app/program.h"

namespace advise {
namespace {

struct Pair {
  std::string before, after;         // "kineto/FOLDER/FILE"
  std::string step, predicted, won;  // as printed
};

// Without the marks of code and the blanks around it.
std::string Bare(const std::string& cell) {
  const std::size_t from = cell.find_first_not_of(" `");
  return from == std::string::npos ? "" : cell.substr(from, cell.find_last_not_of(" `") - from + 1);
}

// The rows below "| before | after | the change | per step | predicted | won |".
std::vector<Pair> PairsOfDocument() {
  std::ifstream in(ADVISE_SOURCE_DIR "/docs/validation.md");
  std::vector<Pair> pairs;
  bool in_table = false;
  for (std::string line; std::getline(in, line);) {
    if (line.starts_with("| before | after |")) in_table = true;
    if (!line.starts_with("|")) in_table = false;
    if (!in_table || !line.starts_with("| `")) continue;
    std::istringstream text(line.substr(1));
    std::vector<std::string> cells;
    for (std::string cell; std::getline(text, cell, '|');) cells.push_back(Bare(cell));
    REQUIRE(cells.size() >= 6);
    pairs.push_back({cells[0], cells[1], cells[3], cells[4], cells[5]});
  }
  return pairs;
}

std::string Milliseconds(double ns) {
  char text[32];
  std::snprintf(text, sizeof text, ns < 100e6 ? "%.1f ms" : "%.0f ms", ns / 1e6);
  return text;
}

std::string CaptureAt(const std::string& path) {
  const std::size_t slash = path.find('/');
  return FindCapture(path.substr(0, slash), path.substr(slash + 1));
}

TEST_CASE("what the document says of real pairs is what compare says") {
  const std::vector<Pair> pairs = PairsOfDocument();
  CHECK(pairs.size() >= 3);
  const Folder folder;
  for (const Pair& pair : pairs) {
    const std::string before = CaptureAt(pair.before), after = CaptureAt(pair.after);
    if (before.empty() || after.empty()) continue;
    INFO(pair.before << " and " << pair.after);
    const Ran ran = RunAdvise(folder, "compare " + before + " " + after + " --format json");
    const Json json = ParseJson(ran.out);
    if (pair.step.starts_with("refused: ")) {
      CHECK_FALSE(json.at("comparable").get<bool>());
      std::string reasons;
      for (const auto& reason : json.at("reasons")) reasons += reason.get<std::string>() + "; ";
      INFO(reasons);
      CHECK(reasons.find(pair.step.substr(9)) != std::string::npos);
      continue;
    }
    const auto mean = [&](const char* which) {
      return json.at("time").at(which).at("mean_ns").get<double>();
    };
    CHECK(Milliseconds(mean("before")) + " → " + Milliseconds(mean("after")) == pair.step);
    const auto& saving = json.at("saving");
    const double predicted = saving.at("predicted_ns").get<double>();
    CHECK((predicted > 0 ? Milliseconds(predicted) : "–") == pair.predicted);
    CHECK(Milliseconds(mean("before") - mean("after")) == pair.won);
  }
}

}  // namespace
}  // namespace advise
