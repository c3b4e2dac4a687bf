// Traces that another analyzer published its own analysis of, beside each trace as
// NAME.reference_analysis.md: operator, calls, bound, operations per byte, efficiency within 5
// points, and a saving within the range that it gives. Whatever traces lie there are compared, the
// figures are read from the analyses. Skipped where there are none.
#include <catch2/catch.hpp>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <optional>
#include <regex>
#include <sstream>
#include <string>
#include <vector>

#include "tests/app/capture_runs.h"
#include "tests/app/find_capture.h"
#include "tests/app/json.h"
#include "tests/app/program.h"

namespace advise {
namespace {

std::string TextOf(const std::string& path) {
  std::ifstream in(path);
  std::stringstream text;
  text << in.rdbuf();
  return text.str();
}

// What the analysis says of the operator that takes most of the time.
struct PeerAnalysis {
  std::string op;
  double ms = 0;  // of all its calls
  std::optional<double> calls;
  std::optional<double> intensity;    // operations per byte
  std::string side;                   // "compute", "memory"; "" where it does not say
  std::optional<double> efficiency;   // percent of `peak`
  double peak = 0;                    // per second
  std::optional<double> least, most;  // percent of the time that can be saved
};

std::optional<double> NumberIn(const std::string& text, const std::regex& pattern) {
  std::smatch match;
  if (!std::regex_search(text, match, pattern)) return std::nullopt;
  return std::atof(match[1].str().c_str());
}

// "| `aten::mm` | (4097,4097) bf16… | 3.672 | 100.0 | 10 | 1365.67 | 52.91% of 708 TFLOPS |
// compute-bound |"; where there is no such row, the operator that the summary names.
PeerAnalysis ReadAnalysis(const std::string& path) {
  const std::string text = TextOf(path);
  PeerAnalysis found;
  const std::regex row(
      R"re(\n\| Operation \| Args .*\n\|[-|]+\n\| `?([\w:]+)`? \|[^|]*\| ([\d.]+) \|[^|]*\| (\d+) \| ([^|]*) \| ([^|]*) \| ([^|]*) \|)re");
  std::smatch match;
  if (std::regex_search(text, match, row)) {
    found.op = match[1];
    found.ms = std::atof(match[2].str().c_str());
    found.calls = std::atof(match[3].str().c_str());
    found.intensity = NumberIn(match[4], std::regex(R"(^([\d.]+)$)"));
    const std::string of = match[5];
    found.efficiency = NumberIn(of, std::regex(R"(^([\d.]+)% of )"));
    const double peak = NumberIn(of, std::regex(R"(% of ([\d.]+) T)")).value_or(0);
    found.peak = peak * 1e12;
    const std::string bound = match[6];
    if (bound.ends_with("-bound")) found.side = bound.substr(0, bound.size() - 6);
  } else if (std::regex_search(text, match, std::regex(R"(`(\w+::\w+)`)"))) {
    found.op = match[1];
    found.ms = NumberIn(text, std::regex(R"(\| Total Time \| ([\d.]+) ms)")).value_or(0);
  }
  found.least = NumberIn(text, std::regex(R"(Low end \(75% roofline\): .*\(([\d.]+)% E2E\))"));
  found.most = NumberIn(text, std::regex(R"(High end \(100% roofline\): .*\(([\d.]+)% E2E\))"));
  return found;
}

Json RowsOf(const Folder& folder, const std::string& path, const std::string& name) {
  const Ran ran =
      RunAdvise(folder, "facts --window all --tables --gpu MI300X --format json '" + path + "'");
  REQUIRE(ran.status == 0);
  const Json printed = ParseJson(ran.out);
  for (const Json& fact : printed["facts"]) {
    if (fact["name"] == name && fact.contains("rows")) return fact["rows"];
  }
  return Json::array();
}

// The same operator, or one that it calls: the analyzer names the outermost, this program the one
// that launches.
bool RunsInside(const std::string& path, const std::string& inner, const std::string& outer) {
  if (inner == outer) return true;
  const Json trace = ParseJson(TextOf(path));
  for (const Json& a : trace["traceEvents"]) {
    if (a.value("name", "") != outer || !a.contains("dur")) continue;
    for (const Json& b : trace["traceEvents"]) {
      if (b.value("name", "") != inner || !b.contains("dur") || b["tid"] != a["tid"]) continue;
      const double from = a["ts"];
      const double begins = b["ts"];
      if (begins >= from && begins + b["dur"].get<double>() <= from + a["dur"].get<double>())
        return true;
    }
  }
  return false;
}

TEST_CASE("published analyses of single operators on MI300X agree") {
  const Folder folder;
  int compared = 0;
  for (const std::string& path : FindCaptures("kineto")) {
    const std::string stem = path.substr(0, path.find_last_of('.'));
    const std::string analysis = stem + ".reference_analysis.md";
    if (!path.ends_with(".json") || !std::filesystem::exists(analysis)) continue;
    INFO(path);
    ++compared;
    const PeerAnalysis peer = ReadAnalysis(analysis);
    REQUIRE_FALSE(peer.op.empty());
    // A row that was not understood would be compared with nothing.
    CHECK(peer.calls.has_value() ==
          (TextOf(analysis).find("\n| Operation | Args") != std::string::npos));
    const Json rows = RowsOf(folder, path, "roofline.shapes.rows");
    REQUIRE_FALSE(rows.empty());
    const Json& row = rows[0];  // most time first
    CHECK(RunsInside(path, row["op"], peer.op));
    const double time = row["time"].get<double>() * 1e-9;
    CHECK(time * 1e3 == Approx(peer.ms).epsilon(0.01).margin(0.006));
    CHECK(row["side"] != "");
    const double calls = row["count"];
    if (peer.calls) CHECK(calls == *peer.calls);
    if (peer.intensity)
      CHECK(row["intensity"].get<double>() == Approx(*peer.intensity).epsilon(0.005).margin(0.006));
    if (!peer.side.empty()) CHECK(row["side"] == peer.side);
    if (peer.efficiency) {
      REQUIRE(peer.peak > 0);
      const double rate = peer.side == "memory" ? row["bytes"].get<double>() * calls / time
                                                : row["achieved"].get<double>();
      CHECK(100 * rate / peer.peak == Approx(*peer.efficiency).margin(5));
    }
    if (!peer.least || !peer.most) continue;
    const Json report = ParseJson(ReportOfCapture(path, "--gpu MI300X ").out);
    REQUIRE_FALSE(report["findings"].empty());
    const double saving = 100 * report["findings"][0]["saving"]["share"].get<double>();
    CHECK(saving >= *peer.least - 5);
    CHECK(saving <= *peer.most + 5);
  }
  if (compared == 0) WARN("skipped: no published analyses lie beside the captures");
}

TEST_CASE("operations that a trace gives itself are those that sizes give") {
  const std::string path = FindCapture(
      "kineto", "AMD-AGI__TraceLens/comparative/test02_attention_both_unfused__trace1.json");
  if (path.empty()) return;
  const Folder folder;
  bool found = false;
  for (const Json& row : RowsOf(folder, path, "roofline.shapes.rows")) {
    if (row["op"] != "aten::bmm") continue;
    found = true;
    CHECK(row["flops"] == 268435456);
  }
  CHECK(found);
}

TEST_CASE("a GPU of AMD that only the reader names is spoken of in AMD's words") {
  const std::string path =
      FindCapture("kineto", "AMD-AGI__TraceLens/unit_tests/gemm_01_compute_few_tiles.json");
  if (path.empty()) return;
  const Folder folder;
  const std::string text = RunAdvise(folder, "-v --gpu MI300X '" + path + "'").out;
  CHECK(text.find("1 × AMD Instinct MI300X") != std::string::npos);
  CHECK(text.find("fewer tiles than the GPU has compute") != std::string::npos);
  CHECK(text.find("ncu ") == std::string::npos);
}

}  // namespace
}  // namespace advise
