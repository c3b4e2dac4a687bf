#include "engine/metrics/analysis.h"

#include <fmt/format.h>

#include <cmath>
#include <cstdlib>
#include <functional>

#include "engine/base/side_by_side.h"
#include "engine/timeline/blocking_calls.h"
#include "engine/timeline/step.h"
#include "engine/timeline/warm_up.h"

namespace advise {
namespace {

// By compute capability; 0 for generations without tensor cores and for unknown ones.
double GenerationRatio(const Knowledge& knowledge, const Device& device) {
  return knowledge.NumberOrZero(
      fmt::format("precision.tensor_ratio_{}{}", device.compute_major, device.compute_minor));
}

Hardware FindHardware(const Run& run, const std::string& gpu, double observed_link) {
  Hardware hardware;
  const Device* device = nullptr;
  if (!run.active_devices.empty()) {
    device = &run.trace.devices[run.active_devices.front()];
  } else if (!run.trace.devices.empty()) {
    device = &run.trace.devices.front();
  }
  hardware.name = gpu.empty() && device != nullptr ? device->name : gpu;
  const HardwareEntry* entry = run.knowledge.FindHardware(hardware.name);
  const auto fact = [entry](const char* name) {
    if (entry == nullptr) return 0.0;
    const auto found = entry->facts.find(name);
    return found == entry->facts.end() ? 0.0 : found->second.value;
  };
  const auto first = [](double recorded, double known) { return recorded > 0 ? recorded : known; };
  hardware.known = entry != nullptr;
  hardware.sm_count = first(device == nullptr ? 0 : device->sm_count, fact("sm_count"));
  hardware.memory_bytes = first(device == nullptr ? 0 : device->memory_bytes, fact("memory_bytes"));
  hardware.memory_bytes_per_s =
      first(device == nullptr ? 0 : device->memory_bytes_per_s, fact("memory_bytes_per_s"));
  // A link cannot be slower than what was seen on it; a trace with only slow copies does not make
  // it slow.
  hardware.host_link_bytes_per_s = std::max(observed_link, fact("host_link_bytes_per_s"));
  hardware.peak_fp32_flops = fact("peak_fp32_flops");
  hardware.peak_fp64_flops = fact("peak_fp64_flops");
  hardware.boost_clock_hz = fact("boost_clock_hz");
  hardware.nvlink_bytes_per_s = fact("nvlink_bytes_per_s");
  hardware.peak_tensor_flops = first(fact("peak_bf16_flops"), fact("peak_fp16_flops"));
  hardware.peak_fp8_flops = fact("peak_fp8_flops");
  if (hardware.peak_fp32_flops > 0)
    hardware.fp64_ratio = fact("peak_fp64_flops") / hardware.peak_fp32_flops;
  if (device != nullptr && device->compute_major > 0) {
    hardware.compute_capability = device->compute_major + 0.1 * device->compute_minor;
  } else if (entry != nullptr && !entry->compute_capability.empty()) {
    hardware.compute_capability = std::atof(entry->compute_capability.c_str());
  }
  if (hardware.peak_fp32_flops > 0) {
    hardware.tensor_ratio = hardware.peak_tensor_flops / hardware.peak_fp32_flops;
  } else if (device != nullptr) {
    hardware.tensor_ratio = GenerationRatio(run.knowledge, *device);
  }
  if (hardware.host_link_bytes_per_s <= 0) {
    hardware.host_link_bytes_per_s = run.knowledge.Number("copy.assumed_link");
  }
  return hardware;
}

KernelRates RatesOf(const Hardware& hardware) {
  return {hardware.tensor_ratio, hardware.memory_bytes_per_s, hardware.peak_fp32_flops};
}

// The next request may come late: behind steps in which the host reads no more than a result.
bool StallsMayWait(const StepStats& steps, const RunKind& kind, const Knowledge& knowledge) {
  const auto is = [&](IdleCause cause) { return steps.stall_what == WordsOf(cause).host; };
  return steps.stall_every > 0 && steps.stall_bytes < knowledge.Number("copy.large_bytes") &&
         ((kind.request_waits == RequestWaits::kAsCode && is(IdleCause::kHostCompute)) ||
          (kind.request_waits == RequestWaits::kAsWait && is(IdleCause::kHostWait)));
}

// Whether many uploads that come again in each step are its input, which is new each time. The only
// uploads of a model's steps are the batch, in however many pieces; the next token takes next to
// nothing. Outside of training, what each upload is answered by is its result.
bool AreBatches(const Copies& copies, const RunKind& kind) {
  const bool fed =
      kind.kind == KindOfRun::kTraining || (kind.kind == KindOfRun::kInference && !kind.decode);
  return (fed && copies.repeated_looks == UploadLooks::kBatchInPieces) ||
         (kind.kind != KindOfRun::kTraining && copies.repeated_answered);
}

}  // namespace

Analysis::Analysis(const Trace& trace, const Knowledge& knowledge, const AnalysisOptions& options)
    : run(trace, knowledge) {
  std::vector<std::uint32_t> blocks;
  const auto budget = [&] {
    run.steps = FindSteps(run, options.peer_steps);
    ChooseWindow(options.window, &run);
    times = BuildBudget(run);
  };
  const auto calls = [&] {  // neither asks for steps or the window
    hand_overs = HandOvers(run);
    blocks = UnrecoveredBlocks(run, hand_overs);
  };
  const auto threads = static_cast<std::size_t>(std::max(1, options.jobs));
  SideBySide(2, threads, [&](std::size_t i) { i == 0 ? budget() : calls(); });
  keeps_waits = KeepStepsThatWait(blocks, hand_overs, &run);
  const bool as_others = options.steady_since && KeepStepsSince(*options.steady_since, &run);
  if (keeps_waits || as_others) {
    ChooseWindow(options.window, &run);
    times = BuildBudget(run);
  }
  SideBySide(2, threads, [&](std::size_t i) {
    if (i == 0) idle = ExplainIdle(run, times, blocks, hand_overs);
    if (i == 1) {  // neither asks why devices idle
      phases = Phases(run);
      summaries = Summarize(run);
    }
  });
  const Basis shared = basis();
  hardware = FindHardware(run, options.gpu, ObservedLinkRate(shared));
  counters = FindCounters(shared, hardware);
  if (!trace.HasTimeline() && counters.time_ns > 0) {
    // Savings of counted kernels are shares of the time that was counted.
    run.window = {"all", 0, static_cast<Nanos>(std::llround(counters.time_ns))};
  }
  support = JudgeSupport(shared);
  kind = FindRunKind(shared, support);
  // Subjects do not know each other. The longest first, so that all threads end together.
  std::vector<std::function<void()>> subjects = {
      [&] {
        step_stats = FindStepStats(shared, phases, hardware.host_link_bytes_per_s);
        step_stats.stall_may_wait = StallsMayWait(step_stats, kind, run.knowledge);
        if (!options.few_facts) host_code.Get();
      },
      [&] {
        copies =
            FindCopies(shared, phases,
                       {support.verdict, kind.unit == "token", hardware.host_link_bytes_per_s});
        syncs = FindSyncs(shared, copies, phases, kind.request_waits == RequestWaits::kAsCode);
      },
      [&] { kernels = FindKernels(shared, phases, RatesOf(hardware)); },
      [&] {
        std::vector<IntervalSet> copying;
        for (const DeviceTime& time : times) copying.push_back(time.copy_exposed);
        stalls = FindStalls(shared, phases, FollowHosts(run, copying, hand_overs));
        mpi = FindMpi(shared);
        graphs = FindGraphs(shared);
      },
      [&] {
        launches = FindLaunches(shared);
        single_operations = FindSingleOperations(shared);
      },
      [&] { work = FindWork(shared, phases); },
      [&] { origins = FindOrigins(shared); },
      [&] {
        comm = FindComm(shared, phases, kind.kind != KindOfRun::kInference);
        late_device = FindLateDevice(shared);
      },
      [&] {
        accumulation = FindAccumulation(shared, phases);
        unseen = FindUnseenWork(shared);
      },
      [&] { host = FindHost(shared); },
      [&] {
        loading_beside_comm = LoadingBesideCommunication(shared, hand_overs);
        input = FindInput(shared, loading_beside_comm);
      },
      [&] { FindOfOperators(); },
      [&] { FindOfSizes(); },
      [&] { samples = FindSamples(shared); },
      [&] { profiler_cost = CostOfProfiler(run), other_work = FindOtherWork(run); },
      [&] { shapes = FindShapes(shared, hardware); },
  };
  const auto ahead = [&](const auto&... parts) {
    (subjects.push_back([&parts] { parts.Get(); }), ...);
  };
  if (!options.few_facts) {
    ahead(kernel_variation, kernel_trains, looped_experts, block_shapes, number_formats, families,
          moves, replication, turns, contention, unseen_ranks);
  }
  SideBySide(subjects.size(), threads, [&](std::size_t i) { subjects[i](); });
  results = FindStepResults(shared, copies, input.background);
  efficiency = FindEfficiency(shared, hardware, shapes, counters, samples);
  FindBesideTimeline();
  if (AreBatches(copies, kind)) copies.repeated = LossBuilder(shared).Build();
  start_up = FindStartUp(shared, support, kind);
  serving = FindServing(shared, kind);
  engine_steps = FindEngineSteps(shared);
}

void Analysis::FindBesideTimeline() {
  const Trace& trace = run.trace;
  monitor = SummarizeMonitor(trace, run.knowledge);
  monitor_patterns = FindMonitorPatterns(trace.monitor, run.knowledge);
  monitor_health = FindMonitorHealth(trace.monitor, run.knowledge);
  server = SummarizeServer(trace.server, run.knowledge);
  totals = SumProfile(trace, run.knowledge);
  paths = FindPaths(trace, run.knowledge);
}

void Analysis::FindOfOperators() {
  const Basis shared = basis();
  operators = FindOperators(shared);
  dense_gradients = FindDenseGradients(shared, operators);
  algorithm_trials = FindAlgorithmTrials(shared);
  kernel_tuning = FindKernelTuning(shared);
  value_checks = FindValueChecks(shared);
}

void Analysis::FindOfSizes() {
  const Basis shared = basis();
  const SizedOperators sized(run);
  one_hot = FindOneHotProducts(shared, sized, hardware);
  gathered = FindGatheredProducts(shared, sized);
  recomputed = FindRecomputedTokens(shared, sized, hardware);
  forward_only = FindForwardOnly(shared, sized, phases);
  recomputed_forward = run.trace.operators.size() > 0
                           ? FindRecomputedForward(shared, sized)
                           : FindRecomputedKernels(shared, phases, hardware.memory_bytes_per_s);
}

std::vector<IntervalSet> Analysis::WaitsThatLookLikeCode() const {
  return step_stats.stall_may_wait ? step_stats.stall.lost->by_device : std::vector<IntervalSet>();
}

const Replay& Analysis::replay() const {
  if (!replay_) {
    const bool on_demand = input.on_demand >= run.knowledge.Number("replay.on_demand");
    replay_ = std::make_unique<Replay>(run, times, idle, hand_overs,
                                       LoaderPace{on_demand, input.needs_ns, input.left_share});
  }
  return *replay_;
}

}  // namespace advise
