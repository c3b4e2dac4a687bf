#include "engine/cluster/sums.h"

#include <algorithm>
#include <map>

namespace advise {

Comm CommOfRanks(const std::vector<RankSummary>& ranks) {
  Comm comm;
  std::map<std::string, CollectiveRow> kinds;
  std::vector<double> lengths;
  for (const RankSummary& rank : ranks) {
    const RankCollectives& list = rank.collectives;
    for (std::size_t i = 0; i < list.size(); ++i) {
      const auto length = static_cast<double>(list.end[i] - list.start[i]);
      const std::string& kind = rank.kinds[list.kind[i]];
      CollectiveRow& row = kinds[kind.empty() ? "unnamed" : kind];
      row.count += 1;
      row.time_ns += length;
      row.exposed_ns += static_cast<double>(list.exposed[i]);
      lengths.push_back(length);
    }
    comm.count += static_cast<std::int64_t>(list.size());
    comm.per_step += static_cast<double>(list.size()) /
                     static_cast<double>(std::max<std::size_t>(1, rank.steps.size()));
  }
  double time = 0, exposed = 0;
  for (auto& [kind, row] : kinds) {
    row.kind = kind;
    time += row.time_ns;
    exposed += row.exposed_ns;
    comm.kinds.push_back(row);
  }
  const auto count = static_cast<double>(std::max<std::size_t>(1, ranks.size()));
  comm.per_step /= count;
  comm.time_ns = time / count;
  comm.overlap = time > 0 ? 1 - exposed / time : 0;
  comm.median_ns = Median(std::move(lengths));
  return comm;
}

}  // namespace advise
