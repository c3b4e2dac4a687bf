#include "engine/app/launcher.h"

#include <algorithm>
#include <map>
#include <set>

#include "engine/base/file_name.h"

namespace advise {
namespace {

// Options that take their value as a word of its own, and how many words. srun(1) of Slurm 24,
// mpirun(1) of Open MPI 5, mpiexec of MPICH 4 (Hydra).
const std::map<std::string, int>& SrunValues() {
  static const std::map<std::string, int> values = [] {
    std::map<std::string, int> all;
    for (const char* option : {"-A",
                               "-B",
                               "-C",
                               "-D",
                               "-G",
                               "-J",
                               "-L",
                               "-M",
                               "-N",
                               "-S",
                               "-T",
                               "-a",
                               "-b",
                               "-c",
                               "-d",
                               "-e",
                               "-i",
                               "-m",
                               "-n",
                               "-o",
                               "-p",
                               "-q",
                               "-r",
                               "-t",
                               "-w",
                               "-x",
                               "--account",
                               "--cluster",
                               "--clusters",
                               "--comment",
                               "--constraint",
                               "--cpus-per-task",
                               "--cpus-per-gpu",
                               "--chdir",
                               "--dependency",
                               "--distribution",
                               "--error",
                               "--exclude",
                               "--export",
                               "--gpus",
                               "--gpus-per-node",
                               "--gpus-per-task",
                               "--gres",
                               "--hint",
                               "--input",
                               "--job-name",
                               "--jobid",
                               "--mem",
                               "--mem-per-cpu",
                               "--mem-per-gpu",
                               "--mpi",
                               "--nodelist",
                               "--nodes",
                               "--ntasks",
                               "--ntasks-per-node",
                               "--ntasks-per-gpu",
                               "--output",
                               "--partition",
                               "--qos",
                               "--relative",
                               "--reservation",
                               "--signal",
                               "--task-epilog",
                               "--task-prolog",
                               "--threads",
                               "--threads-per-core",
                               "--time",
                               "--tmp",
                               "--wait",
                               "--wckey",
                               "--container-image",
                               "--container-mounts",
                               "--container-name",
                               "--container-workdir"}) {
      all[option] = 1;
    }
    return all;
  }();
  return values;
}

const std::map<std::string, int>& MpirunValues() {
  static const std::map<std::string, int> values = [] {
    std::map<std::string, int> all;
    for (const char* option : {"-n",
                               "-np",
                               "--np",
                               "-c",
                               "-N",
                               "-H",
                               "-host",
                               "--host",
                               "-hosts",
                               "-hostfile",
                               "--hostfile",
                               "-machinefile",
                               "--machinefile",
                               "-f",
                               "-x",
                               "--map-by",
                               "-map-by",
                               "--bind-to",
                               "-bind-to",
                               "--rank-by",
                               "-rank-by",
                               "-npernode",
                               "--npernode",
                               "-npersocket",
                               "--npersocket",
                               "-ppn",
                               "--ppn",
                               "-perhost",
                               "-wdir",
                               "--wdir",
                               "-wd",
                               "--prefix",
                               "-prefix",
                               "-rf",
                               "--rankfile",
                               "-envlist",
                               "-genvlist",
                               "-iface",
                               "-launcher",
                               "-rmk",
                               "-bootstrap",
                               "--timeout",
                               "--pmixmca",
                               "--output-filename",
                               "--personality"}) {
      all[option] = 1;
    }
    for (const char* option : {"-mca", "--mca", "-gmca", "--gmca", "-env", "-genv", "--prtemca"}) {
      all[option] = 2;
    }
    all["--pmixmca"] = 2;
    return all;
  }();
  return values;
}

// Where the program begins: after the options of the launcher.
std::size_t ProgramAt(const std::vector<std::string>& command,
                      const std::map<std::string, int>& values) {
  std::size_t at = 1;
  while (at < command.size()) {
    const std::string& word = command[at];
    if (word == "--") return at + 1;
    if (word.size() < 2 || word.front() != '-') return at;
    const auto takes = values.find(word);
    at += 1 + (takes == values.end() ? 0 : static_cast<std::size_t>(takes->second));
  }
  return command.size();
}

LauncherKind KindOf(const std::vector<std::string>& command) {
  const std::string name = FileName(command.front());
  if (name == "srun") return LauncherKind::kSrun;
  if (name == "mpirun" || name == "mpiexec" || name == "orterun" || name == "prterun" ||
      name == "mpiexec.hydra" || name == "mpirun_rsh") {
    return LauncherKind::kMpirun;
  }
  if (name == "torchrun" || name == "accelerate" || name == "deepspeed") {
    return LauncherKind::kTorchrun;
  }
  // python -m torch.distributed.run …, python -m torch.distributed.launch …
  const auto module = std::find(command.begin(), command.end(), "-m");
  if (name.rfind("python", 0) == 0 && module != command.end() && module + 1 != command.end() &&
      (module + 1)->rfind("torch.distributed.", 0) == 0) {
    return LauncherKind::kTorchrun;
  }
  return LauncherKind::kDirect;
}

// A launcher by its name, also a site's own: mysrun, mpiexec.openmpi, jsrun.
bool SoundsLikeLauncher(const std::string& word) {
  const std::string name = FileName(word);
  return name.starts_with("mpi") || name.ends_with("run");
}

// Launchers that start each process apart, but whose options are not known here.
bool IsOtherLauncher(const std::string& word) {
  static const std::set<std::string> others = {"jsrun", "aprun", "flux",
                                               "lrun",  "ibrun", "ccc_mprun"};
  return others.contains(FileName(word));
}

// Hydra sets PMI_RANK, Open MPI OMPI_COMM_WORLD_RANK: its own options tell which one this is.
std::string MpiRankVariable(const std::vector<std::string>& launcher) {
  static const std::set<std::string> hydra = {"-ppn",   "-genv",    "-genvlist", "-envlist",
                                              "-hosts", "-perhost", "-rmk",      "-bootstrap",
                                              "-iface", "-launcher"};
  const bool named = FileName(launcher.front()) == "mpiexec.hydra";
  const bool options = std::any_of(launcher.begin(), launcher.end(),
                                   [&](const std::string& word) { return hydra.contains(word); });
  return named || options ? "PMI_RANK" : "OMPI_COMM_WORLD_RANK";
}

}  // namespace

const char* LauncherName(LauncherKind kind) {
  switch (kind) {
    case LauncherKind::kSrun:
      return "srun";
    case LauncherKind::kMpirun:
      return "mpirun";
    case LauncherKind::kTorchrun:
      return "torchrun";
    case LauncherKind::kDirect:
      break;
  }
  return "none";
}

Result<LaunchLine> SplitLaunch(const std::vector<std::string>& command, const std::string& forced) {
  LaunchLine line;
  if (command.empty()) return Fail("no command to record", "", "advise record -- python train.py");
  line.kind = forced == "srun"       ? LauncherKind::kSrun
              : forced == "mpirun"   ? LauncherKind::kMpirun
              : forced == "torchrun" ? LauncherKind::kTorchrun
              : forced == "none"     ? LauncherKind::kDirect
                                     : KindOf(command);
  if (line.kind == LauncherKind::kDirect || line.kind == LauncherKind::kTorchrun) {
    line.program = command;
    if (forced == "auto" && IsOtherLauncher(command.front())) {
      line.warnings.emplace_back(
          command.front() +
          " starts processes that the profiler may not see from outside; put "
          "'advise record --no-diagnosis --launcher none --rank-variable NAME "
          "--' between " +
          command.front() + " with its options and the program");
    }
    return line;
  }
  const bool srun = line.kind == LauncherKind::kSrun;
  if (KindOf(command) != line.kind && !SoundsLikeLauncher(command.front())) {
    const std::string variable = srun ? "SLURM_PROCID" : "OMPI_COMM_WORLD_RANK";
    return Fail("the command does not begin with " + forced, command.front(),
                "write the launcher, too: advise record -- " + forced + " -n 4 " + command.front() +
                    "; in a process that it has started: --launcher none --rank-variable " +
                    variable);
  }
  const auto at =
      static_cast<std::ptrdiff_t>(ProgramAt(command, srun ? SrunValues() : MpirunValues()));
  line.launcher.assign(command.begin(), command.begin() + at);
  line.program.assign(command.begin() + at, command.end());
  if (line.program.empty()) {
    return Fail("no program was found behind the options of " + command.front(), "",
                "put -- before it: " + command.front() + " … -- python train.py");
  }
  if (std::find(line.program.begin(), line.program.end(), ":") != line.program.end()) {
    line.warnings.emplace_back(
        "':' begins a second program, which is not recorded; record each by a "
        "command line of its own");
  }
  line.rank_variable = srun ? "SLURM_PROCID" : MpiRankVariable(line.launcher);
  line.rank_is_guessed = FileName(command.front()) == "mpiexec";
  return line;
}

}  // namespace advise
