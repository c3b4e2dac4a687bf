// Logs that are not of the run that they were given with, and files of the program's own.
#include <algorithm>
#include <catch2/catch.hpp>

#include "tests/app/program.h"
#include "tests/app/simulated.h"

using Catch::Matchers::Contains;

namespace advise {
namespace {

// Of a GPU that heat slows down all the time.
std::string HotLog(const std::string& day, const std::string& name,
                   const std::string& minute = "08:53") {
  std::string log =
      "timestamp, index, name, utilization.gpu [%], clocks.current.sm [MHz], clocks.max.sm [MHz], "
      "clocks_event_reasons.hw_thermal_slowdown\n";
  for (int second = 10; second < 50; ++second) {
    log += day + " " + minute + ":" + std::to_string(second) + ".000, 0, " + name +
           ", 99 %, 900 MHz, 1980 MHz, Active\n";
  }
  return log;
}

TEST_CASE("a monitor's log of another time or another GPU is told and left out") {
  const Folder folder;
  const std::string run = Simulated(kPair);
  const std::string own = ReadAll(run).find("H100") != std::string::npos ? "NVIDIA H100 80GB HBM3"
                                                                         : "NVIDIA A100-SXM4-80GB";
  const auto said = [&](const std::string& day, const std::string& name,
                        const std::string& minute = "08:53") {
    folder.Write("smi.csv", HotLog(day, name, minute));
    return RunAdvise(folder, "'" + run + "' smi.csv -v").out;
  };
  CHECK_THAT(said("2025/10/09", own), Contains("monitor/throttled") && !Contains("left out"));
  // Its clock may be of another zone.
  CHECK_THAT(said("2025/10/10", own), Contains("monitor/throttled"));
  CHECK_THAT(said("2025/10/09", own, "14:23"), Contains("monitor/throttled"));
  // No zone is minutes away.
  for (const char* minute : {"08:49", "08:56", "14:19"}) {
    CHECK_THAT(said("2025/10/09", own, minute),
               !Contains("monitor/throttled") && Contains("smi.csv does not cover the time"));
  }
  CHECK_THAT(said("2025/12/24", own),
             !Contains("monitor/throttled") && Contains("smi.csv was written on another day"));
  CHECK_THAT(said("2025/10/09", "NVIDIA RTX A4500"),
             !Contains("monitor/throttled") && Contains("smi.csv is of another GPU"));
}

TEST_CASE("a GPU that is hardly used is not called idle") {
  const Folder folder;
  const auto said = [&](const char* use) {
    std::string log =
        "# gpu    pwr  gtemp  mtemp     sm    mem\n# Idx      W      C      C      %      %\n";
    for (int i = 0; i < 8; ++i)
      log += std::string("    0     65     41     39      ") + use + "      1\n";
    folder.Write("dmon.txt", log);
    return RunAdvise(folder, "dmon.txt").out;
  };
  CHECK_THAT(said("3"), Contains("No GPU is busy for more than 3 % of the time in any sample") &&
                            !Contains("no GPU activity"));
  CHECK_THAT(said("0"), Contains("The monitor shows no GPU activity"));
}

TEST_CASE("a report and its own facts are one run, and its slice is no report") {
  const Folder folder;
  std::filesystem::copy_file(Simulated(kPair), folder / "run.sqlite");
  REQUIRE(RunAdvise(folder, "facts run.sqlite -o run.facts").status == 0);
  REQUIRE(RunAdvise(folder, "slice run.sqlite --finding 1 -o slice.json").status == 0);
  const Ran ran = RunAdvise(folder, ".");
  CHECK(ran.status == 0);
  CHECK_THAT(ran.out, !Contains("2 ×") && !Contains("ranks") && Contains("same capture"));
}

TEST_CASE("pageable copies of a table of GPU work alone have a fix and a saving") {
  const Folder folder;
  std::string table =
      "==1== NVPROF is profiling process 1, command: ./app\n"
      "\"Start\",\"Duration\",\"Grid X\",\"Grid Y\",\"Grid Z\",\"Block X\",\"Block Y\",\"Block "
      "Z\",\"Registers Per Thread\",\"Static SMem\",\"Dynamic SMem\",\"Size\",\"Throughput\","
      "\"SrcMemType\",\"DstMemType\",\"Device\",\"Context\",\"Stream\",\"Name\"\n"
      "ms,ms,,,,,,,,KB,B,MB,GB/s,,,,,,\n";
  const std::string place = ",\"Tesla V100-SXM2-16GB (0)\",\"1\",\"7\",";
  for (int i = 0; i < 60; ++i) {
    const std::string at = std::to_string(100 + 10 * i);
    table += at + ".0,7.0,,,,,,,,,,40.0,5.7,\"Pageable\",\"Device\"" + place +
             "\"[CUDA memcpy HtoD]\"\n";
    table += std::to_string(107 + 10 * i) + ".1,1.8,80,1,1,256,1,1,32,0,0,,,," + place +
             "\"stencil(float*, int) [0]\"\n";
  }
  folder.Write("trace.csv", table);
  const std::string out = RunAdvise(folder, "trace.csv").out;
  CHECK_THAT(out, Contains("nvprof") && !Contains("nsys stats"));
  CHECK_THAT(out, Contains("1  Use pinned host memory"));
}

TEST_CASE("what ended a job is the first thing that is told") {
  const Folder folder;
  folder.Write("run.log",
               "n2:1:2 [3] transport/net_ib.cc:1885 NCCL WARN NET/IB: Got completion from peer "
               "10.0.0.2<44321> with status=12 opcode=0 len=0 vendor err 129 (Recv)\n"
               "[Rank 3] Watchdog caught collective operation timeout: WorkNCCL(SeqNum=1123, "
               "OpType=ALLREDUCE, Timeout(ms)=600000) ran for 600012 milliseconds before timing "
               "out.\n");
  const std::string out = RunAdvise(folder, "run.log").out;
  CHECK_THAT(out, Contains("how the job ended") && Contains("10.0.0.2"));
  CHECK_THAT(out, Contains("Find out why a collective never ended"));
}

TEST_CASE("counters of DCGM that answer the question stand in the first sentence") {
  const Folder folder;
  std::string log = "#Entity   GRACT        SMACT        TENSO        DRAMA\nID\n";
  for (int i = 0; i < 60; ++i) log += "GPU 0     0.990        0.980        0.004        0.921\n";
  folder.Write("dcgm.txt", log);
  const std::string out = RunAdvise(folder, "dcgm.txt").out;
  CHECK_THAT(out, Contains("92 %") && Contains("Move fewer bytes") && !Contains("how well"));
}

TEST_CASE("ports that are down or slow are named, and what is left is to copy") {
  const Folder folder;
  const auto port = [](const char* name, const char* state, int rate) {
    return std::string("CA '") + name + "'\n\tPort 1:\n\t\tState: " + state +
           "\n\t\tRate: " + std::to_string(rate) + "\n\t\tLink layer: InfiniBand\n";
  };
  folder.Write("ibstat.txt", port("mlx5_0", "Active", 400) + port("mlx5_1", "Down", 10) +
                                 port("mlx5_2", "Active", 100));
  const std::string out = RunAdvise(folder, "ibstat.txt -v").out;
  CHECK_THAT(out, Contains("export NCCL_IB_HCA=mlx5_0\n"));
  CHECK_THAT(out, Contains("mlx5_1") && Contains("mlx5_2"));
}

}  // namespace
}  // namespace advise
