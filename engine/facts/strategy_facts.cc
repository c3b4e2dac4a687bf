// strategy.*, pipeline.*, comm.path.*: what the collectives of several ranks say of the program,
// and of the links that they take.
#include <fmt/format.h>

#include <algorithm>

#include "engine/base/text.h"
#include "engine/facts/of_ranks.h"

namespace advise::facts {
namespace {

constexpr const char* kNoBytes = "the reports do not say how much data the collectives move";

auto& OfStrategy(Catalog* catalog) {
  return NeedMany(&catalog->OfRanks(&Cluster::strategy))
      .Needs([](const Known& known) { return !known.ranks.strategy.rows.empty(); },
             "no collectives of several ranks were matched", "");
}

Rows PatternRows(const Strategy& s) {
  return RowsOf(s.rows, [](const PatternRow& row) {
    return Row{{"kind", row.kind},         {"phase", row.phase}, {"ranks", row.group},
               {"per_step", row.per_step}, {"bytes", row.bytes}, {"exposed", row.exposed_ns}};
  });
}

// The largest of any rank; -1 when none knows it.
Value LargestOf(const Known& known, double RankSummary::*of_rank, const char* reason,
                const char* needs) {
  double largest = -1;
  for (const RankSummary& rank : known.ranks.ranks) largest = std::max(largest, rank.*of_rank);
  if (largest > 0) return largest;
  return Absent{reason, needs};
}

void DeclareStrategy(Catalog* catalog) {
  auto& strategy = OfStrategy(catalog);
  strategy.Add("strategy.name", "name",
               "What the collectives look like: ddp, zero-1, zero-2, zero-3, tensor, pipeline, "
               "expert, context, embedding, exchange (all-to-all of unknown use), joined by +.",
               &Strategy::name);
  strategy.Add("strategy.evidence", "name", "What the strategy of the job was inferred from.",
               &Strategy::evidence);
  strategy.Add("strategy.data", "count", "Ranks that share gradients; 1 when none do.",
               &Strategy::data);
  strategy.Add("strategy.tensor", "count", "Ranks that share layers; 1 when none do.",
               &Strategy::tensor);
  strategy.Add("strategy.pipeline", "count",
               "Stages that the job's layers are split into; 1 without a pipeline.",
               &Strategy::pipeline);
  strategy.Add("strategy.expert", "count", "Ranks that exchange tokens of experts; 1 when none do.",
               &Strategy::expert);
  strategy.Add("strategy.context", "count",
               "Ranks that exchange blocks of a sequence; 1 when none do.", &Strategy::context);
  strategy.Add("strategy.zero_stage", "count",
               "Stage of ZeRO that the sharding looks like: 0 replicated, 1 to 3 sharded.",
               UnlessNegative(&Strategy::zero_stage, "no gradients are reduced or scattered", ""));
  strategy.Add("strategy.collectives", "rows",
               "Collectives by kind, phase and number of ranks: kind, phase, ranks, per_step, "
               "bytes (per step), exposed.",
               PatternRows);
  strategy.Add("strategy.tensor_across_nodes", "flag", "Tensor-parallel groups span hosts.",
               &Strategy::tensor_across_nodes);
  strategy.Add("strategy.gather_across_nodes", "flag", "Parameters are gathered across hosts.",
               &Strategy::gather_across_nodes);
}

void DeclareStrategyLosses(Catalog* catalog) {
  auto& strategy = OfStrategy(catalog);
  AddLoss(&strategy, "strategy.tensor_", "Exposed transfer of tensor-parallel collectives.",
          "Tensor-parallel transfers take no exposed time; across nodes, as far as links inside a "
          "node save it.",
          &Strategy::tensor_loss);
  strategy.Add(
      "strategy.tensor_call", "ns",
      "Median transfer of a tensor-parallel all-reduce inside a node: what it takes on the "
      "rank that comes last.",
      IfPositive(&Strategy::tensor_call_ns, "no layers are shared inside a node", ""));
  AddLoss(&strategy, "strategy.latency_",
          "Exposed transfer of small tensor-parallel all-reduces inside a node, beyond that of a "
          "one-shot all-reduce over peer memory.",
          "Each small tensor-parallel all-reduce runs in one shot over peer memory.",
          &Strategy::latency_loss);
  AddLoss(&strategy, "strategy.gather_", "Exposed transfer of parameter gathers.",
          "Parameter gathers take no exposed time.", &Strategy::gather_loss);
  AddLoss(&strategy, "strategy.regather_",
          "Exposed transfer of parameter gathers in the backward pass; half of all where no range "
          "names that pass.",
          "Parameter gathers in the backward pass take no exposed time.", &Strategy::regather_loss);
  AddLoss(&strategy, "strategy.across_",
          "Exposed transfer of parameter gathers and gradient scatters across nodes.",
          "Parameter gathers and gradient scatters stay inside nodes, whose links save a part of "
          "their exposed time.",
          &Strategy::across_loss);
}

void DeclareStrategyMemory(Catalog* catalog) {
  auto& strategy = OfStrategy(catalog);
  strategy.Add("strategy.gather_bytes", "bytes",
               "Bytes of parameters gathered on a rank, each once per step.",
               IfPositive(&Strategy::gather_bytes, kNoBytes, ""));
  strategy.Add("strategy.reduce_bytes", "bytes", "Bytes of gradients reduced on a rank, per step.",
               IfPositive(&Strategy::reduce_bytes, kNoBytes, ""));
  strategy.Add("strategy.memory_peak", "bytes", "Largest device memory in use on any rank.",
               [](const Strategy&, const Known& known) {
                 return LargestOf(known, &RankSummary::memory_peak,
                                  "memory events were not recorded", "cuda-memory");
               });
  strategy.Add("strategy.memory_capacity", "bytes", "Memory of a device of the job.",
               [](const Strategy&, const Known& known) {
                 return LargestOf(known, &RankSummary::memory_capacity,
                                  "the memory of the devices is not known (see --gpu)", "hardware");
               });
  // K-K12: with mixed precision and Adam, 2 bytes of weights stand beside 2 of gradients and 12 of
  // optimizer state. What is gathered in the forward pass is the weights.
  strategy.Add("strategy.unsharded_weights", "bytes",
               "Bytes that a rank would hold more if weights were not sharded.",
               IfPositive(
                   [](const Strategy& s) {
                     return s.gather_bytes * (1 - 1 / static_cast<double>(std::max(1, s.data)));
                   },
                   kNoBytes, ""));
}

void DeclarePipeline(Catalog* catalog) {
  NeedMany(&catalog->OfRanks(&Cluster::pipeline))
      .Add("pipeline.stages", "count", "Stages of the pipeline; 0 without one.", &Pipeline::stages);
  auto& pipeline = NeedMany(&catalog->OfRanks(&Cluster::pipeline))
                       .Needs([](const Known& known) { return known.ranks.pipeline.stages > 0; },
                              "no chain of sends and receives was found", "");
  const auto of_step = [](double Pipeline::*value) {
    return IfPositive([value](const Pipeline& p) { return p.steps_known ? p.*value : 0; },
                      "the steps of the ranks are not known", "nvtx");
  };
  pipeline.Add("pipeline.micro_batches", "count", "Number of micro-batches per step.",
               of_step(&Pipeline::micro_batches));
  pipeline.Add("pipeline.chunks", "count",
               "Chunks of layers per rank: how often a micro-batch passes it; more than 1 in an "
               "interleaved schedule.",
               &Pipeline::chunks);
  pipeline.Add("pipeline.bubble", "share",
               "Share of the time that stages wait for each other, mean.", &Pipeline::bubble);
  pipeline.Add("pipeline.expected", "share",
               "Expected bubble: (p-1)/(v m+p-1) for p stages, v chunks and m micro-batches.",
               of_step(&Pipeline::expected));
  pipeline.Add("pipeline.interleaved", "share",
               "Expected bubble with twice as many chunks per rank.",
               of_step(&Pipeline::interleaved));
  pipeline.Add("pipeline.imbalance", "share",
               "Largest compute time of a stage over the mean, less one.", &Pipeline::imbalance);
  pipeline.Add("pipeline.slowest", "count",
               "The stage with the largest compute time, counted from 0.",
               &Pipeline::slowest_stage);
  AddLoss(&pipeline, "pipeline.sends_",
          "Exposed transfer of sends between stages, without the waiting for late stages.",
          "Sends between stages take no exposed time.", &Pipeline::sends_loss);
  pipeline.Add("pipeline.slow_boundary", "name",
               "Stages whose sends to each other take much longer than those of other stages.",
               [](const Pipeline& pipe, const Known& known) -> Value {
                 const StageBoundary& slow = pipe.slow;
                 if (slow.from < 0)
                   return Absent{"sends between all stages take about as long", ""};
                 return fmt::format(
                     "stages {} and {} ({} and {}), where one takes {}, and {} elsewhere",
                     slow.from, slow.to, known.ranks.Label(slow.ranks[0]),
                     known.ranks.Label(slow.ranks[1]), FormatQuantity(slow.transfer_ns, "ns"),
                     FormatQuantity(slow.elsewhere_ns, "ns"));
               });
  AddLoss(&pipeline, "pipeline.bubble_", "Waiting that twice as many micro-batches would spare.",
          "The pipeline has twice as many micro-batches.", &Pipeline::bubble_loss);
  AddLoss(&pipeline, "pipeline.balance_", "Waiting of the other stages for the slowest.",
          "The slowest stage takes as long as the mean stage.", &Pipeline::balance_loss);
}

constexpr const char* kNoRate =
    "no large collective of a known size runs on this path (sizes come with NCCL's ranges or the "
    "PyTorch profiler)";

constexpr const char* kPathIsOn = "no variable switches this path off";

constexpr const char* kSized =
    "the sizes of the collectives are known, none sum up gradients, or the GPU is not known";

// A fact of a path whose rate is known, and how fast it could be.
template <typename Get>
auto IfCompared(Get get) {
  return [get](const PathSpeed& speed, const Known& known) -> Value {
    if (speed.bus_bytes_per_s <= 0 && speed.tokens <= 0 && speed.off.empty()) {
      return Absent{kNoRate, "nvtx"};
    }
    if (speed.peak_bytes_per_s <= 0) return Absent{"the rate of the path is not known", "hardware"};
    if constexpr (std::is_invocable_v<Get, const PathSpeed&, const Known&>) {
      return ValueOf(get(speed, known));
    } else {
      return ValueOf(std::invoke(get, speed));
    }
  };
}

std::vector<IntervalSet> LostOnPath(const PathSpeed& speed, const Known& known) {
  return LostOf(speed.loss, known);
}
Value RemedyOnPath(const PathSpeed& speed, const Known& known) {
  return RemedyOf(speed.loss, known);
}

struct NamedPath {
  PathSpeed Cluster::*speed;
  const char* group;  // of facts
  const char* where;
  const char* link;
  const char* off;
};
constexpr NamedPath kPaths[] = {
    {&Cluster::inside, "comm.path.inside", "inside a node", "path",
     "Variables that keep ranks off each other's memory inside a node; absent without any."},
    {&Cluster::across, "comm.path.across", "across nodes", "network",
     "Variables that keep ranks off RDMA between nodes; absent without any."}};

void DeclarePath(const NamedPath& named, Catalog* catalog) {
  const std::string group = named.group;
  const std::string where = named.where;
  const std::string large = "large collectives " + where;
  auto& path = NeedMany(&catalog->OfRanks(named.speed));
  path.Add(group + ".rate", "bytes_per_s",
           "Median bus bandwidth of " + large + ": bytes over links in the shortest kernel.",
           IfPositive(&PathSpeed::bus_bytes_per_s, kNoRate, "nvtx"));
  path.Add(group + ".tokens", "num",
           "Where sizes are not known: if the all-reduces " + where +
               " ran at the usual rate, a rank would have time to compute at most so many tokens "
               "per gradient of the size sent.",
           IfPositive(&PathSpeed::tokens, kSized, ""));
  path.Add(group + ".peak", "bytes_per_s",
           std::string("Rate one way of the ") + named.link + " that " + large + " take.",
           IfCompared(&PathSpeed::peak_bytes_per_s));
  path.Add(group + ".name", "name", "Path that " + large + " take.", IfCompared(&PathSpeed::path));
  path.Add(group + ".kind", "name", "Collective with most time among the " + large + ".",
           IfCompared(&PathSpeed::kind));
  path.Add(group + ".lost", "spans", "Exposed transfer beyond the usual rate of " + large + ".",
           IfCompared(LostOnPath));
  path.Add(group + ".remedy", "remedy",
           "L" + large.substr(1) + " run at the usual rate of their path.",
           IfCompared(RemedyOnPath));
  path.Add(group + ".off", "name", named.off, UnlessEmpty(&PathSpeed::off, kPathIsOn, ""));
}

}  // namespace

void DeclareStrategyFacts(Catalog* catalog) {
  DeclareStrategy(catalog);
  DeclareStrategyLosses(catalog);
  DeclareStrategyMemory(catalog);
  DeclarePipeline(catalog);
  for (const NamedPath& path : kPaths) DeclarePath(path, catalog);
}

}  // namespace advise::facts
