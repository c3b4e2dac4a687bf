// The program on captures of real programs, against what hand-written SQL says of each of them
// (docs/validation.md). They are not ours to ship: $ADVISE_TRACES/nsys, or shared/traces/nsys
// beside the source tree; what is not there is skipped.
#include <algorithm>
#include <array>
#include <catch2/catch.hpp>
#include <cmath>
#include <set>
#include <vector>

#include "tests/app/capture_runs.h"
#include "tests/app/evidence.h"
#include "tests/app/find_capture.h"
#include "tests/app/json.h"
#include "tests/app/program.h"
#include "tests/support/schema.h"

using Catch::Matchers::Contains;

namespace advise {
namespace {

using Allowed = std::set<std::string>;

constexpr double kNotJudged = -1;

struct Capture {
  const char* file;
  Nanos window;
  std::vector<std::array<Nanos, 5>> budgets;  // a device: compute, comm, copies, memsets, idle
  double step_ms;                             // the usual step; 0: there is none to find
  bool verdict;     // false: start-up or a single pass, all findings are tentative
  Allowed allowed;  // above info
  double most;      // what all savings may add up to, as a share of the window
};

const std::vector<Capture>& Captures() {
  static const std::vector<Capture> captures = {
      {"zx3xyy__assignment2-systems/result_2_7B_nvtx.sqlite",
       7862900811,
       {{3408380989, 0, 3156475895, 0, 1298043927}},
       841.0,
       true,
       {"precision/fp32-gemm", "kernel/unfused-attention", "kernel/unfused-elementwise"},
       0.88},
      {"zx3xyy__assignment2-systems/result_2_7B_compile_ro.sqlite",
       7811607251,
       {{7811219965, 0, 0, 0, 387286}},
       781.1,
       true,
       {},
       0},
      {"PranavDani__Flame/torch-ex.sqlite",
       537363103,
       {{339300381, 0, 4853413, 75362, 193133947}},
       17.1,
       true,
       {"inference/training-mode", "kernel/layout-conversion", "kernel/unfused-elementwise",
        "precision/fp32-gemm"},
       0.3},
      {"CO18326__uvmTorch/torch_overlap_test_nvtx",
       439793853,
       {{79283683, 0, 324722147, 0, 35788023}},
       20.47,
       true,
       // Code on the host takes 20.0 ms of it, and the GPU's copies and kernels 20.2 ms: they win
       // only together. What is left then is 67 MB each way, both at once: 2.7 ms at 25 GB/s.
       {"transfer/exposed-copy", "transfer/copy-dominates", "transfer/low-bandwidth",
        "kernel/unfused-elementwise", "host/cpu-bound"},
       0.87},
      {"hpcgroup__pipit/saxpy-mpi-cuda_nsys_perlmutter0.sqlite",
       1097327843,
       {{88573480, 0, 284699600, 0, 724054763}},
       251.5,
       true,
       {"transfer/blocking-copy", "transfer/pageable-copy", "transfer/exposed-copy",
        "transfer/copy-dominates", "kernel/small-grid", "host/cpu-bound", "comm/mpi-exposed",
        "comm/mpi-late-rank"},
       0.96},
      {"GindaChen__nsys-ai/h100_2gpu_1s.sqlite",
       969447605,
       {{22385163, 0, 940490300, 14784, 6557358}, {22444359, 0, 940351914, 14432, 6636900}},
       kNotJudged,
       true,
       {"transfer/repeated-upload", "transfer/copy-dominates", "transfer/exposed-copy"},
       0.96},
      {"GindaChen__nsys-ai/mfu_2gpu_before.sqlite",
       299877006,
       {{253690832, 17172652, 2844479, 109824, 26059219},
        {256095624, 8229100, 2847608, 103584, 32601090}},
       kNotJudged,
       true,
       {"sync/device-sync-in-loop", "sync/forward-sync", "sync/item-in-loop", "sync/host-busy-wait",
        "kernel/unfused-elementwise", "precision/repeated-cast", "comm/exposed", "rank/straggler",
        "launch/bound", "kernel/layout-conversion"},
       0.4},
      {"GindaChen__nsys-ai/healthy_1pct.sqlite",
       403990000,
       {{400000000, 0, 0, 0, 3990000}},
       2.02,
       true,
       {},
       0},
      {"NVIDIA__Fuser/report1.sqlite",
       3190337735,
       {{10167602, 0, 21388372, 3072, 3158778689}},
       0,
       false,
       {"step/cold-start", "host/jit-in-loop", "host/start-up", "transfer/pageable-copy"},
       1},
      {"ynan1__aws_gpu/profile_default_dbg.sqlite",
       997406001,
       {{33919168, 0, 63941834, 0, 899544999}},
       0,
       false,
       {"transfer/managed-memory-faults", "transfer/migration-thrash", "transfer/exposed-copy",
        "kernel/small-grid"},
       0.1},
      {"JiangShanCode__CUDATutorial/report1.sqlite",
       1050703601,
       {{1042014582, 0, 8616283, 0, 72736}},
       0,
       false,
       {"kernel/small-grid"},
       1},
      {"JiangShanCode__CUDATutorial/10_fused_bias_mask_scale_and_add_fp16_report.sqlite",
       45072480,
       {{1026878, 0, 43463458, 0, 582144}},
       0,
       false,
       {"transfer/blocking-copy", "transfer/pageable-copy", "transfer/exposed-copy",
        "transfer/copy-dominates"},
       0.98},
      {"SSSalvan__PFAC-Motif-Detection-for-Biological-Constraints/report_pfac.sqlite",
       1816129169,
       {{1645761472, 0, 163748929, 736, 6618032}},
       0,
       false,
       {"transfer/blocking-copy", "transfer/pageable-copy", "transfer/exposed-copy"},
       0.1},
      {"LeiWang1999__memfusion_artifact/report1.sqlite",
       6457677,
       {{6415244, 0, 6176, 0, 36257}},
       0,
       false,
       {},
       0},
      {"Qcompiler__MIXQ/report2.sqlite",
       20774316,
       {{306976, 0, 0, 0, 20467340}},
       0.0703,
       false,
       {"launch/bound", "launch/graph-candidate", "kernel/small-grid", "host/start-up"},
       0.8},
      {"MohanadOdema__DLProf/nsys_profile.sqlite",
       5332401,
       {{334427, 0, 26241, 3712, 4968021}},
       0,
       false,
       {},
       0},
      {"samfrazerdutton__dumbo-protcol/report1.sqlite",
       5348365,
       {{25534, 0, 717409, 0, 4605422}},
       0,
       false,
       {"transfer/pageable-copy", "memory/alloc-in-loop", "host/start-up"},
       0.5},
      {"nikitinvv__recon-stream/report13.sqlite",
       5753508,
       {{23553, 0, 11745, 0, 5718210}},
       0,
       false,
       {"host/start-up"},
       0.62},
      {"morluto__flameox/nsight-2025.5.2.sqlite",
       186815,
       {{6944, 0, 864, 0, 179007}},
       0,
       false,
       {},
       0},
      {"GindaChen__nsys-ai/mock.sqlite",
       22453059,
       {{4129, 0, 1632, 0, 22447298}},
       0,
       false,
       {"host/start-up"},
       0.7},
      {"frasertajima__WeatherBench2/report1.sqlite", 1472, {{0, 0, 0, 1472, 0}}, 0, false, {}, 0},
  };
  return captures;
}

// Captures of the host alone.
constexpr std::array kWithoutGpu = {
    "CO18326__uvmTorch/report1.sqlite",
    "davidev886__tutorial_vqe/report1.sqlite",
    "ZhangXin8069__qcu/report1.sqlite",
    "YoonKyonghwan__EfficientCenterFormer/baseline.sqlite",
    "tomarriott__GTLS/gtls_profile.sqlite",
    "RajaATAli__SC23_Programming-Your-GPU-with-OpenMP_Tutorial/report1.sqlite",
    "amir-ghz__DynamicViT/nsys_profile.sqlite",
    "mabdullahsoyturk__cardiac-simulation/report1.sqlite",
};

// Databases that only look like an export.
constexpr std::array kOfOthers = {
    "MohanadOdema__DLProf/dlprof_dldb.sqlite",
    "ZhangXin8069__qcu/log_x99-Yang_425372.nvvp",
};

Json Diagnose(const std::string& path, const std::string& options = "") {
  const Ran& ran = ReportOfCapture(path, options);
  INFO(ran.err);
  REQUIRE(ran.status == 0);
  CHECK(ran.err.empty());
  return ParseJson(ran.out);
}

void CheckFindings(const Json& report, const Capture& capture) {
  double claimed = 0;
  for (const Json& finding : report["findings"]) {
    const std::string rule = finding["rule"];
    const std::string severity = finding["severity"];
    INFO(rule << " is " << severity);
    claimed += finding["saving"]["share"].get<double>();
    if (severity == "info") continue;
    CHECK(capture.allowed.count(rule) == 1);
    if (!capture.verdict) CHECK(finding["tentative"] == true);
  }
  if (capture.allowed.empty()) {
    CHECK(claimed <= 0.02);
  } else {
    CHECK(claimed <= capture.most);
  }
}

// Each piece of evidence has a statement, which returns what the report says it returns.
void CheckEvidence(const Json& report, const std::string& path, const Folder& folder) {
  for (const Json& finding : report["findings"]) {
    for (const Json& item : finding["evidence"]) {
      INFO(finding["rule"]);
      REQUIRE_FALSE(item["sql"].get<std::string>().empty());
    }
  }
  for (const Answer& answer : RunEvidence(folder, report, path)) {
    INFO(answer.where);
    REQUIRE_FALSE(answer.out.empty());
    const double said = (*answer.item)["value"];
    const double found = std::strtod(answer.out.c_str(), nullptr);
    CHECK(std::abs(found - said) <= 1e-6 * std::max(1.0, std::abs(said)));
  }
}

}  // namespace

TEST_CASE("real captures: budgets are those of hand-written SQL, to the nanosecond") {
  for (const Capture& capture : Captures()) {
    const std::string path = FindCapture("nsys", capture.file);
    if (path.empty()) continue;
    INFO(capture.file);
    const Json report = Diagnose(path, "--window all ");
    CHECK(SchemaProblems(report) == std::vector<std::string>());
    CHECK(report["window"]["end_ns"].get<Nanos>() - report["window"]["start_ns"].get<Nanos>() ==
          capture.window);
    REQUIRE(report["devices"].size() == capture.budgets.size());
    for (std::size_t d = 0; d < capture.budgets.size(); ++d) {
      const Json& device = report["devices"][d];
      const std::array<Nanos, 5> budget = {
          Part(device, "compute_ns"), Part(device, "comm_exposed_ns"),
          Part(device, "copy_exposed_ns"), Part(device, "memset_exposed_ns"),
          Part(device, "idle_ns")};
      CHECK(budget == capture.budgets[d]);
    }
  }
}

TEST_CASE("real captures: parts add up and evidence holds, in the usual window and in all") {
  const Folder folder;
  for (const Capture& capture : Captures()) {
    const std::string path = FindCapture("nsys", capture.file);
    if (path.empty()) continue;
    for (const char* options : {"", "--window all "}) {
      INFO(capture.file << " " << options);
      const Json report = Diagnose(path, options);
      for (const Json& device : report["devices"]) {
        CHECK(Part(device, "compute_ns") + Part(device, "comm_exposed_ns") +
                  Part(device, "copy_exposed_ns") + Part(device, "memset_exposed_ns") +
                  Part(device, "idle_ns") ==
              Part(device, "window_ns"));
        Nanos idle = 0;
        for (const auto& cause : device["idle"].items()) idle += cause.value().get<Nanos>();
        CHECK(idle == Part(device, "idle_ns"));
      }
      CheckEvidence(report, path, folder);
    }
  }
}

TEST_CASE("real captures: steps are found where work repeats, and only there") {
  for (const Capture& capture : Captures()) {
    const std::string path = capture.step_ms == kNotJudged ? "" : FindCapture("nsys", capture.file);
    if (path.empty()) continue;
    INFO(capture.file);
    const Json facts = Diagnose(path)["facts"];
    CHECK(facts.contains("steps.median") == (capture.step_ms > 0));
    if (!facts.contains("steps.median") || capture.step_ms <= 0) continue;
    const double found = facts["steps.median"]["value"].get<double>() * 1e-6;
    CHECK(found == Approx(capture.step_ms).epsilon(0.02));
  }
}

TEST_CASE("real captures: no finding above info but those that the data bear out") {
  for (const Capture& capture : Captures()) {
    const std::string path = FindCapture("nsys", capture.file);
    if (path.empty()) continue;
    for (const char* options : {"", "--window all "}) {
      INFO(capture.file << " " << options);
      CheckFindings(Diagnose(path, options), capture);
    }
    if (capture.verdict) continue;
    INFO(capture.file);
    // Or the first sentence says it.
    CHECK_THAT(TextOfCapture(path).out,
               Contains("Tentative: ") || Contains("No kernel was recorded"));
  }
}

TEST_CASE("real captures: one without GPU work is no error, and says how to capture some") {
  for (const char* file : kWithoutGpu) {
    const std::string path = FindCapture("nsys", file);
    if (path.empty()) continue;
    INFO(file);
    const Json report = Diagnose(path);
    CHECK(report["devices"].empty());
    CHECK_FALSE(report["healthy"].get<bool>());
    CHECK(SchemaProblems(report) == std::vector<std::string>());
    for (const Json& finding : report["findings"]) CHECK(finding["severity"] == "info");
    CHECK_THAT(TextOfCapture(path).out, Contains("no GPU activity", Catch::CaseSensitive::No) &&
                                            Contains("nsys profile --trace=cuda"));
  }
}

TEST_CASE("real captures: a database of another program is refused in one line") {
  for (const char* file : kOfOthers) {
    const std::string path = FindCapture("nsys", file);
    if (path.empty()) continue;
    INFO(file);
    const Ran& ran = TextOfCapture(path);
    CHECK(ran.status == 3);
    CHECK(ran.out.empty());
    CHECK(std::count(ran.err.begin(), ran.err.end(), '\n') == 1);
    CHECK_THAT(ran.err, Contains("a database of another program"));
  }
}

}  // namespace advise
