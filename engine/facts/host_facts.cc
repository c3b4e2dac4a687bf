// launch.*, input.*, host.*, memory.*, capture.*
#include <algorithm>
#include <array>
#include <cctype>

#include "engine/base/glob.h"
#include "engine/facts/fact_writer.h"
#include "engine/metrics/analysis.h"

namespace advise::facts {

void WriteLaunchFacts(const Analysis& a, FactWriter* w) {
  const Launches& l = a.launches;
  if (!a.run.trace.HasTable("calls") && a.run.trace.calls.size() == 0) {
    w->Missing("launch.count", "no CUDA calls were recorded", "cuda");
  } else {
    w->Number("launch.count", static_cast<double>(l.count));
  }
  w->Number("launch.kernels_per_step", l.kernels_per_step);
  w->Number("launch.queue_empty", l.queue_empty);
  w->Number("launch.call.median", l.call_median_ns);
  w->Number("launch.kernel.median", l.kernel_median_ns);
  w->Number("launch.gap.median", l.gap_median_ns);
  w->Number("launch.tiny.share", l.tiny_share);
  w->Number("launch.tiny.time", l.tiny_ns);
  w->Lost("launch.bound", l.bound);
  w->SpansOf("launch.framework.lost", l.framework.lost->by_device);
  if (a.run.steps.known()) {
    w->Number("launch.sequence.length", l.sequence_length);
    w->Number("launch.sequence.same", l.sequence_same);
    w->Number("launch.sequence.breaks", l.sequence_breaks);
  } else {
    for (const char* name :
         {"launch.sequence.length", "launch.sequence.same", "launch.sequence.breaks"}) {
      w->Missing(name, "no steps were found", "steps");
    }
  }
  w->Number("launch.threads", static_cast<double>(l.threads));
  w->KnownNumber("launch.slow.median", l.slow_median_ns, "launch calls are not slow", "");
  w->Number("launch.slow.contended", l.slow_contended);
  w->Lost("launch.slow", l.slow);
  w->Number("launch.trains.count", static_cast<double>(l.trains.count));
  w->Number("launch.trains.ops", l.trains_ops_per_step);
  w->Lost("launch.trains", l.trains);
}

void WriteInputFacts(const Analysis& a, FactWriter* w) {
  const Input& in = a.input;
  w->SpansOf("input.lost", in.loss.lost->by_device);
  w->Number("input.own", in.own_ns);
  w->Number("input.waiting", in.waiting_ns);
  w->Number("input.workers", static_cast<double>(in.workers));
  if (in.workers_busy >= 0) {
    w->Number("input.workers_busy", in.workers_busy);
  } else {
    w->Missing("input.workers_busy", "no OS calls of loader workers were recorded", "osrt");
  }
  w->Number("input.steps_affected", in.steps_affected);
  w->Number("input.load.count", static_cast<double>(in.loads));
  w->Number("input.load.median", in.load_median_ns);
  w->Number("input.load.max", in.load_max_ns);
  w->Number("input.load.slow_count", static_cast<double>(in.slow.count));
  w->Number("input.load.slow_excess", in.slow_excess_ns);
  w->SpansOf("input.load.slow_lost", in.slow.lost->by_device);
  w->Remedied("input.load.slow_remedy", in.slow);
  w->Number("input.file.share", in.file_share);
  auto map_ns = static_cast<double>(in.map.lost->Total());
  w->Number("input.map.time",
            map_ns / static_cast<double>(std::max<std::size_t>(1, a.run.active_devices.size())));
  w->Lost("input.map", in.map);
  w->Number("input.after_gpu", in.after_gpu);
  w->Flag("input.background", in.background);
  w->Text("input.loader", in.loader);
  w->Lost("input", in.loss);
}

void WriteHostFacts(const Analysis& a, FactWriter* w) {
  const Host& h = a.host;
  w->Number("memory.alloc.count", static_cast<double>(h.alloc.count));
  w->Number("memory.alloc.per_step", h.alloc.per_step);
  w->Number("memory.alloc.time", h.alloc.time_ns);
  w->Text("memory.alloc.name", h.alloc_name);
  w->Lost("memory.alloc", h.alloc);
  w->KnownNumber("memory.peak", h.memory_peak, "memory events were not recorded", "cuda-memory");
  const char* const kNoAllocator = "the allocator's own figures were not recorded";
  w->KnownNumber("memory.reserved_peak", h.memory_reserved_peak, kNoAllocator, "cuda-memory");
  w->KnownNumber("memory.allocated_peak", h.memory_allocated_peak, kNoAllocator, "cuda-memory");
  w->KnownNumber("memory.capacity", a.hardware.memory_bytes,
                 "the memory of the device is not known (see --gpu)", "hardware");
  const bool layers = a.run.steps.source == "period" && h.memory_reserved_peak > 0;
  if (layers) {
    for (const char* name : {"memory.growth_per_step", "memory.growth_steps"}) {
      w->Missing(name, "no steps are marked, and the layers of one pass keep memory, too", "steps");
    }
  } else if (h.memory_peak >= 0 && a.run.steps.known()) {
    w->Number("memory.growth_per_step", h.growth_per_step);
    w->Number("memory.growth_steps", h.growth_steps);
  } else {
    w->Missing("memory.growth_per_step", "memory events were not recorded", "cuda-memory");
    w->Missing("memory.growth_steps", "memory events were not recorded", "cuda-memory");
  }
  w->Number("host.jit.count", static_cast<double>(h.jit.count));
  w->Number("host.jit.time", h.jit.time_ns);
  w->Number("host.jit.per_step", h.jit.per_step);
  w->Lost("host.jit", h.jit);
  w->Number("host.lock.count", static_cast<double>(h.lock.count));
  w->Lost("host.lock", h.lock);
  w->Lost("host.compute", h.compute);
  const auto device_time = static_cast<double>(a.basis().Device());
  w->Number("host.compute.share",
            device_time > 0 ? static_cast<double>(h.compute.lost->Total()) / device_time : 0);
  Rows ranges;
  for (std::size_t i = 0; i < std::min<std::size_t>(h.compute_ranges.size(), 10); ++i) {
    ranges.push_back({{"name", h.compute_ranges[i].name}, {"time", h.compute_ranges[i].time_ns}});
  }
  w->Table("host.compute.ranges", std::move(ranges));
  if (h.preempted_ns >= 0) {
    w->Number("host.preempted", h.preempted_ns);
    w->SpansOf("host.preempted.lost", h.preempted.lost->by_device);
  } else {
    w->Missing("host.preempted", "scheduling events with OS calls were not recorded",
               "cpu-sampling");
    w->Missing("host.preempted.lost", "scheduling events with OS calls were not recorded",
               "cpu-sampling");
  }
  w->Number("host.gpu_processes", static_cast<double>(h.gpu_processes));
  w->SpansOf("host.gpu_switch.lost", h.gpu_switch.lost->by_device);
}

namespace {

// Names of variables whose values are likely to be credentials. The value itself is never read.
bool LooksSecret(const std::string& name) {
  static constexpr std::array<const char*, 8> kPatterns = {
      "*password*", "*passwd*", "*secret*",     "*token*",
      "*api_key*",  "*apikey*", "*access_key*", "*private_key*"};
  return std::any_of(kPatterns.begin(), kPatterns.end(),
                     [&](const char* p) { return MatchesGlob(name, p); });
}

}  // namespace

void WriteCaptureFacts(const Analysis& a, FactWriter* w) {
  const Trace& trace = a.run.trace;
  w->Flag("capture.has_calls", trace.calls.size() > 0);
  w->Flag("capture.has_ranges", trace.ranges.size() > 0);
  w->Flag("capture.has_os_calls", trace.os_calls.size() > 0);
  w->Flag("capture.has_gpu_samples", !trace.gpu_series.empty());
  w->Flag("capture.has_memory", trace.memory.size() > 0);
  w->Text("capture.format", trace.kind);
  w->Number("capture.seconds", static_cast<double>(trace.session_ns) / kNanosPerSecond);
  w->Number("capture.steps", static_cast<double>(a.run.steps.all.size()));
  double unattributed = 0;
  double launched = 0;
  for (std::size_t op = 0; op < trace.ops.size(); ++op) {
    if (trace.ops.stream[op] == kNone) continue;
    launched += 1;
    if (trace.ops.call[op] == kNone) unattributed += 1;
  }
  w->Number("capture.unattributed", launched > 0 ? unattributed / launched : 0);
  std::vector<Interval> overhead;
  for (std::size_t i = 0; i < trace.overheads.size(); ++i) {
    const bool launching = std::binary_search(
        a.run.launching_threads.begin(), a.run.launching_threads.end(), trace.overheads.thread[i]);
    const bool own =
        ActivityOfOverhead(trace.strings[trace.overheads.name[i]]) == Activity::kProfiler;
    if (launching && own) overhead.push_back({trace.overheads.start[i], trace.overheads.end[i]});
  }
  w->Number(
      "capture.overhead",
      static_cast<double>(
          IntervalSet::Of(std::move(overhead)).OverlapWith(a.run.window.start, a.run.window.end)));
  double dropped = 0;
  std::string first;
  for (const Trace::ProfilerMessage& message : trace.profiler_messages) {
    const bool lost =
        MatchesGlob(message.text, "*dropped*") || MatchesGlob(message.text, "*lost*") ||
        MatchesGlob(message.text, "*not collected*") ||
        MatchesGlob(message.text, "*buffer*full*") || MatchesGlob(message.text, "*overflow*");
    if (message.level == Level::kInfo || !lost) continue;
    if (dropped == 0) first = message.text;
    dropped += 1;
  }
  w->Number("capture.dropped", dropped);
  w->Text("capture.dropped_text", first);
  std::vector<std::string> secrets;
  for (const auto& [name, value] : trace.environment) {
    if (LooksSecret(name) && !value.empty()) secrets.push_back(name);
  }
  std::sort(secrets.begin(), secrets.end());
  secrets.erase(std::unique(secrets.begin(), secrets.end()), secrets.end());
  std::string names;
  for (const std::string& name : secrets) names += (names.empty() ? "" : ", ") + name;
  w->Number("capture.secrets", static_cast<double>(secrets.size()));
  w->Text("capture.secret_names", names);
}

}  // namespace advise::facts
