#include "engine/pipeline/window_notes.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <map>
#include <numeric>

#include "engine/base/median.h"
#include "engine/base/text.h"
#include "engine/pipeline/measure_command.h"
#include "engine/timeline/tokens.h"

namespace advise {
namespace {

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
         fmt::format(
             "the last of {} iterations ({} of the GPU work) is left out, since "
             "nothing shows where it ends",
             FormatQuantity(static_cast<double>(analysis.run.steps.all.size() + 1), "count"),
             Percent(other.last_step))});
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

// How long kernels and graphs run in the median of these steps, on all GPUs.
Nanos WorkOfStep(const Run& run, std::size_t from, std::size_t to) {
  const OpTable& ops = run.trace.ops;
  std::vector<Nanos> times;
  for (std::size_t s = from; s < to; ++s) {
    const Step& step = run.steps.all[s];
    auto op = static_cast<std::uint32_t>(
        std::lower_bound(ops.start.begin(), ops.start.end(), step.start) - ops.start.begin());
    Nanos time = 0;
    for (; op < ops.size() && ops.start[op] < step.end; ++op)
      time += IsCompute(ops, op) ? ops.end[op] - ops.start[op] : 0;
    times.push_back(time);
  }
  return Median(std::move(times));
}

// The first steps of a capture are often cut off, or slow. Where they did the same work in less
// than half of the time, the run became slower, and no figure tells of that.
void AddNoteOnFastStart(const Run& run, std::vector<CareNote>* notes) {
  const std::size_t leading = run.steps.first_steady;
  if (leading == 0 || run.window.mode != "steady") return;
  std::vector<Nanos> lengths;
  for (std::size_t s = 0; s < leading; ++s) lengths.push_back(run.steps.all[s].Length());
  const Nanos first = Median(std::move(lengths));
  const Nanos usual = run.steps.Median();
  const auto work = static_cast<double>(WorkOfStep(run, 0, leading));
  const auto later = static_cast<double>(WorkOfStep(run, leading, run.steps.all.size()));
  if (2 * first >= usual || work <= 0 || work < run.knowledge.Number("care.same_work") * later)
    return;
  notes->push_back(
      {Care::kOther,
       fmt::format("the run became slower: the first {}took {} with as much work on the GPU, "
                   "and no figure includes {}",
                   leading == 1 ? "step " : fmt::format("{} steps ", leading),
                   FormatQuantity(static_cast<double>(first), "ns"),
                   leading == 1 ? "it" : "them")});
}

}  // namespace

bool Matters(const Analysis& analysis, Nanos time, const char* least) {
  const auto gpus = static_cast<double>(analysis.run.active_devices.size());
  const double window = gpus * static_cast<double>(analysis.run.window.Length());
  return time > 0 && static_cast<double>(time) >= analysis.run.knowledge.Number(least) * window;
}

void AddNotesOnWindow(const Analysis& analysis, std::vector<CareNote>* notes) {
  const Run& run = analysis.run;
  if (run.window.mode == "given" && run.steps.known())
    notes->push_back(
        {Care::kOther,
         fmt::format("the window was narrowed to the {} whole steps in it",
                     FormatQuantity(static_cast<double>(run.steps.steady_count()), "count"))});
  AddNoteOnProfiler(analysis, notes);
  const std::size_t so_far = notes->size();
  AddNoteOnLoop(analysis, notes);
  if (notes->size() == so_far) AddNoteOnOtherWork(analysis, notes);
  if (notes->size() == so_far) AddNoteOnStart(analysis, notes);
}

void AddNotesOnSteps(const Analysis& analysis, std::vector<CareNote>* notes) {
  const Run& run = analysis.run;
  if (analysis.kind.kind == KindOfRun::kNoGpu) {
    // What repeats is no work.
  } else if (run.steps.source == "period") {
    notes->push_back({Care::kStepsOfWork, "steps were inferred from GPU work that repeats"});
  } else if (!run.steps.known() && run.trace.ops.size() > 0 && analysis.support.verdict &&
             run.window.mode != "given") {
    // Where too little was recorded for a verdict, the doubt says it.
    const bool loop = analysis.kind.kind == KindOfRun::kSolver;
    notes->push_back({Care::kNoSteps, std::string(loop ? "single steps could not be told apart"
                                                       : "no steps were found") +
                                          ": the whole capture was analyzed, including start-up"});
  }
  if (const Interval& pause = run.steps.standstill;
      pause.Length() > 0 && run.window.mode == "steady") {
    notes->push_back(
        {Care::kOther,
         fmt::format("the program stood still for {}: figures are of the steps {} that",
                     FormatQuantity(static_cast<double>(pause.Length()), "ns"),
                     pause.start < run.window.start ? "after" : "before")});
  }
  AddNoteOnFastStart(run, notes);
  if (run.steps.recordings > 1)
    notes->push_back(
        {Care::kOther,
         fmt::format("the profiler recorded {} stretches of the run and paused between "
                     "them: only the longest was analyzed",
                     run.steps.recordings)});
}

}  // namespace advise
