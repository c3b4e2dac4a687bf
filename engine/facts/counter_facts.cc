// counter.*, roofline.rows, roofline.estimates, roofline.low_intensity.*: kernel counters, and what
// limits kernels.
#include <algorithm>

#include "engine/facts/declare.h"

namespace advise::facts {
namespace {

constexpr const char* kNoCounters = "no kernel counters were given (Nsight Compute)";

// Classes of kernels whose work and traffic go together, whatever their size.
struct Reference {
  const char* kernel_class;
  const char* number;  // of kb/metrics.toml
};
constexpr Reference kReferences[] = {{"elementwise", "roofline.elementwise"},
                                     {"cast", "roofline.elementwise"},
                                     {"reduction", "roofline.reduction"},
                                     {"normalization", "roofline.normalization"},
                                     {"softmax", "roofline.softmax"},
                                     {"attention", "roofline.attention"},
                                     {"matrix", "roofline.matrix"}};

Rows CounterRows(const Counters& counters) {
  return RowsOf(counters.kernels, [](const CountedKernel& k) {
    return Row{{"kernel", k.name},
               {"class", k.kernel_class},
               {"weight", k.weight},
               {"count", static_cast<double>(k.instances)},
               {"time", k.run_time_ns > 0 ? k.run_time_ns : k.time_ns},
               {"bound", k.bound},
               {"memory_kind", k.bound != "memory" ? ""
                               : k.on_chip         ? "on-chip"
                                                   : "device"},
               {"headroom", k.headroom},
               {"scattered", k.scattered},
               {"lost", k.lost_ns},
               {"sm", k.sm},
               {"memory", k.memory},
               {"dram", k.dram},
               {"l1", k.l1},
               {"l2", k.l2},
               {"l2_hit", k.l2_hit},
               {"occupancy", k.occupancy},
               {"theoretical", k.theoretical},
               {"limiter", k.limiter},
               {"registers", k.registers},
               {"waves", k.waves},
               {"ipc", k.ipc},
               {"issue", k.issue},
               {"stall_memory", k.stall_memory},
               {"stall_queue", k.stall_queue},
               {"stall_barrier", k.stall_barrier},
               {"stall_fence", k.stall_fence},
               {"stall_not_selected", k.stall_not_selected},
               {"sectors", k.sectors},
               {"useful", k.useful},
               {"local", k.local},
               {"lanes", k.lanes},
               {"conflicts", k.conflicts},
               {"atomics", k.atomics},
               {"blocks", k.blocks},
               {"threads", k.threads},
               {"sms", k.sms},
               {"at_work", k.at_work},
               {"mean", k.instances > 0 ? k.time_ns / static_cast<double>(k.instances) : 0},
               {"tensor", k.tensor},
               {"source", k.source}};
  });
}

Rows RooflineRows(const Counters& counters) {
  Rows rows;
  for (const CountedKernel& k : counters.kernels) {
    if (k.intensity < 0) continue;
    rows.push_back({{"kernel", k.name},
                    {"weight", k.weight},
                    {"flops", k.flops},
                    {"bytes", k.bytes},
                    {"intensity", k.intensity},
                    {"balance", k.balance},
                    {"achieved", k.achieved},
                    {"attainable", k.attainable},
                    {"bound", k.balance <= 0            ? ""
                              : k.intensity < k.balance ? "memory"
                                                        : "compute"},
                    {"estimated", k.tensor_estimated ? "tensor work" : ""}});
  }
  return rows;
}

// The first sentences of a profiler's paragraph: what follows points into its own user interface.
std::string Beginning(const std::string& text) {
  constexpr std::size_t kEnough = 100;
  for (std::size_t at = text.find(". "); at != std::string::npos; at = text.find(". ", at + 2)) {
    if (at >= kEnough) return text.substr(0, at + 1);
  }
  return text;
}

Rows AdviceRows(const Trace& trace) {
  Rows rows;
  for (const KernelCounters& counters : trace.counters) {
    for (const CounterAdvice& advice : counters.advice) {
      if (advice.speedup_percent < 0) continue;
      rows.push_back({{"kernel", counters.kernel},
                      {"rule", advice.rule},
                      {"speedup", std::min(1.0, advice.speedup_percent / 100)},
                      {"text", Beginning(advice.text)}});
    }
  }
  return rows;
}

// What the classes of kernels say of their intensity.
struct Estimates {
  Rows rows;
  double low_ns = 0;  // in kernels below the balance
};

Estimates Estimate(const Analysis& a) {
  Estimates estimates;
  for (const KernelRow& row : a.kernels.classes) {
    for (const Reference& reference : kReferences) {
      if (row.kernel_class != reference.kernel_class) continue;
      const bool matrix = row.kernel_class == "matrix" || row.kernel_class == "attention";
      const double peak = matrix
                              ? std::max(a.hardware.peak_tensor_flops, a.hardware.peak_fp32_flops)
                              : a.hardware.peak_fp32_flops;
      const double intensity = a.run.knowledge.Number(reference.number);
      const double balance = ShareOf(peak, a.hardware.memory_bytes_per_s);
      if (intensity < balance) estimates.low_ns += row.time_ns;
      estimates.rows.push_back({{"class", row.kernel_class},
                                {"time", row.time_ns},
                                {"intensity", intensity},
                                {"balance", balance},
                                {"bound", intensity < balance ? "memory" : "compute"}});
    }
  }
  // Sizes tell more than a class does.
  for (const ShapeRow& row : a.shapes.rows) {
    estimates.low_ns += IsArithmetic(row.kind) && row.bound == "memory" ? row.time_ns : 0;
  }
  return estimates;
}

void DeclareEstimates(Catalog* catalog) {
  auto& estimates = catalog->Of(Estimate);
  estimates.Needs(
      [](const Analysis& a) {
        return a.hardware.memory_bytes_per_s > 0 && a.hardware.peak_fp32_flops > 0;
      },
      "the peaks of the device are not known (see --gpu)", "hardware");
  estimates.Add("roofline.estimates", "rows",
                "An estimate from the classes of kernels alone: class, time, intensity, balance, "
                "bound.",
                &Estimates::rows);
  estimates.Add("roofline.low_intensity.share", "share",
                "Estimate: share of the kernel time in classes whose intensity lies below the "
                "balance, and in products whose recorded sizes say so.",
                [](const Estimates& e, const Analysis& a) {
                  return std::min(1.0, ShareOf(e.low_ns, a.kernels.time_ns));
                });
}

}  // namespace

void DeclareCounterFacts(Catalog* catalog) {
  auto& totals = catalog->Of(&Analysis::counters);
  totals.AlsoWithoutTimeline();
  totals.Add("counter.kernels", "count",
             "Kernels, by name, for which hardware counters were given.",
             [](const Counters& c) { return c.kernels.size(); });
  totals.Add("counter.instances", "count", "Launches for which hardware counters were given.",
             &Counters::instances);
  auto& counters = catalog->Of(&Analysis::counters);
  counters.AlsoWithoutTimeline();
  counters.Needs([](const Analysis& a) { return !a.counters.kernels.empty(); }, kNoCounters, "ncu");
  counters.Add("counter.time", "ns", "Summed time of counted launches under the kernel profiler.",
               &Counters::time_ns);
  counters.Add("counter.coverage", "share",
               "Part of the run's kernel time in kernels that were counted; absent without a "
               "timeline.",
               UnlessNegative(&Counters::coverage, "no timeline of the run was given", "cuda"));
  counters.Add("counter.rows", "rows",
               "Counted kernels: kernel, class, weight (share of the run's kernel time; without a "
               "timeline of the counted time), count, time, bound (what it meets first: memory, "
               "compute; latency when it is near neither, launch when it is also as short as a "
               "start), memory_kind (of what memory limits: on-chip, "
               "if device memory is far less busy, else device), headroom (share of its time that "
               "running near that limit would win), scattered (of headroom, what moving no more "
               "than was asked for would win, as fast as now), lost (headroom as time), then "
               "shares of peak, "
               "of the warps, of the issue slots, of a warp's latency, and ratios; -1 was not "
               "counted.",
               CounterRows);
  counters.Add("counter.memory.lost", "spans",
               "Headroom of counted kernels that memory limits; without a timeline on the counted "
               "time.",
               &Counters::memory);
  counters.Add("counter.compute.lost", "spans", "Headroom of counted kernels that the SMs limit.",
               &Counters::compute);
  counters.Add("counter.latency.lost", "spans",
               "Headroom of counted kernels that are far from every limit.", &Counters::latency);
  counters.Add("counter.advice", "rows",
               "What the kernel profiler itself advised with an estimate: kernel, rule, speedup, "
               "text.",
               [](const Counters&, const Analysis& a) { return AdviceRows(a.run.trace); });
  counters.Add("roofline.rows", "rows",
               "Counted kernels with work and traffic: kernel, weight, flops and bytes (of a "
               "launch), intensity, balance, achieved, attainable, bound, estimated (what was not "
               "counted directly).",
               RooflineRows);
  DeclareEstimates(catalog);
}

}  // namespace advise::facts
