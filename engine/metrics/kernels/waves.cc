#include "engine/metrics/kernels/waves.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <string>
#include <utility>

#include "engine/knowledge/knowledge.h"
#include "engine/metrics/kernels/kernel_counters.h"

namespace advise {
namespace {

struct CountedWave {
  double blocks = 0;    // of the launch
  double per_wave = 0;  // of these, at once
};

double ProductOf(const std::array<std::uint32_t, 3>& sides) {
  return static_cast<double>(sides[0]) * sides[1] * sides[2];
}

bool SameGpu(const Trace& trace, const std::string& name) {
  if (name.empty()) return true;
  return std::all_of(trace.devices.begin(), trace.devices.end(), [&](const Device& device) {
    return device.name.empty() || device.name == name;
  });
}

}  // namespace

std::vector<double> CountedBlocksPerWave(const Trace& trace, const Knowledge& knowledge) {
  const double same_wave = knowledge.Number("kernel.same_wave");
  std::vector<double> per_wave(trace.shapes.size(), 0);
  std::map<std::pair<std::string, double>, std::vector<CountedWave>> counted;
  for (const KernelCounters& launch : trace.counters) {
    const auto waves = launch.metrics.find("launch__waves_per_multiprocessor");
    const double blocks = ProductOf(launch.grid);
    if (waves == launch.metrics.end() || waves->second <= 0 || blocks <= 0) continue;
    if (!SameGpu(trace, launch.device)) continue;
    counted[{PlainKernelName(launch.kernel), ProductOf(launch.block)}].push_back(
        {blocks, blocks / waves->second});
  }
  if (counted.empty()) return per_wave;
  for (std::size_t s = 0; s < trace.shapes.size(); ++s) {
    const KernelShape& shape = trace.shapes[s];
    const auto found = counted.find(
        {PlainKernelName(trace.strings[shape.name]), static_cast<double>(shape.ThreadsPerBlock())});
    if (found == counted.end()) continue;
    const std::vector<CountedWave>& launches = found->second;
    const auto [least, most] = std::minmax_element(
        launches.begin(), launches.end(),
        [](const CountedWave& a, const CountedWave& b) { return a.per_wave < b.per_wave; });
    if (most->per_wave <= least->per_wave * same_wave) {
      per_wave[s] = launches.front().per_wave;
      continue;
    }
    // Launches that ask for different amounts of shared memory: the one of this grid, or none.
    const auto same = std::find_if(launches.begin(), launches.end(), [&](const CountedWave& one) {
      return one.blocks == static_cast<double>(shape.Blocks());
    });
    if (same != launches.end()) per_wave[s] = same->per_wave;
  }
  return per_wave;
}

std::vector<double> BlocksByRegisters(const Trace& trace, const Knowledge& knowledge) {
  std::vector<double> blocks(trace.shapes.size(), std::numeric_limits<double>::infinity());
  for (const Device& device : trace.devices) {
    const HardwareEntry* entry = knowledge.FindHardware(device.name);
    if (entry != nullptr && entry->IsAmd()) return blocks;
  }
  constexpr double kWarp = 32;
  const double granule = knowledge.Number("kernel.register_granule");
  const double per_sm = knowledge.Number("kernel.registers_per_sm");
  for (std::size_t i = 0; i < blocks.size(); ++i) {
    const KernelShape& shape = trace.shapes[i];
    if (shape.registers == 0) continue;
    const double per_warp = std::ceil(shape.registers * kWarp / granule) * granule;
    const auto threads = static_cast<double>(shape.ThreadsPerBlock());
    blocks[i] = std::floor(per_sm / (std::ceil(std::max(1.0, threads) / kWarp) * per_warp));
  }
  return blocks;
}

}  // namespace advise
