// What a fix changes in a run, for the finding that names it.
#pragma once

#include <string>
#include <vector>

#include "engine/metrics/analysis.h"
#include "engine/replay/remedy.h"

namespace advise {

// Each function is O(changes).

// In the words of Finding::changes.
std::vector<std::string> ChangesOf(const Remedy& remedy, const Run& run);

// Whether communication itself gets shorter.
bool MakesCommFaster(const Remedy& remedy, const Run& run);

// Of all communication kernels, the share whose launch vanishes.
double CommFewer(const Remedy& remedy, const Analysis& analysis);

}  // namespace advise
