// capture.*: what the report holds, and what it lacks.
#include <algorithm>
#include <array>
#include <cctype>

#include "engine/base/launcher_variables.h"
#include "engine/facts/of_ranks.h"
#include "engine/trace/launched.h"

namespace advise::facts {
namespace {

double Overhead(const Analysis& a) {
  const Trace& trace = a.run.trace;
  std::vector<Interval> overhead;
  for (std::size_t i = 0; i < trace.overheads.size(); ++i) {
    const bool launching = std::binary_search(
        a.run.launching_threads.begin(), a.run.launching_threads.end(), trace.overheads.thread[i]);
    const bool own =
        ActivityOfOverhead(trace.strings[trace.overheads.name[i]]) == Activity::kProfiler;
    if (launching && own) overhead.push_back({trace.overheads.start[i], trace.overheads.end[i]});
  }
  return static_cast<double>(
      IntervalSet::Of(std::move(overhead)).OverlapWith(a.run.window.start, a.run.window.end));
}

// Messages of the profiler about lost data.
std::vector<std::string> Dropped(const Analysis& a) {
  std::vector<std::string> dropped;
  for (const Trace::ProfilerMessage& message : a.run.trace.profiler_messages) {
    const bool lost = a.run.knowledge.ValueIn(NameList::kProfilerMessage, message.text) == "lost";
    if (message.level != Level::kInfo && lost) dropped.push_back(message.text);
  }
  return dropped;
}

// Variables whose values are likely to be credentials. The value itself is never read.
std::vector<std::string> Secrets(const Analysis& a) {
  std::vector<std::string> secrets;
  for (const auto& [name, value] : a.run.trace.environment) {
    const bool secret = !a.run.knowledge.ValueIn(NameList::kSecretVariable, name).empty();
    if (secret && !value.empty()) secrets.push_back(name);
  }
  std::sort(secrets.begin(), secrets.end());
  secrets.erase(std::unique(secrets.begin(), secrets.end()), secrets.end());
  return secrets;
}

std::string Joined(const std::vector<std::string>& names) {
  std::string text;
  for (const std::string& name : names) text += (text.empty() ? "" : ", ") + name;
  return text;
}

double WorldSize(const Trace& trace) {
  if (trace.world_size > 0) return trace.world_size;
  return std::max(NumberAmong(trace.environment, kWorldSizeVariables), 0);
}

// A time of it, where there is any.
template <typename Get>
auto OfOtherWork(Get get) {
  return If([](const Analysis& a) { return a.other_work.share > 0; }, get,
            "there is little work before and behind the steps", "");
}

}  // namespace

void DeclareCaptureFacts(Catalog* catalog) {
  auto& trace = catalog->Of([](const Analysis& a) -> const Trace& { return a.run.trace; });
  trace.Add("capture.has_calls", "flag", "CUDA calls were recorded.",
            [](const Trace& t) { return t.calls.size() > 0; });
  trace.Add("capture.has_ranges", "flag", "Named ranges were recorded.",
            [](const Trace& t) { return t.ranges.size() > 0; });
  trace.Add("capture.has_os_calls", "flag", "OS calls were recorded.",
            [](const Trace& t) { return t.os_calls.size() > 0; });
  trace.Add("capture.has_gpu_samples", "flag", "GPU metric samples were recorded.",
            [](const Trace& t) { return !t.gpu_series.empty(); });
  trace.Add("capture.has_memory", "flag", "Memory events were recorded.",
            [](const Trace& t) { return t.memory.size() > 0; });
  trace.Add(
      "capture.format", "name",
      "Format of the report with the timeline: nsys-sqlite, kineto, jax-trace, rocprof, gpu-trace.",
      &Trace::kind);
  trace.Add("capture.seconds", "num", "Length of the capture session in seconds.",
            [](const Trace& t) { return static_cast<double>(t.session_ns) / kNanosPerSecond; });
  trace.Add(
      "capture.unattributed", "share",
      "Share of the GPU operations whose launching call was not captured, other than those that "
      "were queued before the recording.",
      [](const Trace& t) { return CountLaunched(t.ops).UnknownShare(); });
  auto& all = catalog->OfAll();
  all.Add("capture.launches", "count", "Launching calls of the whole capture.",
          [](const Analysis& a) { return LaunchingCalls(a.run); });
  all.Add("capture.lost", "share",
          "Share of the calls that give the GPU work whose work was not recorded.",
          [](const Analysis& a) { return a.idle.lost_work.Share(); });
  all.Add("capture.dropped", "count", "Messages of the profiler about lost or failed collection.",
          [](const Analysis& a) { return Dropped(a).size(); });
  all.Add("capture.dropped_text", "name",
          "The first message of the profiler about lost or failed collection.",
          [](const Analysis& a) {
            const std::vector<std::string> dropped = Dropped(a);
            return dropped.empty() ? std::string() : dropped.front();
          });
  all.Add("capture.secrets", "count",
          "Environment variables whose names look like keys or passwords.",
          [](const Analysis& a) { return Secrets(a).size(); });
  all.Add("capture.secret_names", "name",
          "Names (never the values) of environment variables that look like keys or passwords.",
          [](const Analysis& a) { return Joined(Secrets(a)); });
  trace
      .Add("capture.world_size", "count",
           "Ranks of the job, by the report; absent when it does not say.",
           IfPositive(WorldSize, "the report does not say how many ranks the job has", ""))
      .OfRanks(IfPositive(&Cluster::world, kNoWorld, ""));
  all.Add("capture.steps", "count", "Steps of the whole capture, 0 when none were found.",
          [](const Analysis& a) { return a.run.steps.all.size(); });
  auto& other = catalog->Of([](const Analysis& a) -> const OtherWork& { return a.other_work; });
  other.Add("capture.other.share", "share",
            "Share of all GPU work that lies in one stretch before or behind the steps; 0 where "
            "there is little.",
            &OtherWork::share);
  other.Add("capture.other.idle", "ns",
            "Time in which GPUs do nothing inside the longest stretch of work before or behind the "
            "steps, on average.",
            [](const OtherWork& o) { return (1 - o.busy) * static_cast<double>(o.span.Length()); });
  other.Add(
      "capture.other.starts_up", "flag",
      "Code is loaded for a fair part of the idle time of the longest stretch of work before or "
      "behind the steps.",
      &OtherWork::starts_up);
  all.Add(
      "capture.other.from", "ns",
      "When the longest stretch of work before or behind the steps begins, on the clock of "
      "--window.",
      OfOtherWork([](const Analysis& a) { return a.other_work.span.start - a.run.window.origin; }));
  all.Add(
      "capture.other.to", "ns",
      "When the longest stretch of work before or behind the steps ends, on the clock of "
      "--window.",
      OfOtherWork([](const Analysis& a) { return a.other_work.span.end - a.run.window.origin; }));
  all.Add("capture.overhead", "ns", "Profiler overhead on launching threads inside the window.",
          Overhead);
  all.Add("capture.range_coverage", "share",
          "Share of the GPU time launched inside ranges that name a phase.",
          [](const Analysis& a) { return a.work.range_coverage; });
}

}  // namespace advise::facts
