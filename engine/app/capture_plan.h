// What to ask of the profiler so that the rules can judge: options by level, names of reports, and
// what this machine does not allow. Runs nothing.
#pragma once

#include <string>
#include <vector>

#include "engine/app/launcher.h"
#include "engine/knowledge/knowledge.h"

namespace advise {

struct CaptureRequest {
  std::string level = "standard";  // light | standard | full
  double delay_s = 0;
  double duration_s = 60;  // 0: to the end of the program
  bool range = false;      // between cudaProfilerStart and cudaProfilerStop
  std::string output = "advise-run";
  bool force = false;  // overwrite reports of that name
  std::string nsys = "nsys";
  std::vector<std::string> without;  // tags that the machine does not allow
};

// Whether an option records the whole machine, so that one process a node must ask for it.
bool IsSystemWide(const std::string& option);

// "nsys profile …" up to the program: every option that `level` takes, options of one name joined.
// The name of the report holds the rank, or the host of a node whose processes share a report.
std::vector<std::string> ProfilerCommand(const Knowledge& knowledge, const CaptureRequest& request,
                                         const LaunchLine& line);

// The whole command as it is run. Where system-wide options meet a launcher that starts processes
// apart, each of them goes through `advise record --per-rank`, which keeps those options for the
// first process of a node.
std::vector<std::string> FullCommand(const Knowledge& knowledge, const CaptureRequest& request,
                                     const LaunchLine& line, const std::string& advise);

// What this machine does not allow. `root` is "" but in tests.
struct Hindrance {
  std::string tag;   // the capture tag that it rules out, "" none
  std::string text;  // what is in the way, and what to do
};
std::vector<Hindrance> FindHindrances(const std::string& root, bool is_admin);

// "" when reports can be written there, else why not.
std::string OutputProblem(const std::string& output);

}  // namespace advise
