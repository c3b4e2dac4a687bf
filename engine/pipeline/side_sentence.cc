#include "engine/pipeline/side_sentence.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <utility>

#include "engine/base/text.h"
#include "engine/metrics/kernels/cpu_operators.h"
#include "engine/pipeline/log_sentences.h"

namespace advise {
namespace {

std::string ShareText(double share) { return FormatQuantity(share, "share"); }

// "kernels ran for 159 ms in 1,785 launches"; "" without such totals.
std::string TotalInWords(const ProfileTotals& totals, ProfileOf of, const char* what,
                         const char* unit, const char* units) {
  const TotalsOf& sum = totals.Of(of);
  if (sum.empty()) return "";
  return fmt::format("{} {} in {} {}", what, FormatQuantity(sum.total, "ns"),
                     FormatQuantity(sum.count, "count"), sum.count == 1 ? unit : units);
}

// " Most of it is read (92 %)."; "" where kernels ran, whose rules tell, or nothing takes most.
std::string LongestInWords(const ProfileTotals& totals) {
  if (!totals.Of(ProfileOf::kKernels).empty()) return "";
  for (const ProfileOf of : {ProfileOf::kCalls, ProfileOf::kRanges, ProfileOf::kOsCalls}) {
    const TotalsOf& sum = totals.Of(of);
    if (sum.empty() || sum.total <= 0) continue;
    const ProfileRow& longest = sum.rows.front();
    if (2 * longest.total < sum.total) continue;
    return fmt::format(" Most of it is {} ({}).", SafeText(longest.name),
                       ShareText(longest.total / sum.total));
  }
  return "";
}

// What the rows of a summary of ranges are.
const char* RangesTook(const ProfileTotals& totals) {
  const TotalsOf& ranges = totals.Of(ProfileOf::kRanges);
  const std::string_view name = ranges.empty() ? "" : std::string_view(ranges.rows[0].name);
  if (name.starts_with("MPI_")) return "MPI calls took";
  return name.find('@') == std::string_view::npos ? "named ranges took" : "OpenACC constructs took";
}

// What one of them is, and several.
std::pair<const char*, const char*> RangeWords(const ProfileTotals& totals) {
  const bool named = std::string_view(RangesTook(totals)).starts_with("named");
  return named ? std::pair("range", "ranges") : std::pair("call", "calls");
}

// Whose calls a summary adds up: summaries hold those of one interface.
const char* CallsTook(const ProfileTotals& totals) {
  const TotalsOf& calls = totals.Of(ProfileOf::kCalls);
  const std::string_view name = calls.rows.empty() ? "" : std::string_view(calls.rows[0].name);
  if (name.starts_with("hip")) return "HIP calls took";
  return name.starts_with("hsa_") ? "HSA calls took" : "CUDA calls took";
}

// What summaries of a run say.
std::string ProfileSentence(const ProfileTotals& totals) {
  const auto samples = [&](ProfileOf of, const char* what) {
    const TotalsOf& sum = totals.Of(of);
    return fmt::format("{} of {} samples are in {}.", ShareText(sum.rows.front().total / sum.total),
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
  std::string words;
  for (const std::string& part :
       {TotalInWords(totals, ProfileOf::kKernels, "kernels ran for", "launch", "launches"),
        TotalInWords(totals, ProfileOf::kCopies, "copies and memsets took", "operation",
                     "operations"),
        TotalInWords(totals, ProfileOf::kCalls, CallsTook(totals), "call", "calls"),
        TotalInWords(totals, ProfileOf::kRanges, RangesTook(totals), RangeWords(totals).first,
                     RangeWords(totals).second),
        TotalInWords(totals, ProfileOf::kOsCalls, "system calls took", "call", "calls")}) {
    if (!part.empty()) words += (words.empty() ? "" : ", ") + part;
  }
  return fmt::format("Only totals were given, without a timeline: {}.{}", words,
                     LongestInWords(totals));
}

// How near a kernel that latency limits comes to what is nearest, as far as counters say.
std::string FarFromLimits(const CountedKernel& kernel) {
  const double most = std::max(kernel.sm, kernel.memory);
  if (most < 0) return "It is far from every limit of the GPU, so latency limits it";
  return fmt::format("It reaches {} of its nearest limit ({}), so latency limits it",
                     ShareText(most), kernel.sm > kernel.memory ? "the SMs" : "memory");
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
                       kernels, name, ShareText(top.weight), limit);
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
