// What the collectives say of the program: which kinds of parallelism, over how many ranks each,
// how fast the paths are, and how large the pipeline's bubble is.
#pragma once

#include <string>
#include <vector>

#include "engine/cluster/lateness.h"

namespace advise {

// Collectives of one kind in one part of the step.
struct PatternRow {
  std::string kind;
  std::string phase;    // "forward", "backward", "" unknown
  double per_step = 0;  // on a rank that takes part
  double group = 0;     // ranks that take part, median
  bool across_nodes = false;
  double bytes = 0;        // a step on a rank that takes part, 0 unknown
  double transfer_ns = 0;  // summed over collectives
  double exposed_ns = 0;   // exposed transfer, mean over ranks, whole window
};

struct Strategy {
  std::vector<PatternRow> rows;
  std::string name;  // "ddp", "zero-1", "zero-2", "zero-3", "tensor", …, joined by " + "; "" none
  std::string evidence;  // what it was told from, in words
  int data = 1;          // ranks of a data-parallel group, 1 none (so all below)
  int tensor = 1;
  int pipeline = 1;
  int expert = 1;
  int context = 1;
  int zero_stage = -1;  // 0 DDP, 1..3; -1 no data parallelism
  bool tensor_across_nodes = false;
  bool gather_across_nodes = false;
  double gather_bytes = 0;  // of parameter gathers, a step and rank; 0 unknown
  double reduce_bytes = 0;  // of gradients, a step and rank; 0 unknown
  RankLoss gather_loss;     // exposed transfer of parameter gathers
  RankLoss tensor_loss;     // exposed transfer of tensor-parallel collectives
};

struct Pipeline {
  int stages = 0;            // 0: no pipeline
  double micro_batches = 0;  // a step
  double bubble = 0;         // share of the step that stages wait for each other, mean
  double expected = 0;       // (p-1)/(m+p-1)
  double imbalance = 0;      // largest compute of a stage over the mean, less one
  int slowest_stage = -1;
  std::vector<std::uint32_t> slowest_ranks;
  RankLoss bubble_loss;   // the bubble that twice as many micro-batches would leave less
  RankLoss balance_loss;  // the slowest stage as fast as the mean
};

struct PathSpeed {
  double peak_bytes_per_s = 0;  // of the path, one way; 0 unknown
  std::string path;             // "NVLink", "network"
  RankLoss loss;                // transfer beyond what the path's usual rate needs
  double bus_bytes_per_s = 0;   // 0: sizes are not known
  double bytes = 0;             // of the collectives it was measured on, per rank, summed
  std::int64_t count = 0;
  bool across_nodes = false;
  std::string kind;
};

// A chain of sends and receives whose ranks wait for each other about as much as a pipeline must.
// Ranks that exchange blocks (all-to-all by sends, rings) form chains, too, but hardly wait.
Pipeline FindPipeline(const std::vector<RankSummary>& ranks, const Joint& joint, const Job& job,
                      const Knowledge& knowledge);
Strategy FindStrategy(const std::vector<RankSummary>& ranks, const Joint& joint, const Job& job,
                      const Pipeline& pipeline, const Knowledge& knowledge);
// Of large collectives: inside nodes (first) and across nodes (second).
std::pair<PathSpeed, PathSpeed> FindPathSpeed(const std::vector<RankSummary>& ranks,
                                              const Joint& joint, const Job& job,
                                              const Knowledge& knowledge);

// Bytes that cross each link over bytes of the buffer: NCCL's bus factor.
double BusFactor(const std::string& kind, double ranks);

}  // namespace advise
