// Everything that is computed of one trace, in one place: what facts read, what claims and the
// replay stand on.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "engine/metrics/charts/summaries.h"
#include "engine/metrics/kernels/casts.h"
#include "engine/metrics/kernels/efficiency.h"
#include "engine/metrics/kernels/kernel_counters.h"
#include "engine/metrics/kernels/operators.h"
#include "engine/metrics/kernels/samples.h"
#include "engine/metrics/kernels/shapes.h"
#include "engine/metrics/lazy.h"
#include "engine/metrics/losses/copies/copy.h"
#include "engine/metrics/losses/copies/moves.h"
#include "engine/metrics/losses/families.h"
#include "engine/metrics/losses/host/host.h"
#include "engine/metrics/losses/host/host_code.h"
#include "engine/metrics/losses/host/stalls.h"
#include "engine/metrics/losses/host/start_up.h"
#include "engine/metrics/losses/input/input.h"
#include "engine/metrics/losses/kernels/block_shapes.h"
#include "engine/metrics/losses/kernels/kernel.h"
#include "engine/metrics/losses/kernels/kernel_tuning.h"
#include "engine/metrics/losses/kernels/kernel_variation.h"
#include "engine/metrics/losses/kernels/number_formats.h"
#include "engine/metrics/losses/launches/graphs.h"
#include "engine/metrics/losses/launches/kernel_trains.h"
#include "engine/metrics/losses/launches/launch.h"
#include "engine/metrics/losses/launches/looped_experts.h"
#include "engine/metrics/losses/launches/single_operations.h"
#include "engine/metrics/losses/operators/algorithm_trials.h"
#include "engine/metrics/losses/operators/dense_gradients.h"
#include "engine/metrics/losses/operators/forward_only.h"
#include "engine/metrics/losses/operators/gathered_products.h"
#include "engine/metrics/losses/operators/graph_breaks.h"
#include "engine/metrics/losses/operators/one_hot.h"
#include "engine/metrics/losses/operators/recomputed_forward.h"
#include "engine/metrics/losses/operators/recomputed_tokens.h"
#include "engine/metrics/losses/operators/value_checks.h"
#include "engine/metrics/losses/ranks/accumulation.h"
#include "engine/metrics/losses/ranks/comm.h"
#include "engine/metrics/losses/ranks/contention.h"
#include "engine/metrics/losses/ranks/late_device.h"
#include "engine/metrics/losses/ranks/mpi_waits.h"
#include "engine/metrics/losses/ranks/replication.h"
#include "engine/metrics/losses/ranks/turns.h"
#include "engine/metrics/losses/ranks/unseen_ranks.h"
#include "engine/metrics/losses/serving/engine_steps.h"
#include "engine/metrics/losses/serving/serving.h"
#include "engine/metrics/losses/steps/step_stats.h"
#include "engine/metrics/losses/unseen_work.h"
#include "engine/metrics/losses/waits/step_results.h"
#include "engine/metrics/losses/waits/sync.h"
#include "engine/metrics/origins.h"
#include "engine/metrics/system/monitor_health.h"
#include "engine/metrics/system/monitor_patterns.h"
#include "engine/metrics/system/monitor_summary.h"
#include "engine/metrics/system/paths.h"
#include "engine/metrics/system/profile_totals.h"
#include "engine/metrics/system/profiler_cost.h"
#include "engine/metrics/system/run_kind.h"
#include "engine/metrics/system/server_load.h"
#include "engine/metrics/work.h"
#include "engine/replay/replay.h"
#include "engine/timeline/budget.h"
#include "engine/timeline/idle.h"
#include "engine/timeline/other_work.h"
#include "engine/timeline/phase.h"
#include "engine/timeline/run.h"

namespace advise {

struct AnalysisOptions {
  WindowRequest window;
  std::string gpu;         // the user's word for the device when the report does not say
  int jobs = 2;            // threads; the same results for any number
  bool few_facts = false;  // most are not asked for: nothing is computed ahead that may wait
  const Steps* peer_steps = nullptr;  // of another rank of the report (FindSteps)
  std::optional<Nanos> steady_since;  // as other ranks found, on the clock of the trace
};

// What is known of the first device; 0 unknown. What the trace records wins over the knowledge
// base.
struct Hardware {
  std::string name;
  bool known = false;  // the knowledge base has it
  double sm_count = 0;
  double memory_bytes = 0;
  double memory_bytes_per_s = 0;
  double host_link_bytes_per_s =
      0;  // what pinned copies of this trace reached, else the knowledge base's
  double peak_fp32_flops = 0;
  double peak_fp64_flops = 0;
  double peak_tensor_flops = 0;
  double peak_fp8_flops = 0;
  double fp64_ratio = 0;          // peak FP64 over peak FP32, without tensor cores
  double compute_capability = 0;  // 9.0 is 9
  double boost_clock_hz = 0;
  double nvlink_bytes_per_s = 0;  // one direction
  double tensor_ratio =
      0;  // peak tensor rate over peak FP32 rate; of the generation when the device is not known
};

struct Analysis {
  // `trace` and `knowledge` must outlive the analysis. O(n log n) in the events.
  Analysis(const Trace& trace, const Knowledge& knowledge, const AnalysisOptions& options);

  const Replay& replay() const;  // built when first asked for
  void ReleaseReplay() const {   // its memory, when nothing more will be asked of it for now
    replay_.reset();
  }
  Basis basis() const { return {run, times, idle}; }

  Run run;
  bool keeps_waits = false;  // the steady steps begin with slow ones that wait (KeepStepsThatWait)
  std::vector<DeviceTime> times;
  Idle idle;
  std::vector<IntervalSet> loading_beside_comm;  // by device (LoadingBesideCommunication)
  Phases phases;
  HandOvers hand_overs;
  Hardware hardware;
  Copies copies;
  Syncs syncs;
  StepResults results;
  Launches launches;
  SingleOperations single_operations;  // none but of JAX
  Kernels kernels;
  Input input;
  Host host;
  StepStats step_stats;
  Comm comm;
  LateDevice late_device;
  Operators operators;
  Samples samples;
  ShapeRows shapes;  // empty unless sizes of operators were recorded
  Graphs graphs;
  Mpi mpi;  // empty unless calls of MPI were recorded
  Stalls stalls;
  Counters counters;  // empty unless a kernel profiler's output was given
  KernelEfficiency efficiency;
  MonitorSummary monitor;  // empty unless a monitor's log was given
  MonitorPatterns monitor_patterns;
  MonitorHealth monitor_health;
  ServerLoad server;     // empty unless the log of a model server was given
  ProfileTotals totals;  // empty unless a summary was given
  Paths paths;
  Summaries summaries;
  Work work;
  Origins origins;
  Accumulation accumulation;
  UnseenWork unseen;
  AlgorithmTrials algorithm_trials;
  KernelTuning kernel_tuning;
  ValueChecks value_checks;
  DenseGradients dense_gradients;  // empty unless sizes of operators were recorded
  OneHotProducts one_hot;          // the same
  GatheredProducts gathered;       // the same
  RecomputedTokens recomputed;     // the same
  RecomputedForward recomputed_forward;
  ForwardOnly forward_only;  // empty unless a framework recorded a backward pass
  Support support;
  RunKind kind;
  StartUp start_up;
  Serving serving;             // empty unless the run serves a model
  OtherWork other_work;        // outside of the steady window
  ProfilerCost profiler_cost;  // nothing unless PyTorch's profiler recorded the run
  EngineSteps engine_steps;    // empty unless ranges say what steps of a model server work on

  // What only facts of their own are read from: computed for the rules that ask.
  Lazy<HostCode> host_code{[this] { return FindHostCode(basis(), WaitsThatLookLikeCode()); }};
  Lazy<GraphBreaks> graph_breaks{[this] { return FindGraphBreaks(basis()); }};
  Lazy<KernelTrains> kernel_trains{
      [this] { return FindKernelTrains(basis(), ComputeKernels(basis())); }};
  Lazy<LoopedExperts> looped_experts{
      [this] { return FindLoopedExperts(basis(), ComputeKernels(basis())); }};
  Lazy<KernelVariation> kernel_variation{
      [this] { return FindKernelVariation(basis(), ComputeKernels(basis())); }};
  Lazy<BlockShapes> block_shapes{
      [this] { return FindBlockShapes(basis(), ComputeKernels(basis())); }};
  Lazy<NumberFormats> number_formats{
      [this] { return FindNumberFormats(basis(), ComputeKernels(basis()), hardware.fp64_ratio); }};
  Lazy<Casts> casts{[this] { return FindCasts(basis()); }};
  Lazy<Families> families{[this] { return FindFamilies(basis()); }};
  Lazy<Moves> moves{[this] { return FindMoves(basis()); }};
  Lazy<Replication> replication{[this] { return FindReplication(basis()); }};
  Lazy<Turns> turns{[this] { return FindTurns(basis()); }};
  Lazy<Contention> contention{[this] { return FindContention(basis()); }};
  Lazy<UnseenRanks> unseen_ranks{[this] { return FindUnseenRanks(basis()); }};

 private:
  // Subjects of framework operators, and those that mostly ask for sizes.
  void FindBesideTimeline();  // what monitors, logs and summaries show
  void FindOfOperators();
  void FindOfSizes();
  // By device; empty where pauses of code are code.
  std::vector<IntervalSet> WaitsThatLookLikeCode() const;

  mutable std::unique_ptr<Replay> replay_;
};

}  // namespace advise
