// The transfer inside collectives, as opposed to the waiting before it: where it goes, how fast it
// is, and what it costs.
#pragma once

#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "engine/cluster/rank_loss.h"
#include "engine/knowledge/knowledge.h"

namespace advise {

struct PathSpeed {
  double peak_bytes_per_s = 0;  // of the path, one way; 0 unknown
  std::string path;             // "NVLink", "network"
  RankLoss loss;                // transfer beyond what the path's usual rate needs
  double bus_bytes_per_s = 0;   // 0: sizes are not known
  std::int64_t count = 0;
  // Where sizes are not known: if the gradient sums ran at the usual rate, they would send a model
  // so large that a rank has time to compute at most so many tokens between them; 0 otherwise.
  double tokens = 0;
  bool across_nodes = false;
  std::string kind;
  // The variables that take this path from ranks: "NCCL_P2P_DISABLE=1"; "" without any.
  std::string off;
};

// Of large collectives: inside nodes (first) and across nodes (second).
std::pair<PathSpeed, PathSpeed> FindPathSpeed(const std::vector<RankSummary>& ranks,
                                              const Joint& joint, const Job& job,
                                              const Knowledge& knowledge);

// The exposed transfer (not the waiting before it) of collectives, as time that ranks would no
// longer need: each transfers so much shorter as `part_of` says, 0 leaves it out. What computes
// waits for its end: of that the exposed part goes first. Waits for ranks without a report stay.
RankLoss TransferLoss(const std::vector<RankSummary>& ranks, const Joint& joint, const Job& job,
                      const std::function<double(const JointCollective&)>& part_of);

// The same, of transfers as they were recorded: with waits for ranks without a report.
RankLoss CutOfTransfers(const std::vector<RankSummary>& ranks, const Joint& joint, const Job& job,
                        const std::function<double(const JointCollective&)>& part_of);

// The same `part` of those that `keep` accepts.
RankLoss TransferLoss(const std::vector<RankSummary>& ranks, const Joint& joint, const Job& job,
                      double part, const std::function<bool(const JointCollective&)>& keep);

// How long collectives transfer, overlapped or not, without waiting: in the common
// steps, mean over ranks. O(collectives log of them).
double Transferring(const std::vector<RankSummary>& ranks, const Joint& joint, const Job& job);

// Rate one way of the links between the GPUs of a node, bytes per second; 0 where the kind of GPU
// has none, or is not known.
double NvlinkRate(const std::vector<RankSummary>& ranks, const Knowledge& knowledge);

bool AcrossNodes(const std::vector<RankSummary>& ranks, const JointCollective& collective);

// Bytes that cross each link over bytes of the buffer: NCCL's bus factor.
double BusFactor(const std::string& kind, double ranks);

}  // namespace advise
