#include "engine/pipeline/side_sentence.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <iterator>
#include <string>
#include <utility>
#include <vector>

#include "engine/base/text.h"
#include "engine/metrics/kernels/cpu_operators.h"
#include "engine/pipeline/log_sentences.h"

namespace advise {
namespace {

// "kernels ran for 159 ms in 1,785 launches"; "" without such totals. Where one name takes most of
// the time, and `named`, that as well.
std::string TotalInWords(const TotalsOf& sum, bool named, const char* what, const char* unit,
                         const char* units) {
  if (sum.empty()) return "";
  std::string words =
      fmt::format("{} {} in {} {}", what, FormatQuantity(sum.total, "ns"),
                  FormatQuantity(sum.count, "count"), sum.count == 1 ? unit : units);
  const ProfileRow& top = sum.rows.front();
  if (named && sum.rows.size() > 1 && 2 * top.total > sum.total) {
    const std::string_view name = top.name;
    words += fmt::format(", {} of it in {}", Percent(top.total / sum.total),
                         SafeText(KernelInWords(std::string(name.substr(name.starts_with(':'))))));
  }
  return words;
}

// Whose calls a summary adds up: summaries hold those of one interface.
const char* CallsTook(const ProfileTotals& totals) {
  const TotalsOf& calls = totals.Of(ProfileOf::kCalls);
  const std::string_view name = calls.rows.empty() ? "" : std::string_view(calls.rows[0].name);
  if (name.starts_with("hip")) return "HIP calls took";
  return name.starts_with("hsa_") ? "HSA calls took" : "CUDA calls took";
}

// Of MPI, of OpenACC (with their place in the source), and of the system.
std::array<TotalsOf, 3> HostCallsByKind(const TotalsOf& calls) {
  std::array<TotalsOf, 3> kinds;
  for (const ProfileRow& row : calls.rows) {
    TotalsOf& kind = kinds[row.name.starts_with("MPI_")              ? 0
                           : row.name.find('@') != std::string::npos ? 1
                                                                     : 2];
    kind.total += row.total;
    kind.count += row.count;
    kind.rows.push_back(row);
  }
  return kinds;
}

// What summaries of a run say.
std::string ProfileSentence(const ProfileTotals& totals) {
  const auto samples = [&](ProfileOf of, const char* what) {
    const TotalsOf& sum = totals.Of(of);
    return fmt::format("{} of {} samples are in {}.", Percent(sum.rows.front().total / sum.total),
                       FormatQuantity(sum.total, "count"),
                       what + SafeText(KernelInWords(sum.rows.front().name)));
  };
  if (!totals.Of(ProfileOf::kStacks).empty()) {
    return "CPU samples without times were given. " + samples(ProfileOf::kStacks, "");
  }
  if (!totals.Of(ProfileOf::kInstructions).empty()) {
    return "Samples of kernels by instruction were given. " +
           samples(ProfileOf::kInstructions, "the instruction ");
  }
  if (totals.of.empty()) {
    const AllocatorPage& page = totals.allocator;
    return fmt::format(
        "PyTorch's allocator held at most {} on GPU {}; at most {} of it were tensors.",
        FormatQuantity(page.reserved_peak, "bytes"), page.device,
        FormatQuantity(page.allocated_peak, "bytes"));
  }
  const auto of_host = HostCallsByKind(totals.Of(ProfileOf::kOsCalls));
  // Kernels and copies have findings that name them.
  std::vector<std::string> parts = {
      TotalInWords(totals.Of(ProfileOf::kKernels), false, "kernels ran for", "launch", "launches"),
      TotalInWords(totals.Of(ProfileOf::kCopies), false, "copies and memsets took", "operation",
                   "operations"),
      TotalInWords(totals.Of(ProfileOf::kCalls), true, CallsTook(totals), "call", "calls"),
      TotalInWords(totals.Of(ProfileOf::kRanges), true, "named ranges took", "range", "ranges"),
      TotalInWords(of_host[0], true, "MPI calls took", "call", "calls"),
      TotalInWords(of_host[1], true, "OpenACC constructs took", "call", "calls"),
      TotalInWords(of_host[2], true, "system calls took", "call", "calls")};
  std::erase(parts, "");
  const bool commas = std::any_of(parts.begin(), parts.end(), [](const std::string& part) {
    return part.find(", ") != std::string::npos;
  });
  return fmt::format("Only totals were given, without a timeline: {}.",
                     fmt::join(parts, commas ? "; " : ", "));
}

// How near a kernel that latency limits comes to what is nearest, as far as counters say.
std::string FarFromLimits(const CountedKernel& kernel) {
  const std::pair<double, const char*> limits[] = {{kernel.memory, "memory"},
                                                   {kernel.sm, "the SMs"},
                                                   {kernel.l2, "the L2 cache"},
                                                   {kernel.l1, "the L1 cache"}};
  if (std::max(kernel.sm, kernel.memory) < 0)
    return "It is far from every limit of the GPU, so latency limits it";
  const auto* const nearest =
      std::max_element(std::begin(limits), std::end(limits),
                       [](const auto& a, const auto& b) { return a.first < b.first; });
  return fmt::format("It reaches {} of its nearest limit ({}), so latency limits it",
                     Percent(nearest->first), nearest->second);
}

// The first sentence for inputs without a timeline: what each kind can say.
std::string SideSentence(const Analysis& analysis) {
  const Trace& trace = analysis.run.trace;
  if (!trace.nccl.timeouts.empty()) return TimeoutSentence(trace.nccl);
  if (!analysis.counters.kernels.empty()) {
    const CountedKernel& top = analysis.counters.kernels.front();
    std::string limit = "Its counters do not show what limits it";
    if (top.bound == "memory") {
      limit =
          top.on_chip ? "Memory on the chip (caches, shared memory) limits it" : "Memory limits it";
    }
    if (top.bound == "compute") limit = "The SMs limit it";
    if (top.bound == "latency") limit = FarFromLimits(top);
    if (top.bound == "launch") limit = "It takes no longer than a kernel takes to start";
    const std::string name = KernelInWords(top.name);
    const std::size_t kernels = analysis.counters.kernels.size();
    if (kernels == 1) {
      const bool cut = top.name == kNamelessKernel;
      return fmt::format("Counters were given for one kernel, {}. {}.",
                         cut ? "whose name is cut off" : name, limit);
    }
    if (top.weight <= 0) {
      return fmt::format("Counters were given for {} kernels, without the time that each takes.",
                         kernels);
    }
    return fmt::format("Counters were given for {} kernels. {} takes {} of their time. {}.",
                       kernels, name, Percent(top.weight), limit);
  }
  if (!analysis.server.empty()) return ServerSentence(analysis.server);
  if (trace.monitor.gpus.empty() && trace.monitor.kernel_log)
    return KernelLogSentence(trace.monitor);
  if (!trace.monitor.empty()) {
    const MonitorSummary& monitor = analysis.monitor;
    const double busy = monitor.Mean(&MonitoredUse::utilization);
    std::size_t at_work = 0;
    for (const MonitoredUse& use : monitor.gpus) at_work += use.at_work ? 1 : 0;
    if (monitor.gpus.empty()) return ProcessesSentence(trace.monitor, analysis.monitor_health);
    if (at_work == 0) return WithoutWorkSentence(monitor);
    if (busy < 0) {
      return "The monitor's log has no utilization, so it cannot show how busy the GPUs were.";
    }
    return MonitorSentence(analysis, at_work, busy);
  }
  if (!analysis.totals.empty()) return ProfileSentence(analysis.totals);
  const Paths& paths = analysis.paths;
  if (paths.gpus == 0 && trace.topology.matrices.empty() && !trace.topology.ports.empty())
    return PortsSentence(trace.topology, paths);
  const std::vector<std::string>& warnings = trace.nccl.warnings;
  if (!trace.nccl.empty() || trace.nccl.ranks > 0 || !warnings.empty()) {
    const PairCounts& local = paths.local;
    if (local.peer + local.shared + local.net + paths.remote == 0) {
      if (!warnings.empty()) {
        return fmt::format(
            "NCCL's log holds {}, and does not show how the ranks communicate.",
            warnings.size() == 1 ? "one warning" : fmt::format("{} warnings", warnings.size()));
      }
      return CallsSentence(trace.nccl) + "NCCL's log does not show how the ranks communicate.";
    }
    const bool slow_node = local.shared + local.net > 0;
    std::string words = local.peer + local.shared + local.net == 0 ? ""
                        : slow_node ? "inside a node not all ranks reach each other directly"
                                    : "inside a node the ranks reach each other directly";
    if (paths.remote > 0) {
      words += words.empty() ? "" : ", ";
      words += paths.remote_socket > 0   ? "between nodes they use sockets"
               : paths.remote_staged > 0 ? "between nodes RDMA goes through host memory"
                                         : "between nodes they use GPUDirect RDMA";
    }
    return fmt::format("NCCL's log shows how the ranks communicate: {}.", words);
  }
  const std::size_t cards = std::max(paths.nics, trace.topology.ports.size());
  if (trace.topology.matrices.empty() && cards == 0) return "Nothing that was given holds times.";
  return fmt::format("The topology lists {} GPU{} and {} network card{}; it is not a run.",
                     paths.gpus, paths.gpus == 1 ? "" : "s", cards, cards == 1 ? "" : "s");
}

}  // namespace

std::string SentenceWithoutGpuWork(const Analysis& analysis) {
  const Run& run = analysis.run;
  const Trace& trace = run.trace;
  const bool only_beside = !trace.counters.empty() || !trace.monitor.empty() ||
                           !trace.nccl.empty() || !analysis.totals.empty() ||
                           !analysis.server.empty();
  if (trace.diagnostics.Damaged() && trace.ops.size() == 0 && !only_beside) {
    return "The file is damaged or was cut off: what could be read of it holds no GPU activity. "
           "Copy the file again, or write it again.";
  }
  if (!trace.HasTimeline()) return SideSentence(analysis);
  if (!run.active_devices.empty()) return "";
  for (const Diagnostic& told : run.trace.diagnostics.list()) {
    if (told.text != kCountersOfRanges) continue;
    return fmt::format(
        "The trace holds hardware counters of {} kernel runs and no timeline: there is no time to "
        "judge.",
        FormatQuantity(static_cast<double>(told.count), "count"));
  }
  if (const CpuOperator found = FindCpuOperator(run); !found.name.empty()) {
    return fmt::format("The model ran on the CPU: {} in {}. No GPU activity was recorded.",
                       FormatQuantity(found.time_ns, "ns"), found.name);
  }
  const std::size_t launches = LaunchingCalls(run);
  if (launches == 0) {
    return run.trace.diagnostics.Has(kOtherAccelerator)
               ? "The trace shows work on an accelerator that is not a GPU. Only GPUs are judged."
               : "No GPU activity was recorded, so there is nothing to judge.";
  }
  return fmt::format(
      "{} launches were recorded but no GPU activity: the profiler could not collect it.",
      FormatQuantity(static_cast<double>(launches), "count"));
}

}  // namespace advise
