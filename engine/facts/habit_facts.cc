// graph.*, phase.*, efficiency.*, and what kernels and the host show beside the subjects of their
// own.
#include <algorithm>

#include "engine/facts/fact_writer.h"
#include "engine/metrics/analysis.h"

namespace advise::facts {
namespace {

constexpr std::array<const char*, kStallPhases.size()> kPhaseFacts = {
    "checkpoint", "evaluation", "garbage_collection", "logging", "optimizer"};

double Share(double part, double whole) { return whole > 0 ? part / whole : 0; }

Rows HabitRows(const std::vector<KernelRow>& rows, const char* extra) {
  Rows table;
  for (std::size_t i = 0; i < std::min<std::size_t>(rows.size(), 20); ++i) {
    const KernelRow& r = rows[i];
    Row row = {{"name", r.name}, {"count", static_cast<double>(r.count)}, {"time", r.time_ns}};
    const std::string kind = extra;
    if (kind == "median") row.emplace_back("median", r.median_ns);
    if (kind == "threads") row.emplace_back("threads", r.blocks);
    table.push_back(std::move(row));
  }
  return table;
}

// The factors of the parallel efficiency of the GPUs: their product is the share of the GPU time
// that computes.
void WriteEfficiency(const Analysis& a, FactWriter* w) {
  double most_useful = 0;
  double sum_useful = 0;
  double most_active = 0;
  for (const std::uint32_t d : a.run.active_devices) {
    const auto useful = static_cast<double>(a.times[d].compute.Total());
    sum_useful += useful;
    most_useful = std::max(most_useful, useful);
    most_active =
        std::max(most_active, static_cast<double>(a.run.window.Length() - a.times[d].idle.Total()));
  }
  const auto time = static_cast<double>(a.run.window.Length());
  const auto devices = static_cast<double>(a.run.active_devices.size());
  w->Number("efficiency.parallel", Share(sum_useful, time * devices));
  w->Number("efficiency.balance", Share(sum_useful, most_useful * devices));
  w->Number("efficiency.communication", Share(most_useful, most_active));
  w->Number("efficiency.orchestration", Share(most_active, time));
}

double WorldSize(const Trace& trace) {
  if (trace.world_size > 0) return trace.world_size;
  for (const auto& [name, value] : trace.environment) {
    const bool digits =
        !value.empty() && value.size() < 8 &&
        std::all_of(value.begin(), value.end(), [](char c) { return c >= '0' && c <= '9'; });
    if (name == "WORLD_SIZE" && digits) return std::stod(value);
  }
  return 0;
}

void WriteGraphs(const Graphs& g, FactWriter* w) {
  w->Number("graph.launches", static_cast<double>(g.launches));
  w->Number("graph.per_step", g.per_step);
  w->Number("graph.call.median", g.call_median_ns);
  w->Number("graph.gpu.median", g.gpu_median_ns);
  w->KnownNumber("graph.kernels.median", g.kernels_median,
                 "no graph was launched, or graphs were traced as a whole", "cuda-graph-node");
  w->SpansOf("graph.gap.lost", g.gaps.lost->by_device);
  w->Number("graph.gap.count", static_cast<double>(g.gaps.count));
  w->Number("graph.miss.share", g.miss_share);
  w->SpansOf("graph.miss.lost", g.misses.lost->by_device);
}

void WriteSteps(const Analysis& a, FactWriter* w) {
  const HostHabits& h = a.host_habits;
  const bool known = a.run.steps.known();
  const auto step = [&](const char* name, double value) {
    if (known) {
      w->Number(name, value);
    } else {
      w->Missing(name, "no steps were found", "steps");
    }
  };
  step("steps.drift", h.step_drift);
  step("steps.kinds.share", h.two_kinds_share);
  step("steps.kinds.ratio", h.two_kinds_ratio);
}

}  // namespace

std::vector<FactInfo> HabitFactList() {
  std::vector<FactInfo> list = {
      {"kernel.gemm_train.count", "count",
       "Runs of eight or more launches of one small matrix kernel with one grid, with at most two "
       "others between."},
      {"kernel.gemm_train.kernels", "count", "Kernels in them, a step."},
      {"kernel.gemm_train.lost", "spans", "The idle time between them."},
      {"kernel.gemm_train.remedy", "remedy", "The host launches each run once."},
      {"kernel.repeated.count", "count",
       "Runs of eight or more launches of one small kernel with one grid, matrix kernels left "
       "out."},
      {"kernel.repeated.kernels", "count", "Kernels in them, a step."},
      {"kernel.repeated.lost", "spans", "The idle time between them."},
      {"kernel.repeated.remedy", "remedy", "The host launches each run once."},
      {"kernel.varying.count", "count",
       "Kernels that took more than twice the median of the same kernel and grid at the same place "
       "of the step."},
      {"kernel.varying.rows", "rows",
       "Such kernels: name, count, time (beyond the median), median."},
      {"kernel.varying.lost", "spans", "Their time beyond the median."},
      {"kernel.varying.remedy", "remedy", "They take the median."},
      {"kernel.slowing.ratio", "num",
       "Time of the same kernels in the second half of the window over the first; 0 when it cannot "
       "be compared."},
      {"kernel.slowing.share", "share", "Share of the kernel time that was compared."},
      {"kernel.slowing.lost", "spans", "Time of the second half beyond the median of the first."},
      {"kernel.slowing.remedy", "remedy", "Kernels stay as fast as in the first half."},
      {"kernel.partial_warp.share", "share",
       "Share of the compute time in kernels whose blocks are no multiple of 32 threads, where the "
       "grid fills the device."},
      {"kernel.partial_warp.waste", "share",
       "Share of the compute time in lanes without a thread."},
      {"kernel.partial_warp.rows", "rows", "Such kernels: name, count, time, threads."},
      {"kernel.partial_warp.lost", "spans", "Their time."},
      {"kernel.partial_warp.remedy", "remedy", "Their lanes are all in use."},
      {"kernel.tiny_block.share", "share",
       "Share of the compute time in kernels with at most 32 threads a block and more blocks than "
       "SMs."},
      {"kernel.tiny_block.lost", "spans", "Their time."},
      {"precision.fp64.share", "share",
       "Share of the compute time in double-precision matrix kernels."},
      {"precision.fp64.count", "count", "Such kernels, a step."},
      {"precision.fp64.lost", "spans", "Their time."},
      {"precision.fp64.remedy", "remedy", "They take half of their time."},
      {"precision.bf16.share", "share",
       "Share of the compute time in bfloat16 matrix kernels that are not known to use tensor "
       "cores."},
      {"precision.bf16.count", "count", "Such kernels, a step."},
      {"precision.bf16.lost", "spans", "Their time."},
      {"precision.bf16.remedy", "remedy", "They take half of their time."},
      {"precision.half.share", "share",
       "Share of the compute time in 16-bit matrix and convolution kernels."},
      {"precision.fp8.share", "share",
       "Share of the compute time in 8-bit and 4-bit matrix kernels."},
      {"hw.compute_capability", "num", "Compute capability of the first device: 9.0 is 9."},
      {"hw.peak_fp8_flops", "flop_per_s", "Peak dense FP8 rate; absent where the device has none."},
      {"hw.fp64_ratio", "num", "Peak FP64 rate over peak FP32 rate, without tensor cores."},
      {"graph.launches", "count", "Launches of CUDA graphs in the window."},
      {"graph.per_step", "count", "How many a step."},
      {"graph.call.median", "ns", "Median launching call of a graph."},
      {"graph.gpu.median", "ns", "Median time from the first to the last op of a graph launch."},
      {"graph.kernels.median", "count", "Median ops of a graph launch."},
      {"graph.gap.count", "count", "Gaps before a graph that the host makes."},
      {"graph.gap.lost", "spans", "Idle time of these gaps."},
      {"graph.miss.share", "share",
       "Share of the steps without a graph, where most steps have one."},
      {"graph.miss.lost", "spans", "Idle time of these steps beyond that of the others."},
      {"graph.whole.share", "share",
       "Share of the compute time in graphs that were traced as a whole."},
      {"launch.waiting.share", "share",
       "Share of the launches of longer kernels that return only when the kernel has ended."},
      {"launch.waiting.lost", "spans", "Idle time before the next launch after them."},
      {"launch.waiting.remedy", "remedy", "Launches do not wait."},
      {"memory.free_burst.count", "count",
       "Runs of six or more frees of device memory, in the steady loop."},
      {"memory.free_burst.per_step", "count", "How many a step."},
      {"memory.free_burst.frees", "count", "Mean number of frees in a run."},
      {"memory.free_burst.lost", "spans", "Idle time in them and until the host is ahead again."},
      {"memory.free_burst.remedy", "remedy", "These frees are gone."},
      {"sync.optimizer.count", "count", "Waits of the host in optimizer ranges of the loop."},
      {"sync.optimizer.per_step", "count", "How many a step."},
      {"sync.optimizer.lost", "spans", "Idle time until the host is ahead again."},
      {"sync.optimizer.remedy", "remedy", "These calls do not wait."},
      {"sync.backward.count", "count", "Waits of the host in backward ranges of the loop."},
      {"sync.backward.per_step", "count", "How many a step."},
      {"sync.backward.lost", "spans", "Idle time until the host is ahead again."},
      {"sync.backward.remedy", "remedy", "These calls do not wait."},
      {"memset.count", "count", "Memsets in the window."},
      {"memset.per_step", "count", "How many a step."},
      {"memset.bytes", "bytes", "Their bytes."},
      {"memset.lost", "spans", "Time in which only they ran."},
      {"memset.remedy", "remedy", "They are gone."},
      {"copy.device.lost", "spans", "Time in which only copies inside a device ran."},
      {"copy.device.remedy", "remedy", "These copies are gone."},
      {"copy.device.per_step", "count", "Copies inside a device, a step."},
      {"copy.peer.lost", "spans", "Time in which only copies between devices ran."},
      {"copy.peer.remedy", "remedy", "These copies run beside the kernels."},
      {"copy.peer.per_step", "count", "Copies between devices, a step."},
      {"copy.duplex.share", "share",
       "Of uploads and downloads the one that takes less time: the share of it beside the other."},
      {"copy.duplex.lost", "spans", "Exposed time of that direction."},
      {"copy.duplex.remedy", "remedy", "That direction runs beside the other."},
      {"copy.migration.back_bytes", "bytes", "Bytes of unified memory that migrate to the host."},
      {"host.cpu_moves", "num",
       "How often a second a launching thread wakes up on another CPU; absent without scheduling "
       "events."},
      {"steps.drift", "share", "Last third of the steady steps over the first third, less 1."},
      {"steps.kinds.share", "share", "Share of the slower of two kinds of steps; 0 for few steps."},
      {"steps.kinds.ratio", "num", "The shortest of them over the longest of the others."},
      {"efficiency.parallel", "share",
       "Share of the GPU time that computes: the product of the next three."},
      {"efficiency.balance", "share", "Mean compute time of the GPUs over the largest."},
      {"efficiency.communication", "share",
       "Largest compute time of a GPU over the largest time in which one had any work."},
      {"efficiency.orchestration", "share",
       "Largest time in which a GPU had work over the window."},
      {"capture.range_coverage", "share",
       "Share of the GPU time launched inside ranges that name a phase."},
      {"capture.world_size", "count",
       "Ranks of the job, by the report; absent when it does not say."},
  };
  for (const char* phase : kPhaseFacts) {
    const std::string name = std::string("phase.") + phase;
    std::string words = phase;
    std::replace(words.begin(), words.end(), '_', ' ');
    list.push_back(
        {name + ".count", "count", "Gaps on the GPU inside " + words + " ranges of the loop."});
    list.push_back({name + ".per_step", "count", "How many a step."});
    list.push_back({name + ".lost", "spans", "Their idle time."});
    list.push_back({name + ".remedy", "remedy", "The host does not do it there."});
  }
  const std::array<std::pair<const char*, const char*>, 4> doing = {
      {{"sleep", "sleeps"},
       {"network", "is inside network calls"},
       {"file_write", "writes files"},
       {"os_wait", "is blocked in the OS (poll, condition, semaphore)"}}};
  for (const auto& [name, words] : doing) {
    const std::string group = std::string("host.") + name;
    list.push_back({group + ".count", "count",
                    std::string("Gaps of the loop in which the launching thread ") + words + "."});
    list.push_back({group + ".per_step", "count", "How many a step."});
    list.push_back({group + ".lost", "spans", "The idle time of it."});
    list.push_back({group + ".remedy", "remedy", "The host does not do it there."});
  }
  return list;
}

void WriteHabitFacts(const Analysis& a, FactWriter* w) {
  const KernelHabits& k = a.kernel_habits;
  const HostHabits& h = a.host_habits;
  const double compute = a.kernels.compute_ns;
  const auto total = [](const Loss& loss) { return static_cast<double>(loss.lost->Total()); };
  const auto counted = [&](const std::string& name, const Loss& loss) {
    w->Number(name + ".count", static_cast<double>(loss.count));
    w->Number(name + ".per_step", loss.per_step);
    w->Lost(name, loss);
  };

  w->Number("kernel.gemm_train.count", static_cast<double>(k.matrix_trains.count));
  w->Number("kernel.gemm_train.kernels", k.matrix_train_kernels);
  w->Lost("kernel.gemm_train", k.matrix_trains);
  w->Number("kernel.repeated.count", static_cast<double>(k.repeats.count));
  w->Number("kernel.repeated.kernels", k.repeat_kernels);
  w->Lost("kernel.repeated", k.repeats);
  w->Number("kernel.varying.count", static_cast<double>(k.varying.count));
  w->Table("kernel.varying.rows", HabitRows(k.varying_rows, "median"));
  w->Lost("kernel.varying", k.varying);
  w->Number("kernel.slowing.ratio", k.slowing_ratio);
  w->Number("kernel.slowing.share", k.slowing_share);
  w->Lost("kernel.slowing", k.slowing);
  w->Number("kernel.partial_warp.share", Share(total(k.partial_warps), compute));
  w->Number("kernel.partial_warp.waste", Share(k.partial_warp_waste_ns, compute));
  w->Table("kernel.partial_warp.rows", HabitRows(k.partial_warp_rows, "threads"));
  w->Lost("kernel.partial_warp", k.partial_warps);
  w->Number("kernel.tiny_block.share", Share(total(k.tiny_blocks), compute));
  w->SpansOf("kernel.tiny_block.lost", k.tiny_blocks.lost->by_device);
  for (const auto& [name, loss] :
       {std::pair{"precision.fp64", &k.fp64}, {"precision.bf16", &k.bf16}}) {
    const std::string group = name;
    w->Number(group + ".share", Share(total(*loss), compute));
    w->Number(group + ".count", loss->per_step);
    w->Lost(group, *loss);
  }
  w->Number("precision.half.share", Share(k.half_ns, compute));
  w->Number("precision.fp8.share", Share(k.fp8_ns, compute));
  const char* const kUnknown =
      "the device is not in the knowledge base, or the report does not name it (see --gpu)";
  w->KnownNumber("hw.compute_capability", a.hardware.compute_capability, kUnknown, "hardware");
  w->KnownNumber("hw.peak_fp8_flops", a.hardware.peak_fp8_flops,
                 "the device has no FP8 units, or is not in the knowledge base (see --gpu)",
                 "hardware");
  w->KnownNumber("hw.fp64_ratio", a.hardware.fp64_ratio, kUnknown, "hardware");

  WriteGraphs(h.graphs, w);
  w->Number("graph.whole.share", Share(k.whole_graph_ns, compute));
  w->Number("launch.waiting.share", h.launch_wait_share);
  w->Lost("launch.waiting", h.launch_waits);
  counted("memory.free_burst", h.free_bursts);
  w->Number("memory.free_burst.frees", h.frees_per_burst);
  counted("sync.optimizer", h.optimizer_waits);
  counted("sync.backward", h.backward_waits);
  counted("memset", h.memsets);
  w->Number("memset.bytes", h.memsets.bytes);
  w->Lost("copy.device", h.device_copies);
  w->Number("copy.device.per_step", h.device_copies.per_step);
  w->Lost("copy.peer", h.peer_copies);
  w->Number("copy.peer.per_step", h.peer_copies.per_step);
  w->Number("copy.duplex.share", h.duplex_share);
  w->Lost("copy.duplex", h.one_way);
  w->Number("copy.migration.back_bytes", h.migrated_back_bytes);
  if (h.moves_per_s >= 0) {
    w->Number("host.cpu_moves", h.moves_per_s);
  } else {
    w->Missing("host.cpu_moves", "scheduling events were not recorded", "cpu-sampling");
  }
  WriteSteps(a, w);
  WriteEfficiency(a, w);
  w->Number("capture.range_coverage", h.range_coverage);
  w->KnownNumber("capture.world_size", WorldSize(a.run.trace),
                 "the report does not say how many ranks the job has", "");
  for (std::size_t i = 0; i < kStallPhases.size(); ++i)
    counted(std::string("phase.") + kPhaseFacts[i], h.phases[i]);
  counted("host.sleep", h.sleep);
  counted("host.network", h.network);
  counted("host.file_write", h.file_write);
  counted("host.os_wait", h.os_wait);
}

}  // namespace advise::facts
