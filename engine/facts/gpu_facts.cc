// kernel.*, precision.*, comm.*, rank.*
#include <algorithm>

#include "engine/facts/fact_writer.h"
#include "engine/metrics/analysis.h"

namespace advise::facts {
namespace {

double Share(double part, double whole) { return whole > 0 ? part / whole : 0; }

Rows KernelRows(const std::vector<KernelRow>& rows, double whole, std::size_t most,
                const char* extra) {
  Rows table;
  for (std::size_t i = 0; i < std::min(rows.size(), most); ++i) {
    const KernelRow& r = rows[i];
    Row row = {{"name", r.name},
               {"class", r.kernel_class},
               {"count", static_cast<double>(r.count)},
               {"time", r.time_ns},
               {"share", Share(r.time_ns, whole)},
               {"median", r.median_ns}};
    const std::string kind = extra;
    if (kind == "blocks") row.emplace_back("blocks", r.blocks);
    if (kind == "waves") row.emplace_back("waves", r.waves);
    if (kind == "local") {
      row.emplace_back("local_bytes", r.local_bytes);
      row.emplace_back("registers", r.registers);
    }
    table.push_back(std::move(row));
  }
  return table;
}

}  // namespace

void WriteKernelFacts(const Analysis& a, FactWriter* w) {
  const Kernels& k = a.kernels;
  const double compute = k.compute_ns;
  w->Number("kernel.count", static_cast<double>(k.count));
  w->Number("kernel.time", k.time_ns);
  w->Table("kernel.top", KernelRows(k.top, std::max(k.time_ns, compute), 50, ""));
  w->Table("kernel.classes", KernelRows(k.classes, k.time_ns, 50, ""));
  w->Text("kernel.top.name", k.top.empty() ? "" : k.top.front().name);
  w->Number("kernel.top.share",
            k.top.empty() ? 0 : Share(k.top.front().time_ns, std::max(k.time_ns, compute)));
  const char* const kNoSms = "the number of SMs of the device is not known (see --gpu)";
  if (a.hardware.sm_count > 0) {
    w->Number("kernel.small_grid.share", Share(k.small_grid.time_ns, compute));
    w->Number("kernel.small_grid.median_blocks", k.small_grid_blocks);
    w->Number("kernel.small_grid.sms", a.hardware.sm_count);
    w->Table("kernel.small_grid.rows", KernelRows(k.small_grid_rows, k.time_ns, 20, "blocks"));
    w->SpansOf("kernel.small_grid.lost", k.small_grid.lost->by_device);
    w->Number("kernel.small_grid.fill", k.small_grid_fill);
    w->Number("kernel.tail.share", Share(k.tail_waste_ns, compute));
    w->Number("kernel.tail.counted", Share(k.tail_counted_ns, k.tail.time_ns));
    w->Table("kernel.tail.rows", KernelRows(k.tail_rows, k.time_ns, 20, "waves"));
    w->SpansOf("kernel.tail.lost", k.tail.lost->by_device);
    w->Number("kernel.narrow.share", Share(k.narrow_ns, compute));
  } else {
    for (const char* name :
         {"kernel.small_grid.share", "kernel.small_grid.median_blocks", "kernel.small_grid.sms",
          "kernel.small_grid.rows", "kernel.small_grid.lost", "kernel.small_grid.fill",
          "kernel.tail.share", "kernel.tail.counted", "kernel.tail.rows", "kernel.tail.lost",
          "kernel.narrow.share"}) {
      w->Missing(name, kNoSms, "hardware");
    }
  }
  const auto group = [&](const std::string& name, const Loss& loss) {
    w->Number(name + ".share", Share(static_cast<double>(loss.lost->Total()), compute));
    w->Number(name + ".count", loss.per_step);
    w->Lost(name, loss);
  };
  group("kernel.elementwise", k.elementwise);
  w->Number("kernel.elementwise.runs", k.elementwise_runs);
  group("kernel.attention.unfused", k.attention);
  group("kernel.layout", k.layout);
  w->Number("kernel.optimizer.per_step", k.optimizer.per_step);
  w->Number("kernel.optimizer.share", Share(static_cast<double>(k.optimizer.lost->Total()),
                                            static_cast<double>(a.basis().Device())));
  w->Lost("kernel.optimizer", k.optimizer);
  w->Number("kernel.concurrency", k.concurrency);
  w->Number("kernel.streams", static_cast<double>(k.streams));
  w->Number("kernel.spilling.share", Share(k.spilling_ns, compute));
  w->Table("kernel.spilling.rows", KernelRows(k.spilling_rows, k.time_ns, 20, "local"));

  w->Number("precision.matrix.time", k.matrix_ns);
  w->Number("precision.matrix.share", Share(k.matrix_ns, compute));
  group("precision.fp32", k.fp32);
  w->KnownNumber(
      "precision.fp32.speedup", a.hardware.tensor_ratio > 1 ? a.hardware.tensor_ratio : 0,
      "the device has no tensor cores, or is not in the knowledge base (see --gpu)", "hardware");
  w->Text("precision.fp32.top", k.fp32_top);
  if (a.samples.tensor_in_matrix >= 0) {
    w->Number("precision.tensor.sampled", a.samples.tensor_in_matrix);
    w->Number("precision.tensor.samples", static_cast<double>(a.samples.tensor_samples));
  } else {
    w->Missing("precision.tensor.sampled", "no GPU metric samples fell into matrix kernels",
               "gpu-metrics");
    w->Missing("precision.tensor.samples", "no GPU metric samples fell into matrix kernels",
               "gpu-metrics");
  }
  double counted = 0, counted_weight = 0;
  for (const CountedKernel& kernel : a.counters.kernels) {
    const bool matrix = kernel.kernel_class == "matrix" || kernel.kernel_class == "convolution";
    if (!matrix || kernel.tensor < 0) continue;
    counted += kernel.tensor * kernel.weight;
    counted_weight += kernel.weight;
  }
  if (a.samples.tensor_in_matrix >= 0 || counted_weight > 0) {
    const bool sampled = a.samples.tensor_in_matrix >= 0;
    w->Number("precision.tensor.active",
              sampled ? a.samples.tensor_in_matrix : counted / counted_weight);
    w->Text("precision.tensor.active_from", sampled ? "samples" : "counters");
  } else {
    for (const char* name : {"precision.tensor.active", "precision.tensor.active_from"}) {
      w->Missing(name, "neither samples nor counters show the tensor pipes", "gpu-metrics");
    }
  }
  w->Number("precision.tensor.share", Share(k.tensor_ns, k.matrix_ns));
  group("precision.cast", k.cast);
  w->Number("precision.cast.per_step", k.cast.per_step);
  group("precision.unaligned", k.unaligned);
}

void WriteCommFacts(const Analysis& a, FactWriter* w) {
  const Comm& c = a.comm;
  w->Number("comm.count", static_cast<double>(c.count));
  w->Number("comm.per_step", c.per_step);
  w->Number("comm.time", c.time_ns);
  std::vector<IntervalSet> exposed;
  for (const DeviceTime& t : a.times) exposed.push_back(t.comm_exposed);
  w->SpansOf("comm.exposed", std::move(exposed));
  Loss beside;
  for (std::uint32_t op = 0; op < a.run.trace.ops.size(); ++op) {
    if (a.run.IsComm(op)) beside.remedy->detached_ops.push_back(op);
  }
  w->Remedied("comm.beside.remedy", beside);
  w->Number("comm.overlap", c.overlap);
  w->Number("comm.median", c.median_ns);
  Rows kinds;
  for (const CollectiveRow& row : c.kinds) {
    kinds.push_back({{"kind", row.kind},
                     {"count", static_cast<double>(row.count)},
                     {"time", row.time_ns},
                     {"exposed", row.exposed_ns}});
  }
  w->Table("comm.kinds", std::move(kinds));
  w->Number("comm.serial.share", c.serial_share);
  w->Lost("comm.serial", c.serial);
  w->Lost("comm.no_overlap", c.no_overlap);
  w->Flag("comm.same_stream", c.same_stream);
  w->Number("comm.small.per_step", c.small.per_step);
  w->Number("comm.small.share", c.small_share);
  w->Lost("comm.small", c.small);
  if (c.late_device == kNone) {
    for (const char* name : {"rank.late.device", "rank.late.share", "rank.late.lateness",
                             "rank.late.cause", "rank.late.lost", "rank.late.remedy"}) {
      w->Missing(name, "collectives of several devices could not be matched", "ranks");
    }
  } else {
    w->Number("rank.late.device", static_cast<double>(a.run.trace.devices[c.late_device].ordinal));
    w->Number("rank.late.share", c.late_share);
    w->Number("rank.late.lateness", c.lateness_ns);
    w->Text("rank.late.cause", c.late_cause);
    w->Lost("rank.late", c.late);
  }
  std::vector<IntervalSet> compute;
  for (const DeviceTime& t : a.times) compute.push_back(t.compute);
  w->SpansOf("rank.idle.lost", std::move(compute));
  w->Number("rank.idle.devices",
            static_cast<double>(a.run.trace.devices.size() - a.run.active_devices.size()));
}

}  // namespace advise::facts
