#include "engine/pipeline/ranks_of_report.h"

#include <algorithm>
#include <map>
#include <set>

#include "engine/cluster/identity.h"
#include "engine/timeline/names.h"

namespace advise {
namespace {

// Which GPUs communicate, and which of them as equals: from broadcasts and reductions alone one GPU
// serves the others (torch.nn.DataParallel).
struct Talk {
  Talk(const Trace& trace, const Knowledge& knowledge)
      : any(trace.devices.size(), 0), as_equal(trace.devices.size(), 0) {
    const Names names(trace, knowledge);
    for (std::uint32_t op = 0; op < trace.ops.size(); ++op) {
      if (trace.ops.kind[op] != OpKind::kKernel) continue;
      const std::uint32_t shape = trace.ops.detail[op];
      if (!names.IsCommunication(shape)) continue;
      const std::string& kind = names.Kernel(shape).collective;
      any[trace.ops.device[op]] = 1;
      if (kind != "broadcast" && kind != "reduce") as_equal[trace.ops.device[op]] = 1;
    }
  }
  std::vector<std::uint8_t> any, as_equal;  // by device
};

// Whether processes launch the same kernels, each as often as the others: those of a job that
// communicates by other means than kernels (MPI) go through the same iterations.
bool DoTheSame(const Trace& trace, const std::vector<std::uint32_t>& owners,
               const Knowledge& knowledge) {
  std::map<std::uint32_t, std::map<StringId, std::int64_t>> launched;  // by process, by kernel
  for (std::uint32_t op = 0; op < trace.ops.size(); ++op) {
    if (trace.ops.kind[op] != OpKind::kKernel) continue;
    ++launched[owners[trace.ops.device[op]]][trace.shapes[trace.ops.detail[op]].name];
  }
  if (launched.empty()) return true;
  const auto same = knowledge.Number("cluster.same_work");
  const auto& first = launched.begin()->second;
  return std::all_of(launched.begin(), launched.end(), [&](const auto& process) {
    std::int64_t shared = 0;
    std::int64_t all = 0;
    for (const auto& [name, count] : process.second) {
      const auto other = first.find(name);
      shared += other == first.end() ? 0 : std::min(count, other->second);
      all += count;
    }
    std::int64_t of_first = 0;
    for (const auto& [name, count] : first) of_first += count;
    return static_cast<double>(shared) >= same * static_cast<double>(std::max(all, of_first));
  });
}

// Whether each of these processes calls MPI: they are ranks of one job, also where one of them does
// more than the others.
bool AllCallMpi(const Trace& trace,
                const std::map<std::uint32_t, std::vector<std::uint32_t>>& gpus_of) {
  std::set<std::uint32_t> calling;
  for (const std::uint32_t thread : trace.mpi.thread)
    if (thread != kNone) calling.insert(trace.threads[thread].process);
  return std::all_of(gpus_of.begin(), gpus_of.end(),
                     [&](const auto& one) { return calling.contains(one.first); });
}

}  // namespace

std::vector<RankPlace> RanksOf(const Trace& trace, const Knowledge& knowledge) {
  const std::vector<std::uint32_t> owners = OwnersOfGpus(trace);
  const auto working = std::count_if(owners.begin(), owners.end(),
                                     [](std::uint32_t process) { return process != kNone; });
  if (working < 2) return {};
  const Talk talk(trace, knowledge);
  std::vector<RankPlace> ranks;
  std::map<std::uint32_t, std::vector<std::uint32_t>> gpus_of;
  for (std::uint32_t d = 0; d < owners.size(); ++d) {
    if (owners[d] != kNone) gpus_of[owners[d]].push_back(d);
  }
  const auto talks = [&](std::uint32_t d) { return talk.any[d] != 0; };
  const bool silent =
      std::none_of(talk.any.begin(), talk.any.end(), [](std::uint8_t any) { return any != 0; });
  const auto of_one_job = [&] {
    return gpus_of.size() >= 2 &&
           (AllCallMpi(trace, gpus_of) || DoTheSame(trace, owners, knowledge));
  };
  if (silent && !of_one_job()) return {};
  for (const auto& [process, gpus] : gpus_of) {
    const auto equal = [&](std::uint32_t d) { return talk.as_equal[d] != 0; };
    if (!silent && std::none_of(gpus.begin(), gpus.end(), talks)) return {};
    if (gpus.size() > 1 && std::all_of(gpus.begin(), gpus.end(), equal)) {
      for (const std::uint32_t gpu : gpus) ranks.push_back({process, gpu});
    } else {
      ranks.push_back({process, kNone});
    }
  }
  return ranks.size() < 2 ? std::vector<RankPlace>() : ranks;
}

HelperLimits HelperLimitsOf(const Knowledge& knowledge) {
  return {knowledge.Time("part.rest"), knowledge.Time("part.at_once"),
          knowledge.CountOf("part.least_times"), knowledge.Number("part.far_more")};
}

std::vector<RankSummary> IdentitiesIn(const Trace& trace, const Knowledge& knowledge) {
  const std::vector<std::uint32_t> owners = OwnersOfGpus(trace);
  std::vector<RankSummary> ranks;
  for (std::uint32_t device = 0; device < owners.size(); ++device) {
    if (owners[device] != kNone) ranks.push_back(IdentityOf(trace, device, owners[device]));
  }
  IdentifyRanks(trace, knowledge, &ranks);
  return ranks;
}

void Identify(const std::vector<RankSummary>& whole, RankSummary* rank) {
  const auto same = std::find_if(whole.begin(), whole.end(), [&](const RankSummary& one) {
    return one.pid == rank->pid && one.device == rank->device;
  });
  if (same == whole.end()) return;
  rank->rank = same->rank;
  rank->rank_source = same->rank_source;
  rank->local_rank = same->local_rank;
  rank->world_size = same->world_size;
  rank->device_index = same->device_index;
  rank->devices_listed = same->devices_listed;
}

void MoveClaims(const std::vector<std::uint32_t>& device_of, Verdict* verdict) {
  verdict->saving.remedies.clear();
  if (verdict->saving.claims == nullptr) return;
  auto moved = std::make_shared<Spans>();
  const std::vector<IntervalSet>& sets = verdict->saving.claims->by_device;
  for (std::size_t i = 0; i < std::min(sets.size(), device_of.size()); ++i) {
    if (moved->by_device.size() <= device_of[i]) moved->by_device.resize(device_of[i] + 1);
    moved->by_device[device_of[i]] = sets[i];
  }
  verdict->saving.claims = std::move(moved);
}

}  // namespace advise
