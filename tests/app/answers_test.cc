// Whatever was captured, the report says what kind of run it is, what to do next and how sure that
// is: over all real captures at hand ($ADVISE_TRACES, or shared/traces beside the source tree).
#include <algorithm>
#include <catch2/catch.hpp>
#include <cstdio>
#include <map>
#include <vector>

#include "engine/pipeline/answer.h"
#include "engine/pipeline/next_step.h"
#include "tests/app/capture_runs.h"
#include "tests/app/find_capture.h"
#include "tests/app/json.h"
#include "tests/app/program.h"
#include "tests/support/analyzed.h"
#include "tests/support/schema.h"

namespace advise {
namespace {

std::vector<std::string> AllCaptures() {
  std::vector<std::string> files;
  for (const char* folder : {"kineto", "nsys", "nsys_other"}) {
    for (const std::string& file : FindCaptures(folder)) {
      if (!file.ends_with(".md")) files.push_back(file);
    }
  }
  return files;
}

// Traces of one operator each that do not name their GPU.
std::string GpuOf(const std::string& file) {
  return file.find("AMD-AGI__TraceLens/unit_tests") == std::string::npos ? "" : "--gpu MI300X ";
}

struct KernelFacts {
  std::map<std::string, Json> by_name;
  explicit KernelFacts(const Json& printed) {
    for (const Json& fact : printed["facts"]) by_name[fact["name"]] = fact;
  }
  double Number(const std::string& name) const {
    const auto found = by_name.find(name);
    const bool there = found != by_name.end() && found->second.contains("value") &&
                       found->second["value"].is_number();
    return there ? found->second["value"].get<double>() : 0;
  }
};

// The rated operator that takes most of the time, when it runs below 60 % of its roof, takes 5 % of
// the window, and does more than start and end kernels; null otherwise.
Json MainOperatorFarBelowItsRoof(const KernelFacts& facts) {
  const auto found = facts.by_name.find("roofline.shapes.rows");
  if (found == facts.by_name.end() || !found->second.contains("rows")) return nullptr;
  for (const Json& row : found->second["rows"]) {  // most time first
    if (!row.contains("attained") || row["side"] == "") continue;
    const double time = row["time"];
    const bool counts =
        time >= 0.05 * facts.Number("window.time") && time / row["count"].get<double>() >= 10'000;
    return counts && row["attained"] < 0.6 ? row : Json(nullptr);
  }
  return nullptr;
}

bool HasGpuWork(const Json& report) {
  return std::any_of(report["devices"].begin(), report["devices"].end(), [](const Json& device) {
    return device["budget"]["idle_ns"] < device["budget"]["window_ns"];
  });
}

}  // namespace

TEST_CASE("a long idle time that no finding explains is what to look at next") {
  RuleInfo rule;
  rule.id = "kernel/small-grid";
  rule.title = "Give each kernel enough blocks";
  const auto next = [&](double saving_share, Nanos idle, Nanos comm = 0) {
    Report report;
    report.inputs.emplace_back();
    report.inputs.front().kind = "kineto";
    report.devices.emplace_back();
    report.devices.front().window_ns = 1000;
    report.devices.front().idle_ns = idle;
    report.devices.front().comm_exposed_ns = comm;
    report.devices.front().compute_ns = 1000 - idle - comm;
    report.findings.emplace_back();
    report.findings.front().rule = &rule;
    report.findings.front().severity = Severity::kLow;
    report.findings.front().saving_share = report.findings.front().saving_s = saving_share;
    FillNextStep(ShippedKnowledge(), &report);
    return report.next_step;
  };
  CHECK(next(0.02, 600) == "Record what the host does while the GPU waits.");
  CHECK(next(0.4, 600) == "Give each kernel enough blocks.");
  CHECK(next(0.02, 60) == "Give each kernel enough blocks.");
  CHECK(next(0.02, 60, 700) == "Record every rank: one alone does not show who is late.");
  CHECK(next(0.6, 60, 700) == "Give each kernel enough blocks.");
}

TEST_CASE("a file that was cut off is to be copied again, and says nothing of the program") {
  Report report;
  report.inputs.emplace_back();
  report.inputs.front().kind = "nsys-sqlite";
  report.devices.emplace_back();
  report.devices.front().window_ns = report.devices.front().memset_exposed_ns = 1000;
  report.diagnostics.push_back({Level::kError, "damaged", "", 1});
  FillNextStep(ShippedKnowledge(), &report);
  CHECK(report.next_command.find("nsys export") == 0);
  const Folder folder;
  folder.Write("cut.json", R"({"schemaVersion": 1, "deviceProperties": [{"id": 0, "name": "GPU"}],
    "traceEvents": [{"ph": "X", "cat": "cpu_op", "name": "aten::mm", "pid": 1, "tid": 1, "ts": 1,
    "dur": 5, "args": {}}, {"ph": "X", "cat": "ker)");
  const Ran ran = RunAdvise(folder, "cut.json");
  CHECK(ran.status == 0);
  CHECK(ran.out.find("The file is damaged or was cut off: what could be read of it") !=
        std::string::npos);
  CHECK(ran.out.find("topology") == std::string::npos);
  CHECK(ran.out.find("Copy the") != std::string::npos);
}

TEST_CASE("kernels that run as well as those of good libraries are not to be measured") {
  const std::string path =
      FindCapture("kineto", "AMD-AGI__TraceLens/unit_tests/moe_05_large_capacity.json");
  if (path.empty()) return;
  const Json report = ParseJson(ReportOfCapture(path, "--gpu MI300X ").out);
  const std::string verdict = report["verdict"];
  CHECK(verdict.find("run as well as those of good libraries. Next, save work") !=
        std::string::npos);
}

TEST_CASE("real captures: each with GPU work gets its kind, a next step and a confidence") {
  const Folder folder;
  const std::vector<std::string> files = AllCaptures();
  if (files.empty()) return;
  int with_work = 0;
  int answered = 0;
  std::string unanswered;
  for (const std::string& file : files) {
    const Ran& ran = ReportOfCapture(file);
    if (ran.status != 0) continue;  // other formats lie beside the captures
    const Json report = ParseJson(ran.out);
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
    const bool next = verdict.find(" Next: ") != std::string::npos ||
                      verdict.find(" Next, ") != std::string::npos || report["healthy"] == true;
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

TEST_CASE("real captures: kernels are known, and operators far below their roof have a finding") {
  const Folder folder;
  double kernel_ns = 0;
  double unknown_ns = 0;
  int below = 0;
  int found = 0;
  std::string silent;
  for (const std::string& file : AllCaptures()) {
    const Ran ran =
        RunAdvise(folder, "facts --tables " + GpuOf(file) + "--format json '" + file + "'");
    if (ran.status != 0) continue;  // other formats lie beside the captures
    const KernelFacts facts(ParseJson(ran.out));
    kernel_ns += facts.Number("kernel.time");
    unknown_ns += facts.Number("kernel.time") * facts.Number("kernel.unknown.share");
    const Json row = MainOperatorFarBelowItsRoof(facts);
    if (row.is_null()) continue;
    ++below;
    const Json report = ParseJson(ReportOfCapture(file, GpuOf(file)).out);
    const bool told =
        std::any_of(report["findings"].begin(), report["findings"].end(), [](const Json& finding) {
          const std::string rule = finding["rule"];
          // Or it runs as well as good libraries do, which do not reach 60 % either.
          if (rule == "kernel/well-run") return true;
          return finding["severity"] != "info" &&
                 (rule.starts_with("kernel/") || rule.starts_with("precision/"));
        });
    found += told ? 1 : 0;
    if (!told) silent += "\n  " + file + ": " + row["op"].get<std::string>();
  }
  if (kernel_ns == 0) return;
  std::printf(
      "kernel time in known classes: %.2f %%; main operators below 60 %% of their roof: %d, "
      "with a finding: %d\n",
      100 * (1 - unknown_ns / kernel_ns), below, found);
  CHECK(unknown_ns <= 0.03 * kernel_ns);
  INFO("without a finding:" << silent);
  CHECK(found >= 0.95 * below);
}

}  // namespace advise
