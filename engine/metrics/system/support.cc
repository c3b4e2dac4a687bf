#include "engine/metrics/system/support.h"

#include <fmt/format.h>

#include <algorithm>
#include <bitset>
#include <unordered_map>

#include "engine/base/is_in.h"
#include "engine/base/text.h"
#include "engine/timeline/layers.h"
#include "engine/timeline/step.h"
#include "engine/trace/operators_kept.h"

namespace advise {
namespace {

// What an input without a timeline cannot answer.
std::string WhyNoTimelineIsNotEnough(const Trace& trace) {
  if (!trace.counters.empty()) {
    return "kernel counters show how single kernels run, not what the run waits for";
  }
  if (!trace.monitor.empty()) {
    return "monitor samples show how busy the GPUs were, not what they waited for";
  }
  if (!trace.profile.empty()) {
    return "totals show what took long, not what the GPU waited for";
  }
  return "there is no timeline of the run";
}

// Whether there is nothing to judge, and why; "" where there is something.
std::string WhyNothingRan(const Run& run) {
  if (!run.trace.HasTimeline()) return WhyNoTimelineIsNotEnough(run.trace);
  if (run.trace.ops.size() == 0) return "no GPU activity was recorded";
  if (!LacksKernels(run)) return "";
  return IsIn(OpKind::kKernel, run.trace.ops.kind) ? "all kernels have a length of zero"
                                                   : "no kernel was recorded";
}

bool IsStartUp(IdleCause cause) {
  return cause == IdleCause::kJitOrModuleLoad || cause == IdleCause::kAllocation;
}

// What is less than this part of what it was has faded.
double FadingOf(const Basis& basis) { return basis.run.knowledge.Number("verdict.fading"); }

// Whether most of what looks like a start loads code before kernels that ran before. First passes
// load the code of each kernel once, also in the layers that repeat them.
bool LoadsAgain(const Basis& basis) {
  const Trace& trace = basis.run.trace;
  const auto name_of = [&](std::uint32_t op) { return trace.shapes[trace.ops.detail[op]].name; };
  std::unordered_map<StringId, Nanos> first;
  for (std::uint32_t op = 0; op < trace.ops.size(); ++op)
    if (trace.ops.kind[op] == OpKind::kKernel) first.try_emplace(name_of(op), trace.ops.start[op]);
  Nanos all = 0;
  Nanos again = 0;
  for (const GapPiece piece : basis.idle.pieces) {
    if (!IsStartUp(piece.cause)) continue;
    all += piece.Length();
    const std::uint32_t op = basis.idle.gaps[piece.gap].op;
    if (piece.cause == IdleCause::kJitOrModuleLoad && op != kNone &&
        trace.ops.kind[op] == OpKind::kKernel && first.at(name_of(op)) < trace.ops.start[op])
      again += piece.Length();
  }
  return 2 * again > all;
}

// Whether repetitions that are full of loading and allocating may be the start of a run: they are
// few, and unless they are very few or soon over, it fades towards the last ones. In a loop that
// compiles or allocates it goes on as it began.
bool MayBeStartUp(const Basis& basis) {
  const Run& run = basis.run;
  const auto repetitions = static_cast<double>(run.steps.all.size());
  if (repetitions >= run.knowledge.Number("verdict.start_up_steps")) return false;
  if (repetitions < run.knowledge.Number("verdict.start_up_passes")) return true;
  const auto length = static_cast<double>(run.window.Length());
  if (length < run.knowledge.Number("verdict.start_up_time") && !LoadsAgain(basis)) return true;
  const double last = run.knowledge.Number("verdict.start_up_last");
  const Nanos from = run.window.end - static_cast<Nanos>(last * length);
  Nanos all = 0;
  Nanos late = 0;
  for (const GapPiece piece : basis.idle.pieces) {
    if (!IsStartUp(piece.cause)) continue;
    all += piece.Length();
    late += std::max<Nanos>(0, piece.end - std::max(piece.start, from));
  }
  return static_cast<double>(late) < FadingOf(basis) * last * static_cast<double>(all);
}

// Whether the GPUs wait for allocation in the last part of the window nearly as long as in each
// such part before it: then the program allocates all along, and not at its start.
bool AllocatesAllAlong(const Basis& basis) {
  const double share = basis.run.knowledge.Number("verdict.last_part");
  const Window& window = basis.run.window;
  const Nanos from = window.end - static_cast<Nanos>(share * static_cast<double>(window.Length()));
  Nanos before = 0;
  Nanos last = 0;
  for (const GapPiece piece : basis.idle.pieces) {
    if (piece.cause != IdleCause::kAllocation) continue;
    (piece.start >= from ? last : before) += piece.Length();
  }
  const double as_before = share / (1 - share) * static_cast<double>(before);
  return last > 0 && static_cast<double>(last) >= FadingOf(basis) * as_before;
}

// Whether the GPUs wait for allocation in the last of the steady steps as in those before: caches
// that fill up ask for less and less.
bool AllocationRecurs(const Basis& basis) {
  const Steps& steps = basis.run.steps;
  if (!steps.known()) return AllocatesAllAlong(basis);
  if (steps.steady_count() < 2) return false;
  const Step& last = steps.all.back();
  const Nanos first = steps.all[steps.first_steady].start;
  Nanos before = 0;
  Nanos in_last = 0;
  for (const GapPiece piece : basis.idle.pieces) {
    if (piece.cause != IdleCause::kAllocation || piece.start < first) continue;
    (piece.start >= last.start ? in_last : before) += piece.Length();
  }
  const auto others = static_cast<double>(steps.steady_count() - 1);
  return in_last > 0 &&
         static_cast<double>(in_last) * others >= FadingOf(basis) * static_cast<double>(before);
}

// Whether device memory is freed about as often as it is allocated, and allocated in the last part
// of the window as well: what is done over and over is paid again and again, with a loop or
// without.
bool Recycles(const Run& run) {
  const double share = run.knowledge.Number("verdict.last_part");
  const Window& window = run.window;
  const Nanos from = window.end - static_cast<Nanos>(share * static_cast<double>(window.Length()));
  std::size_t allocations = 0;
  std::size_t frees = 0;
  bool late = false;
  for (std::uint32_t call = 0; call < run.trace.calls.size(); ++call) {
    if (!run.InWindow(run.trace.calls.start[call])) continue;
    const CallClass of = run.ClassOfCall(call);
    if (of == CallClass::kFreeDevice) ++frees;
    if (of != CallClass::kAllocDevice) continue;
    ++allocations;
    late = late || run.trace.calls.start[call] >= from;
  }
  return late && 2 * frees >= allocations;
}

// Whether a program that runs no layers of a model launches the kernel that takes most of its time
// again and again, all through the window: that is its loop, however its iterations differ (boxes
// of an adaptive mesh, active sets).
bool RepeatsThroughout(const Basis& basis) {
  const Run& run = basis.run;
  constexpr std::size_t kParts = 8;
  struct Launches {
    Nanos time = 0;
    std::size_t count = 0;
    std::bitset<kParts> parts;
  };
  std::unordered_map<StringId, Launches> kernels;
  const Nanos part = run.window.Length() / static_cast<Nanos>(kParts) + 1;
  for (const std::uint32_t op : run.OpsInWindow()) {
    const bool kernel = run.trace.ops.kind[op] == OpKind::kKernel && !run.IsComm(op);
    if (!kernel) continue;
    if (IsOfLayer(run, op)) return false;
    Launches& launches = kernels[run.trace.shapes[run.trace.ops.detail[op]].name];
    launches.time += run.trace.ops.end[op] - run.trace.ops.start[op];
    ++launches.count;
    launches.parts.set(
        static_cast<std::size_t>((run.trace.ops.start[op] - run.window.start) / part));
  }
  const auto main =
      std::max_element(kernels.begin(), kernels.end(),
                       [](const auto& a, const auto& b) { return a.second.time < b.second.time; });
  return main != kernels.end() && main->second.parts.all() &&
         static_cast<double>(main->second.count) >= run.knowledge.Number("verdict.again");
}

// Launches that anybody can count are no pass of a program; "" where there are more.
std::string WhyFewKernels(const Run& run) {
  std::size_t kernels = 0;
  for (const OpKind kind : run.trace.ops.kind) {
    if (kind == OpKind::kGraph) return "";
    kernels += kind == OpKind::kKernel ? 1 : 0;
  }
  if (kernels == 0) return "no kernel was recorded";
  if (kernels == 1) return "only one kernel launch was recorded";
  const bool many = static_cast<double>(kernels) > run.knowledge.Number("verdict.few_launches");
  return many ? "" : fmt::format("only {} kernel launches were recorded", kernels);
}

// Whether so much of what ran is missing that idle time says little; "" where it is not.
std::string WhyWorkLacks(const Basis& basis) {
  const double kept = OperatorsKept(basis.run.trace);
  if (kept < basis.run.knowledge.Number("verdict.operators_kept")) {
    return fmt::format(
        "only {} of the operators are in the trace, which was thinned out: the GPU "
        "may have worked where it seems idle",
        Percent(kept));
  }
  const double lost = basis.idle.lost_work.Share();
  if (lost < basis.run.knowledge.Number("verdict.lost_work")) return "";
  return fmt::format("the profiler lost {} of the GPU's work", Percent(lost));
}

// How much of the idle time goes into starting up.
struct IdleStart {
  Nanos time = 0;       // over all devices that did work
  bool mostly = false;  // most of the idle time, and much of the window
};

IdleStart IdleStartOf(const Basis& basis) {
  const Run& run = basis.run;
  IdleStart start;
  Nanos all = 0;
  const bool recurs = AllocationRecurs(basis);
  for (const std::uint32_t d : run.active_devices) {
    const auto& idle = basis.idle.by_device[d];
    start.time += idle[static_cast<std::size_t>(IdleCause::kJitOrModuleLoad)];
    if (!recurs) start.time += idle[static_cast<std::size_t>(IdleCause::kAllocation)];
    all += basis.times[d].idle.Total();
  }
  start.mostly = all > 0 && 2 * start.time > all && 4 * start.time > run.window.Length();
  return start;
}

// Why steps that were found are no loop to judge by; "" where they are.
std::string WhyNoLoop(const Basis& basis, const IdleStart& start) {
  const Run& run = basis.run;
  const auto least = run.knowledge.Time("verdict.min_window");
  const Nanos steady = run.steps.all.back().end - run.steps.all[run.steps.first_steady].start;
  if (steady < least) {
    return fmt::format("the repeated work lasts only {} in all",
                       FormatQuantity(static_cast<double>(steady), "ns"));
  }
  const auto devices = static_cast<double>(run.active_devices.size());
  const bool starts =
      static_cast<double>(start.time) >= run.knowledge.Number("verdict.start_up_share") * devices *
                                             static_cast<double>(run.window.Length());
  if (run.steps.source == "period" && starts && MayBeStartUp(basis))
    return "the capture holds mostly start-up, since code is loaded in every repetition";
  return "";
}

// Why work without steps is no loop; "" where it runs long enough, or repeats throughout.
std::string WhyNothingRepeats(const Basis& basis, const IdleStart& start) {
  const Run& run = basis.run;
  if (start.mostly)
    return "the capture holds mostly start-up, which loads code and allocates memory";
  if (!run.steps.why_layers.empty()) return run.steps.why_layers;
  const std::size_t marked = FindMarkedSteps(run).count;
  if (marked == 1) return "only one step was recorded";
  if (marked == 2) return "only two steps were recorded";
  if (std::string few = WhyFewKernels(run); !few.empty()) return few;
  const auto launched = std::count_if(run.trace.ops.stream.begin(), run.trace.ops.stream.end(),
                                      [](std::uint32_t stream) { return stream != kNone; });
  const bool long_enough =
      static_cast<double>(launched) >= run.knowledge.Number("verdict.min_ops") &&
      static_cast<double>(run.window.Length()) >= run.knowledge.Number("verdict.min_window");
  if (long_enough || RepeatsThroughout(basis)) return "";
  return "the capture holds no loop, or too few passes of one";
}

}  // namespace

bool LacksKernels(const Run& run) {
  const auto& kinds = run.trace.ops.kind;
  for (std::uint32_t op = 0; op < kinds.size(); ++op) {
    const bool computes = kinds[op] == OpKind::kKernel || kinds[op] == OpKind::kGraph;
    if (computes && run.trace.ops.Length(op) > 0) return false;
  }
  // Managed memory moves whether or not kernels use it.
  bool copies = false;
  for (std::uint32_t op = 0; op < kinds.size() && !copies; ++op)
    copies = kinds[op] == OpKind::kCopy && run.trace.ops.stream[op] != kNone;
  if (!copies) return true;
  for (std::uint32_t call = 0; call < run.trace.calls.size(); ++call) {
    const CallClass of = run.ClassOfCall(call);
    if (of == CallClass::kLaunch || of == CallClass::kGraphLaunch) return true;
  }
  return false;
}

Support JudgeSupport(const Basis& basis) {
  Support support;
  support.recycles = Recycles(basis.run);
  support.reason = WhyNothingRan(basis.run);
  if (support.reason.empty()) support.reason = WhyWorkLacks(basis);
  if (support.reason.empty()) {
    const IdleStart start = IdleStartOf(basis);
    support.reason =
        basis.run.steps.known() ? WhyNoLoop(basis, start) : WhyNothingRepeats(basis, start);
    support.start_up = !support.reason.empty() && start.mostly;
  }
  support.verdict = support.reason.empty();
  return support;
}

}  // namespace advise
