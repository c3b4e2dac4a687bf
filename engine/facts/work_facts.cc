// What a run did, in the terms that people ask for and that two runs are compared by: the list and
// the values.
#include <algorithm>
#include <array>

#include "engine/facts/fact_writer.h"
#include "engine/metrics/analysis.h"
#include "engine/metrics/work.h"

namespace advise::facts {
namespace {

// Rows that a fact keeps at most: enough to tell two runs alike, and little enough to print.
constexpr std::size_t kMostSteps = 500;
constexpr std::size_t kMostKernels = 200;
constexpr std::size_t kMostUploads = 50;

struct NamedPhase {
  Phase phase;
  const char* name;
  const char* words;
};
constexpr std::array<NamedPhase, 5> kPhases = {
    {{Phase::kDataLoading, "data_loading", "loading data"},
     {Phase::kTransfer, "transfer", "transfers"},
     {Phase::kForward, "forward", "the forward pass"},
     {Phase::kBackward, "backward", "the backward pass"},
     {Phase::kOptimizer, "optimizer", "the optimizer"}}};

constexpr std::array<const char*, 4> kKinds = {"allreduce", "allgather", "reducescatter",
                                               "sendrecv"};

// Evenly chosen when there are more steps than are kept.
Rows StepRows(const Work& work) {
  Rows rows;
  const std::size_t stride = (work.steps.size() + kMostSteps - 1) / kMostSteps;
  for (std::size_t i = 0; i < work.steps.size(); i += std::max<std::size_t>(1, stride)) {
    const StepLength& step = work.steps[i];
    rows.push_back({{"index", static_cast<double>(step.index)},
                    {"time", static_cast<double>(step.length_ns)},
                    {"outlier", step.outlier ? 1.0 : 0.0}});
  }
  return rows;
}

void WriteKernels(const Work& work, FactWriter* w) {
  Rows kernels;
  for (std::size_t i = 0; i < std::min(work.kernels.size(), kMostKernels); ++i) {
    const KernelWork& k = work.kernels[i];
    kernels.push_back({{"name", k.name},
                       {"class", k.kernel_class},
                       {"blocks", k.blocks},
                       {"threads", k.threads},
                       {"count", static_cast<double>(k.count)},
                       {"time", k.time_ns}});
  }
  w->Table("work.kernels", std::move(kernels));
  Rows gemms;
  double fp32 = 0, half = 0, tensor = 0, all = 0;
  std::map<std::string, double> by_class;
  for (const KernelWork& k : work.kernels) {
    by_class[k.kernel_class] += k.time_ns;
    if (k.kernel_class != "matrix" && k.kernel_class != "convolution") continue;
    const auto count = static_cast<double>(k.count);
    all += count;
    if (k.tensor_core == 1) tensor += count;
    if (k.precision == "fp32" && k.tensor_core != 1) fp32 += count;
    if (k.precision == "bf16" || k.precision == "fp16") half += count;
    if (gemms.size() >= kMostUploads) continue;
    const char* unit = k.tensor_core == 1 ? "yes" : k.tensor_core == 0 ? "no" : "unknown";
    gemms.push_back({{"name", k.name},
                     {"precision", k.precision.empty() ? "unknown" : k.precision},
                     {"tensor", std::string(unit)},
                     {"count", count},
                     {"time", k.time_ns}});
  }
  w->Table("gemm.rows", std::move(gemms));
  w->Number("gemm.count", all);
  w->Number("gemm.fp32.count", fp32);
  w->Number("gemm.half.count", half);
  w->Number("gemm.tensor.count", tensor);
  const auto most =
      std::max_element(by_class.begin(), by_class.end(),
                       [](const auto& a, const auto& b) { return a.second < b.second; });
  if (most == by_class.end()) {
    w->Missing("work.top_class", "there are no compute kernels in the window", "");
  } else {
    w->Text("work.top_class", most->first);
  }
}

void WriteUploads(const Work& work, double steps, double devices, FactWriter* w) {
  Rows rows;
  for (std::size_t i = 0; i < std::min(work.uploads.size(), kMostUploads); ++i) {
    const UploadWork& upload = work.uploads[i];
    rows.push_back({{"bytes", upload.bytes},
                    {"count", static_cast<double>(upload.count)},
                    {"per_step", steps > 0 ? static_cast<double>(upload.count) / steps : 0.0}});
  }
  w->Table("work.uploads", std::move(rows));
  if (steps > 0 && devices > 0) {
    w->Number("work.upload_bytes", work.uploaded_bytes / steps / devices);
  } else {
    w->Missing("work.upload_bytes", "no steps were found", "steps");
  }
  if (work.uploaded_bytes > 0) {
    w->Text("work.upload_memory",
            2 * work.pageable_bytes > work.uploaded_bytes ? "pageable" : "pinned");
  } else {
    w->Missing("work.upload_memory", "nothing is uploaded in the window", "");
  }
}

void WriteCollectives(const Work& work, double steps, double devices, double window,
                      FactWriter* w) {
  for (const char* kind : kKinds) {
    const auto found = std::find_if(work.collectives.begin(), work.collectives.end(),
                                    [&](const CollectiveWork& c) { return c.kind == kind; });
    const CollectiveWork row = found == work.collectives.end() ? CollectiveWork() : *found;
    const std::string name = std::string("collective.") + kind;
    w->Number(name + ".count", static_cast<double>(row.count));
    if (steps > 0 && devices > 0) {
      w->Number(name + ".per_step", static_cast<double>(row.count) / steps / devices);
    } else {
      w->Missing(name + ".per_step", "no steps were found", "steps");
    }
    w->Number(name + ".time", devices > 0 ? row.time_ns / devices : 0);
    w->Number(name + ".share",
              devices > 0 && window > 0 ? (row.time_ns - row.hidden_ns) / devices / window : 0);
    w->Number(name + ".exposed", devices > 0 ? (row.time_ns - row.hidden_ns) / devices : 0);
    if (row.time_ns > 0) {
      w->Number(name + ".overlap", row.hidden_ns / row.time_ns);
    } else {
      w->Missing(name + ".overlap", "there are no such collectives in the window", "");
    }
  }
}

void WritePhases(const Work& work, double steps, FactWriter* w) {
  Rows rows;
  const double units = std::max(1.0, steps);
  std::string most = "unnamed";
  double idle = -1;
  for (const PhaseWork& phase : work.phases) {
    rows.push_back({{"phase", std::string(PhaseName(phase.phase))},
                    {"count", static_cast<double>(phase.count)},
                    {"host", phase.host_ns / units},
                    {"gpu", phase.gpu_ns / units},
                    {"idle", phase.idle_ns / units}});
    if (phase.idle_ns > idle) idle = phase.idle_ns, most = PhaseName(phase.phase);
  }
  const char* const kNoRanges = "no ranges name the phases of the step";
  if (rows.empty()) {
    w->Missing("phase.rows", kNoRanges, "nvtx");
    w->Missing("phase.most_idle", kNoRanges, "nvtx");
  } else {
    w->Table("phase.rows", std::move(rows));
    w->Text("phase.most_idle", most);
  }
  for (const NamedPhase& known : kPhases) {
    const std::string name = std::string("phase.") + known.name;
    const auto found = std::find_if(work.phases.begin(), work.phases.end(),
                                    [&](const PhaseWork& p) { return p.phase == known.phase; });
    if (found == work.phases.end() || found->count == 0) {
      for (const char* part : {".host", ".gpu", ".idle", ".ranges"}) {
        w->Missing(name + part, std::string("no ranges name ") + known.words, "nvtx");
      }
      continue;
    }
    w->Number(name + ".host", found->host_ns / units);
    w->Number(name + ".gpu", found->gpu_ns / units);
    w->Number(name + ".idle", found->idle_ns / units);
    w->Number(name + ".ranges", static_cast<double>(found->count));
  }
}

void WriteLinks(const Analysis& a, const Work& work, FactWriter* w) {
  const auto percent = [w](const char* name, double value) {
    if (value >= 0) {
      w->Number(name, value / 100);
    } else {
      w->Missing(name, "no GPU metric samples fell into communication", "gpu-metrics");
    }
  };
  percent("link.nvlink", work.nvlink_percent);
  percent("link.pcie", work.pcie_percent);
  const double least = a.run.knowledge.Number("work.link_in_use");
  if (work.nvlink_percent < 0 && work.pcie_percent < 0) {
    w->Missing("link.kind", "no GPU metric samples fell into communication", "gpu-metrics");
  } else if (std::max(work.nvlink_percent, work.pcie_percent) / 100 < least) {
    w->Missing("link.kind", "neither NVLink nor PCIe moved data during communication", "");
  } else {
    w->Text("link.kind", work.nvlink_percent >= work.pcie_percent ? "nvlink" : "pcie");
  }
  if (work.nic_bytes_per_s >= 0) {
    w->Number("nic.rate", work.nic_bytes_per_s);
  } else {
    w->Missing("nic.rate", "the counters of network cards were not sampled", "nic-metrics");
  }
}

}  // namespace

std::vector<FactInfo> WorkFactList() {
  std::vector<FactInfo> list = {
      {"work.steps", "rows", "Steady steps of the window: index, time, outlier (500 at most)."},
      {"work.kernels", "rows",
       "Compute kernels by name and size, most time first: name, class, blocks, threads (a block), "
       "count, time (200 at most)."},
      {"work.uploads", "rows",
       "Uploads by size, most bytes first: bytes (of one), count, per_step (50 at most)."},
      {"work.upload_bytes", "bytes", "Bytes uploaded a step to one device."},
      {"work.upload_memory", "name",
       "Host memory that most uploaded bytes lie in: pinned, pageable."},
      {"work.top_class", "name", "The class of compute kernels with most time."},
      {"work.idle_per_step", "ns", "Idle time of a device a step."},
      {"driver.process", "name", "The process that launches most of the GPU work."},
      {"driver.pid", "count", "Its process id."},
      {"driver.thread", "name", "The thread that launches most of the GPU work."},
      {"driver.tid", "count", "Its thread id."},
      {"gemm.rows", "rows",
       "Matrix and convolution kernels: name, precision, tensor (cores used: yes, no, unknown), "
       "count, time."},
      {"gemm.count", "count", "Matrix and convolution kernels in the window."},
      {"gemm.fp32.count", "count", "Those in FP32 without tensor cores."},
      {"gemm.half.count", "count", "Those in BF16 or FP16."},
      {"gemm.tensor.count", "count", "Those known to use tensor cores."},
      {"phase.rows", "rows", "Named phases, a step: phase, count (all), host, gpu, idle."},
      {"phase.most_idle", "name", "The phase under which the GPU idles longest."},
      {"link.nvlink", "share", "Mean NVLink activity sampled during communication kernels."},
      {"link.pcie", "share", "Mean PCIe activity sampled during communication kernels."},
      {"link.kind", "name", "Which of them carries the communication: nvlink or pcie."},
      {"nic.rate", "bytes_per_s", "Bytes that network cards received and sent, over the window."},
  };
  for (const NamedPhase& phase : kPhases) {
    const std::string name = std::string("phase.") + phase.name;
    const std::string words = phase.words;
    list.push_back({name + ".host", "ns", "Host time a step inside ranges of " + words + "."});
    list.push_back({name + ".gpu", "ns", "GPU time a step of work launched in " + words + "."});
    list.push_back({name + ".idle", "ns", "Idle time of a device a step under " + words + "."});
    list.push_back({name + ".ranges", "count", "Ranges of " + words + " in the window."});
  }
  for (const char* kind : kKinds) {
    const std::string name = std::string("collective.") + kind;
    const std::string words = std::string(kind) + " kernels";
    list.push_back({name + ".count", "count", "Number of " + words + ", all devices."});
    list.push_back({name + ".per_step", "count", "Number of " + words + " a step on a device."});
    list.push_back({name + ".time", "ns", "Summed time of " + words + " on a device."});
    list.push_back({name + ".exposed", "ns", "Part of it with no compute beside it."});
    list.push_back({name + ".share", "share", "Share of the window that this exposed part takes."});
    list.push_back({name + ".overlap", "share",
                    "Share of the time of " + words + " with compute kernels beside it."});
  }
  return list;
}

void WriteWorkFacts(const Analysis& a, FactWriter* w) {
  const Work& work = a.work;
  const auto devices = static_cast<double>(a.run.active_devices.size());
  const auto steps = static_cast<double>(work.steps.size());
  if (work.steps.empty()) {
    w->Missing("work.steps", "no steps were found", "steps");
    w->Missing("work.idle_per_step", "no steps were found", "steps");
  } else {
    w->Table("work.steps", StepRows(work));
    double idle = 0;
    for (const std::uint32_t d : a.run.active_devices)
      idle += static_cast<double>(a.times[d].idle.Total());
    w->Number("work.idle_per_step", idle / std::max(1.0, devices) / steps);
  }
  WriteKernels(work, w);
  WriteUploads(work, steps, devices, w);
  if (work.driver == kNone) {
    for (const char* name : {"driver.process", "driver.pid", "driver.thread", "driver.tid"}) {
      w->Missing(name, "no launching calls were captured", "cuda");
    }
  } else {
    const Trace& trace = a.run.trace;
    const Thread& thread = trace.threads[work.driver];
    const std::string thread_name(trace.strings[thread.name]);
    w->Text("driver.thread", thread_name.empty() ? "(without a name)" : thread_name);
    w->Number("driver.tid", static_cast<double>(thread.tid));
    const bool known = thread.process != kNone;
    const std::string process = known ? trace.processes[thread.process].name : "";
    w->Text("driver.process", process.empty() ? "(without a name)" : process);
    w->Number("driver.pid", known ? static_cast<double>(trace.processes[thread.process].pid) : 0);
  }
  WriteCollectives(work, steps, devices, static_cast<double>(a.run.window.Length()), w);
  WritePhases(work, steps, w);
  WriteLinks(a, work, w);
}

}  // namespace advise::facts
