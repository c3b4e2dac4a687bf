#include "engine/cluster/identity.h"

#include <catch2/catch.hpp>

#include "tests/support/analyzed.h"

namespace advise {
namespace {

TEST_CASE("ranks that file names state") {
  CHECK(RankInFileName("/runs/worker3_step_12.1694128201557.pt.trace.json") == 3);
  CHECK(RankInFileName("run_rank-03.sqlite") == 3);
  CHECK(RankInFileName("report.rank12.nsys-rep") == 12);
  CHECK(RankInFileName("r7.facts") == 7);
  CHECK(RankInFileName("trace_rank=5.json") == 5);
}

TEST_CASE("numbers that are no ranks") {
  CHECK(RankInFileName("/rank_9/report1.sqlite") == -1);  // a folder's name is not the file's
  CHECK(RankInFileName("h100_2gpu_1s.sqlite") == -1);
  CHECK(RankInFileName("local_rank_2.sqlite") == -1);
  CHECK(RankInFileName("run-2026-11-21.sqlite") == -1);
  CHECK(RankInFileName("rank99999999999.sqlite") == -1);
}

TEST_CASE("the number in which names differ, when it is one and no two share it") {
  const auto NumberThatDiffers = [](const std::vector<std::string>& paths, int world = 0) {
    return advise::NumberThatDiffers(paths, world);
  };
  CHECK(NumberThatDiffers({"a/run.0.sqlite", "a/run.1.sqlite", "a/run.10.sqlite"}) ==
        std::vector<int>{0, 1, 10});
  CHECK(NumberThatDiffers({"run.0.sqlite", "run.3.sqlite"}, 4) == std::vector<int>{0, 3});
  CHECK(NumberThatDiffers({"run.0.sqlite", "run.4.sqlite"}, 4).empty());
  // Names by the time at which they were written, or numbers from 1.
  CHECK(NumberThatDiffers({"report_2026-11-30_03.sqlite", "report_2026-11-30_05.sqlite"}).empty());
  CHECK(NumberThatDiffers({"run.1.sqlite", "run.2.sqlite"}).empty());
  CHECK(NumberThatDiffers({"run1.0.sqlite", "run2.1.sqlite"}).empty());
  CHECK(NumberThatDiffers({"before.sqlite", "after.sqlite"}).empty());
  CHECK(NumberThatDiffers({"run.1.sqlite", "other/run.1.sqlite"}).empty());
  CHECK(NumberThatDiffers({"run.1.sqlite"}).empty());
}

TEST_CASE("PyTorch's handler writes the host into the name of the trace") {
  CHECK(HostInFileName("run/node17_41200.1760000000000.pt.trace.json") == "node17");
  CHECK(HostInFileName("gpu_a-2_7.99.pt.trace.json.gz") == "gpu_a-2");
  CHECK(HostInFileName("rank0.pt.trace.json").empty());
  CHECK(HostInFileName("worker0.1760.pt.trace.json").empty());
  CHECK(HostInFileName("worker7_step_12.1694128201553.pt.trace.json").empty());
  CHECK(HostInFileName("_12.34.pt.trace.json").empty());
  CHECK(HostInFileName("node17_41200.1760.json").empty());
}

TEST_CASE("a launcher's environment tells the rank of a report with one rank only") {
  Trace trace;
  trace.path = "x.sqlite";
  trace.environment = {{"RANK", "6"},
                       {"WORLD_SIZE", "8"},
                       {"LOCAL_RANK", "2"},
                       {"SLURM_JOB_ID", "4711"},
                       {"NCCL_P2P_LEVEL", "LOC"},
                       {"API_TOKEN", "secret"}};
  std::vector<RankSummary> one(1);
  IdentifyRanks(trace, ShippedKnowledge(), &one);
  CHECK(one[0].rank == 6);
  CHECK(one[0].rank_source == "environment");
  CHECK(one[0].world_size == 8);
  CHECK(one[0].local_rank == 2);
  CHECK(one[0].job == "SLURM_JOB_ID 4711");
  REQUIRE(one[0].switches.size() == 1);  // no other variable is kept
  CHECK(one[0].switches[0].first == "NCCL_P2P_LEVEL");

  std::vector<RankSummary> two(2);
  IdentifyRanks(trace, ShippedKnowledge(), &two);
  CHECK(two[0].rank == -1);  // the variable is that of the launcher
  CHECK(two[1].local_rank == 1);
}

TEST_CASE("every launcher's environment tells rank, local rank and the size of the run") {
  using Environment = std::vector<std::pair<std::string, std::string>>;
  const std::vector<Environment> launchers = {
      {{"OMPI_COMM_WORLD_RANK", "6"},
       {"OMPI_COMM_WORLD_LOCAL_RANK", "2"},
       {"OMPI_COMM_WORLD_SIZE", "8"}},
      {{"PMI_RANK", "6"}, {"MPI_LOCALRANKID", "2"}, {"PMI_SIZE", "8"}},
      {{"PMI_RANK", "6"}, {"PMI_LOCAL_RANK", "2"}, {"PMI_SIZE", "8"}},
      {{"MV2_COMM_WORLD_RANK", "6"},
       {"MV2_COMM_WORLD_LOCAL_RANK", "2"},
       {"MV2_COMM_WORLD_SIZE", "8"}},
      {{"SLURM_PROCID", "6"}, {"SLURM_LOCALID", "2"}, {"SLURM_STEP_NUM_TASKS", "8"}},
      // mpirun inside a job step, torchrun inside mpirun: the inner one started the process.
      {{"SLURM_PROCID", "0"},
       {"SLURM_LOCALID", "0"},
       {"SLURM_STEP_NUM_TASKS", "1"},
       {"OMPI_COMM_WORLD_RANK", "6"},
       {"OMPI_COMM_WORLD_LOCAL_RANK", "2"},
       {"OMPI_COMM_WORLD_SIZE", "8"}},
      {{"OMPI_COMM_WORLD_RANK", "1"},
       {"OMPI_COMM_WORLD_LOCAL_RANK", "0"},
       {"OMPI_COMM_WORLD_SIZE", "2"},
       {"RANK", "6"},
       {"LOCAL_RANK", "2"},
       {"WORLD_SIZE", "8"}},
  };
  for (const Environment& environment : launchers) {
    INFO(environment.front().first);
    Trace trace;
    trace.path = "x.sqlite";
    trace.environment = environment;
    std::vector<RankSummary> one(1);
    IdentifyRanks(trace, ShippedKnowledge(), &one);
    CHECK(one[0].rank == 6);
    CHECK(one[0].local_rank == 2);
    CHECK(one[0].world_size == 8);
  }
}

}  // namespace
}  // namespace advise
