// Facts of several ranks together: the list and the values. All of them come from rank summaries,
// so that reports and facts files say the same.
#include <algorithm>

#include "engine/cluster/cluster.h"
#include "engine/facts/fact_writer.h"
#include "engine/metrics/losses/loss.h"

namespace advise::facts {
namespace {

constexpr const char* kOneRank = "one rank only: nothing to compare it with";
constexpr std::size_t kRowsShown = 256;

class ClusterWriter {
 public:
  ClusterWriter(const Cluster& cluster, bool one_report, FactWriter* w)
      : c_(cluster), one_report_(one_report), w_(w) {}

  void Write() {
    for (const FactInfo& info : ClusterFactList()) w_->Missing(info.name, kOneRank, "ranks");
    w_->Number("cluster.ranks", static_cast<double>(c_.ranks.size()));
    w_->Number("cluster.reports", static_cast<double>(c_.reports));
    if (!c_.many()) return;
    Run();
    Imbalances();
    Patterns();
    Pipeline();
    Path("comm.path.inside", c_.inside);
    Path("comm.path.across", c_.across);
  }

 private:
  void Run() {
    if (c_.hosts > 0) {
      w_->Number("cluster.hosts", static_cast<double>(c_.hosts));
    } else {
      w_->Missing("cluster.hosts", "the reports do not name their hosts", "");
    }
    w_->KnownNumber("cluster.world", c_.world, "the reports do not say how many ranks the job has",
                    "");
    if (c_.numbered) {
      w_->Number("cluster.missing", static_cast<double>(c_.missing.size()));
    } else {
      w_->Missing("cluster.missing", "the reports do not say which rank each is", "");
    }
    if (c_.job.has_steps) {
      w_->Number("cluster.steps", static_cast<double>(c_.job.steps));
    } else {
      w_->Missing("cluster.steps", "not every rank has steps", "steps");
    }
    w_->Number("cluster.window", static_cast<double>(c_.job.Window()));
    bool aligned = true;
    for (const RankSummary& rank : c_.ranks) aligned = aligned && c_.clocks.Known(rank.clock);
    w_->Flag("cluster.aligned", aligned);
    w_->Number("cluster.residual", static_cast<double>(c_.clocks.residual));
    if (c_.clocks.skew >= 0) {
      w_->Number("cluster.skew", static_cast<double>(c_.clocks.skew));
    } else {
      w_->Missing("cluster.skew", "the reports do not say when they were captured", "");
    }
    w_->Number("cluster.matched", c_.joint.rows == 0 ? 0
                                                     : static_cast<double>(c_.joint.matched) /
                                                           static_cast<double>(c_.joint.rows));
    w_->Number("cluster.transfer", c_.transfer_ns);
    w_->Number("cluster.waited", c_.waited_ns);
    w_->Number("cluster.efficiency.parallel", c_.efficiency.parallel);
    w_->Number("cluster.efficiency.load_balance", c_.efficiency.load_balance);
    w_->Number("cluster.efficiency.communication", c_.efficiency.communication);
    w_->Number("cluster.efficiency.orchestration", c_.efficiency.orchestration);
    RankTable();
    StepTable();
  }

  void RankTable() {
    Rows rows;
    const auto steps = static_cast<double>(std::max<std::size_t>(1, c_.job.steps));
    for (std::size_t r = 0; r < std::min(c_.ranks.size(), kRowsShown); ++r) {
      double length = 0, compute = 0, loading = 0, idle = 0;
      for (std::size_t s = 0; s < c_.job.steps; ++s) {
        const RankTime& time = c_.job.TimeOf(c_.ranks, r, s);
        length += static_cast<double>(c_.job.length[r * c_.job.steps + s]);
        compute += static_cast<double>(time.compute);
        loading += static_cast<double>(time.Loading());
        idle += static_cast<double>(time.idle);
      }
      rows.push_back({{"rank", static_cast<double>(c_.Number(r))},
                      {"host", c_.ranks[r].host},
                      {"device", static_cast<double>(c_.ranks[r].device)},
                      {"step", length / steps},
                      {"compute", compute / steps},
                      {"loading", loading / steps},
                      {"idle", idle / steps},
                      {"waited", static_cast<double>(c_.lateness.waited[r]) / steps},
                      {"late", c_.lateness.late_share[r]},
                      {"lateness", c_.lateness.mean_late_ns[r]}});
    }
    w_->Table("cluster.table", std::move(rows));
  }

  // The slowest rank of each step, and how far it is from the median one.
  void StepTable() {
    Rows rows;
    for (std::size_t s = 0; s < std::min(c_.job.steps, kRowsShown); ++s) {
      std::size_t slowest = 0;
      std::vector<Nanos> own;
      for (std::size_t r = 0; r < c_.ranks.size(); ++r) {
        own.push_back(c_.job.Own(r, s));
        if (own[r] > own[slowest]) slowest = r;
      }
      const Nanos most = own[slowest];
      std::nth_element(own.begin(), own.begin() + static_cast<std::ptrdiff_t>((own.size() - 1) / 2),
                       own.end());
      rows.push_back({{"step", static_cast<double>(s)},
                      {"time", static_cast<double>(c_.job.job_length[s])},
                      {"slowest", static_cast<double>(c_.Number(slowest))},
                      {"excess", static_cast<double>(most - own[(own.size() - 1) / 2])}});
    }
    w_->Table("cluster.lateness", std::move(rows));
  }

  // Claims: by rank in a run of several reports, by device in a single one, where the replay stands
  // in for the remedy.
  void Lose(const std::string& lost, const std::string& remedy, const RankLoss& loss) {
    std::vector<IntervalSet> by = loss.lost.by_device;
    by.resize(c_.ranks.size());
    if (one_report_) {
      std::vector<IntervalSet> by_device;
      for (std::size_t r = 0; r < by.size(); ++r) {
        const std::size_t device = c_.ranks[r].device_index;
        if (by_device.size() <= device) by_device.resize(device + 1);
        by_device[device] = std::move(by[r]);
      }
      by = std::move(by_device);
      w_->Missing(remedy, "ranks of one report are replayed together", "");
    } else {
      Loss change;
      change.remedy->rank_cuts = loss.cuts;
      change.remedy->rank_comm_cuts = loss.comm_cuts;
      change.remedy->rank_gain = loss.gain;
      w_->Remedied(remedy, change);
    }
    w_->SpansOf(lost, std::move(by));
  }

  void Imbalances() {
    const auto one = [&](const std::string& name, const Imbalance& uneven) {
      if (!c_.job.has_steps) {
        for (const char* part : {".spread", ".steps", ".top_rank", ".lost", ".remedy"}) {
          w_->Missing(name + part, "not every rank has steps", "steps");
        }
        return;
      }
      w_->Number(name + ".spread", uneven.spread);
      w_->Number(name + ".steps", uneven.steps);
      w_->Number(name + ".top_rank", uneven.top_rank);
      Lose(name + ".lost", name + ".remedy", uneven.loss);
    };
    one("rank.imbalance.compute", c_.lateness.compute);
    one("rank.imbalance.input", c_.lateness.input);
    const SlowNode& node = c_.lateness.node;
    if (c_.hosts < 2) {
      for (const char* part : {"name", "ranks", "excess", "cause", "lost", "remedy"}) {
        w_->Missing(std::string("rank.node.") + part, "the ranks are not on several named hosts",
                    "");
      }
      return;
    }
    w_->Text("rank.node.name", node.host);
    w_->Number("rank.node.ranks", static_cast<double>(node.ranks));
    w_->Number("rank.node.excess", node.excess);
    w_->Text("rank.node.cause", node.cause);
    Lose("rank.node.lost", "rank.node.remedy", node.loss);
  }

  void Patterns() {
    const Strategy& s = c_.strategy;
    const char* const kNone = "no collectives of several ranks were matched";
    if (s.rows.empty()) {
      for (const FactInfo& info : ClusterFactList()) {
        if (info.name.starts_with("strategy.")) w_->Missing(info.name, kNone, "");
      }
      return;
    }
    w_->Text("strategy.name", s.name);
    w_->Text("strategy.evidence", s.evidence);
    w_->Number("strategy.data", s.data);
    w_->Number("strategy.tensor", s.tensor);
    w_->Number("strategy.pipeline", s.pipeline);
    w_->Number("strategy.expert", s.expert);
    w_->Number("strategy.context", s.context);
    if (s.zero_stage >= 0) {
      w_->Number("strategy.zero_stage", s.zero_stage);
    } else {
      w_->Missing("strategy.zero_stage", "no gradients are reduced or scattered", "");
    }
    Rows rows;
    for (const PatternRow& row : s.rows) {
      rows.push_back({{"kind", row.kind},
                      {"phase", row.phase},
                      {"ranks", row.group},
                      {"per_step", row.per_step},
                      {"bytes", row.bytes},
                      {"exposed", row.exposed_ns}});
    }
    w_->Table("strategy.collectives", std::move(rows));
    w_->Flag("strategy.tensor_across_nodes", s.tensor_across_nodes);
    w_->Flag("strategy.gather_across_nodes", s.gather_across_nodes);
    Lose("strategy.tensor_lost", "strategy.tensor_remedy", s.tensor_loss);
    Lose("strategy.gather_lost", "strategy.gather_remedy", s.gather_loss);
    Lose("strategy.regather_lost", "strategy.regather_remedy", s.regather_loss);
    Lose("strategy.across_lost", "strategy.across_remedy", s.across_loss);
    const char* const kNoBytes = "the reports do not say how much data the collectives move";
    w_->KnownNumber("strategy.gather_bytes", s.gather_bytes, kNoBytes, "");
    w_->KnownNumber("strategy.reduce_bytes", s.reduce_bytes, kNoBytes, "");
    double peak = -1;
    double capacity = 0;
    for (const RankSummary& rank : c_.ranks) {
      peak = std::max(peak, rank.memory_peak);
      capacity = std::max(capacity, rank.memory_capacity);
    }
    w_->KnownNumber("strategy.memory_peak", peak, "memory events were not recorded", "cuda-memory");
    w_->KnownNumber("strategy.memory_capacity", capacity,
                    "the memory of the devices is not known (see --gpu)", "hardware");
    // K-K12: with mixed precision and Adam, 2 bytes of weights stand beside 2 of gradients and 12
    // of optimizer state. What is gathered in the forward pass is the weights.
    const double shards = std::max(1, s.data);
    w_->KnownNumber("strategy.model_states", 8 * s.gather_bytes, kNoBytes, "");
    w_->KnownNumber("strategy.unsharded_weights", s.gather_bytes * (1 - 1 / shards), kNoBytes, "");
  }

  void Pipeline() {
    const advise::Pipeline& p = c_.pipeline;
    w_->Number("pipeline.stages", p.stages);
    if (p.stages == 0) {
      for (const FactInfo& info : ClusterFactList()) {
        if (info.name.starts_with("pipeline.") && info.name != "pipeline.stages") {
          w_->Missing(info.name, "no chain of sends and receives was found", "");
        }
      }
      return;
    }
    w_->Number("pipeline.chunks", p.chunks);
    w_->Number("pipeline.bubble", p.bubble);
    const auto of_step = [&](const char* name, double value) {
      w_->KnownNumber(name, p.steps_known ? value : 0, "the steps of the ranks are not known",
                      "nvtx");
    };
    of_step("pipeline.micro_batches", p.micro_batches);
    of_step("pipeline.expected", p.expected);
    of_step("pipeline.interleaved", p.interleaved);
    w_->Number("pipeline.imbalance", p.imbalance);
    w_->Number("pipeline.slowest", p.slowest_stage);
    Lose("pipeline.bubble_lost", "pipeline.bubble_remedy", p.bubble_loss);
    Lose("pipeline.balance_lost", "pipeline.balance_remedy", p.balance_loss);
  }

  void Path(const std::string& name, const PathSpeed& speed) {
    const char* const kNoBytes =
        "no large collective of a known size runs on this path (sizes come with NCCL's ranges or "
        "the "
        "PyTorch profiler)";
    w_->KnownNumber(name + ".rate", speed.bus_bytes_per_s, kNoBytes, "nvtx");
    w_->KnownNumber(name + ".bytes", speed.bytes, kNoBytes, "nvtx");
    if (speed.bus_bytes_per_s > 0 && speed.peak_bytes_per_s > 0) {
      w_->Number(name + ".peak", speed.peak_bytes_per_s);
      w_->Text(name + ".name", speed.path);
      w_->Text(name + ".kind", speed.kind);
      Lose(name + ".lost", name + ".remedy", speed.loss);
      return;
    }
    const bool slow = speed.bus_bytes_per_s > 0;
    for (const char* part : {".peak", ".name", ".kind", ".lost", ".remedy"}) {
      w_->Missing(name + part, slow ? "the rate of the path is not known" : kNoBytes,
                  slow ? "hardware" : "nvtx");
    }
  }

  const Cluster& c_;
  bool one_report_;
  FactWriter* w_;
};

}  // namespace

std::vector<FactInfo> ClusterFactList() {
  return {
      {"cluster.ranks", "count", "Ranks (devices that did work) in all reports."},
      {"cluster.reports", "count", "Number of reports that hold the ranks."},
      {"cluster.hosts", "count", "Number of hosts that the ranks ran on."},
      {"cluster.world", "count", "Ranks that the job has, as the launcher says."},
      {"cluster.missing", "count", "Ranks of the job without a report."},
      {"cluster.steps", "count", "Steps that all ranks have: those in which ranks are compared."},
      {"cluster.window", "ns",
       "Length of the steps in which ranks are compared, each as long as on its slowest rank."},
      {"cluster.aligned", "flag", "The clocks of all reports could be brought together."},
      {"cluster.residual", "ns",
       "Largest median deviation of the ends of the same collective after alignment."},
      {"cluster.skew", "ns", "Largest difference of the hosts' own clocks."},
      {"cluster.matched", "share", "Share of the collectives found on more than one rank."},
      {"cluster.transfer", "ns",
       "Exposed communication less waiting for late ranks, mean over ranks."},
      {"cluster.waited", "ns",
       "Exposed waiting for late ranks inside collectives, mean over ranks."},
      {"cluster.efficiency.parallel", "share",
       "Mean compute time of the ranks over the job's time: load balance times communication times "
       "orchestration."},
      {"cluster.efficiency.load_balance", "share",
       "Mean compute time of the ranks over the largest of a rank."},
      {"cluster.efficiency.communication", "share",
       "Largest compute time of a rank over the largest busy time (compute, exposed communication "
       "and copies)."},
      {"cluster.efficiency.orchestration", "share",
       "Largest busy time of a rank over the job's time."},
      {"cluster.table", "rows",
       "Ranks one by one: rank, host, device, step, compute, loading, idle, waited (all per step), "
       "late (share of the collectives at which it comes last), lateness (mean)."},
      {"cluster.lateness", "rows",
       "Steps one by one: step, time, slowest (rank), excess (its own time over that of the median "
       "rank)."},

      {"rank.imbalance.compute.spread", "share",
       "Largest less median compute time of a step over its length, mean over steps."},
      {"rank.imbalance.compute.steps", "share",
       "Share of the steps whose slowest rank owes half of its excess to compute."},
      {"rank.imbalance.compute.top_rank", "share",
       "Of the steps that a rank slow in compute delays, the share in which it is the same rank."},
      {"rank.imbalance.compute.lost", "spans",
       "Waiting for ranks that are slow in compute, up to what balance wins."},
      {"rank.imbalance.compute.remedy", "remedy",
       "Ranks that are slow in compute take as long as the median rank."},
      {"rank.imbalance.input.spread", "share",
       "Largest less median waiting for data in a step over its length, mean over steps."},
      {"rank.imbalance.input.steps", "share",
       "Share of the steps whose slowest rank owes half of its excess to waiting for data."},
      {"rank.imbalance.input.top_rank", "share",
       "Of the steps that a rank waiting for data delays, the share in which it is the same rank."},
      {"rank.imbalance.input.lost", "spans",
       "Waiting for ranks that wait for data, up to what balance wins."},
      {"rank.imbalance.input.remedy", "remedy",
       "Ranks that wait for data wait as long as the median rank."},
      {"rank.node.name", "name",
       "The host all of whose ranks are slower than every other rank; empty when there is none."},
      {"rank.node.ranks", "count", "Number of ranks of the slow host."},
      {"rank.node.excess", "share",
       "Share by which the median rank of the slow host is slower than the slowest other rank."},
      {"rank.node.cause", "name", "What ranks of the slow host do more than the others."},
      {"rank.node.lost", "spans", "Waiting of the other ranks for the slow host."},
      {"rank.node.remedy", "remedy", "The slow host is as fast as the slowest other rank."},

      {"strategy.name", "name",
       "What the collectives look like: ddp, zero-1, zero-2, zero-3, tensor, pipeline, expert, "
       "context, embedding, exchange (all-to-all of unknown use), joined by +."},
      {"strategy.evidence", "name", "What the strategy of the job was inferred from."},
      {"strategy.data", "count", "Ranks that share gradients; 1 when none do."},
      {"strategy.tensor", "count", "Ranks that share layers; 1 when none do."},
      {"strategy.pipeline", "count",
       "Stages that the job's layers are split into; 1 without a pipeline."},
      {"strategy.expert", "count", "Ranks that exchange tokens of experts; 1 when none do."},
      {"strategy.context", "count", "Ranks that exchange blocks of a sequence; 1 when none do."},
      {"strategy.zero_stage", "count",
       "Stage of ZeRO that the sharding looks like: 0 replicated, 1 to 3 sharded."},
      {"strategy.collectives", "rows",
       "Collectives by kind, phase and number of ranks: kind, phase, ranks, per_step, bytes (per "
       "step), exposed."},
      {"strategy.tensor_across_nodes", "flag", "Tensor-parallel groups span hosts."},
      {"strategy.gather_across_nodes", "flag", "Parameters are gathered across hosts."},
      {"strategy.tensor_lost", "spans", "Exposed transfer of tensor-parallel collectives."},
      {"strategy.tensor_remedy", "remedy",
       "Tensor-parallel transfers take no exposed time; across nodes, as far as links inside a "
       "node save it."},
      {"strategy.gather_lost", "spans", "Exposed transfer of parameter gathers."},
      {"strategy.gather_remedy", "remedy", "Parameter gathers take no exposed time."},
      {"strategy.regather_lost", "spans",
       "Exposed transfer of parameter gathers in the backward pass; half of all where no range "
       "names that pass."},
      {"strategy.regather_remedy", "remedy",
       "Parameter gathers in the backward pass take no exposed time."},
      {"strategy.across_lost", "spans",
       "Exposed transfer of parameter gathers and gradient scatters across nodes."},
      {"strategy.across_remedy", "remedy",
       "Parameter gathers and gradient scatters stay inside nodes, whose links save a part of "
       "their exposed time."},
      {"strategy.gather_bytes", "bytes",
       "Bytes of parameters gathered on a rank, each once per step."},
      {"strategy.reduce_bytes", "bytes", "Bytes of gradients reduced on a rank, per step."},
      {"strategy.memory_peak", "bytes", "Largest device memory in use on any rank."},
      {"strategy.memory_capacity", "bytes", "Memory of a device of the job."},
      {"strategy.model_states", "bytes",
       "Weights, gradients and Adam state in mixed precision, all ranks together (16 bytes a "
       "parameter)."},
      {"strategy.unsharded_weights", "bytes",
       "Bytes that a rank would hold more if weights were not sharded."},

      {"pipeline.stages", "count", "Stages of the pipeline; 0 without one."},
      {"pipeline.micro_batches", "count", "Number of micro-batches per step."},
      {"pipeline.chunks", "count",
       "Chunks of layers per rank: how often a micro-batch passes it; more than 1 in an "
       "interleaved schedule."},
      {"pipeline.bubble", "share", "Share of the time that stages wait for each other, mean."},
      {"pipeline.expected", "share",
       "Expected bubble: (p-1)/(v m+p-1) for p stages, v chunks and m micro-batches."},
      {"pipeline.interleaved", "share", "Expected bubble with twice as many chunks per rank."},
      {"pipeline.imbalance", "share", "Largest compute time of a stage over the mean, less one."},
      {"pipeline.slowest", "count", "The stage with the largest compute time, counted from 0."},
      {"pipeline.bubble_lost", "spans", "Waiting that twice as many micro-batches would spare."},
      {"pipeline.bubble_remedy", "remedy", "The pipeline has twice as many micro-batches."},
      {"pipeline.balance_lost", "spans", "Waiting of the other stages for the slowest."},
      {"pipeline.balance_remedy", "remedy", "The slowest stage takes as long as the mean stage."},

      {"comm.path.inside.rate", "bytes_per_s",
       "Bus bandwidth of large collectives inside a node: bytes over links in the shortest "
       "kernel."},
      {"comm.path.inside.bytes", "bytes", "Bytes per rank of large collectives inside a node."},
      {"comm.path.inside.peak", "bytes_per_s",
       "Rate one way of the path that large collectives inside a node take."},
      {"comm.path.inside.name", "name", "Path that large collectives inside a node take."},
      {"comm.path.inside.kind", "name",
       "Collective with most time among the large ones inside a node."},
      {"comm.path.inside.lost", "spans",
       "Exposed transfer beyond the usual rate of large collectives inside a node."},
      {"comm.path.inside.remedy", "remedy",
       "Large collectives inside a node run at the usual rate of their path."},
      {"comm.path.across.rate", "bytes_per_s", "Bus bandwidth of large collectives across nodes."},
      {"comm.path.across.bytes", "bytes", "Bytes per rank of large collectives across nodes."},
      {"comm.path.across.peak", "bytes_per_s",
       "Rate one way of the network that large collectives across nodes take."},
      {"comm.path.across.name", "name", "Path that large collectives across nodes take."},
      {"comm.path.across.kind", "name",
       "Collective with most time among the large ones across nodes."},
      {"comm.path.across.lost", "spans",
       "Exposed transfer beyond the usual rate of large collectives across nodes."},
      {"comm.path.across.remedy", "remedy",
       "Large collectives across nodes run at the usual rate of their path."},
  };
}

void WriteClusterFacts(const Cluster& cluster, bool one_report, FactWriter* w) {
  ClusterWriter(cluster, one_report, w).Write();
}

}  // namespace advise::facts
