// The program on logs and counters of real programs, against figures that an independent script
// worked out from the same files (docs/validation.md). They are not ours to ship:
// $ADVISE_TRACES/{smi,ncu}, or shared/traces beside the source tree; what is not there is skipped.
#include <algorithm>
#include <catch2/catch.hpp>
#include <vector>

#include "tests/app/capture_runs.h"
#include "tests/app/find_capture.h"
#include "tests/app/json.h"
#include "tests/app/program.h"
#include "tests/support/schema.h"

using Catch::Matchers::Contains;

namespace advise {
namespace {

constexpr double kUnknown = -1;

struct MonitorCapture {
  const char* file;
  int gpus;
  double samples;      // of a GPU in the time of the job
  double utilization;  // kUnknown: not in the log
  double memory;       // peak in bytes
  double power;        // mean in watts of GPU 0, of the rows
};

const std::vector<MonitorCapture>& Monitors() {
  static const std::vector<MonitorCapture> captures = {
      {"AndyZzzZzzZzz__miris/gpu_log.csv", 1, 74, 0.052027, 1147142144, kUnknown},
      {"Unshapendwarf__SlowFast/gpu_utilization.csv", 1, 40, 0.948, kUnknown, kUnknown},
      {"xypp3__gpu_glasses/nvidia_smi.csv", 8, 6, kUnknown, 4194304, kUnknown},
      {"PranavDani__Flame/Results__fluidsGL__fluidsGL-smi.csv", 1, 303, kUnknown, kUnknown,
       62.9708},
      {"PranavDani__Flame/Results__fluidsGL__fluidsGL-smi@ae51fcb.csv", 1, 136, kUnknown, kUnknown,
       57.1415},
      {"PranavDani__Flame/fluidsGL-smi.csv", 1, 163, kUnknown, kUnknown, 61.1826},
      {"PranavDani__Flame/nvidia-smi.csv", 1, 73, kUnknown, kUnknown, 22.0351},
      {"PranavDani__Flame/torch-ex-smi.csv", 1, 65, kUnknown, kUnknown, 49.8149},
      {"Unshapendwarf__SlowFast/4090power_hostbased.txt", 1, 214, kUnknown, kUnknown, 297.9833},
  };
  return captures;
}

struct CounterCapture {
  const char* file;
  const char* kind;
  double kernels, instances;
  double time_ns;  // 0: not counted
  double sm, memory, dram, occupancy;
  const char* bound;
  double flops, bytes, intensity;
};

const std::vector<CounterCapture>& CounterCaptures() {
  static const std::vector<CounterCapture> captures = {
      // Products of 1024 and 16384 cubed: 2 n³ operations, to the digit.
      {"csl-iisc__gpu-profiling-tutorial/pinned_gemm_report.ncu-rep", "ncu-rep", 1, 1, 5737600,
       0.197718692, 0.976675710, 0.976675710, 0.332468068, "memory", 2147483648, 4295601920,
       0.499926131},
      {"csl-iisc__gpu-profiling-tutorial/tiled_gemm_report2.ncu-rep", "ncu-rep", 1, 1, 3831418112,
       0.833086008, 0.833086008, 0.192840849, 0.666666130, "memory", 8796093022208, 566964527360,
       15.51436218},
      {"csl-iisc__gpu-profiling-tutorial/tiled_gemm_report.ncu-rep", "ncu-rep", 1, 1, 3831701824,
       0.833366383, 0.833366383, 0.191681114, 0.666483596, "memory", kUnknown, kUnknown, kUnknown},
      {"amitadate__GPU_Power_Model/PS1_100_profile.ncu-rep", "ncu-rep", 1, 6, 41535296704,
       0.147630295, 0.533257080, 0.533257080, 0.499744236, "latency", kUnknown, kUnknown, kUnknown},
      {"amitadate__GPU_Power_Model/PS1_10_profile.ncu-rep", "ncu-rep", 1, 10, 69222456672,
       0.147672817, 0.533315829, 0.533315829, 0.499753443, "latency", kUnknown, kUnknown, kUnknown},
      {"amitadate__GPU_Power_Model/PS9_10_profile.ncu-rep", "ncu-rep", 1, 10, 5699040, 0.228309913,
       0.280010161, 0.270907326, 0.934841411, "latency", kUnknown, kUnknown, kUnknown},
      {"amitadate__GPU_Power_Model/profile.ncu-rep", "ncu-rep", 1, 10, 3538272, 0.237596251,
       0.435676989, 0.435676989, 0.849089339, "latency", kUnknown, kUnknown, kUnknown},
      {"brycelelbach__nsightful/copy_blocked.csv", "ncu-csv", 1, 1, 21058944, 0.0130, 0.6184,
       0.6184, 0.9626, "memory", kUnknown, kUnknown, kUnknown},
      {"Yassawe__cacheCheck/ResNet50_single.csv", "ncu-csv", 39, 583, 0, kUnknown, kUnknown,
       kUnknown, kUnknown, "", kUnknown, kUnknown, kUnknown},
      // The printed page of the kernel of copy_blocked.csv, from another run.
      {"brycelelbach__nsightful/copy_blocked.txt", "ncu-text", 1, 1, 20850000, 0.0131, 0.6171,
       0.6171, 0.9654, "memory", kUnknown, kUnknown, kUnknown},
      {"SSSalvan__PFAC-Motif-Detection-for-Biological-Constraints/ncu_report.txt", "ncu-text", 4,
       18, 0, kUnknown, kUnknown, kUnknown, 0.7565714286, "", kUnknown, kUnknown, kUnknown},
      {"Yassawe__cacheCheck/multigpu.csv", "nvprof-metrics", 40, 2258, 0, kUnknown, kUnknown,
       kUnknown, kUnknown, "", kUnknown, kUnknown, kUnknown},
      {"Yassawe__cacheCheck/onegpu.csv", "nvprof-metrics", 39, 1791, 0, kUnknown, kUnknown,
       kUnknown, kUnknown, "", kUnknown, kUnknown, kUnknown},
      {"Yassawe__cacheCheck/onegpu@2c79c2e.csv", "nvprof-metrics", 39, 583, 0, kUnknown, kUnknown,
       kUnknown, kUnknown, "", kUnknown, kUnknown, kUnknown},
      {"Yassawe__cacheCheck/onegpu@66ea328.csv", "nvprof-metrics", 39, 583, 0, kUnknown, kUnknown,
       kUnknown, kUnknown, "", kUnknown, kUnknown, kUnknown},
      {"Yassawe__cacheCheck/twogpus.csv", "nvprof-metrics", 40, 744, 0, kUnknown, kUnknown,
       kUnknown, kUnknown, "", kUnknown, kUnknown, kUnknown},
      {"Yassawe__cacheCheck/twogpus@357042a.csv", "nvprof-metrics", 40, 744, 0, kUnknown, kUnknown,
       kUnknown, kUnknown, "", kUnknown, kUnknown, kUnknown},
  };
  return captures;
}

struct Refused {
  const char* file;
  const char* words;
};
constexpr Refused kRefused[] = {
    {"smi/4179e1__dcgm_test/dmon.csv", "a table in an unknown format (columns GPUId"},
    {"smi/4179e1__dcgm_test/result.csv", "a table in an unknown format (columns GPUId"},
    {"smi/amitadate__GPU_Power_Model/enhanced_histogram_power_data_20250318_010939.csv",
     "a table in an unknown format (columns timestamp, kernel, power_watts"},
    {"smi/amitadate__GPU_Power_Model/enhanced_histogram_power_data_20250319_142912.csv",
     "a table in an unknown format (columns timestamp, kernel, power_watts"},
    {"smi/downvoteed__GPGPU/gpu_usage.csv", "a table in an unknown format (columns Time, GPU_Us"},
    {"smi/downvoteed__GPGPU/vram_usage.csv", "a table in an unknown format (columns Time, VRAM"},
    {"ncu/Fluuuegel__DD2360-Project/ncu_report.txt", "measured nothing: LaunchFailed (line 7)"},
    {"ncu/SSSalvan__PFAC-Motif-Detection-for-Biological-Constraints/ncu_pfac.txt",
     "no metric has a value: l1text_bytes_pipe_lsu_mem_global_op_ld.sum is n/a"},
};

Json FactsOf(const Folder& folder, const std::string& path) {
  const Ran ran = RunAdvise(folder, "facts '" + path + "' --tables --format json");
  INFO(ran.err);
  REQUIRE(ran.status == 0);
  Json facts;
  const Json all = ParseJson(ran.out);
  for (const Json& fact : all["facts"]) facts[fact["name"].get<std::string>()] = fact;
  return facts;
}

double Number(const Json& facts, const char* name) {
  return facts.contains(name) && facts[name].contains("value") && facts[name]["value"].is_number()
             ? facts[name]["value"].get<double>()
             : kUnknown;
}

// A report that is sound and claims no more than such an input can.
Json ReportOf(const std::string& path, const char* kind) {
  const Ran& ran = ReportOfCapture(path);
  INFO(ran.err);
  REQUIRE(ran.status == 0);
  Json report = ParseJson(ran.out);
  CHECK(SchemaProblems(report) == std::vector<std::string>());
  CHECK(report["inputs"][0]["kind"] == kind);
  CHECK(report["devices"].empty());
  CHECK_FALSE(report["healthy"].get<bool>());
  CHECK_FALSE(report["facts"].contains("budget.idle"));
  double saved = 0;
  for (const Json& finding : report["findings"]) {
    INFO(finding["rule"]);
    // What was measured or recorded is seen, and promises nothing.
    const bool seen = finding["observed"] != "inferred";
    CHECK((finding["tentative"] == true || finding["severity"] == "info" || seen));
    saved += finding["saving"]["share"].get<double>();
    if (!seen) continue;
    CHECK(finding["saving"]["share"] == 0);
    CHECK(finding["saving"]["basis"] == "unknown: there is no timeline of the run");
  }
  CHECK(saved <= 1);
  const Ran& text = TextOfCapture(path);
  CHECK(text.status == 0);
  CHECK_THAT(text.out, Contains("nsys profile --trace=cuda"));
  return report;
}

void CheckNear(double found, double expected) {
  CHECK(found == Approx(expected).epsilon(1e-5).margin(1e-9));
}

}  // namespace

TEST_CASE("real logs of monitors: samples, means and peaks are those of an independent script") {
  const Folder folder;
  for (const MonitorCapture& capture : Monitors()) {
    const std::string path = FindCapture("", std::string("smi/") + capture.file);
    if (path.empty()) continue;
    INFO(capture.file);
    const Json facts = FactsOf(folder, path);
    CHECK(Number(facts, "monitor.gpus") == capture.gpus);
    CHECK(Number(facts, "monitor.samples") == capture.samples);
    CheckNear(Number(facts, "monitor.utilization"), capture.utilization);
    CheckNear(Number(facts, "monitor.memory.peak"), capture.memory);
    if (capture.power != kUnknown) {
      CheckNear(std::round(Number(facts, "monitor.watts") * 1e4) / 1e4, capture.power);
    }
    ReportOf(path, "smi-csv");
  }
}

TEST_CASE("real counters: throughputs, work and traffic are those of an independent decoder") {
  const Folder folder;
  for (const CounterCapture& capture : CounterCaptures()) {
    const std::string path = FindCapture("", std::string("ncu/") + capture.file);
    if (path.empty()) continue;
    INFO(capture.file);
    const Json facts = FactsOf(folder, path);
    CHECK(Number(facts, "counter.kernels") == capture.kernels);
    CHECK(Number(facts, "counter.instances") == capture.instances);
    CHECK(Number(facts, "counter.time") == capture.time_ns);
    const Json& row = facts["counter.rows"]["rows"][0];
    CheckNear(row["sm"], capture.sm);
    CheckNear(row["memory"], capture.memory);
    CheckNear(row["dram"], capture.dram);
    CheckNear(row["occupancy"], capture.occupancy);
    CHECK(row["bound"] == capture.bound);
    if (capture.flops != kUnknown) {
      const Json& roof = facts["roofline.rows"]["rows"][0];
      CheckNear(roof["flops"], capture.flops);
      CheckNear(roof["bytes"], capture.bytes);
      CheckNear(roof["intensity"], capture.intensity);
    }
    ReportOf(path, capture.kind);
  }
}

TEST_CASE("real files that only look alike are refused in one line that names them") {
  for (const Refused& file : kRefused) {
    const std::string path = FindCapture("", file.file);
    if (path.empty()) continue;
    INFO(file.file);
    const Ran& ran = TextOfCapture(path);
    CHECK(ran.status == 3);
    CHECK(ran.out.empty());
    CHECK(std::count(ran.err.begin(), ran.err.end(), '\n') == 1);
    CHECK_THAT(ran.err, Contains(file.words));
  }
}

TEST_CASE("a real printout of nsys stats: totals are the sums of its rows, told in a few lines") {
  const Folder folder;
  const std::string path =
      FindCapture("", "nsys_other/amacharla15__gpu-profiling-cuda-kernels/nsys_output.txt");
  if (path.empty()) return;
  const Json facts = FactsOf(folder, path);
  CHECK(Number(facts, "totals.kernels.time") == 159443486);
  CHECK(Number(facts, "totals.kernels.count") == 1785);
  CHECK(Number(facts, "totals.copies.time") == 20550375);
  CHECK(Number(facts, "totals.calls.time") == 295527168);
  CHECK(Number(facts, "totals.os_calls.count") == 39423);
  CHECK(Number(facts, "totals.ranges.time") == 101592786);
  ReportOf(path, "totals");
  const std::string text = TextOfCapture(path).out;
  CHECK_THAT(text, Contains("kernels ran for 159 ms in 1,785"));
  CHECK(std::count(text.begin(), text.end(), '\n') <= 36);
}

TEST_CASE("real tables of GPU work are timelines, with the sums of an independent script") {
  struct Table {
    const char* file;
    double kernels, kernel_ns, span_ns;
  };
  const Folder folder;
  for (const Table& table : std::vector<Table>{
           {"fluidsGL_cuda_gpu_trace_base.csv", 11208, 71372001, 13662523389},
           {"torch-ex_cuda_gpu_trace_base.csv", 2482, 339300381, 537363103},
           {"Results__fluidsGL__fluidsGL_cuda_gpu_trace_base.csv", 22810, 143663783, 27413347495},
           {"Results__fluidsGL__fluidsGL_cuda_gpu_trace_base@2a40d69.csv", 8305, 54028739,
            10593096576}}) {
    const std::string path =
        FindCapture("", std::string("nsys_other/PranavDani__Flame/") + table.file);
    if (path.empty()) continue;
    INFO(table.file);
    const Ran ran = RunAdvise(folder, "'" + path + "' --window all --format json --facts");
    INFO(ran.err);
    REQUIRE(ran.status == 0);
    const Json report = ParseJson(ran.out);
    CHECK(SchemaProblems(report) == std::vector<std::string>());
    CHECK(report["inputs"][0]["kind"] == "gpu-trace");
    CHECK(report["devices"][0]["name"] == "NVIDIA RTX A4500");
    const Json& facts = report["facts"];
    CHECK(facts["window.time"]["value"] == table.span_ns);
  }
}

}  // namespace advise
