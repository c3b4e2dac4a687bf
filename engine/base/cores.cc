#include "engine/base/cores.h"

#include <sched.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <string>
#include <thread>

namespace advise {
namespace {

// Processors that a group grants time on; 0: as many as there are. `max` or a number of
// microseconds, then the period that it holds for.
double Granted(const std::string& group) {
  std::ifstream file(group + "/cpu.max");
  double quota = 0;
  double period = 0;
  return file >> quota >> period && quota > 0 && period > 0 ? quota / period : 0;
}

}  // namespace

int UsableCores() {
  cpu_set_t set;
  CPU_ZERO(&set);
  int cores = sched_getaffinity(0, sizeof(set), &set) == 0
                  ? CPU_COUNT(&set)
                  : static_cast<int>(std::thread::hardware_concurrency());
  // "0::/user.slice/job": the group, whose parents have limits, too.
  std::string line;
  for (std::ifstream groups("/proc/self/cgroup"); std::getline(groups, line);) {
    if (!line.starts_with("0::/")) continue;
    for (std::string group = line.substr(3);; group.resize(group.find_last_of('/'))) {
      const double granted = Granted("/sys/fs/cgroup" + group);
      if (granted > 0) cores = std::min(cores, static_cast<int>(std::ceil(granted)));
      if (group.empty()) break;
    }
  }
  return std::max(cores, 1);
}

int DefaultJobs() { return std::min(UsableCores(), 16); }

}  // namespace advise
