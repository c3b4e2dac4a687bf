// Families of names that a rule can ask for: kernels, CUDA calls, named ranges and OS calls that
// belong to one mechanism. Which families there are, and what belongs to each, is said by
// kb/families.toml and by the site.
#pragma once

#include <vector>

#include "engine/metrics/losses/loss.h"

namespace advise {

// Of one kernel family: the loss is the kernels' own time; `remedy` takes them away, `halved` half
// of them.
struct KernelFamily {
  Loss loss;
  std::shared_ptr<Remedy> halved = std::make_shared<Remedy>();
};

struct Families {
  std::vector<KernelFamily> kernels;  // in the order of Knowledge::families(), as all of these
  std::vector<Loss> calls;   // inside the steady loop, on launching threads: idle time in them
  std::vector<Loss> ranges;  // the same of named ranges
  std::vector<Loss> os;      // of all threads; idle time only where the launching thread is inside
};

// O(ops + calls + ranges + OS calls); each distinct name is matched once.
Families FindFamilies(const Basis& basis);

}  // namespace advise
