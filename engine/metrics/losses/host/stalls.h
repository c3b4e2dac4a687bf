// Gaps in the steady loop by what the host does in them: phases of the program that stall the GPU
// up, and the launching thread asleep, in the network, writing files, blocked, or exchanging data
// with peers.
#pragma once

#include <array>
#include <vector>

#include "engine/metrics/losses/loss.h"
#include "engine/timeline/phase.h"

namespace advise {

// Named phases in which the GPU may idle.
inline constexpr std::array<Phase, 5> kStallPhases = {Phase::kCheckpoint, Phase::kEvaluation,
                                                      Phase::kGarbageCollection, Phase::kLogging,
                                                      Phase::kOptimizer};

struct Stalls {
  // Idle time in each of kStallPhases, by ranges of it; of a checkpoint also its downloads that no
  // kernel runs beside.
  std::vector<Loss> phases;
  Loss sleep, network, file_write;
  // Copies that nothing runs beside are part of it: what the thread waits for would run there.
  Loss os_wait;
  // Host code in exchanges that ranges or kernels name, outside calls of MPI: the thread waits for
  // a peer.
  Loss exchange;
  Loss input;              // waiting for what comes from outside the program: a request, a command
  Loss source;             // waiting for a camera, a stream: what keeps a rate of its own
  double source_rate = 0;  // pieces per second of the one that is waited for longest; 0: none
  // The longest stretch of the window without a wait for input; empty where there is none.
  Interval between_input;
};

// `beside_copies`: what the host does while devices do nothing but copy (FollowHosts). O(gaps
// + ops + calls).
Stalls FindStalls(const Basis& basis, const Phases& phases, const Idle& beside_copies);

}  // namespace advise
