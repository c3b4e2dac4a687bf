// Several reports as one run, from end to end, on jobs that the simulator writes one report a rank.
#include <fmt/format.h>

#include <catch2/catch.hpp>

#include "tests/app/json.h"
#include "tests/app/program.h"
#include "tests/app/simulated.h"
#include "tests/app/simulated_ranks.h"
#include "tests/support/schema.h"

using Catch::Matchers::Contains;

namespace advise {
namespace {

constexpr const char* kStraggler = "scenarios/rank/straggler-compute-x4";
constexpr const char* kApart = "--clock-ms 250 --drift-us 300";

void CopyInto(const Folder& folder, const std::string& from, const std::string& to) {
  std::filesystem::create_directories(folder / to);
  std::filesystem::copy(from, folder / to, std::filesystem::copy_options::overwrite_existing);
}

TEST_CASE("a folder of ranks is one run, and names the rank that the others wait for") {
  const Folder folder;
  const Json report = JsonOf(folder, RanksOf(kStraggler, kApart));
  CHECK(SchemaProblems(report) == std::vector<std::string>());
  REQUIRE(report["inputs"].size() == 4);
  CHECK(report["inputs"][3]["rank"] == 3);
  REQUIRE(report["devices"].size() == 4);
  CHECK(report["devices"][2]["rank"] == 2);
  REQUIRE_FALSE(report["findings"].empty());
  const Json& first = report["findings"][0];
  CHECK(first["rule"] == "rank/straggler");
  CHECK(first["where"]["ranks"] == Json::array({2}));
  CHECK(report["facts"]["cluster.ranks"]["value"] == 4);
  CHECK(report["facts"]["cluster.aligned"]["value"] == 1);
  double share = 0;
  for (const Json& finding : report["findings"]) share += finding["saving"]["share"].get<double>();
  CHECK(share <= 1.0 + 1e-9);
  const auto fact = [&](const char* name) { return report["facts"][name]["value"].get<double>(); };
  CHECK(fact("cluster.efficiency.parallel") ==
        Approx(fact("cluster.efficiency.load_balance") * fact("cluster.efficiency.communication") *
               fact("cluster.efficiency.orchestration")));
}

TEST_CASE("a capture, its facts, its slice and its unexported report are one run in a folder") {
  const Folder folder;
  CopyInto(folder, Simulated("scenarios/input/no-workers-cnn-a100"), "e");
  const std::string report = std::filesystem::directory_iterator(folder / "e")->path().string();
  const std::string stem = report.substr(0, report.rfind('.'));
  REQUIRE(RunAdvise(folder, "facts " + report + " -o " + stem + ".facts").status == 0);
  REQUIRE(RunAdvise(folder, "slice " + report + " --finding 1 -o e/slice.json").status == 0);
  std::ofstream(stem + ".nsys-rep", std::ios::binary) << std::string("\1\0\2\3", 4) + "no text";
  const Json both = JsonOf(folder, "e");
  CHECK(both["devices"].size() == 1);
  CHECK(both["findings"][0]["rule"] == JsonOf(folder, report)["findings"][0]["rule"]);
}

TEST_CASE("clocks of their own, or all in one report: the straggler's price is the same") {
  const Folder folder;
  const auto price = [&](const std::string& where) {
    return JsonOf(folder, where)["findings"][0]["saving"]["share"].get<double>();
  };
  Simulate(folder, kStraggler, "-o one.sqlite");
  const double apart = price(RanksOf(kStraggler, kApart));
  CHECK(price(RanksOf(kStraggler)) == Approx(apart).margin(0.005));
  CHECK(price(RanksOf(kStraggler, "--clock-ms 3600000 --drift-us 9e9")) ==
        Approx(apart).margin(0.005));  // an hour apart, and UTC wrong by hours
  // One report is judged by its own replay, which does not hide what waiting laid bare.
  CHECK(price("one.sqlite") == Approx(apart).margin(0.08));
}

TEST_CASE(
    "a slow batch right after the start costs the same in one report as in one of each rank") {
  const Folder folder;
  const std::string scenario = "scenarios/ranks/early-slow-batch-x2";
  Simulate(folder, scenario, "-o one.sqlite");
  for (const std::string& where : {std::string("one.sqlite"), RanksOf(scenario)}) {
    const Json first = JsonOf(folder, where)["findings"][0];
    CHECK(first["saving"]["share"].get<double>() == Approx(0.782).margin(0.01));
  }
}

TEST_CASE("facts files stand in for the reports, and say the same") {
  const Folder folder;
  const std::string reports = RanksOf(kStraggler, kApart);
  REQUIRE(RunAdvise(folder, "facts " + reports + " -o kept/").status == 0);
  Json from_reports = JsonOf(folder, reports);
  Json from_facts = JsonOf(folder, "kept/");
  for (const Json& input : from_facts["inputs"]) CHECK(input["kind"] == "facts");
  from_reports.erase("inputs");
  from_facts.erase("inputs");
  CHECK(from_facts == from_reports);

  // One facts file, and one beside reports.
  Json one = JsonOf(folder, reports + "/rank_1.sqlite");
  Json kept = JsonOf(folder, "kept/rank_1.facts");
  one.erase("inputs");
  kept.erase("inputs");
  CHECK(kept == one);
  const Json mixed = JsonOf(folder, reports + "/rank_0.sqlite kept/rank_1.facts " + reports +
                                        "/rank_2.sqlite kept/rank_3.facts");
  CHECK(mixed["findings"] == from_reports["findings"]);
  CHECK_THAT(RunAdvise(folder, "why rank/straggler kept/").out, Contains("rank.late.share"));
  const Ran what = RunAdvise(folder, "whatif kept/ --fix rank/straggler");
  CHECK(what.status == 2);
  CHECK_THAT(what.err, Contains("a facts file holds no run to replay"));
  CHECK_THAT(RunAdvise(folder, "why transfer/pageable-copy kept/rank_1.facts").out,
             Contains("transfer/pageable-copy"));
}

TEST_CASE("a facts file is small, and never written over an input") {
  const Folder folder;
  const std::string report = RanksOf(kStraggler) + "/rank_0.sqlite";
  REQUIRE(RunAdvise(folder, "facts " + report + " -o a.facts").status == 0);
  CHECK(std::filesystem::file_size(folder / "a.facts") < 80 * 1024);
  const std::string before = ReadAll(folder / "a.facts");
  const Ran over = RunAdvise(folder, "facts a.facts -o a.facts");
  CHECK(over.status == 2);
  CHECK(ReadAll(folder / "a.facts") == before);
  REQUIRE(RunAdvise(folder, "facts a.facts -o b.facts").status == 0);
  CHECK(JsonOf(folder, "b.facts")["findings"] == JsonOf(folder, "a.facts")["findings"]);
}

TEST_CASE("the same ranks give the same bytes, whatever --jobs and the order of names") {
  const Folder folder;
  const std::string ranks = RanksOf(kStraggler, kApart);
  const std::string one = RunAdvise(folder, ranks + " --jobs 1").out;
  CHECK(one == RunAdvise(folder, ranks + " --jobs 3").out);
  const std::string json = RunAdvise(folder, ranks + " --jobs 1 --format json").out;
  CHECK(json == RunAdvise(folder, ranks + " --jobs 3 --format json").out);
}

TEST_CASE("four processes of mpirun print once what one prints") {
  const Folder folder;
  if (std::system("mpirun --version >/dev/null 2>&1") != 0) {
    WARN("skipped: there is no mpirun here");
    return;
  }
  const std::string beside =
      std::filesystem::path(ADVISE_PROGRAM).parent_path().string() + "/libadvise_mpi.so";
  if (!std::filesystem::exists(beside)) {
    WARN("skipped: built without MPI");
    return;
  }
  const std::string ranks = RanksOf(kStraggler, kApart);
  const std::string mpirun =
      "OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 "
      "OMPI_MCA_btl=self,vader,tcp mpirun --oversubscribe -n 4 '" ADVISE_PROGRAM "' ";
  const auto run = [&](const std::string& arguments) {
    const int status = std::system(("cd '" + folder.path() + "' && env -u ADVISE_SHARE " + mpirun +
                                    arguments + " >out.txt 2>err.txt")
                                       .c_str());
    return Ran{WIFEXITED(status) ? WEXITSTATUS(status) : -1, ReadAll(folder / "out.txt"),
               ReadAll(folder / "err.txt")};
  };
  const std::string serial = RunAdvise(folder, ranks + " --format json").out;
  const Ran parallel = run(ranks + " --format json");
  INFO(parallel.err);
  REQUIRE(parallel.status == 0);
  CHECK(parallel.out == serial);
  REQUIRE(run("facts " + ranks + " -o kept/").status == 0);
  CHECK(JsonOf(folder, "kept/")["findings"] == ParseJson(serial)["findings"]);
  const Ran one = run(ranks + "/rank_0.sqlite --format json");
  CHECK(one.out == RunAdvise(folder, ranks + "/rank_0.sqlite --format json").out);
}

TEST_CASE("a rank without a report is named, and nothing is guessed of it") {
  const Folder folder;
  const std::string ranks = RanksOf(kStraggler);
  for (const int rank : {0, 1, 3}) {
    CopyInto(folder, ranks + "/rank_" + std::to_string(rank) + ".sqlite", "some");
  }
  const Ran ran = RunAdvise(folder, "some");
  CHECK(ran.status == 0);
  CHECK_THAT(ran.out, Contains("no report of rank 2 of 4"));
  const Json report = JsonOf(folder, "some");
  CHECK(report["facts"]["cluster.missing"]["value"] == 1);
  for (const Json& finding : report["findings"]) CHECK(finding["rule"] != "rank/straggler");
}

TEST_CASE("one cut report of four: the others are judged, and the exit status says so") {
  const Folder folder;
  const std::string ranks = RanksOf(kStraggler);
  for (const int rank : {0, 1, 2, 3}) {
    CopyInto(folder, ranks + "/rank_" + std::to_string(rank) + ".sqlite", "some");
  }
  std::filesystem::resize_file(folder / "some/rank_3.sqlite", 8192);
  const Ran ran = RunAdvise(folder, "some");
  CHECK(ran.status == 3);
  CHECK_THAT(ran.err, Contains("rank_3.sqlite"));
  CHECK(std::count(ran.err.begin(), ran.err.end(), '\n') == 1);
  CHECK_THAT(ran.out, Contains("Speed up the rank that the others wait for"));
  CHECK_THAT(ran.out, Contains("rank_3.sqlite"));
}

TEST_CASE("reports of different runs are refused with one line") {
  const Folder folder;
  CopyInto(folder, RanksOf(kStraggler) + "/rank_0.sqlite", "mixed");
  CopyInto(folder, RanksOf("scenarios/rank/straggler-loading-x2") + "/rank_1.sqlite", "mixed");
  const Ran ran = RunAdvise(folder, "mixed");
  CHECK(ran.status == 3);
  CHECK(ran.out.empty());
  CHECK_THAT(ran.err, Contains("different runs") && Contains("4 ranks") && Contains("on 2"));
}

TEST_CASE("two reports of the same rank: one is left out, and both are named") {
  const Folder folder;
  const std::string ranks = RanksOf(kStraggler);
  for (const int rank : {0, 1, 2, 3}) {
    CopyInto(folder, ranks + "/rank_" + std::to_string(rank) + ".sqlite", "some");
  }
  std::filesystem::copy(folder / "some/rank_1.sqlite", folder / "some/x_again.sqlite");
  const Json report = JsonOf(folder, "some");
  CHECK(report["devices"].size() == 4);
  CHECK_THAT(report.dump(), Contains("x_again.sqlite is the same capture as"));
}

TEST_CASE("windows that a profiler wrote of one process are no ranks: the longest is judged") {
  const Folder folder;
  for (const auto& [name, outside] :
       {std::pair{"first.sqlite", "> 0.4"}, std::pair{"second.sqlite", "< 0.45"}}) {
    std::filesystem::copy(Simulated("scenarios/launch/bound-mild"), folder / name);
    std::string cut = "create table cut as select min(start) + (max(\"end\") - min(start)) * " +
                      std::string(outside).substr(2) + " as at from CUPTI_ACTIVITY_KIND_KERNEL; ";
    for (const char* table : {"CUPTI_ACTIVITY_KIND_RUNTIME", "CUPTI_ACTIVITY_KIND_KERNEL",
                              "CUPTI_ACTIVITY_KIND_MEMCPY", "NVTX_EVENTS"}) {
      cut += fmt::format("delete from {} where start {} (select at from cut); ", table, outside[0]);
    }
    const Ran ran = RunAdvise(folder, fmt::format("{} '{}drop table cut'", name, cut), "sqlite3");
    INFO(ran.err);
    REQUIRE(ran.status == 0);
  }
  const Json report = JsonOf(folder, "first.sqlite second.sqlite");
  CHECK(report["devices"].size() == 1);
  CHECK(report["facts"]["cluster.ranks"]["value"] == 1);
  CHECK_THAT(report.dump(),
             Contains("first.sqlite shows the same process as second.sqlite, not another rank"));
}

TEST_CASE("a report of another run that claims a rank again is left out, by its file's name") {
  const Folder folder;
  CopyInto(folder, RanksOf(kStraggler) + "/rank_0.sqlite", "some");
  CopyInto(folder, RanksOf(kStraggler) + "/rank_1.sqlite", "some");
  std::filesystem::copy(RanksOf(kStraggler, "--seed 5") + "/rank_1.sqlite",
                        folder / "some/x_other.sqlite");
  const Json report = JsonOf(folder, "some");
  CHECK(report["devices"].size() == 2);
  CHECK_THAT(report.dump(), Contains("x_other.sqlite is left out: it claims to be rank 1 (") &&
                                Contains("as rank_1.sqlite does"));
}

TEST_CASE("a run of another time whose steps look alike is not taken for the same one") {
  const Folder folder;
  const std::string other = RanksOf(kStraggler, "--seed 5 --drift-us 9e9");  // hours later
  CopyInto(folder, RanksOf(kStraggler) + "/rank_0.sqlite", "some");
  CopyInto(folder, other + "/rank_2.sqlite", "some");
  const Json report = JsonOf(folder, "some");
  CHECK(report["facts"]["cluster.aligned"]["value"] == 0);
  CHECK_THAT(report.dump(), Contains("match no other rank's"));
}

TEST_CASE("a rank that captured other steps is compared in those that all have") {
  const Folder folder;
  // Twelve steps after two of warm-up; rank 1's capture holds the third to the ninth of them.
  const std::string ranks =
      RanksOf("scenarios/ranks/straggler-two-nodes-x4", "--only-steps 1 4 10 --clock-ms 999");
  const Json report = JsonOf(folder, ranks);
  CHECK(report["facts"]["cluster.aligned"]["value"] == 1);
  const double steps = report["facts"]["cluster.steps"]["value"].get<double>();
  CHECK(steps >= 5);
  CHECK(steps <= 9);  // the host of rank 1 was ahead of its GPU
  CHECK_THAT(report.dump(), Contains("common steps (of up to"));
  CHECK(report["findings"][0]["rule"] == "rank/straggler");
  CHECK(report["findings"][0]["where"]["ranks"] == Json::array({3}));
}

TEST_CASE("one of eight ranks is missing: it is named, and a healthy job stays healthy") {
  const Folder folder;
  const std::string ranks = RanksOf("scenarios/ranks/healthy-two-nodes-x8", kApart);
  for (const int rank : {0, 1, 2, 3, 4, 6, 7}) {
    CopyInto(folder, ranks + "/rank_" + std::to_string(rank) + ".sqlite", "some");
  }
  const Ran ran = RunAdvise(folder, "some");
  CHECK(ran.status == 0);
  CHECK_THAT(ran.out, Contains("no report of rank 5 of 8"));
  const Json report = JsonOf(folder, "some");
  CHECK(report["facts"]["cluster.ranks"]["value"] == 7);
  CHECK(report["facts"]["cluster.missing"]["value"] == 1);
  CHECK(NothingToFix(report));
}

TEST_CASE("traces of PyTorch's handler tell hosts by their names, and sizes of collectives") {
  const Folder folder;
  const Json report = JsonOf(folder, RanksOf("scenarios/ranks/low-bandwidth-network-x4"));
  CHECK(report["facts"]["cluster.hosts"]["value"] == 2);
  // 2 GB/s between nodes, as NCCL counts it.
  CHECK(report["facts"]["comm.path.across.rate"]["value"].get<double>() ==
        Approx(2e9).epsilon(0.1));
}

TEST_CASE("without the environment, the names of the files tell the ranks") {
  const Folder folder;
  const Json report = JsonOf(folder, RanksOf(kStraggler, "--no-environment"));
  CHECK(report["findings"][0]["where"]["ranks"] == Json::array({2}));
}

TEST_CASE("healthy ranks stay healthy") {
  const Folder folder;
  for (const char* scenario :
       {"scenarios/healthy/ddp-overlapped-v100-x4", "scenarios/healthy/fsdp-prefetched-x2"}) {
    const Json report = JsonOf(folder, RanksOf(scenario, kApart));
    INFO(scenario << report["findings"].dump());
    CHECK(NothingToFix(report));
  }
}

// One name and grid stands for kernels of several lengths; which of them happen to run beside
// collectives is no contention.
TEST_CASE("kernels of unequal work beside collectives are no contention, whatever the lot says") {
  const Folder folder;
  for (const char* seed : {"--seed 1", "--seed 3"}) {
    const Json report = JsonOf(folder, RanksOf("scenarios/ranks/healthy-two-nodes-x8", seed));
    INFO(seed << report["findings"].dump());
    CHECK(NothingToFix(report));
  }
}

TEST_CASE("a slow node of two stands out by its hosts") {
  const Folder folder;
  const Json report = JsonOf(folder, RanksOf("scenarios/ranks/slow-node", "--ranks-per-node 2"));
  REQUIRE_FALSE(report["findings"].empty());
  CHECK(report["findings"][0]["rule"] == "rank/outlier-node");
  CHECK(report["findings"][0]["where"]["ranks"] == Json::array({2, 3}));
  CHECK(report["facts"]["cluster.hosts"]["value"] == 2);
}

TEST_CASE("strategies are told from kinds, phases and groups") {
  const Folder folder;
  const auto strategy = [&](const std::string& scenario) {
    return JsonOf(folder, RanksOf(scenario))["facts"]["strategy.name"]["value"];
  };
  CHECK(strategy("scenarios/healthy/ddp-overlapped-v100-x4") == "ddp");
  CHECK(strategy("scenarios/healthy/fsdp-prefetched-x2") == "zero-3");
  CHECK(strategy("scenarios/ranks/pipeline-alternating-x4") == "pipeline");
  CHECK(strategy("scenarios/ranks/healthy-tensor-in-node-x4") == "tensor + ddp");
  CHECK(strategy("scenarios/ranks/healthy-sharded-in-node-x4") == "zero-3");
  // All-to-alls by sends beside kernels that route tokens; a ring of sends beside attention.
  CHECK(strategy("scenarios/ranks/healthy-experts-x4") == "ddp + expert");
  CHECK(strategy("scenarios/ranks/healthy-ring-x4") == "ddp + context");
}

// What the simulator knows of a scenario.
Json TruthOf(const Folder& folder, const std::string& scenario) {
  return ParseJson(Simulate(folder, scenario, "--truth"));
}

TEST_CASE("groups of ranks are told by who meets whom: sizes and nodes") {
  const Folder folder;
  const auto facts = [&](const std::string& scenario) {
    return JsonOf(folder, RanksOf(scenario))["facts"];
  };
  const Json inside = facts("scenarios/ranks/healthy-tensor-in-node-x4");
  CHECK(inside["strategy.tensor"]["value"] == 2);
  CHECK(inside["strategy.data"]["value"] == 2);
  CHECK(inside["strategy.tensor_across_nodes"]["value"] == 0);
  const Json across = facts("scenarios/ranks/tensor-across-nodes-x4");
  CHECK(across["strategy.tensor"]["value"] == 4);
  CHECK(across["strategy.tensor_across_nodes"]["value"] == 1);
  CHECK(facts("scenarios/ranks/healthy-sharded-in-node-x4")["strategy.data"]["value"] == 2);
  CHECK(facts("scenarios/ranks/cross-node-gather-x4")["strategy.data"]["value"] == 4);
  CHECK(facts("scenarios/ranks/healthy-experts-x4")["strategy.expert"]["value"] == 4);
  CHECK(facts("scenarios/ranks/healthy-ring-x4")["strategy.context"]["value"] == 4);
}

TEST_CASE("faults of many ranks: the first finding is the fault, at its true price") {
  const Folder folder;
  // The margin is in shares of the time; what a rule claims in part is compared with that part.
  struct Case {
    const char* scenario;
    double margin;
  };
  for (const Case& one : std::vector<Case>{{"straggler-two-nodes-x4", 0.03},
                                           {"slow-node", 0.03},
                                           {"uneven-compute", 0.05},
                                           {"uneven-loading", 0.08},
                                           {"every-microstep", 0.05},
                                           {"pipeline", 0.03},
                                           {"pipeline-alternating-x4", 0.03},
                                           {"pipeline-interleaved-x4", 0.03},
                                           {"pipeline-uneven", 0.05},
                                           {"serial-sync-two-nodes-x4", 0.08},
                                           {"zero3-overhead-x4", 0.05},
                                           {"cross-node-gather-x4", 0.15},
                                           {"tensor-across-nodes-x4", 0.15},
                                           {"low-bandwidth-nvlink-x4", 0.15},
                                           {"low-bandwidth-network-x4", 0.1},
                                           {"contention-x4", 0.06}}) {
    const std::string scenario = std::string("scenarios/ranks/") + one.scenario;
    const Json truth = TruthOf(folder, scenario)["faults"][0];
    const Json report = JsonOf(folder, RanksOf(scenario));
    INFO(scenario << " " << report["findings"].dump());
    REQUIRE_FALSE(report["findings"].empty());
    const Json& first = report["findings"][0];
    CHECK(first["rule"] == truth["rule"]);
    CHECK(first["saving"]["share"].get<double>() ==
          Approx(truth["saving_share"].get<double>()).margin(one.margin));
  }
}

TEST_CASE("healthy jobs of many ranks have no finding above info") {
  const Folder folder;
  for (const char* scenario : {"healthy-pipeline-alternating-x4", "healthy-pipeline-interleaved-x4",
                               "healthy-tensor-in-node-x4", "healthy-sharded-in-node-x4",
                               "healthy-two-nodes-x8", "healthy-experts-x4", "healthy-ring-x4"}) {
    const Json report = JsonOf(folder, RanksOf(std::string("scenarios/ranks/") + scenario));
    INFO(scenario << " " << report["findings"].dump());
    for (const Json& finding : report["findings"]) CHECK(finding["severity"] == "info");
    CHECK(NothingToFix(report));
  }
}

TEST_CASE("ranks that take turns at being slow are an imbalance") {
  const Folder folder;
  const Json compute = JsonOf(folder, RanksOf("scenarios/ranks/uneven-compute", kApart));
  REQUIRE_FALSE(compute["findings"].empty());
  CHECK(compute["findings"][0]["rule"] == "rank/compute-imbalance");
  const Json input = JsonOf(folder, RanksOf("scenarios/ranks/uneven-loading", kApart));
  REQUIRE_FALSE(input["findings"].empty());
  CHECK(input["findings"][0]["rule"] == "rank/input-imbalance");
  // The same on two hosts: slow by turns is no slow host.
  const Json hosts =
      JsonOf(folder, RanksOf("scenarios/ranks/uneven-loading", "--ranks-per-node 2"));
  CHECK(hosts["findings"][0]["rule"] == "rank/input-imbalance");
}

TEST_CASE("a pipeline's stages, micro-batches and bubble") {
  const Folder folder;
  const Json report = JsonOf(folder, RanksOf("scenarios/ranks/pipeline"));
  CHECK(report["facts"]["strategy.name"]["value"] == "pipeline");
  CHECK(report["findings"][0]["rule"] == "pipeline/bubble");
  const Json uneven = JsonOf(folder, RanksOf("scenarios/ranks/pipeline-uneven"));
  CHECK(uneven["facts"]["pipeline.slowest"]["value"] == 2);
  CHECK(uneven["findings"][0]["rule"] == "pipeline/stage-imbalance");
  CHECK(uneven["findings"][0]["where"]["ranks"] == Json::array({2}));
}

// A pipeline of so many stages and micro-batches, as a scenario.
std::string PipelineScenario(const std::string& schedule, int stages, int micros, int chunks = 1) {
  const auto number = [](const char* key, int value) {
    return std::string(key) + " = " + std::to_string(value) + "\n";
  };
  return "name = \"pipe\"\narea = \"ranks\"\nkind = \"healthy\"\n[job]\n"
         "base = \"transformer-training\"\ngpu = \"a100\"\nrank_sees_one_device = true\n" +
         number("layers", 2 * stages * chunks) + number("ranks", stages) + number("steps", 6) +
         number("seed", 200 + stages + micros) + number("micro_steps", micros) +
         "[job.comm]\nmode = \"pipeline\"\nactivation_mb = 4.0\nschedule = \"" + schedule + "\"\n" +
         number("chunks", chunks);
}

TEST_CASE("the bubble is what the simulator let stages wait, for both schedules") {
  const Folder folder;
  for (const char* schedule : {"all-forward", "alternating"}) {
    for (const auto& [stages, micros] :
         std::vector<std::pair<int, int>>{{2, 3}, {2, 8}, {4, 4}, {4, 12}, {8, 8}}) {
      const std::string name =
          std::string(schedule) + "-" + std::to_string(stages) + "-" + std::to_string(micros);
      folder.Write(name + ".toml", PipelineScenario(schedule, stages, micros));
      const Ran made = RunAdvise(folder, name + ".toml --truth --per-rank " + name + " " + kApart,
                                 ADVISE_SIM_PROGRAM);
      INFO(name << made.err);
      REQUIRE(made.status == 0);
      const double truth = ParseJson(made.out)["waiting_in_sends"].get<double>();
      const Json facts = JsonOf(folder, name)["facts"];
      CHECK(facts["pipeline.stages"]["value"] == stages);
      CHECK(facts["pipeline.micro_batches"]["value"] == micros);
      CHECK(facts["pipeline.bubble"]["value"].get<double>() == Approx(truth).margin(0.02));
      const double p = stages - 1;
      CHECK(facts["pipeline.expected"]["value"].get<double>() == Approx(p / (micros + p)));
    }
  }
}

TEST_CASE("interleaved schedules: chunks, micro-batches and bubble") {
  const Folder folder;
  struct Case {
    int stages, micros, chunks;
    bool ranges;
  };
  for (const Case& one : std::vector<Case>{{4, 8, 2, true},
                                           {4, 8, 2, false},
                                           {4, 4, 3, true},
                                           {4, 16, 4, true},
                                           {8, 8, 2, true},
                                           {3, 6, 2, false},
                                           {2, 6, 2, true},
                                           {2, 8, 3, true}}) {
    const std::string name = fmt::format("interleaved-{}-{}-{}-{}", one.stages, one.micros,
                                         one.chunks, one.ranges ? "named" : "bare");
    std::string scenario = PipelineScenario("interleaved", one.stages, one.micros, one.chunks);
    if (!one.ranges) scenario.replace(scenario.find("ranks = "), 0, "ranges = false\n");
    folder.Write(name + ".toml", scenario);
    const Ran made = RunAdvise(folder, name + ".toml --truth --per-rank " + name + " " + kApart,
                               ADVISE_SIM_PROGRAM);
    INFO(name << made.err);
    REQUIRE(made.status == 0);
    const double truth = ParseJson(made.out)["waiting_in_sends"].get<double>();
    const Json report = JsonOf(folder, name);
    const Json& facts = report["facts"];
    INFO(facts["strategy.evidence"].dump());
    CHECK(facts["strategy.name"]["value"] == "pipeline");
    CHECK(facts["pipeline.stages"]["value"] == one.stages);
    CHECK(facts["pipeline.chunks"]["value"] == one.chunks);
    CHECK(facts["pipeline.bubble"]["value"].get<double>() == Approx(truth).margin(0.02));
    // Where nothing tells steps, micro-batches per step cannot be counted.
    if (!one.ranges && !facts.contains("pipeline.micro_batches")) continue;
    CHECK(facts["pipeline.micro_batches"]["value"] == one.micros);
    const double p = one.stages - 1;
    CHECK(facts["pipeline.expected"]["value"].get<double>() ==
          Approx(p / (one.chunks * one.micros + p)));
    // What is advised is not what is there.
    for (const Json& finding : report["findings"]) {
      if (finding["rule"] == "pipeline/bubble") {
        CHECK(finding.dump().find("Use an interleaved schedule") == std::string::npos);
      }
    }
  }
}

TEST_CASE("gradients sent after every micro-step") {
  const Folder folder;
  const Json report = JsonOf(folder, RanksOf("scenarios/ranks/every-microstep"));
  REQUIRE_FALSE(report["findings"].empty());
  CHECK(report["findings"][0]["rule"] == "comm/every-microstep");
  CHECK_FALSE(report["facts"].contains("comm.micro.backwards"));  // a fact of single reports
  const Json once = JsonOf(folder, RanksOf("scenarios/ranks/every-microstep", "--without all"));
  for (const Json& finding : once["findings"]) CHECK(finding["rule"] != "comm/every-microstep");
}

}  // namespace
}  // namespace advise
