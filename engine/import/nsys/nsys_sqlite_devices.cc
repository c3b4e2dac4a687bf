// Which GPU an ordinal means, from the most to the least certain:
//   1. TARGET_INFO_CUDA_DEVICE (pid, cudaId) → gpuId or uuid
//   2. the same table when it knows the ordinal only of other processes, and they all agree
//   3. TARGET_INFO_GPU.cuDevice = ordinal (ids and ordinals are permuted on some machines), or
//      id = ordinal where the column is missing
//   4. a GPU of its own for each ordinal
// In 3 and 4 two processes with the same ordinal may share a GPU, or see one GPU each
// (CUDA_VISIBLE_DEVICES). Processes that share a GPU take turns; where their kernels run at the
// same time, and there are GPUs enough, each has its own. Either is a warning.
#include "engine/import/nsys/nsys_sqlite_devices.h"

#include <algorithm>
#include <numeric>
#include <optional>
#include <set>

namespace advise::nsys {
namespace {

class Resolver {
 public:
  explicit Resolver(const SystemInfo& info) : info_(info) {
    for (const ListedGpu& gpu : info.gpus) {
      devices.push_back(gpu.device);
      devices.back().ordinal = gpu.cuda_ordinal >= 0 ? gpu.cuda_ordinal : gpu.device.report_id;
      listed_ordinals_.push_back(devices.back().ordinal);
    }
  }

  // Index into `devices`. `certain` is false for the ways 3 and 4.
  std::uint32_t Find(const ProcessDevice& use, bool& certain) {
    certain = true;
    if (const std::optional<CudaDevice> cuda = CudaDeviceOf(use)) {
      if (const auto index = Of(*cuda)) {
        if (cuda->sm_count > 0) devices[*index].sm_count = cuda->sm_count;
        return *index;
      }
    }
    certain = false;
    const auto listed = std::find(listed_ordinals_.begin(), listed_ordinals_.end(), use.second);
    if (listed != listed_ordinals_.end()) {
      return static_cast<std::uint32_t>(listed - listed_ordinals_.begin());
    }
    const auto [made, is_new] =
        by_ordinal_.emplace(use.second, static_cast<std::uint32_t>(devices.size()));
    if (is_new) {
      devices.emplace_back();
      devices.back().ordinal = use.second;
    }
    return made->second;
  }

  // A GPU that nobody uses; kNone when the report lists GPUs, and all of them are taken.
  std::uint32_t Free(const std::set<std::uint32_t>& used) {
    for (std::uint32_t i = 0; i < listed_ordinals_.size(); ++i) {
      if (!used.contains(i)) return i;
    }
    if (!listed_ordinals_.empty()) return kNone;
    devices.emplace_back();
    return static_cast<std::uint32_t>(devices.size() - 1);
  }

  std::vector<Device> devices;

 private:
  std::optional<CudaDevice> CudaDeviceOf(const ProcessDevice& use) const {
    const auto own = info_.cuda_devices.find({PidOf(use.first), use.second});
    if (own != info_.cuda_devices.end()) return own->second;
    std::optional<CudaDevice> agreed;
    for (const auto& [key, device] : info_.cuda_devices) {
      if (key.second != use.second) continue;
      if (agreed && (agreed->gpu_id != device.gpu_id || agreed->uuid != device.uuid)) return {};
      agreed = device;
    }
    return agreed;
  }

  // The device of a known id or uuid; made when the list of GPUs lacks it.
  std::optional<std::uint32_t> Of(const CudaDevice& cuda) {
    if (cuda.gpu_id < 0 && cuda.uuid.empty()) return {};
    for (std::uint32_t i = 0; i < devices.size(); ++i) {
      const bool same_id = cuda.gpu_id >= 0 && devices[i].report_id == cuda.gpu_id;
      const bool same_uuid = !cuda.uuid.empty() && devices[i].uuid == cuda.uuid;
      if (same_id || same_uuid) return i;
    }
    devices.emplace_back();
    devices.back().report_id = cuda.gpu_id;
    devices.back().uuid = cuda.uuid;
    return static_cast<std::uint32_t>(devices.size() - 1);
  }

  const SystemInfo& info_;
  std::vector<std::int64_t> listed_ordinals_;         // of the listed GPUs, the first devices
  std::map<std::int64_t, std::uint32_t> by_ordinal_;  // way 4
};

// Of devices that worked (the first of the list), some have the same ordinal when each process sees
// one GPU and calls it 0: then all are numbered as the profiler does, or in order.
void NumberApart(std::size_t worked, std::vector<Device>* devices) {
  for (Device& device : *devices) device.cuda_ordinal = device.ordinal;
  std::set<std::int64_t> ordinals, ids;
  for (std::size_t i = 0; i < worked; ++i) ordinals.insert((*devices)[i].ordinal);
  if (ordinals.size() == worked) return;
  for (const Device& device : *devices) ids.insert(device.report_id);
  const bool known = ids.size() == devices->size() && *ids.begin() >= 0;
  for (std::size_t i = 0; i < devices->size(); ++i) {
    Device& device = (*devices)[i];
    device.ordinal = known ? device.report_id : static_cast<std::int64_t>(i);
  }
}

// Processes that one ordinal leads to the same GPU get one each; false when there are too few.
bool PutApart(const std::vector<ProcessDevice>& same, Resolver* resolver, DeviceMap* map) {
  std::set<std::uint32_t> used;
  for (const auto& [use, index] : map->of) used.insert(index);
  std::vector<std::uint32_t> own = {map->of[same.front()]};
  while (own.size() < same.size()) {
    own.push_back(resolver->Free(used));
    if (own.back() == kNone) return false;
    used.insert(own.back());
  }
  for (std::size_t i = 0; i < same.size(); ++i) map->of[same[i]] = own[i];
  return true;
}

void WarnOfGuess(const std::vector<std::int64_t>& ordinals, const std::string& guess,
                 Diagnostics& diagnostics) {
  if (ordinals.empty()) return;
  std::string devices = ordinals.size() == 1 ? "device " : "devices ";
  for (std::size_t i = 0; i < ordinals.size(); ++i)
    devices += (i == 0 ? "" : ", ") + std::to_string(ordinals[i]);
  diagnostics.Add(Level::kWarning,
                  "several processes use CUDA " + devices +
                      ", and the report does not say whether they share GPUs: " + guess);
}

}  // namespace

DeviceMap ResolveDevices(const SystemInfo& info, const std::map<ProcessDevice, bool>& uses,
                         const RunTogether& run_together, Diagnostics& diagnostics) {
  Resolver resolver(info);
  DeviceMap map;
  std::map<std::int64_t, std::vector<ProcessDevice>> guessed;  // by ordinal: of those that worked
  for (const auto& [use, worked] : uses) {
    bool certain = false;
    map.of[use] = resolver.Find(use, certain);
    if (!certain && worked) guessed[use.second].push_back(use);
  }
  std::vector<std::int64_t> own, shared;
  for (const auto& [ordinal, same] : guessed) {
    if (same.size() < 2 || info.gpus.size() == 1) continue;
    const bool apart = run_together(same) && PutApart(same, &resolver, &map);
    (apart ? own : shared).push_back(ordinal);
  }
  WarnOfGuess(own, "their kernels run at the same time, so each is taken to have its own",
              diagnostics);
  WarnOfGuess(shared, "they are treated as one", diagnostics);

  std::map<std::uint32_t, int> priority;  // 0 worked, 1 mentioned
  for (const bool worked : {true, false}) {
    for (const auto& [use, use_worked] : uses) {
      if (use_worked != worked) continue;
      const std::uint32_t index = map.of[use];
      const bool is_first = priority.emplace(index, worked ? 0 : 1).second;
      if (is_first) resolver.devices[index].ordinal = use.second;
    }
  }

  std::vector<std::uint32_t> order(resolver.devices.size());
  std::iota(order.begin(), order.end(), 0U);
  const auto rank = [&](std::uint32_t i) {
    const auto found = priority.find(i);
    return std::tuple(found == priority.end() ? 2 : found->second, resolver.devices[i].ordinal,
                      resolver.devices[i].report_id, i);
  };
  std::sort(order.begin(), order.end(), [&](auto a, auto b) { return rank(a) < rank(b); });
  std::vector<std::uint32_t> place(order.size());
  for (std::uint32_t i = 0; i < order.size(); ++i) {
    place[order[i]] = i;
    map.devices.push_back(resolver.devices[order[i]]);
  }
  for (auto& [use, index] : map.of) index = place[index];
  const auto worked = std::count_if(priority.begin(), priority.end(),
                                    [](const auto& one) { return one.second == 0; });
  NumberApart(static_cast<std::size_t>(worked), &map.devices);
  return map;
}

}  // namespace advise::nsys
