// A command line that starts a job, taken apart: the launcher (srun, mpirun, torchrun) with its own
// options, and the program that it starts. Tells where a profiler goes in between.
#pragma once

#include <string>
#include <vector>

#include "engine/base/error.h"

namespace advise {

enum class LauncherKind { kDirect, kSrun, kMpirun, kTorchrun };

struct LaunchLine {
  LauncherKind kind = LauncherKind::kDirect;
  std::vector<std::string> launcher;  // with its options; empty when the profiler goes outside
  std::vector<std::string> program;
  // Environment variable that holds a rank's number; empty when the profiler sees all processes of
  // a node together.
  std::string rank_variable;
  bool rank_is_guessed = false;       // the launcher's name is that of several, which set others
  std::vector<std::string> warnings;  // what the profiler will not see, as sentences
};

const char* LauncherName(LauncherKind kind);

// `forced`: auto, none, srun, mpirun or torchrun. Processes of torchrun share a parent, so the
// profiler goes outside and follows them all; those of srun and mpirun start apart, one profiler
// each. A word "--" ends the launcher's options for certain. Fails when no program is left, and
// when the command does not begin with the launcher that it is said to begin with.
Result<LaunchLine> SplitLaunch(const std::vector<std::string>& command, const std::string& forced);

}  // namespace advise
