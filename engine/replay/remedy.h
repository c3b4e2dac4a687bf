// What a fix changes in a run, in terms the replay understands. Remedies add up: fields are lists
// that can be joined.
#pragma once

#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "engine/timeline/run.h"
#include "engine/trace/intervals.h"

namespace advise {

struct Remedy {
  // These calls no longer block their thread until the GPU is done: they cost what an asynchronous
  // call costs, and those that do nothing but wait cost nothing.
  std::vector<std::uint32_t> unblocked_calls;
  // These calls are no longer there (captured in a graph, fused away), and with each goes the code
  // since the call before it, unless that takes so long that it does something else.
  std::vector<std::uint32_t> vanished_calls;
  // Ops that take `factor` of their time; 0 removes the op.
  std::vector<std::pair<std::uint32_t, float>> scaled_ops;
  // Ops that have less data to work on: `factor` of their time, whatever else makes them faster.
  std::vector<std::pair<std::uint32_t, float>> lighter_ops;
  // Ops that run beside the others of their stream: nothing waits for them but the link they use.
  std::vector<std::uint32_t> detached_ops;
  // Of these, the ones that do so only once their call returns at once: copies that the driver
  // stages.
  std::vector<std::uint32_t> detached_if_unblocked;
  // Ops that no longer wait for other streams, nor for what their own runs on the host before them.
  std::vector<std::uint32_t> freed_ops;
  // Work that a host thread no longer does (it is done elsewhere, or not at all).
  struct HostCut {
    std::uint32_t thread = 0;
    IntervalSet when;
  };
  std::vector<HostCut> host_cuts;
  // Ops whose calls vanish, and that take as long as before, are nodes of a graph: the device needs
  // less from one to the next (`replay.graph_spacing`).
  bool in_graph = false;
  // Batches are there when they are asked for.
  bool data_ready = false;
  // Most of the time that it is to win is lost to something else, which it lets begin sooner.
  bool makes_room = false;
  // The window cannot become shorter than this, because of what the fix itself costs, whatever else
  // is fixed; 0 none.
  Nanos floor_ns = 0;
  const char* floor_reason = "";  // what the limit is then, in words
  // In a run of several reports, which no replay spans: time that ranks no longer need, by rank and
  // step of the job, and what the job wins by it. The replay of one report knows nothing of them.
  // Cuts of communication are kept apart: no two fixes can take more of it than there is.
  std::vector<std::vector<Nanos>> rank_cuts;
  std::vector<std::vector<Nanos>> rank_comm_cuts;
  Nanos rank_gain = 0;

  // The fix itself wins no more than this, because of how far it reaches; 0 unlimited. Of joined
  // remedies the sum, unless one is unlimited.
  Nanos reach_ns = 0;
  const char* reach_reason = "";

  void Join(const Remedy& other);
  bool ChangesNothing() const { return Extent() == 0; }
  // Calls and ops that change, and nanoseconds of host code: less of it, where anything is left
  // out.
  std::int64_t Extent() const;
};

// Host time by thread.
using HostTime = std::map<std::uint32_t, IntervalSet>;
HostTime CutsByThread(const std::vector<Remedy::HostCut>& cuts);

// Time of the window in which some host works what it no longer does then: code that is cut, and
// calls that vanish, with the code before them. O(n log n) in the changes, and O(calls) where some
// vanish.
Nanos HostTimeSaved(const Remedy& remedy, const Run& run);

// What is left of a remedy where another fix makes the same changes already: to the same calls, ops
// and host code. What that one only makes faster, or lets return at once, can still go. Its limits
// stay as they are. O(n log n) in the changes of both.
Remedy Without(const Remedy& remedy, const Remedy& made, const Run& run);

}  // namespace advise
