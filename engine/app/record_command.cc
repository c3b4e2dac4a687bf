// `advise record`: captures a run with what the rules need, then diagnoses it. Starts programs with
// their words as they are, never through a shell.
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <climits>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <filesystem>

#include "engine/app/capture_plan.h"
#include "engine/app/command.h"
#include "engine/app/options.h"
#include "engine/base/ascii.h"
#include "engine/base/launcher_variables.h"
#include "engine/pipeline/session.h"
#include "engine/report/json_value.h"
#include "engine/report/shell.h"

namespace advise {
namespace {

namespace fs = std::filesystem;

const char* const kTorchSnippet =
    "Without it, PyTorch can record a trace that advise reads:\n"
    "\n"
    "  from torch.profiler import profile, schedule, ProfilerActivity\n"
    "  with profile(activities=[ProfilerActivity.CPU, ProfilerActivity.CUDA],\n"
    "               schedule=schedule(wait=1, warmup=2, active=5), profile_memory=True,\n"
    "               on_trace_ready=lambda p: p.export_chrome_trace(\"trace.json.gz\")) as prof:\n"
    "      for batch in loader:\n"
    "          train_step(batch)\n"
    "          prof.step()\n"
    "\n"
    "then: advise trace.json.gz\n";

// Whether the program is one of Python: PyTorch's own profiler may be of use then.
bool IsPython(const std::vector<std::string>& words) {
  return std::any_of(words.begin(), words.end(), [](const std::string& word) {
    const std::string name = fs::path(word).filename().string();
    return name.starts_with("python") || name.ends_with(".py") || name == "torchrun" ||
           name == "accelerate" || name == "deepspeed";
  });
}

bool IsProgram(const std::string& path) {
  std::error_code failed;
  return fs::is_regular_file(path, failed) && access(path.c_str(), X_OK) == 0;
}

// On PATH, else where installers put it, the newest first; "" when it is nowhere.
std::string FindNsys() {
  const char* path = std::getenv("PATH");
  const std::string all = path == nullptr ? "" : path;
  std::size_t at = 0;
  while (at < all.size()) {
    const std::size_t end = std::min(all.find(':', at), all.size());
    std::string candidate = all.substr(at, end - at) + "/nsys";
    if (end > at && IsProgram(candidate)) return candidate;
    at = end + 1;
  }
  std::vector<std::string> places = {"/usr/local/cuda/bin/nsys"};
  std::error_code failed;
  for (fs::directory_iterator it("/opt/nvidia/nsight-systems", failed), end; !failed && it != end;
       it.increment(failed)) {
    places.push_back(it->path().string() + "/bin/nsys");
  }
  std::sort(places.begin() + 1, places.end(), std::greater<>());
  for (const std::string& place : places) {
    if (IsProgram(place)) return place;
  }
  return "";
}

std::string OwnPath() {
  std::error_code failed;
  const fs::path path = fs::read_symlink("/proc/self/exe", failed);
  return failed ? "advise" : path.string();
}

std::vector<char*> Pointers(std::vector<std::string>& words) {
  std::vector<char*> pointers;
  pointers.reserve(words.size() + 1);
  for (std::string& word : words) pointers.push_back(word.data());
  pointers.push_back(nullptr);
  return pointers;
}

// Exit status of the command, 128 + signal, or 127 when it could not be started. Interrupts go to
// the command; advise goes on with what it leaves.
int RunCommand(std::vector<std::string> words) {
  std::vector<char*> pointers = Pointers(words);
  std::fflush(nullptr);
  struct sigaction ignore = {}, before = {};
  ignore.sa_handler = SIG_IGN;
  sigaction(SIGINT, &ignore, &before);
  const pid_t child = fork();
  if (child == 0) {
    sigaction(SIGINT, &before, nullptr);
    execvp(pointers.front(), pointers.data());
    std::fprintf(stderr, "advise: %s: %s\n", pointers.front(), std::strerror(errno));
    _exit(127);
  }
  int status = 0;
  while (child > 0 && waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  sigaction(SIGINT, &before, nullptr);
  if (child < 0) return 127;
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

std::string ShellLine(const std::vector<std::string>& words) {
  std::string line;
  for (const std::string& word : words) line += (line.empty() ? "" : " ") + ShellQuote(word);
  return line;
}

// MPI's libraries name a rank's number differently, and mpiexec is the name of several launchers:
// where the variable that the name asks for is not set, one that is.
std::string WithSetRank(const std::string& output) {
  const std::string begin = "%q{";
  const std::size_t at = output.find(begin);
  const std::size_t end = at == std::string::npos ? at : output.find('}', at);
  if (end == std::string::npos) return output;
  const std::string asked = output.substr(at + begin.size(), end - at - begin.size());
  if (std::getenv(asked.c_str()) != nullptr) return output;
  for (const std::string_view name : kRankVariables) {
    if (std::getenv(name.data()) == nullptr) continue;
    return output.substr(0, at + begin.size()) + std::string(name) + output.substr(end);
  }
  return output;
}

// Reports under the name that was asked for: name.sqlite and name.RANK.sqlite; where the export is
// missing, the profiler's own file.
std::vector<std::string> ReportsOf(const std::string& output) {
  const fs::path directory = fs::path(output).parent_path();
  const std::string stem = fs::path(output).filename().string() + ".";
  std::vector<std::string> reports;
  std::error_code failed;
  for (fs::directory_iterator it(directory.empty() ? "." : directory, failed), end;
       !failed && it != end; it.increment(failed)) {
    const std::string name = it->path().filename().string();
    if (!name.starts_with(stem)) continue;
    const std::string path = (directory / name).string();
    if (name.ends_with(".sqlite")) {
      reports.push_back(path);
    } else if (name.ends_with(".nsys-rep")) {
      const std::string exported = path.substr(0, path.size() - 9) + ".sqlite";
      if (!fs::exists(exported, failed)) reports.push_back(path);
    }
  }
  std::sort(reports.begin(), reports.end());
  return reports;
}

class RecordCommand : public Command {
 public:
  std::string Name() const override { return "record"; }
  std::string Summary() const override {
    return "Captures a run with what the rules need, then diagnoses it.";
  }
  std::string Examples() const override {
    return "advise record -- python train.py\n"
           "advise record --level full --delay 60 --duration 30 -- torchrun --nproc-per-node 4 "
           "train.py\n"
           "advise record -o runs/a -- srun -n 8 python train.py\n"
           "advise record --dry-run -- mpirun -np 4 ./solver";
  }

  void AddOptions(CLI::App& app) override {
    app.add_option("COMMAND", command_, "what to run, after --")->type_name("");
    app.add_option("--level", request_.level,
                   "light: kernels, copies, calls, ranges; standard: also OS calls, memory and "
                   "libraries; full: also hardware counters, CPU samples, page faults")
        ->check(OneOf({"light", "standard", "full"}));
    app.add_option("--delay", request_.delay_s, "seconds to wait before recording, for start-up")
        ->check(CLI::Range(0.0, 1e6))
        ->type_name("S");
    app.add_option("--duration", request_.duration_s,
                   "seconds to record, 0 for all; half a minute or a few steps are enough")
        ->check(CLI::Range(0.0, 1e6))
        ->type_name("S");
    app.add_flag("--range", request_.range,
                 "record from cudaProfilerStart to cudaProfilerStop, not by time");
    app.add_option("--output,-o", request_.output, "name of the reports, without a suffix")
        ->type_name("NAME");
    app.add_flag("--force", request_.force, "overwrite reports of that name");
    app.add_option("--launcher", launcher_, "auto, none, srun, mpirun or torchrun")
        ->check(OneOf({"auto", "none", "srun", "mpirun", "torchrun"}));
    app.add_option("--rank-variable", rank_variable_,
                   "environment variable with a process's rank, when the launcher is not known")
        ->type_name("NAME");
    app.add_option("--nsys", nsys_, "path of the profiler (default: the one on PATH)")
        ->type_name("PATH");
    app.add_flag("--dry-run", dry_run_, "print the command, run nothing");
    app.add_flag("--no-diagnosis", no_diagnosis_, "capture only");
    app.add_flag("--per-rank", per_rank_, "")->group("");
    app.add_option("--format", format_, "of --dry-run")
        ->check(OneOf({"text", "json"}))
        ->type_name("FORMAT");
  }

  int Run() override {
    if (per_rank_) return RunRank();
    auto line = SplitLaunch(command_, launcher_);
    if (!line) return Complain(line.error(), kWrongUsage);
    if (!rank_variable_.empty()) {
      const bool plain = std::all_of(rank_variable_.begin(), rank_variable_.end(), IsWordChar);
      if (!plain) return Complain({"is no variable's name", "--rank-variable", ""}, kWrongUsage);
      line->rank_variable = rank_variable_;
    }
    DiagnoseOptions shipped;
    const auto session = LoadSession(shipped);
    if (!session) return Complain(session.error(), kBrokenRules);
    std::vector<std::string> warnings = line->warnings;
    for (const Hindrance& hindrance : FindHindrances("", geteuid() == 0)) {
      const CaptureHint* hint = session->knowledge->FindCaptureHint(hindrance.tag);
      if (hint != nullptr && hint->level == "full" && request_.level != "full") continue;
      request_.without.push_back(hindrance.tag);
      warnings.push_back(hindrance.text);
    }
    request_.nsys = nsys_.empty() ? FindNsys() : nsys_;
    const bool found = !request_.nsys.empty() && (nsys_.empty() || IsProgram(nsys_));
    if (!found && nsys_.empty()) request_.nsys = "nsys";
    const std::vector<std::string> command =
        FullCommand(*session->knowledge, request_, *line, OwnPath());
    if (dry_run_) return DryRun(command, *line, warnings, found);
    for (const std::string& warning : warnings)
      std::fprintf(stderr, "advise: %s\n", warning.c_str());
    if (!found) {
      const int code = Complain(
          {"Nsight Systems was not found, so nothing can be recorded",
           nsys_.empty() ? "nsys" : nsys_,
           "install it (https://developer.nvidia.com/nsight-systems, free of charge), load "
           "its module, or name it with --nsys PATH"},
          kUnreadableInput);
      if (IsPython(line->program)) std::fputs(kTorchSnippet, stderr);
      return code;
    }
    const std::string problem = OutputProblem(request_.output);
    if (!problem.empty())
      return Complain({problem, request_.output, "name another: -o"}, kWrongUsage);
    if (!request_.force && !ReportsOf(request_.output).empty()) {
      return Complain({"reports of that name exist", request_.output,
                       "choose another name with -o, or overwrite them with --force"},
                      kWrongUsage);
    }
    return Record(command);
  }

 private:
  int DryRun(const std::vector<std::string>& command, const LaunchLine& line,
             const std::vector<std::string>& warnings, bool found) const {
    if (format_ == "json") {
      std::fputs(PrintJson({{"schema", 1},
                            {"command", JsonTexts(command)},
                            {"launcher", LauncherName(line.kind)},
                            {"warnings", JsonTexts(warnings)},
                            {"profiler_found", found}})
                     .c_str(),
                 stdout);
      return kAnalyzed;
    }
    std::printf("%s\n", ShellLine(command).c_str());
    for (const std::string& warning : warnings)
      std::fprintf(stderr, "advise: %s\n", warning.c_str());
    if (!found) std::fputs("advise: nsys was not found on this machine\n", stderr);
    return kAnalyzed;
  }

  int Record(const std::vector<std::string>& command) const {
    std::fprintf(stderr, "advise: %s\n", ShellLine(command).c_str());
    const int status = RunCommand(command);
    if (status == 127) {
      return Complain({"the command could not be started", command.front(), ""}, kUnreadableInput);
    }
    const std::vector<std::string> reports = ReportsOf(request_.output);
    if (reports.empty()) {
      return Complain({fmt::format("the command ended with {} and left no report", status),
                       request_.output, "run it by hand: advise record --dry-run …"},
                      kUnreadableInput);
    }
    if (status != 0) {
      std::fprintf(stderr, "advise: the command ended with %d; here is what was recorded\n",
                   status);
    }
    if (no_diagnosis_) {
      for (const std::string& report : reports) std::printf("%s\n", report.c_str());
      return kAnalyzed;
    }
    std::vector<const char*> arguments = {"advise"};
    for (const std::string& report : reports) arguments.push_back(report.c_str());
    return RunProgram(static_cast<int>(arguments.size()), arguments.data());
  }

  // One process of several that a launcher starts apart: becomes the profiler. Counters of the
  // whole machine are asked for by the first process of a node alone; a second one would fail or
  // double them.
  int RunRank() const {
    const char* local = nullptr;
    for (const std::string_view name : kLocalRankVariables) {
      if (local == nullptr) local = std::getenv(name.data());
    }
    const bool first = local == nullptr || std::strcmp(local, "0") == 0;
    std::vector<std::string> words;
    bool options = true;  // of the profiler: up to its --output
    for (const std::string& word : command_) {
      if (options && !first && IsSystemWide(word)) continue;
      words.push_back(options && word.starts_with("--output=") ? WithSetRank(word) : word);
      if (word.starts_with("--output=")) options = false;
    }
    if (words.empty()) return Complain({"no command", "--per-rank", ""}, kWrongUsage);
    std::vector<char*> pointers = Pointers(words);
    execvp(pointers.front(), pointers.data());
    return Complain({std::strerror(errno), words.front(), ""}, kUnreadableInput);
  }

  CaptureRequest request_;
  std::vector<std::string> command_;
  std::string launcher_ = "auto";
  std::string rank_variable_;
  std::string nsys_;
  std::string format_ = "text";
  bool dry_run_ = false;
  bool no_diagnosis_ = false;
  bool per_rank_ = false;
};

}  // namespace

std::unique_ptr<Command> MakeRecordCommand() { return std::make_unique<RecordCommand>(); }

}  // namespace advise
