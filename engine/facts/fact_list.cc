// The catalogue of facts: name, unit, definition. Implementations stand in catalog_*.cc under the
// same names.
//
// Conventions. Time facts in ns are averages over the devices that did work, so that they compare
// with window.time.
// `*.lost` is time on devices (spans): its .time is the sum over devices and compares with
// window.device_time; it holds the idle or exposed time that the named thing causes. `*.remedy` is
// what the fix would change. "per step" facts are medians over the steps of the window, or the
// count over the window when there are no steps.
#include <algorithm>
#include <iterator>

#include "engine/facts/catalog.h"
#include "engine/facts/fact_writer.h"

namespace advise {

namespace {

std::vector<FactInfo> RunFactList() {
  return {
      {"window.time", "ns", "Length of the analysed window."},
      {"window.device_time", "ns",
       "Length of the window times the number of devices that did work."},
      {"window.supports_verdict", "flag",
       "Whether the capture holds enough like work to judge a run by."},
      {"window.reason", "name", "Why the capture supports no verdict; absent when it does."},
      {"run.devices", "count", "Devices that did work."},
      {"run.devices_listed", "count", "Devices that the report lists, used or not."},
      {"run.processes", "count", "Processes that launched GPU work."},
      {"run.ops", "count", "GPU operations in the window."},
      {"run.cpu_cores", "count", "Logical CPUs of the host."},

      {"budget.compute", "ns", "Time in which a compute kernel or a whole graph ran."},
      {"budget.comm_exposed", "ns", "Time in which only communication kernels (and copies) ran."},
      {"budget.copy_exposed", "ns", "Time in which only copies ran."},
      {"budget.memset_exposed", "ns", "Time in which only memsets ran."},
      {"budget.idle", "ns", "Time in which nothing ran on the device."},
      {"idle.data_loading", "ns",
       "Idle while the launching thread loaded data or waited for a loader."},
      {"idle.host_sync", "ns", "Idle while the launching thread was inside a synchronising call."},
      {"idle.allocation", "ns",
       "Idle while the launching thread allocated, freed or registered memory."},
      {"idle.jit_or_module_load", "ns", "Idle while code was compiled or loaded."},
      {"idle.file_io", "ns", "Idle while the launching thread was inside file calls."},
      {"idle.host_wait", "ns", "Idle while the launching thread was blocked in the OS."},
      {"idle.launch", "ns", "Idle inside launching calls, and launch latency."},
      {"idle.host_compute", "ns",
       "Idle while the launching thread ran code that the report does not show."},
      {"idle.peer_wait", "ns", "Idle while launched work waited for another device."},
      {"idle.profiler_overhead", "ns", "Idle while the profiler itself worked."},
      {"idle.no_work_queued", "ns", "Idle with no thread about to launch anything."},
      {"idle.unknown", "ns", "Idle without a visible cause."},

      {"steps.count", "count", "Steady steps in the window; absent when no steps were found."},
      {"steps.median", "ns", "Median length of a steady step."},
      {"steps.source", "name", "How steps were found: annotation, range or period."},
      {"steps.warmup.count", "count", "Leading steps left out as warm-up."},
      {"steps.warmup.excess", "ns", "What the warm-up steps took beyond the median step."},
      {"steps.warmup.cause", "name", "What most of the warm-up's excess was spent on, in words."},
      {"steps.jitter", "share", "Interquartile range of the step lengths over their median."},
      {"steps.outliers.count", "count", "Steps far slower than the rest."},
      {"steps.outliers.excess", "ns", "What these steps took beyond the median step."},
      {"steps.outliers.rows", "rows",
       "The slowest steps: index, time, median, what (the largest difference to the median step)."},
      {"steps.outliers.lost", "spans", "Idle time of these steps beyond that of the median step."},
      {"steps.outliers.remedy", "remedy", "The host work of the excess is gone."},
      {"steps.stall.every", "count",
       "Every how many steps a slow one comes; absent when slow steps are not periodic."},
      {"steps.stall.excess", "ns", "What the periodic slow steps took beyond the median step."},
      {"steps.stall.what", "name", "What fills the excess: a range name, a phase, file calls …"},
      {"steps.stall.lost", "spans",
       "Idle time of the periodic slow steps beyond that of the median step."},
      {"steps.stall.remedy", "remedy", "The host work of the excess is gone."},
      {"steps.forward.time", "ns",
       "GPU time a step of work launched in forward ranges (or before backward)."},
      {"steps.backward.time", "ns", "GPU time a step of work launched in backward ranges."},
      {"steps.forward.host_time", "ns", "Host time a step inside forward ranges."},
      {"steps.backward.host_time", "ns", "Host time a step inside backward ranges."},
  };
}

std::vector<FactInfo> HostAndGpuFactList() {
  return {
      {"launch.count", "count", "Launching calls of kernels and graphs in the window."},
      {"launch.kernels_per_step", "count", "Kernels a step."},
      {"launch.queue_empty", "share",
       "Share of the launches that found the device with nothing left to do."},
      {"launch.call.median", "ns", "Median length of a launching call that was not held back."},
      {"launch.kernel.median", "ns", "Median kernel time."},
      {"launch.gap.median", "ns", "Median of the short gaps between kernels."},
      {"launch.tiny.share", "share", "Share of the kernels that run less than 10 us."},
      {"launch.tiny.time", "ns", "Their summed time."},
      {"launch.bound.lost", "spans",
       "Short gaps between kernels, spread over the step, that launching makes."},
      {"launch.bound.remedy", "remedy", "The launches are in a graph: one call, no code between."},
      {"launch.sequence.length", "count", "Kernels in the sequence that repeats every step."},
      {"launch.sequence.same", "share",
       "Share of the steps with exactly that sequence of kernels and grids."},
      {"launch.sequence.breaks", "count",
       "Waits, allocations and pageable copies inside a step that a graph capture would not allow "
       "(median a step)."},
      {"launch.threads", "count", "Threads that launch at the same time on one device or process."},
      {"launch.slow.median", "ns",
       "Median launching call, when launch calls are slow though the queue is not full."},
      {"launch.slow.contended", "share",
       "Share of slow launch calls that overlap a CUDA call of another thread of the process."},
      {"launch.slow.lost", "spans", "Idle time inside these calls."},
      {"launch.slow.remedy", "remedy", "Launch calls at the usual cost."},
      {"launch.trains.count", "count", "Trains of tiny device copies or memsets back to back."},
      {"launch.trains.ops", "count", "Ops in them, a step."},
      {"launch.trains.lost", "spans", "Their time and the gaps between."},
      {"launch.trains.remedy", "remedy", "One op in place of each train."},
      {"launch.framework.lost", "spans",
       "Idle time in gaps with more host code than launching, spread over the step."},

      {"kernel.count", "count", "Kernels in the window."},
      {"kernel.time", "ns", "Summed kernel time."},
      {"kernel.top", "rows",
       "Kernels by time: name, class, count, time, share (of kernel time), median."},
      {"kernel.top.name", "name", "Name of the kernel with most time."},
      {"kernel.top.share", "share", "Its share of the kernel time."},
      {"kernel.classes", "rows", "Classes by time: class, count, time, share."},
      {"kernel.small_grid.share", "share",
       "Share of the compute time in kernels with fewer blocks than SMs and nothing beside them."},
      {"kernel.small_grid.median_blocks", "count",
       "Median blocks of these kernels, weighted by time."},
      {"kernel.small_grid.sms", "count", "SMs of the device."},
      {"kernel.small_grid.rows", "rows", "Such kernels by time: name, blocks, count, time."},
      {"kernel.small_grid.lost", "spans", "Time of these kernels."},
      {"kernel.small_grid.fill", "share", "Blocks over SMs of these kernels, weighted by time."},
      {"kernel.tail.share", "share",
       "Share of the compute time that the last partial wave of large kernels may waste (upper "
       "bound)."},
      {"kernel.tail.counted", "share",
       "Part of these kernels' time whose waves a kernel profiler counted; those of the rest are "
       "worked out from threads a block, which gives too few waves where registers or shared "
       "memory allow fewer blocks."},
      {"kernel.tail.rows", "rows", "Such kernels: name, waves, count, time."},
      {"kernel.tail.lost", "spans", "Time of these kernels."},
      {"kernel.elementwise.share", "share",
       "Share of the compute time in unfused element-wise and copy kernels."},
      {"kernel.elementwise.count", "count", "Such kernels, a step."},
      {"kernel.elementwise.runs", "count", "Runs of two or more such kernels in a row, a step."},
      {"kernel.elementwise.lost", "spans", "Their time."},
      {"kernel.elementwise.remedy", "remedy", "Runs of them become one kernel each."},
      {"kernel.attention.unfused.count", "count", "matmul-softmax-matmul sequences, a step."},
      {"kernel.attention.unfused.share", "share", "Their share of the compute time."},
      {"kernel.attention.unfused.lost", "spans", "Their time."},
      {"kernel.attention.unfused.remedy", "remedy",
       "A fused kernel that does not write the scores."},
      {"kernel.optimizer.per_step", "count",
       "Small kernels a step of the optimizer phase (or of a per-tensor update pattern)."},
      {"kernel.optimizer.share", "share", "Share of the step that they span."},
      {"kernel.optimizer.lost", "spans", "Their time and the gaps between."},
      {"kernel.optimizer.remedy", "remedy", "Few multi-tensor kernels in their place."},
      {"kernel.layout.share", "share",
       "Share of the compute time in transposes and layout conversions."},
      {"kernel.layout.count", "count", "Such kernels, a step."},
      {"kernel.layout.lost", "spans", "Their time."},
      {"kernel.layout.remedy", "remedy", "They are gone."},
      {"kernel.concurrency", "num", "Mean number of kernels running while any runs."},
      {"kernel.narrow.share", "share",
       "Share of the compute time in kernels that leave room for others and run alone."},
      {"kernel.streams", "count", "Streams with kernels."},
      {"kernel.spilling.share", "share",
       "Share of the compute time in kernels that use local memory."},
      {"kernel.spilling.rows", "rows", "Such kernels: name, local_bytes, registers, count, time."},

      {"precision.matrix.time", "ns", "Time of matrix and convolution kernels."},
      {"precision.matrix.share", "share", "Its share of the compute time."},
      {"precision.fp32.share", "share",
       "Share of the compute time in FP32 matrix kernels without tensor cores."},
      {"precision.fp32.count", "count", "Such kernels, a step."},
      {"precision.fp32.speedup", "num",
       "Peak tensor rate over peak FP32 rate of the device; absent without tensor cores or for an "
       "unknown device."},
      {"precision.fp32.top", "name", "The one with most time."},
      {"precision.fp32.lost", "spans", "Their time."},
      {"precision.fp32.remedy", "remedy",
       "The same kernels on tensor cores, bounded by what memory allows."},
      {"precision.tensor.sampled", "share",
       "Mean of the sampled tensor-pipe activity while matrix and convolution kernels ran."},
      {"precision.tensor.samples", "count", "Samples that fell into that time."},
      {"precision.tensor.active", "share",
       "Activity of the tensor pipes while matrix and convolution kernels ran: from samples, else "
       "from counters of such kernels."},
      {"precision.tensor.active_from", "name", "samples or counters."},
      {"precision.tensor.share", "share",
       "Share of the matrix time in kernels known to use tensor cores."},
      {"precision.cast.share", "share",
       "Share of the compute time in cast and dtype-copy kernels."},
      {"precision.cast.per_step", "count", "Such kernels, a step."},
      {"precision.cast.lost", "spans", "Their time."},
      {"precision.cast.remedy", "remedy", "Three of four are gone."},
      {"precision.cast.count", "count", "Cast and dtype-copy kernels, a step (as per_step)."},
      {"precision.unaligned.share", "share",
       "Share of the compute time in matrix kernels chosen for odd sizes."},
      {"precision.unaligned.count", "count", "Such kernels, a step."},
      {"precision.unaligned.lost", "spans", "Their time."},
      {"precision.unaligned.remedy", "remedy", "The same at the rate of aligned kernels."},

      {"memory.alloc.count", "count",
       "Device and pinned-host allocations and frees in the window."},
      {"memory.alloc.per_step", "count", "How many a step."},
      {"memory.alloc.time", "ns", "Host time in them."},
      {"memory.alloc.name", "name", "The call that costs most."},
      {"memory.alloc.lost", "spans", "Idle time in them and until the host is ahead again."},
      {"memory.alloc.remedy", "remedy", "These calls are gone."},
      {"memory.peak", "bytes", "Highest device memory in use; absent without memory events."},
      {"memory.reserved_peak", "bytes",
       "Most that a framework's caching allocator held of a device's memory."},
      {"memory.allocated_peak", "bytes", "Most that its tensors took at a time."},
      {"memory.capacity", "bytes", "Memory of the device."},
      {"memory.growth_per_step", "bytes", "Median rise of the level at step ends."},
      {"memory.growth_steps", "share", "Share of the steps that end higher than the one before."},

      {"input.lost", "spans",
       "Idle time of gaps in which the launching thread loads data or waits for it."},
      {"input.own", "ns", "Part in which the launching thread itself loads (reads, decodes)."},
      {"input.waiting", "ns", "Part in which it waits for a loader."},
      {"input.workers", "count", "Loader worker processes or threads seen."},
      {"input.workers_busy", "share",
       "Share of the window that the workers are at work; absent when not seen."},
      {"input.steps_affected", "share", "Share of the steps with a gap of this kind."},
      {"input.load.count", "count", "Loads (one a step) on the launching thread."},
      {"input.load.median", "ns", "Median time of a load or of a wait for one."},
      {"input.load.max", "ns", "Longest."},
      {"input.load.slow_count", "count", "Loads of more than three times the median."},
      {"input.load.slow_excess", "ns", "What the slow loads took beyond the median."},
      {"input.load.slow_lost", "spans", "Idle time of the slow loads."},
      {"input.load.slow_remedy", "remedy", "Slow loads take as long as the median one."},
      {"input.file.share", "share",
       "Share of the load time inside file calls (of the launching thread, or of the workers)."},
      {"input.map.time", "ns", "Idle while the launching thread maps or unmaps memory."},
      {"input.map.lost", "spans", "That idle time."},
      {"input.map.remedy", "remedy", "The calls are gone."},
      {"input.after_gpu", "share",
       "Share of the loads that begin only after the GPU finished the step."},
      {"input.loader", "name",
       "own or workers: what the framework's loader says of itself; empty when it does not."},
      {"input.background", "flag", "A thread or process beside the launching one loads data."},
      {"input.remedy", "remedy",
       "Batches are there in time, as far as parallel loading can make it so."},

      {"host.jit.count", "count", "Module loads and compilations in the window."},
      {"host.jit.time", "ns", "Host time in them."},
      {"host.jit.per_step", "count", "How many a step."},
      {"host.jit.lost", "spans", "Idle time in them."},
      {"host.jit.remedy", "remedy", "They are gone."},
      {"host.lock.count", "count", "Lock waits of launching threads inside gaps."},
      {"host.lock.lost", "spans", "Idle time in them."},
      {"host.lock.remedy", "remedy", "No lock waits."},
      {"host.compute.lost", "spans",
       "Idle time in long gaps of the loop in which the launching thread runs unseen code."},
      {"host.compute.remedy", "remedy", "That code runs elsewhere, or while the GPU is at work."},
      {"host.compute.share", "share", "Share of the window."},
      {"host.compute.ranges", "rows", "Innermost named ranges around that time: name, time."},
      {"host.preempted", "ns",
       "Idle while the launching thread was ready but not on a CPU; absent without scheduling "
       "events."},
      {"host.preempted.lost", "spans", "That idle time."},
      {"host.gpu_processes", "count", "Most processes with work on one device."},
      {"host.gpu_switch.lost", "spans",
       "Idle time between ops of different processes on one device."},

      {"comm.count", "count", "Communication kernels."},
      {"comm.per_step", "count", "How many a step on a device."},
      {"comm.time", "ns", "Time in which one ran."},
      {"comm.exposed", "spans", "Time in which only communication ran."},
      {"comm.beside.remedy", "remedy",
       "All communication runs beside compute, as far as there is compute."},
      {"comm.overlap", "share", "Share of the communication time with compute beside it."},
      {"comm.median", "ns",
       "Median communication kernel (pure transfer where ranks allow to tell)."},
      {"comm.kinds", "rows", "By collective: kind, count, time, exposed."},
      {"comm.serial.share", "share",
       "Share of the gradient communication that begins after the last backward kernel."},
      {"comm.serial.lost", "spans", "Its exposed time."},
      {"comm.serial.remedy", "remedy",
       "It runs beside the backward pass as far as that is long enough."},
      {"comm.no_overlap.lost", "spans",
       "Exposed time when communication and compute never overlap, beside serial gradients and "
       "what the optimizer sends."},
      {"comm.no_overlap.remedy", "remedy", "It runs beside compute as far as there is compute."},
      {"comm.same_stream", "flag", "Communication runs on the stream of the compute kernels."},
      {"comm.small.per_step", "count", "Short (latency-bound) communication kernels a step."},
      {"comm.small.share", "share", "Their share of the communication kernels."},
      {"comm.small.lost", "spans", "Their exposed time and the gaps between them."},
      {"comm.small.remedy", "remedy", "A tenth of them."},
      {"rank.late.device", "count",
       "The device that comes last at most collectives; absent with less than two devices or "
       "without collectives."},
      {"rank.late.share", "share",
       "Share of the collectives with a late device at which it is this one."},
      {"rank.late.lateness", "ns", "Mean time by which it comes after the median device."},
      {"rank.late.cause", "name",
       "What it does more than the median device: loading, compute, launch, copies …"},
      {"rank.late.lost", "spans", "Waiting of the other devices inside collectives."},
      {"rank.late.remedy", "remedy", "The late device is as fast as the next-latest."},
      {"rank.idle.lost", "spans",
       "Compute time of the working devices, which the idle ones could share."},
      {"rank.idle.devices", "count",
       "Devices listed in the report (and visible to the job) that did nothing."},

      {"capture.has_calls", "flag", "CUDA calls were recorded."},
      {"capture.has_ranges", "flag", "Named ranges were recorded."},
      {"capture.has_os_calls", "flag", "OS calls were recorded."},
      {"capture.has_gpu_samples", "flag", "GPU metric samples were recorded."},
      {"capture.has_memory", "flag", "Memory events were recorded."},
      {"capture.format", "name", "Format of the report with the timeline: nsys-sqlite, kineto."},
      {"capture.seconds", "num", "Length of the capture session in seconds."},
      {"capture.steps", "count", "Steps of the whole capture, 0 when none were found."},
      {"capture.unattributed", "share", "Share of the ops whose launching call was not captured."},
      {"capture.overhead", "ns", "Profiler overhead on launching threads inside the window."},
      {"capture.dropped", "count", "Messages of the profiler about lost or failed collection."},
      {"capture.dropped_text", "name", "The first of them."},
      {"capture.secrets", "count", "Environment values or names that look like keys or passwords."},
      {"capture.secret_names", "name", "Their names (never the values)."},

      {"hw.name", "name", "The first device's name."},
      {"hw.known", "flag", "The knowledge base has this device."},
      {"hw.sm_count", "count", "SMs of the device."},
      {"hw.memory_bytes", "bytes", "Memory of the device."},
      {"hw.memory_bytes_per_s", "bytes_per_s", "Peak memory bandwidth."},
      {"hw.host_link_bytes_per_s", "bytes_per_s", "What pinned copies reach on the host link."},
      {"hw.nvlink", "bytes_per_s", "NVLink's rate in one direction, where every card has it."},
      {"hw.peak_fp32_flops", "flop_per_s", "Peak FP32 rate without tensor cores."},
      {"hw.peak_tensor_flops", "flop_per_s", "Peak dense 16-bit tensor rate."},
  };
}

std::vector<FactInfo> AllFacts() {
  std::vector<FactInfo> all;
  for (const std::vector<FactInfo>& part :
       {RunFactList(), facts::CopyFactList(), HostAndGpuFactList(), facts::OperatorFactList(),
        facts::CounterFactList(), facts::MonitorFactList(), facts::TopologyFactList(),
        facts::WorkFactList(), facts::ScaleFactList(), facts::FamilyFactList(),
        facts::HabitFactList(), facts::EnvironmentFactList(), facts::CommHabitFactList(),
        facts::ClusterFactList(), facts::SummaryFactList(), facts::ShapeFactList()}) {
    all.insert(all.end(), part.begin(), part.end());
  }
  return all;
}

}  // namespace

void facts::LeaveOutTimeline(FactWriter* w) {
  // What other inputs say by themselves stays.
  constexpr const char* kStay[] = {"hw.",     "memory.capacity", "counter.",  "roofline.",
                                   "sample.", "monitor.",        "topology.", "nccl."};
  for (const FactInfo& info : FactList()) {
    const bool stays = std::any_of(std::begin(kStay), std::end(kStay),
                                   [&](const char* start) { return info.name.starts_with(start); });
    if (!stays) w->Missing(info.name, "no timeline of the run was given", "cuda");
  }
}

const std::vector<FactInfo>& FactList() {
  static const std::vector<FactInfo> kFacts = AllFacts();
  return kFacts;
}

}  // namespace advise
