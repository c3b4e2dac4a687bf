#include "engine/pipeline/ranks_of_report.h"

#include <algorithm>
#include <map>

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
  for (const auto& [process, gpus] : gpus_of) {
    const auto of_any = [&](std::uint32_t d) { return talk.any[d] != 0; };
    const auto equal = [&](std::uint32_t d) { return talk.as_equal[d] != 0; };
    if (std::none_of(gpus.begin(), gpus.end(), of_any)) return {};
    if (gpus.size() > 1 && std::all_of(gpus.begin(), gpus.end(), equal)) {
      for (const std::uint32_t gpu : gpus) ranks.push_back({process, gpu});
    } else {
      ranks.push_back({process, kNone});
    }
  }
  return ranks.size() < 2 ? std::vector<RankPlace>() : ranks;
}

std::vector<RankSummary> IdentitiesIn(const Trace& trace) {
  const std::vector<std::uint32_t> owners = OwnersOfGpus(trace);
  std::vector<RankSummary> ranks;
  for (std::uint32_t device = 0; device < owners.size(); ++device) {
    if (owners[device] != kNone) ranks.push_back(IdentityOf(trace, device, owners[device]));
  }
  IdentifyRanks(trace, &ranks);
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
