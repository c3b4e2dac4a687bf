#include "engine/pipeline/care_notes.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <numeric>

#include "engine/base/text.h"
#include "engine/import/host_calls.h"
#include "engine/metrics/kernels/kernel_table.h"
#include "engine/pipeline/measure_command.h"
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

// Whether a part of the window, over all GPUs, is worth a note.
bool Matters(const Analysis& analysis, Nanos time, const char* least) {
  const auto gpus = static_cast<double>(analysis.run.active_devices.size());
  const double window = gpus * static_cast<double>(analysis.run.window.Length());
  return time > 0 && static_cast<double>(time) >= analysis.run.knowledge.Number(least) * window;
}

// Whether the time that the GPU waits for code on the host is worth a word on what may be in it.
bool HostCodeMatters(const Analysis& analysis) {
  Nanos waiting = 0;
  for (const auto& causes : analysis.idle.by_device)
    waiting += causes[static_cast<std::size_t>(IdleCause::kHostCompute)];
  return Matters(analysis, waiting, "care.host_code");
}

std::string Count(std::size_t n) { return FormatQuantity(static_cast<double>(n), "count"); }

// What the profiler adds to the time for which GPUs wait for the host.
void AddNoteOnProfiler(const Analysis& analysis, std::vector<CareNote>* notes) {
  const ProfilerCost& cost = analysis.profiler_cost;
  Nanos waiting = 0;
  Nanos idle = 0;
  for (const auto& causes : analysis.idle.by_device) {
    waiting += causes[static_cast<std::size_t>(IdleCause::kHostCompute)] +
               causes[static_cast<std::size_t>(IdleCause::kLaunch)];
    idle = std::accumulate(causes.begin(), causes.end(), idle);
  }
  if (!Matters(analysis, std::min(waiting, static_cast<Nanos>(cost.time_ns)),
               "care.profiler_cost")) {
    return;
  }
  const Steps& steps = analysis.run.steps;
  const bool of_steps = steps.known() && analysis.run.window.mode != "all";
  const auto parts = of_steps ? static_cast<double>(steps.steady_count()) : 1.0;
  const Nanos gain = analysis.replay().Gain(cost.gone);
  const Nanos length = analysis.run.window.Length() - gain;
  const char* const unit = of_steps ? "step" : "window";
  const auto per_part = [&](Nanos time) {
    return FormatQuantity(static_cast<double>(time) / parts, "ns");
  };
  std::string text = fmt::format(
      "the profiler costs the host about {} {}", FormatQuantity(cost.time_ns / parts, "ns"),
      of_steps ? "per step" : "in a window of " + per_part(analysis.run.window.Length()));
  // Where the GPU has enough to do meanwhile, its cost shows in the host's time only.
  text += per_part(length) == per_part(analysis.run.window.Length())
              ? fmt::format(", which hardly lengthens the {}", unit)
              : fmt::format(": without it, the {} takes about {}", of_steps ? "average step" : unit,
                            per_part(length));
  const auto gpus = static_cast<Nanos>(analysis.run.active_devices.size());
  notes->push_back({2 * gain * gpus >= idle ? Care::kMostlyProfiler : Care::kProfilerCost, text});
}

// How long kernels run before the window, mean over the GPUs.
double KernelsBefore(const Run& run) {
  const OpTable& ops = run.trace.ops;
  double time = 0;
  for (std::uint32_t op = 0; op < ops.size() && ops.start[op] < run.window.start; ++op) {
    if (ops.kind[op] == OpKind::kKernel)
      time += static_cast<double>(std::min(ops.end[op], run.window.start) - ops.start[op]);
  }
  return time / static_cast<double>(std::max<std::size_t>(1, run.active_devices.size()));
}

// A program that was recorded as a whole and hardly iterates, or whose kernels ran longer before:
// "no time is lost" is of its loop only.
void AddNoteOnLoop(const Analysis& analysis, std::vector<CareNote>* notes) {
  const Run& run = analysis.run;
  const KindOfRun kind = analysis.kind.kind;
  if (!run.steps.known() || (kind != KindOfRun::kSolver && kind != KindOfRun::kKernels)) return;
  if (run.window.mode == "all") return;
  Nanos began = run.window.start;
  for (const std::uint32_t thread : run.launching_threads) {
    const RowRange calls = run.calls_of_thread[thread];
    if (!calls.empty()) began = std::min(began, run.trace.calls.start[calls.first]);
  }
  const auto loop = static_cast<double>(run.window.Length());
  const auto before = static_cast<double>(run.window.start - began);
  const bool small = loop <= run.knowledge.Number("care.small_loop") * (before + loop);
  if (!small && KernelsBefore(run) <= loop) return;
  // No window begins before the first GPU work: see AddNoteOnStart.
  const auto on_gpu = static_cast<double>(run.window.start - run.trace.ops.start.front());
  if (2 * on_gpu < before) return;
  notes->insert(
      notes->begin(),
      {Care::kOther, fmt::format("the loop takes {}, and what the program did before "
                                 "it {}: to judge that as well, use --window all",
                                 FormatQuantity(loop, "ns"), FormatQuantity(before, "ns"))});
}

// The program works on something else than the loop that is judged.
void AddNoteOnOtherWork(const Analysis& analysis, std::vector<CareNote>* notes) {
  const OtherWork& other = analysis.other_work;
  if (other.last_step > 0) {
    notes->push_back(
        {Care::kOther,
         fmt::format("the last of {} iterations ({} of the GPU work) is left out, since "
                     "nothing shows where it ends",
                     Count(analysis.run.steps.all.size() + 1), Percent(other.last_step))});
  }
  const auto add_first = [&](std::string text) {
    notes->insert(notes->begin(), {Care::kOther, std::move(text)});
  };
  if (other.share <= 0) {
    if (other.last_step == 0 && other.left_out >= analysis.run.knowledge.Number("care.left_out")) {
      add_first(
          fmt::format("{} of the GPU work lies outside of the part that was analyzed: to judge "
                      "all of it, use --window all",
                      Percent(other.left_out)));
    }
    return;
  }
  const Nanos origin = analysis.run.window.origin;
  const std::string share = Percent(other.share);
  const std::string where = other.before ? "before" : "after";
  const std::string option = WindowOption(other.span.start - origin, other.span.end - origin);
  if (Percent(other.left_out) == share) {
    add_first(fmt::format(
        "{} of the GPU work was done {} this loop, and no figure includes it: to judge it, use {}",
        share, where, option));
  } else {
    add_first(
        fmt::format("no figure includes {} of the GPU work; {} was done {} this loop: to "
                    "judge that part, use {}",
                    Percent(other.left_out), share, where, option));
  }
}

// ", 24.6 s of it in cudaFree, …": the call that takes most of what lies before; "" if none does.
std::string MostlyInCall(const Run& run, Nanos first, double before) {
  const LongCall call = LongestCallBefore(run, first);
  if (2 * call.time_ns <= before) return "";
  std::string text = fmt::format(", {} of it in {}", FormatQuantity(call.time_ns, "ns"), call.name);
  if (call.time_ns < static_cast<double>(run.knowledge.Time("care.slow_context"))) return text;
  return text + " (creating the CUDA context takes less than a second on most machines)";
}

// ", mostly in pthread_cond_timedwait": the OS call in which launching threads are for most of what
// lies behind `last`; "" if there is none.
std::string MostlyWaiting(const Run& run, Nanos last, double after) {
  const OsCallTable& calls = run.trace.os_calls;
  std::map<StringId, double> times;
  for (const std::uint32_t thread : run.launching_threads) {
    for (std::uint32_t row : run.os_of_thread[thread]) {
      if (calls.end[row] > last)
        times[calls.name[row]] +=
            static_cast<double>(calls.end[row] - std::max(last, calls.start[row]));
    }
  }
  for (const auto& [name, time] : times) {
    if (2 * time > after) return fmt::format(", mostly in {}", SafeText(run.trace.strings[name]));
  }
  return "";
}

// Figures begin with the first work of a GPU and end with the last, also for all of the run.
void AddNoteOnStart(const Analysis& analysis, std::vector<CareNote>* notes) {
  const Run& run = analysis.run;
  const Trace& trace = run.trace;
  if (run.active_devices.empty() || run.window.mode == "given") return;
  Nanos first = std::numeric_limits<Nanos>::max();
  for (const std::uint32_t d : run.active_devices) first = std::min(first, FirstKernel(run, d));
  // Copies before the first kernel may be a part of the window.
  const auto inside =
      std::lower_bound(trace.ops.start.begin(), trace.ops.start.end(), run.window.start);
  const bool kernel = inside == trace.ops.start.end() || *inside >= first;
  if (!kernel) first = trace.ops.start.front();
  first = std::min(first, run.window.start);  // a window may begin with what its step does before
  const Nanos last = *std::max_element(trace.ops.end.begin(), trace.ops.end.end());
  Nanos began = first;
  Nanos ended = last;
  for (std::uint32_t t = 0; t < trace.threads.size(); ++t) {
    const RowRange calls = run.calls_of_thread[t];
    if (calls.empty()) continue;
    began = std::min(began, trace.calls.start[calls.first]);
    ended = std::max(ended, trace.calls.end[calls.last - 1]);
  }
  for (const std::uint32_t t : run.launching_threads) {
    const RowRange waits = run.os_of_thread[t];
    if (!waits.empty()) ended = std::max(ended, trace.os_calls.end[waits.last - 1]);
  }
  const auto before = static_cast<double>(first - began);
  const auto after = static_cast<double>(ended - last);
  const auto recorded = static_cast<double>(ended - began);
  if (before + after < run.knowledge.Number("care.late_start") * recorded) return;
  const double least = run.knowledge.Number("care.outside_part") * recorded;
  std::string text;
  if (before >= least) {
    text = fmt::format("the first {} starts {} after the first CUDA call{}",
                       kernel ? "kernel" : "GPU operation", FormatQuantity(before, "ns"),
                       MostlyInCall(run, first, before));
  }
  if (after >= least) {
    text += fmt::format("{}the program goes on for {} after the last GPU operation{}",
                        text.empty() ? "" : ", and ", FormatQuantity(after, "ns"),
                        MostlyWaiting(run, last, after));
  }
  // Most of what was recorded: that comes first.
  notes->insert(
      notes->begin(),
      {Care::kOther, text + ": figures leave " +
                         (before >= least && after >= least ? "both" : "that time") + " out"});
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

void AddNoteOnWindow(const Run& run, std::vector<CareNote>* notes) {
  if (run.window.mode != "given" || !run.steps.known()) return;
  notes->push_back({Care::kOther, fmt::format("the window was narrowed to the {} whole steps in it",
                                              Count(run.steps.steady_count()))});
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
  AddNoteOnWindow(analysis.run, &notes);
  AddNoteOnProfiler(analysis, &notes);
  const std::size_t so_far = notes.size();
  AddNoteOnLoop(analysis, &notes);
  if (notes.size() == so_far) AddNoteOnOtherWork(analysis, &notes);
  if (notes.size() == so_far) AddNoteOnStart(analysis, &notes);
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
  if (analysis.kind.kind == KindOfRun::kNoGpu) {
    // What repeats is no work.
  } else if (analysis.run.steps.source == "period") {
    add(Care::kStepsOfWork, "steps were inferred from GPU work that repeats");
  } else if (!analysis.run.steps.known() && trace.ops.size() > 0 && analysis.support.verdict &&
             analysis.run.window.mode != "given") {
    // Where too little was recorded for a verdict, the doubt says it.
    const bool loop = analysis.kind.kind == KindOfRun::kSolver;
    add(Care::kNoSteps,
        std::string(loop ? "single steps could not be told apart" : "no steps were found") +
            ": the whole capture was analyzed, including start-up");
  }
  if (const Interval& pause = analysis.run.steps.standstill;
      pause.Length() > 0 && analysis.run.window.mode == "steady") {
    add(Care::kOther,
        fmt::format("the program stood still for {}: figures are of the steps {} that",
                    FormatQuantity(static_cast<double>(pause.Length()), "ns"),
                    pause.start < analysis.run.window.start ? "after" : "before"));
  }
  if (analysis.run.steps.recordings > 1)
    add(Care::kOther,
        fmt::format("the profiler recorded {} stretches of the run and paused between "
                    "them: only the longest was analyzed",
                    analysis.run.steps.recordings));
  for (const Trace::ProfilerMessage& message : trace.profiler_messages) {
    if (message.level == Level::kError)
      add(Care::kProfilerMessage, "the profiler said: " + SafeText(message.text));
  }
  return notes;
}

}  // namespace advise
