// work.*, launch.process, launch.thread, gemm.*, collective.*, link.*, nic.*: what a run did, in
// the terms that people ask for and that two runs are compared by.
#include <algorithm>
#include <map>

#include "engine/facts/declare.h"
#include "engine/facts/rows.h"

namespace advise::facts {
namespace {

// Rows that a fact keeps at most: enough to tell two runs alike, and little enough to print.
constexpr std::size_t kMostKernels = 200;
constexpr std::size_t kMostUploads = 50;
constexpr std::size_t kMostOrigins = 400;

constexpr const char* kNoWorkSteps = "too few steps were found";

double Devices(const Analysis& a) { return static_cast<double>(a.run.active_devices.size()); }
double StepCount(const Work& work) { return static_cast<double>(work.steps.size()); }

Rows StepLengthRows(const Work& work) {
  std::vector<TimedStep> steps;
  for (const StepLength& step : work.steps)
    steps.push_back({step.index, static_cast<double>(step.length_ns), step.outlier});
  return StepRows(steps);
}

Rows KernelRows(const Work& work) {
  return RowsOf(
      work.kernels,
      [](const KernelWork& k) {
        return Row{{"name", k.name},
                   {"class", k.kernel_class},
                   {"blocks", k.blocks},
                   {"threads", k.threads},
                   {"count", static_cast<double>(k.count)},
                   {"time", k.time_ns}};
      },
      kMostKernels);
}

Rows OriginRows(const Origins& origins) {
  return RowsOf(
      origins.rows,
      [](const OriginRow& row) {
        return Row{{"name", row.kernel},
                   {"class", row.kernel_class},
                   {"blocks", row.blocks},
                   {"threads", row.threads},
                   {"op", row.op},
                   {"sizes", row.sizes},
                   {"range", row.range},
                   {"place", row.place},
                   {"count", static_cast<double>(row.count)},
                   {"time", row.time_ns}};
      },
      kMostOrigins);
}

std::string TopClass(const Work& work) {
  std::map<std::string, double> by_class;
  for (const KernelWork& k : work.kernels) by_class[k.kernel_class] += k.time_ns;
  const auto most =
      std::max_element(by_class.begin(), by_class.end(),
                       [](const auto& a, const auto& b) { return a.second < b.second; });
  return most == by_class.end() ? "" : most->first;
}

Rows UploadRows(const Work& work) {
  return RowsOf(
      work.uploads,
      [&](const UploadWork& upload) {
        return Row{{"bytes", upload.bytes},
                   {"count", static_cast<double>(upload.count)},
                   {"per_step", ShareOf(static_cast<double>(upload.count), StepCount(work))}};
      },
      kMostUploads);
}

void DeclareWork(Catalog* catalog) {
  const auto has_steps = [](const Analysis& a) { return !a.work.steps.empty(); };
  auto& steps = catalog->Of(&Analysis::work);
  steps.Needs(has_steps, kNoWorkSteps, "steps");
  steps.Add(
      "work.steps", "rows",
      "Steady steps of the window: index, time, outlier (500 rows at most: of more steps, each is "
      "the mean of several in a row).",
      StepLengthRows);
  steps.Add("work.idle_per_step", "ns", "Idle time of a device, per step.",
            [](const Work& w, const Analysis& a) {
              double idle = 0;
              for (const std::uint32_t d : a.run.active_devices) {
                idle += static_cast<double>(a.times[d].idle.Total());
              }
              return idle / std::max(1.0, Devices(a)) / StepCount(w);
            });
  auto& work = catalog->Of(&Analysis::work);
  work.Add("work.kernels", "rows",
           "Compute kernels by name and size, most time first: name, class, blocks, threads (a "
           "block), count, time (200 at most).",
           KernelRows);
  catalog->Of(&Analysis::origins)
      .Add("work.origins", "rows",
           "Compute kernels, and graphs that were traced as a whole, by where they are launched, "
           "most time first: name (empty of a graph), class (graph of a graph), blocks, threads (a "
           "block), op (innermost operator), sizes (of its first two tensors), range (innermost, "
           "or the module), place (in the step, 0 to 1; -1 without steps), count, time (400 at "
           "most).",
           OriginRows);
  work.Add("work.top_class", "name", "The class of compute kernels with most time.",
           UnlessEmpty(TopClass, "there are no compute kernels in the window", ""));
  work.Add("work.uploads", "rows",
           "Uploads by size, most bytes first: bytes (of one), count, per_step (50 at most).",
           UploadRows);
  work.Add("work.upload_memory", "name",
           "Host memory that most uploaded bytes lie in: pinned, pageable.",
           If([](const Work& w) { return w.uploaded_bytes > 0; },
              [](const Work& w) {
                const bool pageable = 2 * w.pageable_bytes > w.uploaded_bytes;
                return std::string(pageable ? "pageable" : "pinned");
              },
              "nothing is uploaded in the window", ""));
  catalog->Of(&Analysis::work)
      .Needs([](const Analysis& a) { return !a.work.steps.empty() && Devices(a) > 0; },
             kNoWorkSteps, "steps")
      .Add("work.upload_bytes", "bytes", "Bytes uploaded to one device, per step.",
           [](const Work& w, const Analysis& a) {
             return w.uploaded_bytes / StepCount(w) / Devices(a);
           });
}

void DeclareLaunching(Catalog* catalog) {
  auto& launching = catalog->OfAll();
  launching.Needs([](const Analysis& a) { return a.work.launching_thread != kNone; },
                  "no launching calls were captured", "cuda");
  const auto named = [](std::string name) { return name.empty() ? "(without a name)" : name; };
  launching.Add("launch.process", "name", "The process that launches most of the GPU work.",
                [named](const Analysis& a) {
                  const std::uint32_t process =
                      a.run.trace.threads[a.work.launching_thread].process;
                  return named(process == kNone ? "" : a.run.trace.processes[process].name);
                });
  launching.Add(
      "launch.thread", "name", "The thread that launches most of the GPU work.",
      [named](const Analysis& a) {
        const Trace& trace = a.run.trace;
        return named(std::string(trace.strings[trace.threads[a.work.launching_thread].name]));
      });
}

// Matrix and convolution kernels that are of a kind.
template <typename Kind>
auto CountProducts(Kind is_of_kind) {
  return [is_of_kind](const Work& work) {
    std::int64_t count = 0;
    for (const KernelWork& k : work.kernels) {
      const bool product = k.kernel_class == "matrix" || k.kernel_class == "convolution";
      if (product && is_of_kind(k)) count += k.count;
    }
    return count;
  };
}

void DeclareProducts(Catalog* catalog) {
  auto& work = catalog->Of(&Analysis::work);
  work.Add("gemm.count", "count", "Matrix and convolution kernels in the window.",
           CountProducts([](const KernelWork&) { return true; }));
  work.Add("gemm.fp32.count", "count",
           "Matrix and convolution kernels in FP32 without tensor cores.",
           CountProducts(
               [](const KernelWork& k) { return k.precision == "fp32" && k.tensor_core != 1; }));
  work.Add("gemm.half.count", "count", "Matrix and convolution kernels in BF16 or FP16.",
           CountProducts(
               [](const KernelWork& k) { return k.precision == "bf16" || k.precision == "fp16"; }));
  work.Add("gemm.tensor.count", "count",
           "Matrix and convolution kernels known to use tensor cores.",
           CountProducts([](const KernelWork& k) { return k.tensor_core == 1; }));
}

struct NamedCollective {
  const char* group;  // of facts
  const char* kind;
};
constexpr std::array<NamedCollective, 4> kCollectives = {
    {{"collective.allreduce", "allreduce"},
     {"collective.allgather", "allgather"},
     {"collective.reducescatter", "reducescatter"},
     {"collective.sendrecv", "sendrecv"}}};

void DeclareCollectives(Catalog* catalog) {
  auto& work = catalog->Of(&Analysis::work);
  for (const NamedCollective& named : kCollectives) {
    const std::string kind = named.kind;
    const std::string group = named.group;
    const std::string kernels = kind + " kernels";
    const auto row_of = [kind](const Work& w) {
      const auto found = std::find_if(w.collectives.begin(), w.collectives.end(),
                                      [&](const CollectiveWork& c) { return c.kind == kind; });
      return found == w.collectives.end() ? CollectiveWork() : *found;
    };
    const auto exposed = [row_of](const Work& w, const Analysis& a) {
      const CollectiveWork row = row_of(w);
      return ShareOf(row.time_ns - row.hidden_ns, Devices(a));
    };
    work.Add(group + ".count", "count", "Number of " + kernels + ", all devices.",
             [row_of](const Work& w) { return row_of(w).count; });
    work.Add(group + ".per_step", "count", "Number of " + kernels + " on a device, per step.",
             [row_of](const Work& w, const Analysis& a) -> Value {
               if (w.steps.empty() || a.run.active_devices.empty())
                 return Absent{kNoWorkSteps, "steps"};
               return static_cast<double>(row_of(w).count) / StepCount(w) / Devices(a);
             });
    work.Add(group + ".time", "ns", "Summed time of " + kernels + " on a device.",
             [row_of](const Work& w, const Analysis& a) {
               return ShareOf(row_of(w).time_ns, Devices(a));
             });
    work.Add(group + ".exposed", "ns",
             "Time of " + kernels + " on a device without compute that overlaps it.", exposed);
    work.Add(group + ".share", "share",
             "Share of the window that the exposed time of " + kernels + " takes.",
             [exposed](const Work& w, const Analysis& a) {
               return ShareOf(exposed(w, a), static_cast<double>(a.run.window.Length()));
             });
    work.Add(group + ".overlap", "share",
             "Share of the time of " + kernels + " that overlaps with compute kernels.",
             If([row_of](const Work& w) { return row_of(w).time_ns > 0; },
                [row_of](const Work& w) { return row_of(w).hidden_ns / row_of(w).time_ns; },
                "there are no such collectives in the window", ""));
  }
}

Value LinkKind(const Work& work, const Analysis& a) {
  const double least = a.run.knowledge.Number("work.link_in_use");
  if (work.nvlink_percent < 0 && work.pcie_percent < 0) {
    return Absent{"no GPU metric samples fell into communication", "gpu-metrics"};
  }
  if (std::max(work.nvlink_percent, work.pcie_percent) / 100 < least) {
    return Absent{"neither NVLink nor PCIe moved data during communication", ""};
  }
  return std::string(work.nvlink_percent >= work.pcie_percent ? "nvlink" : "pcie");
}

void DeclareLinks(Catalog* catalog) {
  auto& work = catalog->Of(&Analysis::work);
  work.Add("link.kind", "name", "Which link carries the communication: nvlink or pcie.", LinkKind);
  work.Add("nic.rate", "bytes_per_s",
           "Bytes that network cards received and sent, over the window.",
           UnlessNegative(&Work::nic_bytes_per_s, "the counters of network cards were not sampled",
                          "nic-metrics"));
}

}  // namespace

void DeclareWorkFacts(Catalog* catalog) {
  DeclareWork(catalog);
  DeclareLaunching(catalog);
  DeclareProducts(catalog);
  DeclareCollectives(catalog);
  DeclareLinks(catalog);
}

}  // namespace advise::facts
