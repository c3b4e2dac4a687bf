// Inputs without a timeline, alone and beside one: what the program prints and how it ends.
#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <set>

#include "tests/app/json.h"
#include "tests/app/program.h"
#include "tests/app/simulated.h"
#include "tests/support/schema.h"

using Catch::Matchers::Contains;

namespace advise {
namespace {

std::string SmiLog(int samples, int busy, const std::string& gpu = "NVIDIA H100 80GB HBM3") {
  std::string text =
      "timestamp, index, name, utilization.gpu [%], memory.used [MiB], memory.total [MiB], "
      "power.draw [W], power.limit [W]\n";
  for (int i = 0; i < samples; ++i) {
    text += "2025/10/09 08:53:" + std::string(i < 10 ? "0" : "") + std::to_string(i) + ".000, 0, " +
            gpu + ", " + std::to_string(busy) + " %, 20000 MiB, 81559 MiB, 150.00 W, 700.00 W\n";
  }
  return text;
}

constexpr const char* kNcclLog =
    "n1:1:1 [0] NCCL INFO NCCL_P2P_DISABLE set by environment to 1.\n"
    "n1:1:1 [0] NCCL INFO comm 0x1 rank 0 nRanks 2 nNodes 1 localRanks 2 localRank 0 MNNVL 0\n"
    "n1:2:2 [1] NCCL INFO comm 0x2 rank 1 nRanks 2 nNodes 1 localRanks 2 localRank 1 MNNVL 0\n"
    "n1:1:1 [0] NCCL INFO Channel 00/0 : 0[0] -> 1[1] via SHM/direct\n"
    "n1:2:2 [1] NCCL INFO Channel 00/0 : 1[1] -> 0[0] via SHM/direct\n";

constexpr const char* kCounters =
    "\"ID\",\"Process ID\",\"Process Name\",\"Host Name\",\"Kernel "
    "Name\",\"Context\",\"Stream\",\"Block Size\",\"Grid Size\",\"Device\",\"CC\",\"Section "
    "Name\",\"Metric Name\",\"Metric Unit\",\"Metric Value\"\n"
    "\"0\",\"1\",\"a\",\"h\",\"stencil(float *)\",\"1\",\"7\",\"(256, 1, 1)\",\"(64, 1, "
    "1)\",\"0\",\"9.0\",\"s\",\"Duration\",\"ms\",\"2\"\n"
    "\"0\",\"1\",\"a\",\"h\",\"stencil(float *)\",\"1\",\"7\",\"(256, 1, 1)\",\"(64, 1, "
    "1)\",\"0\",\"9.0\",\"s\",\"Compute (SM) Throughput\",\"%\",\"10\"\n"
    "\"0\",\"1\",\"a\",\"h\",\"stencil(float *)\",\"1\",\"7\",\"(256, 1, 1)\",\"(64, 1, "
    "1)\",\"0\",\"9.0\",\"s\",\"Memory Throughput\",\"%\",\"17\"\n";

std::set<std::string> Rules(const Json& report) {
  std::set<std::string> rules;
  for (const Json& finding : report["findings"]) rules.insert(finding["rule"]);
  return rules;
}

Json ValidReport(const Folder& folder, const std::string& arguments) {
  const Ran ran = RunAdvise(folder, arguments + " --format json --facts");
  INFO(ran.err);
  REQUIRE(ran.status == 0);
  const Json report = ParseJson(ran.out);
  CHECK(SchemaProblems(report) == std::vector<std::string>());
  return report;
}

TEST_CASE("a monitor's log is all there is: what it shows, what it cannot, and what to capture") {
  const Folder folder;
  folder.Write("smi.csv", SmiLog(40, 30));
  const Ran ran = RunAdvise(folder, "smi.csv");
  CHECK(ran.status == 0);
  CHECK(ran.err.empty());
  CHECK_THAT(ran.out, Contains("NVIDIA H100 80GB HBM3"));
  CHECK_THAT(ran.out, Contains("in use for 30 % of the time"));
  CHECK_THAT(ran.out, Contains("monitor/low-utilisation"));
  CHECK_THAT(ran.out, Contains("nsys profile --trace=cuda"));
  CHECK_THAT(ran.out, !Contains("Where the time went"));
  CHECK_THAT(ran.out, !Contains("Healthy"));
  CHECK_THAT(RunAdvise(folder, "smi.csv -v").out, Contains("nsys profile") && !Contains("rocprof"));
  const Json report = ValidReport(folder, "smi.csv");
  CHECK(report["inputs"][0]["kind"] == "smi-csv");
  CHECK(report["devices"].empty());
  CHECK_FALSE(report["healthy"].get<bool>());
  CHECK_FALSE(report["facts"].contains("budget.idle"));
  CHECK_FALSE(report["facts"].contains("window.time"));
  for (const auto& [name, fact] : report["facts"].items()) {
    INFO(name);
    const std::string area = name.substr(0, name.find('.'));
    CHECK((area == "monitor" || area == "hw" || area == "counter" || area == "topology" ||
           area == "nccl" || area == "efficiency" || area == "totals" || area == "allocator" ||
           name == "server.lines" || name == "server.engines" || name == "memory.capacity"));
  }
  CHECK(report["facts"]["monitor.utilization"]["value"].get<double>() == Approx(0.3));
  CHECK(report["facts"]["monitor.seconds"]["value"].get<double>() == Approx(39));
  for (const Json& finding : report["findings"]) {
    CHECK((finding["severity"] == "low" || finding["severity"] == "info"));
    CHECK(finding["saving"]["seconds"] == 0);
  }
}

TEST_CASE("logs of two nodes are of twice as many GPUs, and each is told with its log") {
  const Folder folder;
  folder.Write("node1.csv", SmiLog(40, 90));
  folder.Write("node2.csv", SmiLog(40, 0));
  const Ran ran = RunAdvise(folder, "node1.csv node2.csv");
  CHECK(ran.status == 0);
  CHECK_THAT(ran.out, Contains("2 \u00d7 NVIDIA H100 80GB HBM3"));
  CHECK_THAT(ran.out, Contains("GPU 0 of node2.csv did nothing"));
}

TEST_CASE("a log of AMD's monitor asks for AMD's profiler, and never for NVIDIA's") {
  const Folder folder;
  std::string text = " TIMESTAMP  GPU  POWER  PWR_CAP   GPU_T   GFX_CLK   GFX%\n";
  for (int second = 0; second < 100; ++second) {
    const bool busy = second % 5 < 2;
    text += fmt::format("{} {:4} {:5} W {:5} W {:5} °C {:6} MHz {:3} %\n", 1786038263 + second, 0,
                        busy ? 600 : 150, 750, busy ? 70 : 45, busy ? 1950 : 132, busy ? 95 : 0);
  }
  folder.Write("amd.txt", text);
  const Ran ran = RunAdvise(folder, "amd.txt");
  CHECK_THAT(ran.out, Contains("1 GPU   amd-smi monitor") &&
                          Contains("Find out why the GPU is used so little") &&
                          Contains("rocprofv3 --runtime-trace"));
  CHECK_THAT(ran.out, !Contains("nsys profile") && !Contains("nvidia-smi"));
}

TEST_CASE("a monitor's log of a busy GPU gives no finding above info") {
  const Folder folder;
  folder.Write("smi.csv", SmiLog(40, 97));
  const Json report = ValidReport(folder, "smi.csv");
  for (const Json& finding : report["findings"]) CHECK(finding["severity"] == "info");
  CHECK_FALSE(Rules(report).count("monitor/low-utilisation") == 1);
}

TEST_CASE("a few samples are called what they are") {
  const Folder folder;
  const auto said = [&](const std::string& log) {
    folder.Write("smi.csv", log);
    return RunAdvise(folder, "smi.csv").out;
  };
  const auto rows = [](const std::vector<std::string>& shares) {
    std::string text = "timestamp, index, utilization.gpu [%]\n";
    for (std::size_t i = 0; i < shares.size(); ++i)
      text += fmt::format("2025/10/09 08:53:0{}.000, 0, {}\n", i, shares[i]);
    return text;
  };
  CHECK_THAT(said(rows({"40 %"})), Contains("The monitor took one sample"));
  CHECK_THAT(said(rows({"0 %"})), Contains("no GPU activity") && !Contains("has no utilization"));
  CHECK_THAT(said(rows({"0 %", "19 %", "0 %"})),
             Contains("In only one of the monitor's 3 samples, a GPU was in use"));
  CHECK_THAT(said("index, power.draw [W]\n0, 200 W\n"), Contains("has no utilization"));
}

TEST_CASE("counters alone: savings are shares of the counted time, and findings are tentative") {
  const Folder folder;
  folder.Write("kernels.csv", kCounters);
  const Json report = ValidReport(folder, "kernels.csv");
  CHECK(report["inputs"][0]["kind"] == "ncu-csv");
  CHECK(report["window"]["seconds"].get<double>() == Approx(0.002));
  REQUIRE(Rules(report).count("kernel/low-throughput") == 1);
  double saved = 0;
  for (const Json& finding : report["findings"]) {
    if (finding["severity"] != "info") CHECK(finding["tentative"]);
    saved += finding["saving"]["share"].get<double>();
  }
  // Severity goes by the share; that nobody knows how much of the run it is lowers the confidence.
  CHECK(report["findings"][0]["severity"] == "high");
  CHECK(report["findings"][0]["confidence"].get<double>() <= 0.5);
  CHECK_THAT(RunAdvise(folder, "kernels.csv").out, Contains("It reaches 17 % of its nearest"));
  CHECK_THAT(RunAdvise(folder, "kernels.csv -v").out,
             Contains("share of the peak of memory that stencil"));
  // 17 % of memory's peak of 85 % leaves 80 % of headroom at most.
  CHECK(saved > 0);
  CHECK(saved <= 0.8);
  CHECK_THAT(RunAdvise(folder, "kernels.csv").out, Contains("stencil"));
}

TEST_CASE("counters without times ask for a timeline to go with them") {
  const Folder folder;
  std::string counters = kCounters;
  for (std::size_t at = counters.find("Duration"); at != std::string::npos;
       at = counters.find("Duration", at))
    counters.replace(at, 8, "Elapsed_");
  folder.Write("kernels.csv", counters);
  const std::string text = RunAdvise(folder, "kernels.csv").out;
  CHECK_THAT(text, Contains("give it together with these"));
  CHECK_THAT(text, Contains("advise run.nsys-rep "));
}

TEST_CASE("NCCL's log alone: the slow path and the variable behind it") {
  const Folder folder;
  folder.Write("train.log", kNcclLog);
  const Json report = ValidReport(folder, "train.log");
  CHECK(report["inputs"][0]["kind"] == "nccl-log");
  CHECK(Rules(report).count("topology/nccl-environment") == 1);
  CHECK_THAT(RunAdvise(folder, "train.log").out, Contains("NCCL_P2P_DISABLE=1"));
}

TEST_CASE("logs of single ranks are one log: warnings of each, and paths that one of them shows") {
  const Folder folder;
  folder.Write("a.log",
               "n1:2:3 [1] NCCL INFO Bootstrap : Using eth0:10.0.0.1<0>\n"
               "n1:2:3 [1] transport/net.cc:123 NCCL WARN Timeout waiting for connection\n");
  folder.Write("b.log", kNcclLog);
  const Json report = ValidReport(folder, "a.log b.log");
  CHECK(report["facts"]["nccl.warnings"]["value"] == 1);
  CHECK(report["facts"]["nccl.local.shared"]["value"] == 1);  // both ways
  CHECK_THAT(RunAdvise(folder, "a.log").out, Contains("does not show how the ranks communicate"));
  CHECK_THAT(RunAdvise(folder, "a.log b.log -v").out,
             !Contains("does not show how the ranks communicate"));
}

constexpr const char* kKernelTotals =
    "Time (%),Total Time (ns),Instances,Avg (ns),Med (ns),Min (ns),Max (ns),StdDev (ns),Name\n"
    "100.0,4000000,400,10000,10000,9000,11000,10,stencil(float *)\n";
constexpr const char* kCopyTotals =
    "Time (%),Total Time (ns),Count,Avg (ns),Med (ns),Min (ns),Max (ns),StdDev (ns),Operation\n"
    "100.0,6000000,60,100000,100000,90000,110000,10,[CUDA memcpy Host-to-Device]\n";
constexpr const char* kAllocatorPage =
    "|                  PyTorch CUDA memory summary, device ID 0                 |\n"
    "|---------------------------------------------------------------------------|\n"
    "|            CUDA OOMs: 0            |        cudaMalloc retries: 412         |\n"
    "|        Metric         | Cur Usage  | Peak Usage | Tot Alloc  | Tot Freed  |\n"
    "| Allocated memory      |   1024 KiB |   2048 MiB |   9000 MiB |   8000 MiB |\n"
    "| GPU reserved memory   |      2 GiB |     78 GiB |      3 GiB |      0 B   |\n";
constexpr const char* kCopySizes =
    "Total (MB),Count,Avg (MB),Med (MB),Min (MB),Max (MB),StdDev (MB),Operation\n"
    "54.000,60,0.900,0.900,0.900,0.900,0.000,[CUDA memcpy Host-to-Device]\n";

TEST_CASE("tables that nsys stats wrote to a file each are of one run, in any order") {
  const Folder folder;
  folder.Write("kernels.csv", kKernelTotals);
  folder.Write("copies.csv", kCopyTotals);
  folder.Write("sizes.csv", kCopySizes);
  for (const char* order :
       {"kernels.csv copies.csv", "copies.csv kernels.csv", "kernels.csv sizes.csv copies.csv"}) {
    INFO(order);
    const Json report = ValidReport(folder, order);
    CHECK(report["facts"]["totals.kernels.time"]["value"] == 4e6);
    CHECK(report["facts"]["totals.copies.time"]["value"] == 6e6);
    CHECK(report["facts"]["totals.copies.count"]["value"] == 60);
    CHECK(Rules(report).count("profile/copies") == 1);
  }
}

TEST_CASE("a table of sizes alone is no topology") {
  const Folder folder;
  folder.Write("sizes.csv", kCopySizes);
  CHECK(ValidReport(folder, "sizes.csv")["verdict"] == "Nothing that was given holds times.");
}

TEST_CASE("a memory summary counts beside a timeline, and totals are said to be of no use there") {
  const Folder folder;
  Simulate(folder, "scenarios/healthy/cnn-a100", "-o run.sqlite");
  folder.Write("kernels.csv", kKernelTotals);
  folder.Write("memory.txt", kAllocatorPage);
  const Json report = ValidReport(folder, "run.sqlite memory.txt kernels.csv");
  CHECK(Rules(report).count("profile/memory-retries") == 1);
  CHECK(Rules(report).count("profile/kernels") == 0);
  CHECK_THAT(RunAdvise(folder, "run.sqlite memory.txt kernels.csv -v").out,
             Contains("kernels.csv: not used"));
}

TEST_CASE("ranks that a log does not place may be on other nodes, with other files as without") {
  const Folder folder;
  folder.Write(
      "train.log",
      "n1:1:1 [0] NCCL INFO comm 0x1 rank 0 nranks 2 cudaDev 0 busId 1000 - Init COMPLETE\n"
      "n1:1:1 [0] NCCL INFO Channel 00/0 : 0[0] -> 1[0] [send] via NET/Socket/0\n");
  folder.Write("kernels.csv", kKernelTotals);
  const auto remote = [&](const char* files) {
    return ValidReport(folder, files)["facts"]["nccl.local.net"]["value"];
  };
  CHECK(remote("train.log") == remote("train.log kernels.csv"));
}

std::string ServerLines(int lines, const std::string& requests, const std::string& cache) {
  std::string text;
  for (int i = 0; i < lines; ++i) {
    text += "(APIServer pid=1) INFO 04-19 10:" + std::string(i < 60 ? "10" : "11") + ":" +
            (i % 60 < 10 ? "0" : "") + std::to_string(i % 60) +
            " [loggers.py:259] Engine 000: Avg prompt throughput: 102.3 tokens/s, Avg generation "
            "throughput: 1550.0 tokens/s, " +
            requests + ", GPU KV cache usage: " + cache + "%, Prefix cache hit rate: 35.3%\n";
  }
  return text;
}

TEST_CASE("a server's log alone: its load, why requests wait, and what to do next") {
  const Folder folder;
  folder.Write("room.log", ServerLines(40, "Running: 256 reqs, Waiting: 240 reqs", "62.0"));
  const Json room = ValidReport(folder, "room.log");
  CHECK(room["inputs"][0]["kind"] == "server-log");
  CHECK(room["run"]["kind"] == "server");
  CHECK(room["run"]["framework"] == "vLLM");
  REQUIRE(room["findings"].size() == 1);
  CHECK(room["findings"][0]["rule"] == "inference/queue-with-room");
  CHECK(room["findings"][0]["severity"] == "low");
  const std::string verdict = room["verdict"];
  CHECK_THAT(verdict, Contains("256 ran at once on average and 240 waited"));
  CHECK_THAT(verdict, Contains("Next, let more requests run at once"));

  folder.Write("full.log", ServerLines(40, "Running: 180 reqs, Waiting: 240 reqs", "99.1"));
  CHECK(Rules(ValidReport(folder, "full.log")).count("inference/cache-limits-batch") == 1);

  folder.Write("healthy.log", ServerLines(40, "Running: 40 reqs, Waiting: 0 reqs", "30.0"));
  const Json healthy = ValidReport(folder, "healthy.log");
  for (const Json& finding : healthy["findings"]) CHECK(finding["severity"] == "info");
  CHECK_THAT(healthy["verdict"].get<std::string>(), Contains("Next: record a timeline"));
  CHECK_THAT(RunAdvise(folder, "healthy.log").out, Contains("start_profile"));
  CHECK_FALSE(healthy["healthy"].get<bool>());

  folder.Write(
      "eager.log",
      "WARNING 04-19 10:09:00 [vllm.py:848] Enforce eager set, disabling torch.compile and "
      "CUDAGraphs.\n" +
          ServerLines(40, "Running: 4 reqs, Waiting: 0 reqs", "3.0"));
  CHECK(Rules(ValidReport(folder, "eager.log")).count("inference/graphs-off") == 1);
}

// What a log records is sure, and what its repair saves is not known: all formats say both.
TEST_CASE("a page of dcgm-exporter alone: an error of a board is no guess") {
  const Folder folder;
  folder.Write("metrics.txt",
               "DCGM_FI_DEV_GPU_UTIL{gpu=\"0\",modelName=\"NVIDIA H100 80GB HBM3\"} 97\n"
               "# TYPE DCGM_FI_DEV_XID_ERRORS gauge\n"
               "DCGM_FI_DEV_XID_ERRORS{gpu=\"0\",modelName=\"NVIDIA H100 80GB HBM3\"} 79\n");
  const Json report = ValidReport(folder, "metrics.txt");
  REQUIRE(report["findings"].size() >= 1);
  const Json& finding = report["findings"][0];
  CHECK(finding["rule"] == "monitor/driver-errors");
  CHECK(finding["severity"] == "medium");
  CHECK(finding["observed"] == "recorded");
  CHECK(finding["tentative"] == false);
  CHECK(finding["confidence"] == Approx(0.95));
  CHECK(finding["saving"]["basis"] == "unknown: there is no timeline of the run");
  const std::string text = RunAdvise(folder, "metrics.txt").out;
  CHECK_THAT(text,
             Contains("saving unknown without a timeline; medium, recorded, confidence 95 %"));
  CHECK_THAT(text, Contains("The driver reported Xid 79 on GPU 0"));
  const std::string html = RunAdvise(folder, "metrics.txt --format html").out;
  CHECK_THAT(html, Contains("saving unknown without a timeline"));
  CHECK_THAT(html, Contains(">recorded</span>") && Contains("confidence 95\u00a0%"));
  CHECK_THAT(RunAdvise(folder, "metrics.txt --format markdown").out,
             Contains("medium, recorded, confidence 95 %"));
  CHECK_THAT(RunAdvise(folder, "metrics.txt --brief").out, Contains("\"observed\""));
}

TEST_CASE("the log of the kernel alone: errors of boards, of programs, and lack of memory") {
  const Folder folder;
  folder.Write("dmesg.txt",
               "[Fri Aug 30 11:43:09 2024] NVRM: Xid (PCI:0000:cb:00): 79, pid=1, GPU has fallen\n"
               "[Fri Aug 30 11:44:09 2024] NVRM: Xid (PCI:0000:3b:00): 31, pid=2, MMU Fault\n"
               "[Fri Aug 30 11:45:09 2024] Out of memory: Killed process 42 (pt_data_worker) x\n");
  const Json report = ValidReport(folder, "dmesg.txt");
  CHECK(report["inputs"][0]["kind"] == "kernel-log");
  CHECK(Rules(report) ==
        std::set<std::string>{"monitor/driver-errors", "monitor/killed", "monitor/program-errors"});
  CHECK_THAT(report["verdict"].get<std::string>(),
             Contains("2 GPU errors and 1 program that was killed for lack of host memory"));
}

TEST_CASE("a page of a model server alone: how long requests wait and take") {
  const Folder folder;
  std::string page;
  for (const char* name : {"request_queue_time_seconds", "time_to_first_token_seconds"}) {
    const std::string sum = name[0] == 'r' ? "400" : "500";
    page += std::string("vllm:") + name + "_bucket{le=\"2.5\"} 50\nvllm:" + name +
            "_bucket{le=\"+Inf\"} 100\nvllm:" + name + "_count 100\nvllm:" + name + "_sum " + sum +
            "\n";
  }
  folder.Write("metrics.txt", page +
                                  "vllm:num_requests_running 16\nvllm:num_requests_waiting 80\n"
                                  "vllm:request_success_total 100\n");
  const Json report = ValidReport(folder, "metrics.txt");
  CHECK(report["inputs"][0]["kind"] == "server-page");
  CHECK(report["run"]["framework"] == "vLLM");
  CHECK(Rules(report).count("inference/queue-delays-first-token") == 1);
  CHECK_THAT(report["verdict"].get<std::string>(),
             Contains("According to its metrics, vLLM") && Contains("The first token took 2.50 s"));
}

TEST_CASE("joined: a timeline, a monitor's log, counters and NCCL's log are one run") {
  const Folder folder;
  const std::string run = "run.sqlite";
  Simulate(folder, "scenarios/healthy/cnn-a100", "-o " + run);
  folder.Write("smi.csv", SmiLog(40, 97, "NVIDIA A100-SXM4-80GB"));
  folder.Write("train.log", kNcclLog);
  folder.Write("kernels.csv", kCounters);
  const Json alone = ValidReport(folder, run);
  const Json joined = ValidReport(folder, "smi.csv run.sqlite train.log kernels.csv");
  CHECK(joined["inputs"].size() == 4);
  CHECK(joined["devices"] == alone["devices"]);
  CHECK(joined["window"] == alone["window"]);
  // Facts are added, none is changed.
  for (const auto& [name, fact] : alone["facts"].items()) {
    if (name.starts_with("monitor.") || name.starts_with("nccl.") || name.starts_with("counter.")) {
      continue;
    }
    INFO(name);
    CHECK(joined["facts"][name] == fact);
  }
  CHECK(joined["facts"]["monitor.utilization"]["value"].get<double>() == Approx(0.97));
  CHECK(joined["facts"]["nccl.ranks"]["value"] == 2);
  CHECK(joined["facts"]["counter.kernels"]["value"] == 1);
  CHECK(joined["facts"]["counter.coverage"]["value"] == 0);  // no kernel of that name ran
  const std::string text = RunAdvise(folder, run + " kernels.csv -v").out;
  CHECK_THAT(text, Contains("no kernel of the counters that were given runs here"));
  CHECK_THAT(text, Contains("stencil"));
  // The order in which files are named changes their list, and nothing else.
  Json other = ValidReport(folder, "train.log kernels.csv run.sqlite smi.csv");
  Json same = joined;
  other.erase("inputs");
  same.erase("inputs");
  CHECK(other["facts"] == same["facts"]);
  CHECK(other["findings"] == same["findings"]);
}

// With the folder's own bin/ and tmp/ in the environment.
Ran RunWithNsys(const Folder& folder, const std::string& arguments) {
  return RunAdvise(folder,
                   "PATH='" + folder.path() + "/bin':\"$PATH\" TMPDIR='" + folder.path() +
                       "/tmp' '" ADVISE_PROGRAM "' " + arguments,
                   "/usr/bin/env");
}

TEST_CASE("counters beside a timeline weigh as much as their kernels run, and save no more") {
  const Folder folder;
  const std::string run = "run.sqlite";
  Simulate(folder, "scenarios/healthy/cnn-a100", "-o " + run);
  const Ran listed = RunAdvise(folder, run + " --format json --facts");
  REQUIRE(listed.status == 0);
  const Json before = ParseJson(listed.out);
  const std::string name = before["facts"]["kernel.top.name"]["value"];
  std::string quoted;
  for (const char c : name) quoted += c == '"' ? "\"\"" : std::string(1, c);
  std::string csv = kCounters;
  for (std::size_t at = csv.find("stencil(float *)"); at != std::string::npos;
       at = csv.find("stencil(float *)", at + quoted.size())) {
    csv.replace(at, 16, quoted);
  }
  folder.Write("kernels.csv", csv);
  const Json report = ValidReport(folder, run + " kernels.csv");
  const double top = before["facts"]["kernel.top.share"]["value"];
  const double coverage = report["facts"]["counter.coverage"]["value"];
  CHECK(coverage == Approx(top).epsilon(0.05));
  double saved = 0;
  bool found = false;
  for (const Json& finding : report["findings"]) {
    saved += finding["saving"]["share"].get<double>();
    if (finding["rule"] != "kernel/low-throughput") continue;
    found = true;
    const double share = finding["saving"]["share"];
    // 80 % of the kernel's time is headroom, 30 % of that is promised.
    CHECK(share > 0);
    CHECK(share <= 0.8 * 0.3 * coverage * 1.01);
    CHECK(finding["evidence"][0]["source"].get<std::string>().ends_with("run.sqlite"));
  }
  CHECK(found);
  CHECK(saved <= 1);
}

TEST_CASE("a report of nsys is exported on the way, and nothing is left beside it") {
  const Folder folder;
  const std::string run = "made.sqlite";
  Simulate(folder, "scenarios/healthy/cnn-a100", "-o " + run);
  const std::string report = folder.Write("in/my $(touch pwned) run.nsys-rep", "NSYSREP");
  std::filesystem::create_directory(folder / "bin");
  std::filesystem::create_directory(folder / "tmp");
  // Stands in for nsys: "exports" by copying a made report, and says what it was asked.
  const std::string nsys =
      folder.Write("bin/nsys", "#!/bin/sh\nprintf '%s\\n' \"$@\" > '" + folder.path() +
                                   "/asked'\n"
                                   "[ \"$6\" = '" +
                                   report + "' ] || exit 9\ncp '" + folder / run + "' \"$5\"\n");
  chmod(nsys.c_str(), 0755);
  const Ran ran = RunWithNsys(folder, "'" + report + "' --format json");
  INFO(ran.err);
  REQUIRE(ran.status == 0);
  const Json read = ParseJson(ran.out);
  CHECK(read["inputs"][0]["path"] == report);
  CHECK(read["inputs"][0]["kind"] == "nsys-sqlite");
  CHECK(read["devices"] == ValidReport(folder, run)["devices"]);
  CHECK(ReadAll(folder / "asked").starts_with("export\n--type\nsqlite\n--output\n"));
  CHECK_FALSE(std::filesystem::exists(folder / "pwned"));
  CHECK(std::filesystem::is_empty(folder / "tmp"));
  CHECK(std::distance(std::filesystem::directory_iterator(folder / "in"),
                      std::filesystem::directory_iterator()) == 1);
}

TEST_CASE("when nsys fails its last words are in the error, and nothing stays") {
  const Folder folder;
  folder.Write("a.nsys-rep", "NSYSREP");
  std::filesystem::create_directory(folder / "tmp");
  const std::string nsys = folder.Write(
      "bin/nsys", "#!/bin/sh\necho working\necho 'The report is too new.' >&2\nexit 1\n");
  chmod(nsys.c_str(), 0755);
  const Ran ran = RunWithNsys(folder, "a.nsys-rep");
  CHECK(ran.status == 3);
  CHECK(std::count(ran.err.begin(), ran.err.end(), '\n') == 1);
  CHECK_THAT(ran.err, Contains("nsys could not export the report: The report is too new.") &&
                          Contains("nsys export --type sqlite"));
  CHECK(std::filesystem::is_empty(folder / "tmp"));
}

TEST_CASE("without nsys on PATH the error gives the command to run") {
  const Folder folder;
  folder.Write("a.nsys-rep", "NSYSREP");
  const Ran ran =
      RunAdvise(folder, "PATH=/nowhere '" ADVISE_PROGRAM "' a.nsys-rep", "/usr/bin/env");
  CHECK(ran.status == 3);
  CHECK_THAT(ran.err, Contains("nsys is not on PATH") &&
                          Contains("nsys export --type sqlite -o a.sqlite a.nsys-rep"));
}

}  // namespace
}  // namespace advise
