#include "engine/cluster/coupling.h"

#include <algorithm>
#include <string>

namespace advise {

bool AreCoupled(const std::vector<RankSummary>& ranks, const Job& job, double least) {
  const auto of_one_job = [](const RankSummary& rank) {
    return rank.world_size > 1 || rank.time.Cause(IdleCause::kPeerWait) > 0 ||
           rank.languages.find("MPI") != std::string::npos;
  };
  if (std::any_of(ranks.begin(), ranks.end(), of_one_job)) return true;
  std::vector<Nanos> ends(job.ranks, 0);
  std::vector<Nanos> alone(job.ranks, 0);
  const auto spread = [](const std::vector<Nanos>& times) {
    const auto [first, last] = std::minmax_element(times.begin(), times.end());
    return static_cast<double>(*last - *first);
  };
  double apart = 0;
  double apart_alone = 0;
  for (std::size_t s = 0; s < job.steps; ++s) {
    for (std::size_t r = 0; r < job.ranks; ++r) {
      ends[r] += job.length[r * job.steps + s];
      alone[r] += job.Own(r, s);
    }
    apart += spread(ends);
    apart_alone += spread(alone);
  }
  return apart_alone - apart >= least * apart_alone;
}

}  // namespace advise
