#include "engine/app/capture_plan.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "engine/base/is_in.h"

namespace advise {
namespace {

namespace fs = std::filesystem;

int LevelNumber(const std::string& level) {
  return level == "full" ? 3 : level == "standard" ? 2 : level == "light" ? 1 : 0;
}

std::string ReadFile(const std::string& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

// Adds "--name=a,b" to the list, joined with what stands there under the name.
void Join(const std::string& option, std::vector<std::string>* options) {
  const std::size_t equals = option.find('=');
  const std::string name = option.substr(0, equals);
  for (std::string& known : *options) {
    if (known.substr(0, known.find('=')) != name) continue;
    if (name == "--trace" && equals != std::string::npos) known += "," + option.substr(equals + 1);
    return;
  }
  options->push_back(option);
}

std::vector<std::string> Words(const std::string& text) {
  std::vector<std::string> words;
  std::size_t at = 0;
  while (at < text.size()) {
    const std::size_t end = std::min(text.find(' ', at), text.size());
    if (end > at) words.push_back(text.substr(at, end - at));
    at = end + 1;
  }
  return words;
}

bool StartsApart(const LaunchLine& line) {
  return line.kind == LauncherKind::kSrun || line.kind == LauncherKind::kMpirun;
}

}  // namespace

bool IsSystemWide(const std::string& option) {
  return option.rfind("--gpu-metrics-", 0) == 0 || option.rfind("--nic-metrics", 0) == 0 ||
         option.find("=system-wide") != std::string::npos;
}

std::vector<std::string> ProfilerCommand(const Knowledge& knowledge, const CaptureRequest& request,
                                         const LaunchLine& line) {
  std::vector<std::string> options;
  const auto without = [&](const std::string& tag) { return IsIn(tag, request.without); };
  for (const CaptureHint& hint : knowledge.capture_hints()) {
    const int from = LevelNumber(hint.level);
    const bool cluster = hint.tag == "cluster" && StartsApart(line) && request.level == "full";
    if (!cluster && (from == 0 || from > LevelNumber(request.level))) continue;
    if (without(hint.tag)) continue;
    for (const std::string& word : Words(hint.option)) Join(word, &options);
  }
  if (IsIn("--gpu-metrics-devices=all", options)) {
    options.emplace_back("--gpu-metrics-frequency=10000");
  }
  if (request.level != "full" || without("cpu-sampling")) options.emplace_back("--sample=none");
  if (request.range) {
    options.emplace_back("--capture-range=cudaProfilerApi");
    options.emplace_back("--capture-range-end=stop");
  } else {
    if (request.delay_s > 0) options.push_back(fmt::format("--delay={:.15g}", request.delay_s));
    if (request.duration_s > 0) {
      options.push_back(fmt::format("--duration={:.15g}", request.duration_s));
      // The program goes on when the capture is complete.
      options.emplace_back("--kill=none");
    }
  }
  options.emplace_back("--export=sqlite");
  if (request.force) options.emplace_back("--force-overwrite=true");
  std::string name = request.output;
  if (!line.rank_variable.empty()) name += ".%q{" + line.rank_variable + "}";
  if (line.kind == LauncherKind::kTorchrun) name += ".%h";
  options.push_back("--output=" + name);
  std::vector<std::string> command = {request.nsys, "profile"};
  command.insert(command.end(), options.begin(), options.end());
  return command;
}

std::vector<std::string> FullCommand(const Knowledge& knowledge, const CaptureRequest& request,
                                     const LaunchLine& line, const std::string& advise) {
  std::vector<std::string> profiler = ProfilerCommand(knowledge, request, line);
  std::vector<std::string> command = line.launcher;
  const bool system_wide = std::any_of(profiler.begin(), profiler.end(), IsSystemWide);
  if (StartsApart(line) && (system_wide || line.rank_is_guessed)) {
    for (const char* word : {"record", "--per-rank", "--"}) {
      if (command.size() == line.launcher.size()) command.push_back(advise);
      command.emplace_back(word);
    }
  }
  command.insert(command.end(), profiler.begin(), profiler.end());
  command.insert(command.end(), line.program.begin(), line.program.end());
  return command;
}

std::vector<Hindrance> FindHindrances(const std::string& root, bool is_admin) {
  std::vector<Hindrance> found;
  const std::string paranoid = ReadFile(root + "/proc/sys/kernel/perf_event_paranoid");
  if (!paranoid.empty() && std::atoi(paranoid.c_str()) > 2 && !is_admin) {
    found.push_back({"cpu-sampling", "perf_event_paranoid is " +
                                         std::to_string(std::atoi(paranoid.c_str())) +
                                         ": no CPU samples (an administrator can set it to 2)"});
  }
  const std::string driver = ReadFile(root + "/proc/driver/nvidia/params");
  if (driver.find("RmProfilingAdminOnly: 1") != std::string::npos && !is_admin) {
    found.push_back({"gpu-metrics",
                     "the driver keeps GPU counters for administrators: no GPU metrics "
                     "(NVreg_RestrictProfilingToAdminUsers=0 allows them)"});
  }
  return found;
}

std::string OutputProblem(const std::string& output) {
  const fs::path directory = fs::path(output).parent_path();
  const std::string where = directory.empty() ? "." : directory.string();
  std::error_code failed;
  if (!fs::is_directory(where, failed)) return "the directory " + where + " does not exist";
  if (access(where.c_str(), W_OK | X_OK) != 0) return "no report can be written to " + where;
  if (fs::path(output).filename().empty()) return "the name of the report is missing";
  if (output.find('%') != std::string::npos) {
    return "a % in the name has a meaning to the profiler";
  }
  return "";
}

}  // namespace advise
