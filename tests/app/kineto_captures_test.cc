// The program on traces of real PyTorch programs, against what a script of its own computes from
// the same JSON (docs/validation.md). They are not ours to ship: $ADVISE_TRACES/kineto, or
// shared/traces/kineto beside the source tree; what is not there is skipped.
#include <array>
#include <catch2/catch.hpp>
#include <filesystem>
#include <set>
#include <vector>

#include "tests/app/capture_runs.h"
#include "tests/app/find_capture.h"
#include "tests/app/json.h"
#include "tests/app/program.h"
#include "tests/support/schema.h"

using Catch::Matchers::Contains;

namespace advise {
namespace {

struct TraceCapture {
  const char* file;
  Nanos window;                 // all GPU work
  std::array<Nanos, 5> budget;  // compute, comm, copies, memsets, idle
  double step_ms;               // the usual step; 0: no steady state to find
  std::set<std::string> first;  // what may stand first; empty: nothing above low
};

const std::vector<TraceCapture>& TraceCaptures() {
  static const std::vector<TraceCapture> captures = {
      {"pytorch__kineto/tb_plugin__samples__resnet50_num_workers_0__worker0.pt.trace.json.gz",
       1292150000,
       {635237000, 0, 13858000, 377000, 642678000},
       211.2,
       {"input/no-workers", "launch/bound"}},
      {"pytorch__kineto/tb_plugin__samples__resnet50_num_workers_4__worker0.pt.trace.json.gz",
       747140000,
       {649808000, 0, 19721000, 351000, 77260000},
       124.2,
       {"memory/zeroed-gradients", "transfer/pageable-copy"}},
      {"facebookresearch__HolisticTraceAnalysis/rank-0.Apr_03_18_51_38.1102.pt.trace.json.gz",
       480029179,
       {468153602, 0, 3715404, 585435, 7574738},
       95.7,
       {"precision/fp32-gemm"}},
      {"facebookresearch__HolisticTraceAnalysis/control.json.gz",
       464594000,
       {281336000, 87921000, 18762000, 568000, 76007000},
       77.0,
       {"kernel/unfused-elementwise", "comm/exposed", "sync/item-in-loop"}},
      {"facebookresearch__HolisticTraceAnalysis/tests__data__trace_diff__test__test.json.gz",
       745239000,
       {548148000, 73298000, 95744000, 753000, 27296000},
       122.2,
       {"precision/fp32-gemm"}},
      {"facebookresearch__HolisticTraceAnalysis/rank0.json.gz",
       1231461000,
       {210998000, 185317000, 41721000, 388000, 793037000},
       216.2,
       {"rank/unseen-late"}},  // one of 16 ranks: how much of it is waiting, the others tell
      {"facebookresearch__param/linear_kineto.json.gz",
       1008570000,
       {369343000, 0, 0, 1640000, 637587000},
       24.5,
       {"launch/graph-candidate", "launch/bound"}},
      {"facebookresearch__param/dlrm_kineto/worker0_step_12.1694128201545.pt.trace.json",
       13009000,
       {1034000, 5537000, 19000, 0, 6419000},
       0,
       {}},
      {"CodingPlatelets__SwitchTransformers/trace.json",
       243720000,
       {62786000, 0, 84000, 10000, 180840000},
       0,
       {}},
      {"harryjmoss__particle_transformer/hmoss-6a49xb_1980917.1733767137045419368.pt.trace.json",
       337524284,
       {5268997, 0, 74208, 0, 332181079},
       0,
       {}},
      {"AMD-AGI__TraceLens/train_resnet18.json.gz",
       3391349641,
       {358908852, 0, 14635, 16910, 3032409244},
       1070,  // each frees 272 buffers with hipFree: the caching allocator is off
       {"memory/alloc-in-loop"}},
      {"AMD-AGI__TraceLens/Qwen_Qwen1.5-0.5B-Chat__1016005.json.gz",
       49652832,
       {45432698, 0, 2368, 212234, 4005532},
       0,
       {}},
      {"AMD-AGI__TraceLens/sglang_Qwen3-8B_decode.json.gz",
       473749943,
       {9759749, 0, 13177, 0, 463977017},
       0,
       {}},
      {"AMD-AGI__TraceLens/graph_execution.json.gz",
       10743181,
       {10674517, 0, 43191, 0, 25473},
       0,
       {}},
      {"facebookresearch__HolisticTraceAnalysis/rank-70.Mar_25_20_48_12.2861.pt.trace.json.gz",
       50000,
       {0, 50000, 0, 0, 0},
       0,
       {}},
      {"facebookresearch__HolisticTraceAnalysis/mi250_minitoy_train_ROCm6_2_kineto.json.gz",
       8911887,
       {110881, 0, 38161, 0, 8762845},
       0,
       {}},
  };
  return captures;
}

// Host only, and one whose launches were recorded without GPU activity.
constexpr std::array kTracesWithoutGpu = {
    "facebookresearch__HolisticTraceAnalysis/rank_non_gpu.json.gz",
    "facebookresearch__HolisticTraceAnalysis/mtia_inference_rank_0.json.gz",
    "HazyResearch__zoology/trace.json",
};

Json DiagnosedTrace(const std::string& path, const std::string& options = "") {
  const Ran& ran = ReportOfCapture(path, options);
  INFO(path << ": " << ran.err);
  REQUIRE(ran.status == 0);
  return ParseJson(ran.out);
}

}  // namespace

TEST_CASE("real PyTorch traces: budgets are those of an independent script, to the nanosecond") {
  for (const TraceCapture& capture : TraceCaptures()) {
    const std::string path = FindCapture("kineto", capture.file);
    if (path.empty()) continue;
    INFO(capture.file);
    const Json report = DiagnosedTrace(path, "--window all ");
    CHECK(SchemaProblems(report) == std::vector<std::string>());
    CHECK(report["inputs"][0]["kind"] == "kineto");
    CHECK(report["window"]["end_ns"].get<Nanos>() - report["window"]["start_ns"].get<Nanos>() ==
          capture.window);
    REQUIRE(report["devices"].size() == 1);
    const Json& device = report["devices"][0];
    const std::array<Nanos, 5> budget = {
        Part(device, "compute_ns"), Part(device, "comm_exposed_ns"),
        Part(device, "copy_exposed_ns"), Part(device, "memset_exposed_ns"),
        Part(device, "idle_ns")};
    CHECK(budget == capture.budget);
  }
}

TEST_CASE("real PyTorch traces: steps and the first finding are what the data bear out") {
  for (const TraceCapture& capture : TraceCaptures()) {
    const std::string path = FindCapture("kineto", capture.file);
    if (path.empty()) continue;
    INFO(capture.file);
    const Json report = DiagnosedTrace(path);
    const Json& findings = report["findings"];
    const std::string first = findings.empty() ? "" : findings[0]["rule"].get<std::string>();
    if (capture.first.empty()) {
      for (const Json& finding : findings) {
        INFO(finding["rule"] << " " << finding["severity"]);
        CHECK((finding["tentative"] == true || finding["severity"] == "low" ||
               finding["severity"] == "info"));
      }
      CHECK_FALSE(report["healthy"].get<bool>());
    } else {
      INFO("first: " << first);
      CHECK(capture.first.count(first) == 1);
    }
    if (capture.step_ms <= 0) continue;
    REQUIRE(report["facts"].contains("steps.median"));
    CHECK(report["facts"]["steps.median"]["value"].get<double>() * 1e-6 ==
          Approx(capture.step_ms).epsilon(0.02));
  }
}

TEST_CASE("real PyTorch traces: the loader without workers is found, and gone with four workers") {
  const std::string before = FindCapture("kineto", TraceCaptures()[0].file);
  const std::string after = FindCapture("kineto", TraceCaptures()[1].file);
  if (before.empty() || after.empty()) return;
  const Json slow = DiagnosedTrace(before)["findings"];
  const auto found = std::find_if(slow.begin(), slow.end(), [](const Json& finding) {
    return finding["rule"] == "input/no-workers";
  });
  REQUIRE(found != slow.end());
  // The GPU is idle for 282 ms of the 313 ms in which the loader's range is open, in 1283 ms.
  CHECK((*found)["saving"]["share"].get<double>() == Approx(282.0 / 1283.0).epsilon(0.05));
  for (const Json& finding : DiagnosedTrace(after)["findings"]) {
    INFO(finding["rule"]);
    CHECK(finding["rule"].get<std::string>().rfind("input/", 0) != 0);
  }
}

TEST_CASE("real PyTorch traces: what the evidence says to search for is in the file") {
  const Folder folder;
  for (const TraceCapture& capture : TraceCaptures()) {
    const std::string path = FindCapture("kineto", capture.file);
    if (path.empty()) continue;
    REQUIRE(RunAdvise(folder, "-dcf '" + path + "'", "gzip").status == 0);
    std::filesystem::rename(folder / "out.txt", folder / "plain");
    for (const Json& finding : DiagnosedTrace(path)["findings"]) {
      for (const Json& item : finding["evidence"]) {
        CHECK(item["sql"].get<std::string>().empty());
        if (!item.contains("find")) continue;
        const std::string pattern = folder.Write("pattern", item["find"].get<std::string>() + "\n");
        const Ran ran = RunAdvise(folder, "-c -f '" + pattern + "' plain", "grep");
        INFO(capture.file << ": " << item["find"]);
        CHECK(std::strtol(ran.out.c_str(), nullptr, 10) > 0);
      }
    }
    const Ran& text = TextOfCapture(path);
    CHECK_THAT(text.out, !Contains("sqlite3 "));
  }
}

TEST_CASE(
    "real PyTorch traces: without GPU work there is no verdict, and advice for that profiler") {
  for (const char* file : kTracesWithoutGpu) {
    const std::string path = FindCapture("kineto", file);
    if (path.empty()) continue;
    INFO(file);
    const Json report = DiagnosedTrace(path);
    CHECK(report["devices"].empty());
    CHECK_FALSE(report["healthy"].get<bool>());
    for (const Json& finding : report["findings"]) CHECK(finding["severity"] == "info");
    // No profiler option makes a GPU of another accelerator.
    CHECK_THAT(TextOfCapture(path).out,
               Contains("ProfilerActivity.CUDA") || Contains("accelerator that is not a GPU"));
  }
}

// The command line that it holds asks for 50 steps.
TEST_CASE("a real trace of rocprofv3: steps are found, and more is recorded with rocprofv3") {
  const std::string path = FindCapture("kineto", "AMD-AGI__TraceLens/908_results.json.gz");
  if (path.empty()) return;
  const Ran& ran = TextOfCapture(path);
  CHECK(ran.status == 0);
  CHECK_THAT(ran.out, Contains("AMD Instinct MI350X") && Contains("training, 48 steps"));
  CHECK_THAT(ran.out, Contains("  rocprofv3 --runtime-trace") && !Contains("nsys"));
}

}  // namespace advise
