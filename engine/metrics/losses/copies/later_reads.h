// Downloads whose data the host reads only behind a later wait.
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "engine/timeline/run.h"

namespace advise {

class LaterReads {
 public:
  explicit LaterReads(const Run& run) : run_(run) {}

  // True for an asynchronous download after which its thread records an event behind work of the
  // copy's stream, or next waits for that stream, with no code in between that takes long enough to
  // read the data: the program does not rely on the call itself to have moved it. It may wait for
  // other streams first, if it queues nothing on this one until then (a pipeline of chunks). The
  // first question costs O(calls log calls), the others O(calls until that wait).
  bool IsReadLater(std::uint32_t op);

  // The call that waits for this download though its thread goes on at once: sooner than it could
  // have read the data at `bytes_per_s`. It waits for the buffer, not for the data. kNone: none, or
  // a wait for the whole device that is for kernels as well.
  std::uint32_t WaitWithoutRead(std::uint32_t op, double bytes_per_s);

 private:
  void FindWaits();
  bool IsForKernels(std::uint32_t wait) const;
  // The call that tells so; kNone for none.
  std::uint32_t WaitBehind(std::uint32_t op);

  const Run& run_;
  // By call: the next one of its thread that records an event or synchronizes; kNone for none, and
  // beyond long pauses.
  std::vector<std::uint32_t> next_;
  std::vector<std::uint32_t> awaited_;  // of AwaitedBySyncs
  // By call that records an event: the op that its thread launched last before it.
  std::map<std::uint32_t, std::uint32_t> recorded_behind_;
};

}  // namespace advise
