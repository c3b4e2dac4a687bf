#include "engine/cluster/pace.h"

#include <algorithm>

#include "engine/base/median.h"

namespace advise {

std::vector<std::vector<Nanos>> HostPace(const std::vector<RankSummary>& ranks, const Job& job) {
  std::vector<std::vector<Nanos>> pace(ranks.size(), std::vector<Nanos>(job.steps, 0));
  if (!job.has_steps || job.steps == 0) return pace;
  for (std::size_t r = 0; r < ranks.size(); ++r) {
    const std::vector<Nanos>& works = ranks[r].host_works;
    if (works.size() != ranks[r].steps.size()) continue;
    Nanos sum = 0;
    for (std::size_t s = 0; s < job.steps; ++s) {
      pace[r][s] = works[job.index[r * job.steps + s]];
      sum += pace[r][s];
    }
    const Nanos mean = sum / static_cast<Nanos>(job.steps);
    const Nanos most = std::max(mean, LowerMedian(pace[r]));
    for (Nanos& one : pace[r]) one = std::min(one, most);
  }
  return pace;
}

std::vector<Nanos> UsualHostWork(const std::vector<RankSummary>& ranks, const Job& job) {
  std::vector<Nanos> usual;
  for (std::size_t r = 0; r < ranks.size(); ++r) {
    const std::vector<Nanos>& works = ranks[r].host_works;
    std::vector<Nanos> of_steps;
    for (std::size_t s = 0; s < job.steps && works.size() == ranks[r].steps.size(); ++s) {
      if (job.has_steps) of_steps.push_back(works[job.index[r * job.steps + s]]);
    }
    usual.push_back(of_steps.empty() ? 0 : LowerMedian(of_steps));
  }
  return usual;
}

}  // namespace advise
