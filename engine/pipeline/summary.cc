#include "engine/pipeline/summary.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "engine/base/text.h"

namespace advise {
namespace {

struct State {
  const char* words;
  double ns;
};

}  // namespace

std::string InSentence(std::string title) {
  const auto is_upper = [](char c) { return c >= 'A' && c <= 'Z'; };
  if (title.size() > 1 && is_upper(title[0]) && !is_upper(title[1])) {
    title[0] = static_cast<char>(title[0] - 'A' + 'a');
  }
  return title;
}

std::string NoVerdictSentence(const std::string& start, const std::string& reason) {
  constexpr std::string_view kSubject = "the capture ";
  if (!reason.starts_with(kSubject)) return fmt::format("{}: {}.", start, reason);
  return fmt::format("{}. It {}.", start, reason.substr(kSubject.size()));
}

const char* IdleWords(IdleCause cause) {
  switch (cause) {
    case IdleCause::kDataLoading:
      return "waiting for data";
    case IdleCause::kHostSync:
      return "waiting for the host to come back from synchronising calls";
    case IdleCause::kAllocation:
      return "waiting for memory allocation";
    case IdleCause::kJitOrModuleLoad:
      return "waiting for code to be compiled or loaded";
    case IdleCause::kFileIo:
      return "waiting for file input";
    case IdleCause::kHostWait:
      return "waiting for a host thread that is blocked";
    case IdleCause::kLaunch:
      return "waiting for kernel launches";
    case IdleCause::kHostCompute:
      return "waiting for host code";
    case IdleCause::kPeerWait:
      return "waiting for another GPU";
    case IdleCause::kProfilerOverhead:
      return "waiting for the profiler";
    case IdleCause::kNoWorkQueued:
      return "without any work queued";
    case IdleCause::kUnknown:
      break;
  }
  return "idle for a reason that the capture does not show";
}

namespace {

std::string Percent(double share) { return FormatQuantity(share, "share"); }

// The first sentence for inputs without a timeline: what each kind can say.
std::string SideSentence(const Analysis& analysis) {
  const Trace& trace = analysis.run.trace;
  if (!analysis.counters.kernels.empty()) {
    const CountedKernel& top = analysis.counters.kernels.front();
    std::string limit = "its counters do not show what limits it";
    const bool on_chip = top.dram >= 0 && 2 * top.dram < top.memory;
    if (top.bound == "memory")
      limit = on_chip ? "memory on the chip (caches, shared memory) limits it" : "memory limits it";
    if (top.bound == "compute") limit = "the SMs limit it";
    if (top.bound == "latency") limit = "it is near no limit of the GPU: latency holds it back";
    const std::string name = SafeText(top.name);
    constexpr std::size_t kShown = 60;
    const std::string shown = name.size() > kShown ? name.substr(0, kShown) + "…" : name;
    const std::size_t kernels = analysis.counters.kernels.size();
    if (kernels == 1) return fmt::format("One kernel was counted, {}: {}.", shown, limit);
    return fmt::format("Of {} kernels counted, {} takes {} of the counted time; {}.", kernels,
                       shown, Percent(top.weight), limit);
  }
  if (!trace.monitor.empty()) {
    const MonitorSummary& monitor = analysis.monitor;
    const double busy = monitor.Mean(&MonitoredUse::utilization);
    std::size_t at_work = 0;
    for (const MonitoredUse& use : monitor.gpus) at_work += use.at_work ? 1 : 0;
    if (busy < 0) {
      return "The monitor's log does not hold utilisation, so it cannot show how busy the GPUs "
             "were.";
    }
    if (at_work == 0) return "By the monitor's count no GPU did anything while it was logged.";
    return fmt::format(
        "By the monitor's coarse count {} in use {} of the time; what {} waited for it cannot "
        "show.",
        at_work == 1 ? "the GPU was" : fmt::format("{} GPUs were", at_work), Percent(busy),
        at_work == 1 ? "it" : "they");
  }
  const Paths& paths = analysis.paths;
  if (!trace.nccl.empty() || trace.nccl.ranks > 0) {
    const PairCounts& local = paths.local;
    if (local.peer + local.shared + local.net + paths.remote == 0) {
      return "NCCL's log does not say how the ranks talk to each other.";
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
    return fmt::format("NCCL's log shows how the ranks talk: {}.", words);
  }
  return fmt::format("The topology lists {} GPUs and {} network cards; it is not a run.",
                     paths.gpus, std::max(paths.nics, trace.topology.ports.size()));
}

}  // namespace

bool GpusWorkWell(Nanos compute, Nanos idle, Nanos all, const Knowledge& knowledge) {
  const double whole = std::max(1.0, static_cast<double>(all));
  return static_cast<double>(idle) < knowledge.Number("verdict.healthy_idle") * whole &&
         static_cast<double>(compute) >= knowledge.Number("verdict.healthy_compute") * whole;
}

std::string VerdictSentence(const Analysis& analysis, const Report& report) {
  if (!analysis.run.trace.HasTimeline()) return SideSentence(analysis);
  if (analysis.run.active_devices.empty()) {
    std::size_t launches = 0;
    for (std::uint32_t call = 0; call < analysis.run.trace.calls.size(); ++call) {
      const CallClass call_class = analysis.run.ClassOfCall(call);
      launches += call_class == CallClass::kLaunch || call_class == CallClass::kGraphLaunch ? 1 : 0;
    }
    if (launches > 0) {
      return fmt::format(
          "{} launches were recorded but no GPU activity: the profiler could not collect it.",
          launches);
    }
    return "No GPU activity was recorded, so there is nothing to judge.";
  }
  const bool many = analysis.run.active_devices.size() > 1;
  const std::string who = many ? "The GPUs" : "The GPU";
  double compute = 0, comm = 0, copy = 0, idle = 0;
  std::map<IdleCause, double> causes;
  for (const std::uint32_t d : analysis.run.active_devices) {
    compute += static_cast<double>(analysis.times[d].ComputeNs());
    comm += static_cast<double>(analysis.times[d].comm_exposed.Total());
    copy += static_cast<double>(analysis.times[d].copy_exposed.Total());
    idle += static_cast<double>(analysis.times[d].idle.Total());
    for (std::size_t c = 0; c < kIdleCauseCount; ++c) {
      causes[static_cast<IdleCause>(c)] += static_cast<double>(analysis.idle.by_device[d][c]);
    }
  }
  const double all = std::max(1.0, static_cast<double>(analysis.basis().Device()));
  const auto pct = [all](double part) { return FormatQuantity(part / all, "share"); };
  const std::string be = many ? "are" : "is";
  if (!analysis.support.verdict) {
    return NoVerdictSentence("The capture supports no verdict", analysis.support.reason);
  }
  if (report.healthy) {
    return fmt::format(
        "{} {} busy {} of the time, and nothing was found whose fix would win one percent.", who,
        be, pct(all - idle));
  }
  const bool has_advice = !report.findings.empty() && report.findings.front().saving_s > 0;
  if (compute >= 0.8 * all && has_advice) {
    const Finding& first = report.findings.front();
    return fmt::format("{} compute{} {} of the time; what can still be won lies in what runs: {}.",
                       who, many ? "" : "s", pct(compute), InSentence(first.rule->title));
  }
  if (copy >= comm && copy >= idle) {
    return fmt::format("{} wait{} for copies {} of the time.", who, many ? "" : "s", pct(copy));
  }
  if (comm >= idle) {
    return fmt::format("{} wait{} for communication {} of the time.", who, many ? "" : "s",
                       pct(comm));
  }
  const auto worst =
      std::max_element(causes.begin(), causes.end(),
                       [](const auto& a, const auto& b) { return a.second < b.second; });
  return fmt::format("{} {} idle {} of the time, mostly {}.", who, be, pct(idle),
                     IdleWords(worst->first));
}

std::vector<std::string> ReadWithCare(const Analysis& analysis) {
  std::vector<std::string> notes;
  const Trace& trace = analysis.run.trace;
  if (!trace.HasTimeline()) {
    if (!trace.counters.empty()) {
      notes.emplace_back(
          "savings are shares of the time under the kernel profiler, one kernel at a "
          "time at its clocks");
    }
    return notes;
  }
  if (trace.ops.size() == 0) {
    notes.emplace_back(
        trace.kind == "kineto"
            ? "profile the program while it works on the GPU, with ProfilerActivity.CUDA among the "
              "activities; check that the profiler may use the GPU"
            : "capture the program while it works on the GPU, with --trace=cuda; check that the "
              "profiler may use the GPU");
  } else if (!analysis.support.verdict) {
    notes.emplace_back("no finding is rated above low, because the capture supports no verdict");
  }
  for (const Trace::ProfilerMessage& message : trace.profiler_messages) {
    if (message.level == Level::kError)
      notes.emplace_back("the profiler said: " + SafeText(message.text));
  }
  if (trace.ops.size() > 0 && analysis.hardware.name.empty()) {
    notes.emplace_back("the report does not name the GPU: peaks are unknown (see --gpu)");
  } else if (trace.ops.size() > 0 && !analysis.hardware.known) {
    notes.emplace_back(
        fmt::format("{} is not in the knowledge base: tensor and link rates are unknown",
                    SafeText(analysis.hardware.name)));
  }
  std::size_t launched = 0;
  std::size_t unknown = 0;
  for (std::size_t op = 0; op < trace.ops.size(); ++op) {
    if (trace.ops.stream[op] == kNone) continue;
    ++launched;
    unknown += trace.ops.call[op] == kNone ? 1 : 0;
  }
  if (10 * unknown > launched) {
    notes.emplace_back(
        fmt::format("the launching call of {} of {} GPU operations was not captured: causes of "
                    "their gaps are unknown",
                    unknown, launched));
  }
  if (trace.ops.size() > 0 && trace.os_calls.size() == 0) {
    notes.emplace_back(
        trace.kind == "kineto"
            ? "PyTorch's profiler records no OS calls: waits for files, locks and other "
              "processes look like host code"
            : "no OS calls were recorded: waits for data and files look like host code");
  }
  if (analysis.run.steps.source == "period") {
    notes.emplace_back("steps were found from the repeating GPU work, not from ranges");
  } else if (!analysis.run.steps.known() && trace.ops.size() > 0) {
    notes.emplace_back("no steps were found: the whole capture is analysed, start-up included");
  }
  return notes;
}

namespace {

// What PyTorch's profiler must be asked for; what it cannot record is left to nsys.
std::string TorchCommand(const std::vector<std::string>& options) {
  return fmt::format(
      "profile(activities=[ProfilerActivity.CPU, ProfilerActivity.CUDA], "
      "schedule=schedule(wait=1, warmup=2, active=5){}{})   # and prof.step() after each step",
      options.empty() ? "" : ", ", fmt::join(options, ", "));
}

}  // namespace

void FillNotChecked(const std::vector<Verdict>& verdicts, const Knowledge& knowledge,
                    const std::string& input_kind, Report* report) {
  const bool torch = input_kind == "kineto";
  std::set<std::string> tags;
  for (const Verdict& verdict : verdicts) {
    switch (verdict.outcome) {
      case Outcome::kCannotTell: {
        NotChecked entry;
        entry.rule = verdict.rule->id;
        entry.needs = verdict.missing;
        entry.reason = verdict.reason;
        for (const CaptureHint& hint : knowledge.capture_hints()) {
          if (std::find(verdict.missing.begin(), verdict.missing.end(), hint.tag) ==
              verdict.missing.end())
            continue;
          entry.how += (entry.how.empty() ? "" : " ") + hint.text;
          if (torch && !hint.torch.empty()) {
            entry.how += " With torch.profiler: " + hint.torch + ".";
          } else if (torch && !hint.option.empty()) {
            entry.how += " PyTorch's profiler cannot: nsys profile " + hint.option + ".";
          }
          if (!hint.option.empty() || !hint.torch.empty()) tags.insert(hint.tag);
        }
        if (entry.how.empty()) entry.how = verdict.reason;
        report->not_checked.push_back(std::move(entry));
        break;
      }
      case Outcome::kBroken:
        report->diagnostics.push_back({Level::kError, verdict.reason, "", 1});
        break;
      default:
        ++report->checked;
        break;
    }
  }
  // Options of one name are joined: --trace=cuda and --trace=osrt are --trace=cuda,osrt.
  std::vector<std::string> traced = {"cuda", "nvtx", "osrt"};
  std::vector<std::string> others;
  const auto add = [](std::vector<std::string>* list, const std::string& item) {
    if (std::find(list->begin(), list->end(), item) == list->end()) list->push_back(item);
  };
  std::vector<std::string> torch_options;
  for (const CaptureHint& hint : knowledge.capture_hints()) {
    if (!tags.contains(hint.tag)) continue;
    if (torch && !hint.torch.empty()) {
      const std::string name = hint.torch.substr(0, hint.torch.find('='));
      if (name == "profile_memory" || name == "with_stack" || name == "record_shapes") {
        add(&torch_options, hint.torch);
      }
      tags.erase(hint.tag);
      continue;
    }
    if (hint.option.empty()) continue;
    const std::string trace = "--trace=";
    if (hint.option.rfind(trace, 0) == 0) {
      add(&traced, hint.option.substr(trace.size()));
    } else {
      add(&others, hint.option);
    }
  }
  const std::string nsys =
      fmt::format("nsys profile --trace={}{}{} -o run -- COMMAND", fmt::join(traced, ","),
                  others.empty() ? "" : " ", fmt::join(others, " "));
  if (torch) {
    if (report->not_checked.empty()) return;
    report->capture_command = TorchCommand(torch_options);
    const bool has_rest = traced.size() > 3 || !others.empty() || tags.contains("osrt");
    if (has_rest) report->capture_command += "\n" + nsys;
    return;
  }
  if (tags.empty()) return;
  report->capture_command = nsys;
}

}  // namespace advise
