#include "engine/pipeline/care_notes.h"

#include <fmt/format.h>

#include <algorithm>

#include "engine/base/text.h"
#include "engine/import/host_calls.h"
#include "engine/metrics/kernels/kernel_table.h"
#include "engine/pipeline/window_notes.h"
#include "engine/trace/launched.h"

namespace advise {

namespace {

// That the report shows `shown` of the `world` ranks of the job; 0: as many as are not known.
std::string SomeRanksNote(int world, int shown) {
  if (world == 0)
    return "one rank is shown: whether it moves data or waits for other ranks is unknown";
  return fmt::format("{} of {} ranks {} shown: who waits for whom is unknown", shown, world,
                     shown == 1 ? "is" : "are");
}

// Whether a kernel of a library for AMD's GPUs runs.
bool RunsKernelsOfAmd(const Run& run) {
  const auto& shapes = run.trace.shapes;
  return std::any_of(shapes.begin(), shapes.end(), [&](const auto& shape) {
    return RunsOnAmdOnly(run.knowledge,
                         run.knowledge.ClassifyKernel(run.trace.strings[shape.name]));
  });
}

// The name in the report, where --gpu puts the figures of another GPU in the place of its own; "".
std::string ReplacedGpu(const Analysis& analysis) {
  const Run& run = analysis.run;
  const Trace& trace = run.trace;
  if (trace.devices.empty()) return "";
  const std::size_t first = run.active_devices.empty() ? 0 : run.active_devices.front();
  const std::string& recorded = trace.devices[first].name;
  const std::string& used = analysis.hardware.name;
  if (recorded.empty() || recorded == used) return "";
  const bool same = run.knowledge.FindHardware(recorded) == run.knowledge.FindHardware(used);
  return same ? "" : recorded;
}

// Whether the time that the GPU waits for code on the host is worth a word on what may be in it.
bool HostCodeMatters(const Analysis& analysis) {
  Nanos waiting = 0;
  for (const auto& causes : analysis.idle.by_device)
    waiting += causes[static_cast<std::size_t>(IdleCause::kHostCompute)];
  return Matters(analysis, waiting, "care.host_code");
}

// One GPU takes part in communication that nothing hides: other ranks do, too, in other reports.
bool CommunicatesAlone(const Analysis& analysis) {
  if (analysis.run.active_devices.size() != 1) return false;
  const DeviceTime& time = analysis.times[analysis.run.active_devices.front()];
  return Matters(analysis, time.comm_exposed.Total(), "care.unseen");
}

// Inside a step of its engine, a server has a request.
bool RequestsMatter(const Analysis& analysis) {
  return !analysis.serving.steps_named ||
         Matters(analysis, analysis.serving.scheduler.lost->Total(), "care.host_code");
}

std::string Count(std::size_t n) { return FormatQuantity(static_cast<double>(n), "count"); }

// Which call launched what.
void AddNoteOnCalls(const Analysis& analysis, std::vector<CareNote>* notes) {
  const Trace& trace = analysis.run.trace;
  const auto [launched, before, unknown] = CountLaunched(trace.ops);
  const double most = analysis.run.knowledge.Number("care.unknown_calls");
  if (launched > 0 && unknown == launched && trace.diagnostics.Has(kClocksDisagree)) {
    notes->push_back({Care::kNoCalls,
                      "the clocks of host and GPU disagree: work seems to start long before the "
                      "call that launched it, and causes of gaps are unknown"});
  } else if (launched > 0 && unknown == launched) {
    notes->push_back({Care::kNoCalls, "no CUDA calls were recorded: causes of gaps are unknown"});
  } else if (static_cast<double>(unknown) > most * static_cast<double>(launched)) {
    notes->push_back(
        {Care::kLostCalls, fmt::format("for {} of {} GPU operations, the launching call was not "
                                       "captured: causes of their gaps are unknown",
                                       Count(unknown), Count(launched))});
  }
  const Run& run = analysis.run;
  if (before == 0 || run.steps.known() || run.window.mode != "steady") return;
  std::size_t left_out = 0;
  for (std::size_t op = 0; op < trace.ops.size() && trace.ops.start[op] < run.window.start; ++op)
    left_out += trace.ops.call[op] == kNone && trace.ops.end[op] <= run.window.start ? 1 : 0;
  if (left_out == 0) return;
  notes->push_back(
      {Care::kOther, fmt::format("{} of {} GPU operations were queued before the recording began: "
                                 "they are left out",
                                 Count(left_out), Count(launched))});
}

// What the calls that launched the work do not tell.
void AddNotesOnLaunches(const Analysis& analysis, std::vector<CareNote>* notes) {
  const Trace& trace = analysis.run.trace;
  const auto skew = analysis.run.knowledge.Time("idle.clock_skew");
  const std::size_t launched = CountLaunched(trace.ops).all;
  std::size_t early = 0;
  for (std::size_t op = 0; op < trace.ops.size(); ++op) {
    const std::uint32_t call = trace.ops.call[op];
    early += call != kNone && trace.ops.start[op] < trace.calls.start[call] - skew ? 1 : 0;
  }
  if (early > 0) {
    notes->push_back(
        {Care::kOther,
         fmt::format("{} of {} GPU operations start before the call that launched them: the clocks "
                     "of host and GPU disagree, and causes of idle time may be wrong",
                     Count(early), Count(launched))});
  }
  const Nanos waited = analysis.unseen.Sum(&UnseenTime::before_capture);
  if (early == 0 && Matters(analysis, waited, "care.unseen")) {
    notes->push_back(
        {Care::kEarlierWork, fmt::format("for {}, the first recorded work waits for something from "
                                         "before the recording: the GPU may have been busy then",
                                         FormatQuantity(static_cast<double>(waited), "ns"))});
  }
  const Nanos inside = analysis.unseen.Sum(&UnseenTime::in_graphs);
  if (Matters(analysis, inside, "care.unseen")) {
    notes->push_back(
        {Care::kOther,
         fmt::format("for {}, the GPU seems idle inside CUDA graphs that were launched long "
                     "before: the profiler probably lost kernels there",
                     FormatQuantity(static_cast<double>(inside), "ns"))});
  }
  const Nanos queued = analysis.unseen.Sum(&UnseenTime::queued);
  if (early == 0 && Matters(analysis, queued, "care.unseen")) {
    notes->push_back(
        {Care::kOther, fmt::format("for {}, the GPU is idle although work is queued: "
                                   "what that work waits for was not recorded",
                                   FormatQuantity(static_cast<double>(queued), "ns"))});
  }
  if (trace.ops.size() > 0 && LacksKernels(analysis.run) && LaunchingCalls(analysis.run) > 0) {
    notes->push_back(
        {Care::kOther,
         fmt::format(
             "kernels were launched, but {}: where the GPU seems idle, it may have computed",
             analysis.kernels.count > 0 ? "all have a length of zero" : "none was recorded")});
  }
  const LostWork& work = analysis.idle.lost_work;
  if (work.much) {
    notes->push_back(
        {Care::kOther,
         fmt::format("for {} of {} calls that give the GPU work, that work was not recorded: "
                     "the profiler lost it, and the GPU may have worked where it seems idle",
                     Count(work.lost), Count(work.calls))});
  }
  AddNoteOnCalls(analysis, notes);
}

void AddNoteOnNames(const Analysis& analysis, std::vector<CareNote>* notes) {
  const Kernels& kernels = analysis.kernels;
  const double share = kernels.time_ns > 0 ? kernels.unnamed.time_ns / kernels.time_ns : 0;
  if (share <= 0 || share < analysis.run.knowledge.Number("care.unseen")) return;
  notes->push_back(
      {Care::kOther,
       fmt::format("kernels without a name take {} of the kernel time ({} of {} "
                   "kernels): what they compute is unknown",
                   Percent(share), Count(static_cast<std::size_t>(kernels.unnamed.count)),
                   Count(static_cast<std::size_t>(kernels.count)))});
}

}  // namespace

std::vector<CareNote> ReadWithCare(const Analysis& analysis) {
  std::vector<CareNote> notes;
  const auto add = [&notes](Care care, std::string text) {
    notes.push_back({care, std::move(text)});
  };
  const Trace& trace = analysis.run.trace;
  if (!trace.HasTimeline()) {
    if (!trace.counters.empty()) {
      add(Care::kCountedSavings,
          "savings are shares of the time under the kernel profiler, which runs one kernel at a "
          "time at its own clocks");
    }
    return notes;
  }
  const int world = trace.world_size;
  const auto shown = static_cast<int>(analysis.run.active_devices.size());
  if ((world > shown && shown > 0) || (world == 0 && CommunicatesAlone(analysis))) {
    add(Care::kSomeRanks, SomeRanksNote(world, shown));
  }
  if (trace.ops.size() > 0 && analysis.hardware.name.empty()) {
    add(Care::kOther,
        RunsKernelsOfAmd(analysis.run)
            ? "the GPU is not named, so its peaks are unknown; its kernels are AMD's (name it: "
              "--gpu mi300x, for example)"
            : "the GPU is not named: peaks are unknown (see --gpu)");
  } else if (trace.ops.size() > 0 && !analysis.hardware.known) {
    add(Care::kOther,
        fmt::format("{} is not in the knowledge base: tensor and link rates are unknown",
                    SafeText(analysis.hardware.name)));
  }
  if (const std::string replaced = ReplacedGpu(analysis); !replaced.empty()) {
    add(Care::kOther,
        fmt::format("the report names {}; the peaks used are those of {}, given with --gpu",
                    SafeText(replaced), SafeText(analysis.hardware.name)));
  }
  if (analysis.counters.coverage == 0 && !analysis.counters.kernels.empty()) {
    const std::size_t others = analysis.counters.kernels.size() - 1;
    add(Care::kOther,
        fmt::format("no kernel of the counters that were given runs here: they are of {}{}",
                    SafeText(ShortKernelName(analysis.counters.kernels.front().name,
                                             analysis.run.knowledge)),
                    others == 0 ? "" : fmt::format(" and {} more", others)));
  }
  if (const std::size_t processes = analysis.host.gpu_processes; processes > 1) {
    add(Care::kOther, fmt::format("{} processes share {}: figures are of all of them together",
                                  CountWord(processes), shown > 1 ? "a GPU" : "the GPU"));
  }
  AddNotesOnLaunches(analysis, &notes);
  AddNoteOnNames(analysis, &notes);
  AddNotesOnWindow(analysis, &notes);
  // PyTorch's profiler never records them.
  const bool could = !trace.producer.starts_with("PyTorch");
  if (could && trace.os_calls.size() == 0 && HostCodeMatters(analysis)) {
    const bool requests = analysis.kind.kind == KindOfRun::kInference;
    add(requests ? Care::kRequestsLikeCode : Care::kOther,
        requests ? "no OS calls were recorded: waits for files and for requests look like host code"
                 : "no OS calls were recorded: waits for files look like host code");
  } else if (!could && analysis.kind.serves && analysis.kind.kind != KindOfRun::kTraining &&
             HostCodeMatters(analysis) && RequestsMatter(analysis)) {
    add(Care::kRequestsLikeCode,
        "waits for requests look like host code: PyTorch's profiler does not record them");
  }
  AddNotesOnSteps(analysis, &notes);
  for (const Trace::ProfilerMessage& message : trace.profiler_messages) {
    if (message.level == Level::kError)
      add(Care::kProfilerMessage, "the profiler said: " + SafeText(message.text));
  }
  return notes;
}

}  // namespace advise
