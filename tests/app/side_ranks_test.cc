// Files without a timeline beside the reports of several ranks: each GPU of a monitor's log goes to
// the rank that used it, counters go to all, and what belongs to nobody is named.
#include <catch2/catch.hpp>

#include "tests/app/json.h"
#include "tests/app/program.h"
#include "tests/app/simulated.h"

using Catch::Matchers::Contains;

namespace advise {
namespace {

// Reports of four ranks, each on a GPU of its own, in the folder "run".
void MakeRanks(const Folder& folder, const std::string& format) {
  Simulate(folder, "scenarios/rank/straggler-compute-x4", "--per-rank run --format " + format);
}

// A log of `gpus` GPUs, of which the third is slowed by its power limit. UUIDs are the simulator's.
std::string Log(int gpus, bool uuids) {
  std::string text = std::string("timestamp, index, name, ") + (uuids ? "uuid, " : "") +
                     "utilization.gpu [%], clocks.sm [MHz], clocks_throttle_reasons.sw_power_cap\n";
  for (int i = 10; i < 60; ++i) {
    for (int gpu = 0; gpu < gpus; ++gpu) {
      const std::string number = std::to_string(gpu);
      text +=
          "2025/10/09 08:53:" + std::to_string(i) + ".000, " + number + ", NVIDIA A100-SXM4-80GB, ";
      if (uuids) text += "GPU-3f2a9c1e-77b0-4d5" + number + "-9a41-0c6e5b8d1f0" + number + ", ";
      text += "97 %, " + std::string(gpu == 2 ? "900" : "1400") + " MHz, " +
              std::string(gpu == 2 ? "Active" : "Not Active") + "\n";
    }
  }
  return text;
}

Json ParsedOf(const Folder& folder, const std::string& arguments) {
  const Ran ran = RunAdvise(folder, arguments + " --format json --facts");
  INFO(ran.err);
  REQUIRE(ran.status == 0);
  return ParseJson(ran.out);
}

Json RanksOf(const Json& report, const std::string& rule) {
  for (const Json& finding : report["findings"]) {
    if (finding["rule"] == rule) return finding["where"]["ranks"];
  }
  return nullptr;
}

// The one diagnostic with these words, "" when there is none.
std::string DiagnosticWith(const Json& report, const std::string& words) {
  for (const Json& item : report["diagnostics"]) {
    const std::string text = item["text"];
    if (text.find(words) != std::string::npos) return text;
  }
  return "";
}

}  // namespace

TEST_CASE("GPUs of a log go to the ranks that used them, by UUID; the others are named") {
  const Folder folder;
  MakeRanks(folder, "nsys");
  folder.Write("smi.csv", Log(6, true));
  const Json report = ParsedOf(folder, "run smi.csv");
  CHECK(RanksOf(report, "monitor/throttled") == Json::array({2}));
  CHECK_THAT(DiagnosticWith(report, "did no work in any of the reports"),
             Contains("GPUs 4, 5 of "));
  CHECK(DiagnosticWith(report, "cannot be told") == "");
  // The order of files changes nothing.
  CHECK(ParsedOf(folder, "smi.csv run")["findings"] == report["findings"]);
}

TEST_CASE("without UUIDs numbers tell, where ranks are numbered like the GPUs of one node") {
  const Folder folder;
  MakeRanks(folder, "kineto");
  folder.Write("smi.csv", Log(4, false));
  CHECK(RanksOf(ParsedOf(folder, "run smi.csv"), "monitor/throttled") == Json::array({2}));
  // A log of fewer GPUs than ranks is of one of several nodes: nobody knows which.
  folder.Write("smi.csv", Log(3, false));
  const Json other = ParsedOf(folder, "run smi.csv");
  CHECK_THAT(DiagnosticWith(other, "assuming the first report"), Contains("GPUs 0, 1, 2 in "));
}

TEST_CASE("ranks that all call their GPU 0 have the GPUs of their node in order") {
  const Folder folder;
  MakeRanks(folder, "kineto");
  for (const char* rank : {"1", "2", "3"}) {
    const std::string file = std::string("run/rank_") + rank + ".json";
    const std::string device = std::string("\"device\":") + rank;
    std::string text = ReadAll(folder / file);
    for (std::size_t at = text.find(device); at != std::string::npos; at = text.find(device, at))
      text.replace(at, device.size(), "\"device\":0");
    folder.Write(file, text);
  }
  folder.Write("smi.csv", Log(4, false));
  const Json report = ParsedOf(folder, "run smi.csv");
  CHECK(RanksOf(report, "monitor/throttled") == Json::array({2}));
  CHECK(DiagnosticWith(report, "left out") == "");
}

TEST_CASE("counters are of every rank, since all run the same kernels") {
  const Folder folder;
  MakeRanks(folder, "nsys");
  const Json before = ParsedOf(folder, "run/rank_1.sqlite");
  const std::string name = before["facts"]["kernel.top.name"]["value"];
  std::string csv =
      "\"ID\",\"Kernel Name\",\"Block Size\",\"Grid Size\",\"Section Name\",\"Metric Name\","
      "\"Metric Unit\",\"Metric Value\"\n";
  for (const char* metric :
       {"\"Duration\",\"ms\",\"2\"", "\"Compute (SM) Throughput\",\"%\",\"10\"",
        "\"Memory Throughput\",\"%\",\"17\""}) {
    csv += "\"0\",\"" + name + "\",\"(256, 1, 1)\",\"(64, 1, 1)\",\"s\"," + metric + "\n";
  }
  folder.Write("kernels.csv", csv);
  CHECK(RanksOf(ParsedOf(folder, "run kernels.csv"), "kernel/low-throughput") ==
        Json::array({0, 1, 2, 3}));
}

TEST_CASE("beside facts files alone a log cannot be used, and that is said") {
  const Folder folder;
  MakeRanks(folder, "nsys");
  REQUIRE(RunAdvise(folder, "facts run -o kept/").status == 0);
  folder.Write("smi.csv", Log(4, true));
  const Json report = ParsedOf(folder, "kept/ smi.csv");
  CHECK_THAT(DiagnosticWith(report, "was not used"), Contains("smi.csv"));
  CHECK_THAT(DiagnosticWith(ParsedOf(folder, "kept/rank_1.facts smi.csv"), "was not used"),
             Contains("smi.csv"));
}

}  // namespace advise
