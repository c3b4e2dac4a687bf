#include "engine/cluster/identity.h"

#include <catch2/catch.hpp>

#include "engine/cluster/same_program.h"
#include "tests/cluster/ranks.h"
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

TEST_CASE("reports of different jobs or sizes are told apart") {
  std::vector<RankSummary> ranks = JobStory().Tell();
  CHECK(DifferentRuns(ranks, ShippedKnowledge()).empty());
  ranks[0].job = "SLURM_JOB_ID 1";
  ranks[3].job = "SLURM_JOB_ID 2";
  CHECK(DifferentRuns(ranks, ShippedKnowledge()) ==
        "rank_0.sqlite is of SLURM_JOB_ID 1, rank_3.sqlite of SLURM_JOB_ID 2");
  ranks[3].job = ranks[0].job;
  ranks[0].world_size = 4;
  ranks[2].world_size = 8;
  CHECK_FALSE(DifferentRuns(ranks, ShippedKnowledge()).empty());
}

TEST_CASE("kernels that begin and end at the same times are one capture") {
  std::vector<RankSummary> ranks(4);
  for (std::size_t r = 0; r < ranks.size(); ++r) ranks[r].path = "file " + std::to_string(r);
  ranks[0].work_print = ranks[2].work_print = 7;
  ranks[1].work_print = 8;
  CHECK(SameCaptures(ranks) == std::vector<std::uint32_t>{kNone, kNone, 0, kNone});
  ranks[0].rank = 0;
  ranks[2].rank = 1;  // say their names
  CHECK(SameCaptures(ranks)[2] == kNone);
  ranks[0].rank_source = ranks[2].rank_source = "file name";  // of a copy
  CHECK(SameCaptures(ranks)[2] == 0);
  ranks[2].pid = 4711;
  CHECK(SameCaptures(ranks)[2] == kNone);
}

TEST_CASE(
    "processes of different reports are different ones, whatever their containers call them") {
  JobStory story;
  std::vector<RankSummary> ranks = story.Tell();
  for (RankSummary& rank : ranks) rank.pid = 7;
  CHECK(Cluster(ranks, ShippedKnowledge()).processes == 4);
  for (RankSummary& rank : ranks) rank.path = "all.sqlite";
  CHECK(Cluster(ranks, ShippedKnowledge()).processes == 1);
}

TEST_CASE("windows of one process are no ranks, also where they overlap; the longest stays") {
  const auto others = [](const auto& change) {
    std::vector<RankSummary> ranks(3);
    for (std::size_t r = 0; r < ranks.size(); ++r) {
      ranks[r].path = "window " + std::to_string(r);
      ranks[r].pid = 4711;
      ranks[r].window_start = static_cast<Nanos>(r) * 1'000'000;
      ranks[r].window_end = ranks[r].window_start + (r == 1 ? 900'000 : 400'000);
    }
    change(&ranks);
    return OtherWindows(ranks, ShippedKnowledge());
  };
  using Ranks = std::vector<RankSummary>;
  const std::vector<std::uint32_t> none(3, kNone);
  CHECK(others([](Ranks*) {}) == std::vector<std::uint32_t>{1, kNone, 1});
  CHECK(others([](Ranks* r) { (*r)[1].supports_verdict = false; }) ==  // a start, say
        std::vector<std::uint32_t>{kNone, 0, 0});
  CHECK(others([](Ranks* r) { (*r)[2].pid = 4712; })[2] == kNone);
  CHECK(others([](Ranks* r) { (*r)[2].device = 1; })[2] == kNone);
  CHECK(others([](Ranks* r) { (*r)[2].host = "node2"; })[2] == kNone);
  CHECK(others([](Ranks* r) { (*r)[1].window_start = 0; }) ==  // at the same time
        std::vector<std::uint32_t>{kNone, kNone, 1});
  CHECK(others([](Ranks* r) {
          for (RankSummary& rank : *r) rank.pid = 0;
        }) == none);
  CHECK(others([](Ranks* r) {
          for (RankSummary& rank : *r) rank.path = "one file";
        }) == none);
  CHECK(others([](Ranks* r) {
          (*r)[1].rank = 1;
          (*r)[2].rank = 2;
        })[2] == kNone);
  CHECK(others([](Ranks* r) { (*r)[2].utc_origin_ns = 5; })[2] == kNone);   // nobody knows when
  CHECK(others([](Ranks* r) { (*r)[1].window_start = 300'000; })[0] == 1);  // cut with a margin
  CHECK(others([](Ranks* r) { (*r)[1].window_start = 100'000; })[0] == kNone);
  CHECK(others([](Ranks* r) {
          (*r)[1].window_start = 0;
          for (RankSummary& rank : *r) rank.device_uuid = "6b1f";
        }) == std::vector<std::uint32_t>{1, kNone, 1});  // one GPU, whenever
}

TEST_CASE("reports of different programs are told apart by their kernels") {
  const auto with = [](const char* path, std::vector<RankKernel> kernels) {
    RankSummary rank;
    rank.path = path;
    rank.kernels = std::move(kernels);
    return rank;
  };
  const RankSummary bert = with("bert", {{"gemm_64x64", 10, 800, 80}, {"softmax", 10, 200, 20}});
  const RankSummary again = with("again", {{"gemm_128x64", 10, 700, 70}, {"softmax", 9, 300, 20}});
  const RankSummary resnet = with("resnet", {{"conv", 10, 900, 90}, {"softmax", 1, 100, 100}});
  CHECK(DifferentRuns({bert, again}, ShippedKnowledge()).empty());
  CHECK(DifferentRuns({bert, resnet}, ShippedKnowledge()) ==
        "bert and resnet run different programs: 10 % of the time is in kernels of both");
  // Ranks of a job of one size may do different work.
  std::vector<RankSummary> job = {bert, resnet};
  for (std::size_t i = 0; i < job.size(); ++i) {
    job[i].world_size = 2;
    job[i].rank = static_cast<int>(i);
  }
  CHECK(DifferentRuns(job, ShippedKnowledge()).empty());
}

TEST_CASE("reports that were recorded hours apart are of different runs") {
  std::vector<RankSummary> ranks(2);
  ranks[0].path = "monday";
  ranks[1].path = "tuesday";
  ranks[0].utc_origin_ns = 1'760'000'000'000'000'000;
  ranks[1].utc_origin_ns = ranks[0].utc_origin_ns + 60'000'000'000;
  CHECK(DifferentRuns(ranks, ShippedKnowledge()).empty());
  ranks[1].utc_origin_ns = ranks[0].utc_origin_ns + 86'400'000'000'000;
  CHECK_FALSE(DifferentRuns(ranks, ShippedKnowledge()).empty());
}

}  // namespace
}  // namespace advise
