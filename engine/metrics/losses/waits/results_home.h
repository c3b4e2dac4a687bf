// Which waits of the host may be for a result: what the GPU computed has to come home before the
// host can read it.
#pragma once

#include <cstdint>
#include <vector>

#include "engine/metrics/basis.h"

namespace advise {

class ResultsHome {
 public:
  explicit ResultsHome(const Basis& basis);  // O(n log n) in the calls and ops

  // False only where the program copies its arrays, shares no memory with the GPU, and has copied
  // nothing to the host between the thread's wait before and the end of this one.
  bool MayCome(std::uint32_t sync) const;

 private:
  bool SharesMemory() const;

  const Run& run_;
  bool copies_arrays_ = false;
  std::vector<Nanos> downloads_;  // when they end, sorted
};

}  // namespace advise
