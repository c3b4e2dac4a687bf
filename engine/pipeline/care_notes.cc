#include "engine/pipeline/care_notes.h"

#include <fmt/format.h>

#include <algorithm>

#include "engine/base/text.h"
#include "engine/pipeline/measure_command.h"

namespace advise {

std::string SomeRanksNote(int world, int shown) {
  return fmt::format("only {} of {} ranks {} shown: who waits for whom is unknown", shown, world,
                     shown == 1 ? "is" : "are");
}

namespace {

// Whether a kernel of a library for AMD's GPUs runs.
bool RunsKernelsOfAmd(const Run& run) {
  const auto& shapes = run.trace.shapes;
  return std::any_of(shapes.begin(), shapes.end(), [&](const auto& shape) {
    return RunsOnAmdOnly(run.knowledge.ClassifyKernel(run.trace.strings[shape.name]));
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
  constexpr int kPart = 50;  // of the time of the GPUs
  const Interval window = {analysis.run.window.start, analysis.run.window.end};
  Nanos waiting = 0;
  for (const GapPiece piece : analysis.idle.pieces) {
    if (piece.cause != IdleCause::kHostCompute) continue;
    waiting +=
        std::max<Nanos>(0, std::min(piece.end, window.end) - std::max(piece.start, window.start));
  }
  const auto gpus = static_cast<Nanos>(analysis.run.active_devices.size());
  return waiting > 0 && kPart * waiting >= gpus * (window.end - window.start);
}

// Whether the GPUs wait for half of the time for data that they have seen before, or for the next
// layer's weights, which look alike.
bool UploadsFillTheTime(const Analysis& analysis) {
  const auto gpus = static_cast<Nanos>(analysis.run.active_devices.size());
  const auto& lost = analysis.copies.repeated.lost;
  return lost != nullptr && 2 * lost->Total() >= gpus * analysis.run.window.Length();
}

}  // namespace

std::vector<std::string> ReadWithCare(const Analysis& analysis) {
  std::vector<std::string> notes;
  const Trace& trace = analysis.run.trace;
  if (!trace.HasTimeline()) {
    if (!trace.counters.empty()) notes.emplace_back(kCountedSavingsNote);
    return notes;
  }
  const int world = trace.world_size;
  const auto shown = static_cast<int>(analysis.run.active_devices.size());
  if (world > shown && shown > 0) {
    notes.push_back(SomeRanksNote(world, shown));
  }
  for (const Trace::ProfilerMessage& message : trace.profiler_messages) {
    if (message.level == Level::kError)
      notes.emplace_back("the profiler said: " + SafeText(message.text));
  }
  if (trace.ops.size() > 0 && analysis.hardware.name.empty()) {
    notes.emplace_back(
        RunsKernelsOfAmd(analysis.run)
            ? "the GPU is not named, so its peaks are unknown; its kernels are AMD's (name it: "
              "--gpu mi300x, for example)"
            : "the GPU is not named: peaks are unknown (see --gpu)");
  } else if (trace.ops.size() > 0 && !analysis.hardware.known) {
    notes.emplace_back(
        fmt::format("{} is not in the knowledge base: tensor and link rates are unknown",
                    SafeText(analysis.hardware.name)));
  }
  if (const std::string replaced = ReplacedGpu(analysis); !replaced.empty()) {
    notes.push_back(
        fmt::format("the report names {}; the peaks used are those of {}, given with --gpu",
                    SafeText(replaced), SafeText(analysis.hardware.name)));
  }
  const auto count = [](std::size_t n) { return FormatQuantity(static_cast<double>(n), "count"); };
  const auto skew = static_cast<Nanos>(analysis.run.knowledge.Number("idle.clock_skew"));
  std::size_t launched = 0;
  std::size_t unknown = 0;
  std::size_t early = 0;
  for (std::size_t op = 0; op < trace.ops.size(); ++op) {
    if (trace.ops.stream[op] == kNone) continue;
    ++launched;
    const std::uint32_t call = trace.ops.call[op];
    unknown += call == kNone ? 1 : 0;
    early += call != kNone && trace.ops.start[op] < trace.calls.start[call] - skew ? 1 : 0;
  }
  if (early > 0) {
    notes.emplace_back(
        fmt::format("{} of {} GPU operations start before the call that launched them: the clocks "
                    "of host and GPU disagree, and causes of idle time may be wrong",
                    count(early), count(launched)));
  }
  const Nanos waited = analysis.unseen.before_capture;
  constexpr Nanos kWorthSaying = 10;  // of the window: a tenth
  if (early == 0 && kWorthSaying * waited > analysis.run.window.Length()) {
    notes.emplace_back(fmt::format(
        "for {}, the first work on its stream waits for something from before the recording: the "
        "GPU may have been busy",
        FormatQuantity(static_cast<double>(waited), "ns")));
  }
  const Nanos inside = analysis.unseen.in_graphs;
  if (kWorthSaying * inside > analysis.run.window.Length()) {
    notes.emplace_back(
        fmt::format("for {}, the GPU seems idle inside CUDA graphs that were launched long before: "
                    "the profiler probably lost kernels there",
                    FormatQuantity(static_cast<double>(inside), "ns")));
  }
  if (launched > 0 && unknown == launched) {
    notes.emplace_back("no CUDA calls were recorded: causes of gaps are unknown");
  } else if (10 * unknown > launched) {
    notes.emplace_back(
        fmt::format("the launching call of {} of {} GPU operations was not captured: causes of "
                    "their gaps are unknown",
                    count(unknown), count(launched)));
  }
  // PyTorch's profiler never records them.
  const bool could = !trace.producer.starts_with("PyTorch");
  if (could && trace.os_calls.size() == 0 && HostCodeMatters(analysis)) {
    notes.emplace_back(analysis.kind.kind == KindOfRun::kInference
                           ? "no OS calls were recorded: waits for files and for requests look "
                             "like host code"
                           : "no OS calls were recorded: waits for files look like host code");
  } else if (!could && analysis.kind.serves && HostCodeMatters(analysis)) {
    notes.emplace_back(
        "waits for requests look like host code: PyTorch's profiler does not record them");
  }
  if (analysis.run.steps.source == "period") {
    notes.emplace_back(
        UploadsFillTheTime(analysis)
            ? "steps come from the repeating GPU work, not from ranges: where weights are uploaded "
              "layer by layer, each of them may be a layer"
            : "steps come from the repeating GPU work, not from ranges");
  } else if (!analysis.run.steps.known() && trace.ops.size() > 0 && analysis.support.verdict) {
    // Where too little was recorded for a verdict, the doubt says it.
    notes.emplace_back("no steps were found: the whole capture was analyzed, including start-up");
  }
  return notes;
}

}  // namespace advise
