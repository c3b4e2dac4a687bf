// A remedy for all of a run at once.
#pragma once

#include "engine/replay/remedy.h"
#include "tests/support/analyzed.h"

namespace advise {

// Every op takes `factor` of its time.
inline Remedy AllOps(const Analyzed& run, float factor) {
  Remedy remedy;
  for (std::uint32_t op = 0; op < run.trace().ops.size(); ++op)
    remedy.scaled_ops.emplace_back(op, factor);
  return remedy;
}

}  // namespace advise
