#include "engine/timeline/collective_match.h"

#include <algorithm>
#include <limits>

namespace advise {

std::vector<std::vector<std::uint32_t>> MatchCollectives(const Run& run) {
  const OpTable& ops = run.trace.ops;
  std::vector<std::vector<std::uint32_t>> of_device(run.trace.devices.size());
  for (std::uint32_t op = 0; op < ops.size(); ++op) {
    if (run.IsComm(op)) of_device[ops.device[op]].push_back(op);
  }
  std::erase_if(of_device, [](const auto& list) { return list.empty(); });
  std::vector<std::vector<std::uint32_t>> groups;
  if (of_device.size() < 2) return groups;
  std::vector<std::size_t> next(of_device.size(), 0);
  while (true) {
    std::vector<std::uint32_t> group;
    Nanos latest_start = std::numeric_limits<Nanos>::min();
    Nanos earliest_end = std::numeric_limits<Nanos>::max();
    std::size_t first_to_end = 0;
    for (std::size_t d = 0; d < of_device.size(); ++d) {
      if (next[d] == of_device[d].size()) return groups;
      const std::uint32_t op = of_device[d][next[d]];
      group.push_back(op);
      latest_start = std::max(latest_start, ops.start[op]);
      if (ops.end[op] < earliest_end) {
        earliest_end = ops.end[op];
        first_to_end = d;
      }
    }
    if (latest_start < earliest_end) {
      groups.push_back(std::move(group));
      for (std::size_t& n : next) ++n;
    } else {
      ++next[first_to_end];
    }
  }
}

}  // namespace advise
