// `advise record`, with a stand-in for the profiler and for the launchers.
#include <catch2/catch.hpp>

#include "engine/app/capture_plan.h"
#include "engine/app/launcher.h"
#include "engine/knowledge/embedded.h"
#include "tests/app/json.h"
#include "tests/app/program.h"
#include "tests/app/simulated.h"

using Catch::Matchers::Contains;

namespace advise {
namespace {

using Words = std::vector<std::string>;

const Knowledge& Known() {
  static const Knowledge knowledge = std::move(*Knowledge::Load(EmbeddedKnowledge()));
  return knowledge;
}

bool Has(const Words& words, const std::string& word) {
  return std::find(words.begin(), words.end(), word) != words.end();
}

TEST_CASE("a launcher's options end where its program begins") {
  const auto srun = SplitLaunch({"srun", "-n", "4", "--gpus-per-node=4", "--cpu-bind=none", "-t",
                                 "10:00", "python", "train.py", "-n", "3"},
                                "auto");
  REQUIRE(srun);
  CHECK(srun->kind == LauncherKind::kSrun);
  CHECK(srun->program == Words{"python", "train.py", "-n", "3"});
  CHECK(srun->rank_variable == "SLURM_PROCID");
  const auto open = SplitLaunch(
      {"/usr/bin/mpirun", "-np", "2", "--mca", "btl", "self", "-x", "PATH", "./solver", "in"},
      "auto");
  REQUIRE(open);
  CHECK(open->program == Words{"./solver", "in"});
  CHECK(open->rank_variable == "OMPI_COMM_WORLD_RANK");
  const auto hydra = SplitLaunch({"mpiexec", "-n", "8", "-ppn", "4", "./solver"}, "auto");
  REQUIRE(hydra);
  CHECK(hydra->rank_variable == "PMI_RANK");
  const auto marked = SplitLaunch({"srun", "--strange=value", "--", "python", "a.py"}, "auto");
  REQUIRE(marked);
  CHECK(marked->program == Words{"python", "a.py"});
}

TEST_CASE("torchrun and plain programs are recorded from outside") {
  const auto torch = SplitLaunch({"torchrun", "--nproc-per-node", "4", "train.py"}, "auto");
  REQUIRE(torch);
  CHECK(torch->kind == LauncherKind::kTorchrun);
  CHECK(torch->launcher.empty());
  const auto module = SplitLaunch({"python3", "-m", "torch.distributed.run", "train.py"}, "auto");
  REQUIRE(module);
  CHECK(module->kind == LauncherKind::kTorchrun);
  const auto plain = SplitLaunch({"python", "train.py"}, "auto");
  REQUIRE(plain);
  CHECK(plain->kind == LauncherKind::kDirect);
  CHECK_FALSE(SplitLaunch({"srun", "-n", "4"}, "auto"));
  CHECK_FALSE(SplitLaunch({}, "auto"));
}

TEST_CASE("a launcher that is not in the command is said so, not taken from the program's words") {
  for (const Words& command : {Words{"./solver", "a", "b"}, Words{"python", "t.py"}}) {
    const auto line = SplitLaunch(command, "srun");
    REQUIRE_FALSE(line);
    CHECK_THAT(line.error().what, Contains("does not begin with srun"));
    CHECK_THAT(line.error().hint, Contains("--launcher none --rank-variable SLURM_PROCID"));
    CHECK_FALSE(SplitLaunch(command, "mpirun"));
  }
  const auto own = SplitLaunch({"/site/bin/mysrun", "-n", "2", "./solver"}, "srun");
  REQUIRE(own);
  CHECK(own->program == Words{"./solver"});
  CHECK(own->warnings.empty());
  const auto several = SplitLaunch({"mpirun", "-n", "2", "./a", ":", "-n", "2", "./b"}, "auto");
  REQUIRE(several);
  CHECK(several->warnings.size() == 1);
  const auto unknown = SplitLaunch({"jsrun", "-n", "2", "./a"}, "auto");
  REQUIRE(unknown);
  CHECK(unknown->warnings.size() == 1);
}

TEST_CASE("a level asks for what its rules need, and a higher one for more") {
  const LaunchLine plain = *SplitLaunch({"python", "train.py"}, "auto");
  CaptureRequest request;
  request.level = "light";
  const Words light = ProfilerCommand(Known(), request, plain);
  CHECK(Has(light, "--trace=cuda,nvtx"));
  CHECK_FALSE(Has(light, "--cuda-memory-usage=true"));
  CHECK(Has(light, "--sample=none"));
  request.level = "standard";
  const Words standard = ProfilerCommand(Known(), request, plain);
  CHECK(Has(standard, "--trace=cuda,nvtx,osrt,cudnn,cublas"));
  CHECK(Has(standard, "--cuda-memory-usage=true"));
  CHECK(Has(standard, "--duration=60"));
  CHECK(Has(standard, "--export=sqlite"));
  CHECK_FALSE(Has(standard, "--gpu-metrics-devices=all"));
  request.level = "full";
  const Words full = ProfilerCommand(Known(), request, plain);
  CHECK(Has(full, "--gpu-metrics-devices=all"));
  CHECK(Has(full, "--gpu-metrics-frequency=10000"));
  CHECK(Has(full, "--sample=process-tree"));
  CHECK_FALSE(Has(full, "--sample=none"));
  request.without = {"gpu-metrics", "cpu-sampling"};
  const Words kept = ProfilerCommand(Known(), request, plain);
  CHECK_FALSE(Has(kept, "--gpu-metrics-devices=all"));
  CHECK_FALSE(Has(kept, "--gpu-metrics-frequency=10000"));
  CHECK(Has(kept, "--sample=none"));
}

TEST_CASE("each rank's report has a name of its own, and one rank a node asks for the machine") {
  const LaunchLine srun = *SplitLaunch({"srun", "-n", "4", "python", "train.py"}, "auto");
  CaptureRequest request;
  const Words standard = FullCommand(Known(), request, srun, "/opt/advise");
  CHECK(Words(standard.begin(), standard.begin() + 5) ==
        Words{"srun", "-n", "4", "nsys", "profile"});
  CHECK(Has(standard, "--output=advise-run.%q{SLURM_PROCID}"));
  CHECK_FALSE(Has(standard, "--per-rank"));
  request.level = "full";
  const Words full = FullCommand(Known(), request, srun, "/opt/advise");
  CHECK(Words(full.begin(), full.begin() + 8) ==
        Words{"srun", "-n", "4", "/opt/advise", "record", "--per-rank", "--", "nsys"});
  const LaunchLine torch = *SplitLaunch({"torchrun", "train.py"}, "auto");
  const Words outside = FullCommand(Known(), request, torch, "/opt/advise");
  CHECK(outside.front() == "nsys");
  CHECK(Has(outside, "--output=advise-run.%h"));
  CHECK(outside.back() == "train.py");
}

TEST_CASE("mpiexec is the name of several launchers: each process tells which rank it is") {
  const Folder folder;
  const auto line = SplitLaunch({"mpiexec", "-n", "4", "./solver"}, "auto");
  REQUIRE(line);
  const Words command = FullCommand(Known(), CaptureRequest{}, *line, "advise");
  CHECK(Has(command, "--per-rank"));
  const std::string echo =
      "record --per-rank -- echo --output=run.%q{OMPI_COMM_WORLD_RANK} ./solver";
  const auto run = [&](const std::string& set) {
    return RunAdvise(folder, "-c '" + set + " exec " + ADVISE_PROGRAM + " " + echo + "'", "bash")
        .out;
  };
  CHECK_THAT(run("PMI_RANK=3"), Contains("--output=run.%q{PMI_RANK}"));
  CHECK_THAT(run("OMPI_COMM_WORLD_RANK=3"), Contains("%q{OMPI_COMM_WORLD_RANK}"));
}

TEST_CASE("delay, duration and the profiler's own range") {
  const LaunchLine plain = *SplitLaunch({"a"}, "auto");
  CaptureRequest request;
  request.delay_s = 30;
  request.duration_s = 12.5;
  Words words = ProfilerCommand(Known(), request, plain);
  CHECK(Has(words, "--delay=30"));
  CHECK(Has(words, "--duration=12.5"));
  CHECK(Has(words, "--kill=none"));
  request.range = true;
  words = ProfilerCommand(Known(), request, plain);
  CHECK(Has(words, "--capture-range=cudaProfilerApi"));
  CHECK_FALSE(Has(words, "--delay=30"));
}

TEST_CASE("what the machine does not allow is found out") {
  const Folder folder;
  folder.Write("proc/sys/kernel/perf_event_paranoid", "4\n");
  folder.Write("proc/driver/nvidia/params", "EnableMSI: 1\nRmProfilingAdminOnly: 1\n");
  const auto found = FindHindrances(folder.path(), false);
  REQUIRE(found.size() == 2);
  CHECK(found[0].tag == "cpu-sampling");
  CHECK_THAT(found[0].text, Contains("perf_event_paranoid is 4"));
  CHECK(found[1].tag == "gpu-metrics");
  CHECK(FindHindrances(folder.path(), true).empty());
  folder.Write("proc/sys/kernel/perf_event_paranoid", "2\n");
  folder.Write("proc/driver/nvidia/params", "RmProfilingAdminOnly: 0\n");
  CHECK(FindHindrances(folder.path(), false).empty());
  CHECK_THAT(OutputProblem(folder / "none/run"), Contains("does not exist"));
  CHECK(OutputProblem(folder / "run").empty());
}

TEST_CASE("--dry-run prints a line that a shell takes, whatever is in the command") {
  const Folder folder;
  const Ran ran = RunAdvise(
      folder,
      "record --dry-run --nsys /bin/true -- python train.py --name 'a b; touch owned $HOME'");
  CHECK(ran.status == 0);
  CHECK_THAT(ran.out, Contains("'a b; touch owned $HOME'"));
  const auto json =
      ParseJson(RunAdvise(folder, "record --dry-run --format json -- python train.py 'x y'").out);
  CHECK(json["command"].back() == "x y");
  CHECK(json["launcher"] == "none");
}

TEST_CASE("without the profiler there is a clear line, and what PyTorch can do") {
  const Folder folder;
  const Ran ran = RunAdvise(folder, "record --nsys /no/such/nsys -- python train.py");
  CHECK(ran.status == 3);
  CHECK_THAT(ran.err, Contains("Nsight Systems was not found") && Contains("torch.profiler"));
  CHECK(RunAdvise(folder, "record").status == 2);
  const Ran compiled = RunAdvise(folder, "record --nsys /no/such/nsys -- mpirun -n 4 ./a.out");
  CHECK(compiled.status == 3);
  CHECK_THAT(compiled.err, !Contains("torch") && Contains("developer.nvidia.com"));
}

// Does what `nsys profile` does, as far as record can tell: writes its words down, puts a trace
// where
// --output says (with %q{…} and %h filled), and runs the program.
std::string StandIn(const Folder& folder) {
  const std::string script =
      "#!/bin/bash\n"
      "printf '%s\\n' \"$@\" >> " +
      (folder / "words.txt") +
      "\n"
      "shift\n"
      "while [[ $1 == --* ]]; do case $1 in --output=*) name=${1#--output=};; esac; shift; done\n"
      "name=${name//%q\\{SLURM_PROCID\\}/$SLURM_PROCID}; name=${name//%h/node1}\n"
      "cp " +
      Simulated("scenarios/input/no-workers-cnn-a100") +
      " \"$name.sqlite\"\n"
      "exec \"$@\"\n";
  const std::string path = folder.Write("bin/nsys", script);
  std::filesystem::permissions(path, std::filesystem::perms::owner_all);
  return path;
}

// A launcher that starts two processes, one after the other.
void SrunStandIn(const Folder& folder) {
  const std::string path =
      folder.Write("bin/srun",
                   "#!/bin/bash\n"
                   "[ \"$1\" = -n ] && shift 2\n"
                   "for r in 0 1; do SLURM_PROCID=$r SLURM_LOCALID=$r \"$@\" || exit 1; done\n");
  std::filesystem::permissions(path, std::filesystem::perms::owner_all);
}

TEST_CASE("record runs the program with its words as they are, and diagnoses what was captured") {
  const Folder folder;
  StandIn(folder);
  const Ran ran =
      RunAdvise(folder, "record --nsys bin/nsys -o mine -- /bin/echo 'a  b;' '$(touch owned)'");
  INFO(ran.err);
  CHECK(ran.status == 0);
  CHECK_THAT(ran.out, Contains("a  b; $(touch owned)"));
  CHECK_THAT(ran.out, Contains("input/no-workers"));
  CHECK_FALSE(std::filesystem::exists(folder / "owned"));
  CHECK(std::filesystem::exists(folder / "mine.sqlite"));
  const Ran again = RunAdvise(folder, "record --nsys bin/nsys -o mine -- /bin/echo x");
  CHECK(again.status == 2);
  CHECK_THAT(again.err, Contains("--force"));
  CHECK(RunAdvise(folder, "record --nsys bin/nsys -o mine --force -- /bin/echo x").status == 0);
}

TEST_CASE("a program that fails is said to have failed, and is diagnosed all the same") {
  const Folder folder;
  StandIn(folder);
  const Ran ran = RunAdvise(folder, "record --nsys bin/nsys -- /bin/false");
  CHECK(ran.status == 0);
  CHECK_THAT(ran.err, Contains("ended with 1"));
  CHECK_THAT(ran.out, Contains("input/no-workers"));
}

TEST_CASE("of two ranks the first alone asks for the counters of the machine") {
  const Folder folder;
  const std::string nsys = StandIn(folder);
  SrunStandIn(folder);
  const Ran ran = RunAdvise(folder, "record --nsys " + nsys + " --level full --no-diagnosis -- " +
                                        (folder / "bin/srun") + " -n 2 /bin/true");
  INFO(ran.err);
  CHECK(ran.status == 0);
  CHECK(ran.out == "advise-run.0.sqlite\nadvise-run.1.sqlite\n");
  const std::string words = ReadAll(folder / "words.txt");
  std::size_t count = 0;
  for (std::size_t at = words.find("--nic-metrics=true"); at != std::string::npos;
       at = words.find("--nic-metrics=true", at + 1)) {
    ++count;
  }
  CHECK(count == 1);
  CHECK_THAT(words, Contains("--output=advise-run.%q{SLURM_PROCID}"));
}

}  // namespace
}  // namespace advise
