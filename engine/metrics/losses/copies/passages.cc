#include "engine/metrics/losses/copies/passages.h"

#include <algorithm>

#include "engine/metrics/losses/copies/copy.h"
#include "engine/timeline/awaited.h"

namespace advise {
namespace {

// Whether the device trains on batches of another size, one for each passage.
bool HasBatches(const Run& run, const std::map<DeviceAndSize, Passages>& passages,
                std::uint32_t device, const Passages& passage) {
  const auto updates = [](const KernelClass& c) { return c.name == "optimizer"; };
  if (run.names.Shapes(updates).empty() && !SaysTraining(run)) return false;
  return std::any_of(passages.begin(), passages.end(), [&](const auto& other) {
    return other.first.first == device && other.second.downloads == 0 &&
           other.second.uploads + 1 >= passage.uploads;
  });
}

}  // namespace

bool Passages::PassesThrough() const { return kernels.size() > 1 && Median(kernels) == 0; }

std::map<DeviceAndSize, Passages> PassagesOf(const Run& run, double least_bytes) {
  const Trace& trace = run.trace;
  std::vector<std::size_t> kernels(trace.devices.size(), 0);
  std::map<DeviceAndSize, Passages> passages;
  for (std::uint32_t op = 0; op < trace.ops.size(); ++op) {
    const std::uint32_t device = trace.ops.device[op];
    if (trace.ops.kind[op] == OpKind::kKernel) ++kernels[device];
    if (trace.ops.kind[op] != OpKind::kCopy || !IsHostDevice(trace.DirectionOfCopy(op)) ||
        static_cast<double>(trace.BytesOfCopy(op)) <= least_bytes)
      continue;
    const bool up = trace.DirectionOfCopy(op) == CopyDirection::kHostToDevice;
    const auto [at, is_new] = passages.try_emplace({device, trace.BytesOfCopy(op)});
    Passages& size = at->second;
    ++(up ? size.uploads : size.downloads);
    if (is_new) size.uploads_first = up;
    const std::size_t so_far = kernels[device];
    if (!up && size.up) size.kernels.push_back(static_cast<double>(so_far - size.before));
    size.up = up;
    if (up) size.before = so_far;
  }
  for (auto& [size, seen] : passages) seen.after = kernels[size.first] - seen.before;
  return passages;
}

std::set<DeviceAndSize> Frames(const Run& run, const std::map<DeviceAndSize, Passages>& passages) {
  std::set<DeviceAndSize> frames;
  for (const auto& [size, seen] : passages) {
    if (!seen.uploads_first || seen.kernels.size() < 2) continue;
    const double usual = Median(seen.kernels);
    const bool stays = seen.up && static_cast<double>(seen.after) >= usual;
    if (usual > 0 && seen.kernels.front() >= usual && !stays &&
        !HasBatches(run, passages, size.first, seen))
      frames.insert(size);
  }
  return frames;
}

}  // namespace advise
