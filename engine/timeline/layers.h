// Layers of one pass through a model, which repeat as steps do.
#pragma once

#include <string>

#include "engine/timeline/run.h"

namespace advise {

// Whether the op is a kernel of the kind that every layer of a model has: it multiplies matrices,
// attends, or convolves.
bool IsOfLayer(const Run& run, std::uint32_t op);

// Whether what repeats are layers whose weights stay on the host: most repetitions upload several
// large tensors, for most of their time, and hand nothing back. O(steps log ops + ops).
bool AreUploadedLayers(const Run& run, const Steps& steps);

// Why what repeats are the layers of one pass, "" where nothing says so: ranges or modules around
// their launches count up from one repetition to the next ("blocks.3", "blocks.4"), each uploads
// its weights, or each keeps tensors, as the forward pass of a training step does. O(ranges +
// memory events + steps log ops).
std::string WhyLayers(const Run& run, const Steps& steps);

}  // namespace advise
