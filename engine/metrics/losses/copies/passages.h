// How data of one size goes to a GPU, is worked on there, and comes back.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <set>
#include <utility>
#include <vector>

#include "engine/timeline/run.h"

namespace advise {

using DeviceAndSize = std::pair<std::uint32_t, std::int64_t>;  // bytes of a copy

// Of one size on one device.
struct Passages {
  bool uploads_first = false;
  std::size_t uploads = 0, downloads = 0;
  bool up = false;              // an upload waits for its result
  std::size_t before = 0;       // kernels of the device before the last upload
  std::size_t after = 0;        // and after it
  std::vector<double> kernels;  // from each upload to the next download

  // No kernel runs before it goes on: from one part of the program to another.
  bool PassesThrough() const;
};

// Of copies of more than `least_bytes` between host and device. O(ops log sizes).
std::map<DeviceAndSize, Passages> PassagesOf(const Run& run, double least_bytes);

// Sizes that are pieces of a stream: each goes up, is worked on and comes down. Data that lives on
// the GPU comes down first, or went up once, and less work followed then than between the other
// uploads and their downloads; or it stays there at the end, when all that work is done. What
// trains gets its batches as uploads that do not come back: where there are any, nothing is a
// stream.
std::set<DeviceAndSize> Frames(const Run& run, const std::map<DeviceAndSize, Passages>& passages);

}  // namespace advise
