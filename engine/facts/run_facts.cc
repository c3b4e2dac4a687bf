// window.*, run.*, budget.*, idle.*, efficiency.*: the run as a whole.
#include <algorithm>
#include <set>

#include "engine/facts/declare.h"

namespace advise::facts {
namespace {

double Processes(const Run& run) {
  std::set<std::uint32_t> processes;
  for (const std::uint32_t t : run.launching_threads) {
    processes.insert(run.trace.threads[t].process);
  }
  return static_cast<double>(processes.size());
}

double Ranks(const Cluster& c) { return static_cast<double>(c.ranks.size()); }

bool SupportsVerdict(const Cluster& c) {
  return std::any_of(c.ranks.begin(), c.ranks.end(),
                     [](const RankSummary& rank) { return rank.supports_verdict; });
}

void DeclareWindow(Catalog* catalog) {
  auto& all = catalog->OfAll();
  all.Add("window.time", "ns", "Length of the analyzed window.",
          [](const Analysis& a) { return a.run.window.Length(); })
      .OfRanks([](const Cluster& c) { return c.job.Window(); });
  all.Add("window.device_time", "ns",
          "Length of the window times the number of devices that did work.",
          [](const Analysis& a) { return a.basis().Device(); })
      .OfRanks([](const Cluster& c) { return static_cast<double>(c.job.Window()) * Ranks(c); });
  all.Add("window.supports_verdict", "flag",
          "Whether the capture holds enough like work to judge a run by.",
          [](const Analysis& a) { return a.support.verdict; })
      .OfRanks(SupportsVerdict);
  all.Add(
      "window.reason", "name", "Why the capture supports no verdict; absent when it does.",
      If([](const Analysis& a) { return !a.support.verdict; },
         [](const Analysis& a) { return a.support.reason; }, "the capture supports a verdict", ""));
}

void DeclareRun(Catalog* catalog) {
  auto& run = catalog->Of(&Analysis::run);
  run.Add("run.devices", "count", "Devices that did work.",
          [](const Run& r) { return r.active_devices.size(); })
      .OfRanks(Ranks);
  run.Add("run.devices_listed", "count", "Devices that the report lists, used or not.",
          [](const Run& r) { return r.trace.devices.size(); });
  run.Add("run.processes", "count", "Processes that launched GPU work.", Processes);
  run.Add("run.cpu_cores", "count", "Logical CPUs of the host.",
          IfPositive([](const Run& r) { return r.trace.cpu_cores; },
                     "the report does not say how many CPUs the host has", ""));
  catalog->OfAll().Add("run.ops", "count", "GPU operations in the window.",
                       [](const Analysis& a) { return a.run.OpsInWindow().size(); });
}

// Sums of a time over the devices at work, as a mean over them.
template <typename TimeOf>
auto PerDevice(TimeOf time_of) {
  return [time_of](const Analysis& a) {
    double sum = 0;
    for (const std::uint32_t d : a.run.active_devices) {
      sum += static_cast<double>(time_of(a.times[d]));
    }
    return ShareOf(sum, static_cast<double>(a.run.active_devices.size()));
  };
}

template <typename TimeOf>
auto PerRank(TimeOf time_of) {
  return [time_of](const Cluster& c) {
    double sum = 0;
    for (const RankSummary& rank : c.ranks)
      sum += static_cast<double>(std::invoke(time_of, rank.time));
    return ShareOf(sum, Ranks(c));
  };
}

void DeclareBudget(Catalog* catalog) {
  auto& all = catalog->OfAll();
  all.Add("budget.compute", "ns",
          "Time in which a compute kernel or a whole graph ran, mean over the devices.",
          PerDevice([](const DeviceTime& t) { return t.ComputeNs(); }))
      .OfRanks(PerRank(&RankTime::compute));
  all.Add("budget.comm_exposed", "ns",
          "Time in which only communication kernels (and copies) ran, mean over the devices.",
          PerDevice([](const DeviceTime& t) { return t.comm_exposed.Total(); }))
      .OfRanks(PerRank(&RankTime::comm_exposed));
  all.Add("budget.copy_exposed", "ns", "Time in which only copies ran, mean over the devices.",
          PerDevice([](const DeviceTime& t) { return t.copy_exposed.Total(); }))
      .OfRanks(PerRank(&RankTime::copy_exposed));
  all.Add("budget.memset_exposed", "ns", "Time in which only memsets ran, mean over the devices.",
          PerDevice([](const DeviceTime& t) { return t.memset_exposed.Total(); }))
      .OfRanks(PerRank(&RankTime::memset_exposed));
  all.Add("budget.idle", "ns", "Time in which nothing ran on the device, mean over the devices.",
          PerDevice([](const DeviceTime& t) { return t.idle.Total(); }))
      .OfRanks(PerRank(&RankTime::idle));
}

void DeclareIdle(Catalog* catalog) {
  auto& all = catalog->OfAll();
  const auto cause = [&](const char* name, const char* definition, IdleCause which) {
    all.Add(name, "ns", definition, [which](const Analysis& a) {
      double sum = 0;
      for (const std::uint32_t d : a.run.active_devices) {
        sum += static_cast<double>(a.idle.by_device[d][static_cast<std::size_t>(which)]);
      }
      return ShareOf(sum, static_cast<double>(a.run.active_devices.size()));
    });
    all.OfRanks(PerRank([which](const RankTime& time) { return time.Cause(which); }));
  };
  cause("idle.data_loading", "Idle while the launching thread loaded data or waited for a loader.",
        IdleCause::kDataLoading);
  cause("idle.host_sync", "Idle while the launching thread was inside a synchronizing call.",
        IdleCause::kHostSync);
  cause("idle.allocation", "Idle while the launching thread allocated, freed or registered memory.",
        IdleCause::kAllocation);
  cause("idle.jit_or_module_load", "Idle while code was compiled or loaded.",
        IdleCause::kJitOrModuleLoad);
  cause("idle.file_io", "Idle while the launching thread was inside file calls.",
        IdleCause::kFileIo);
  cause("idle.host_wait", "Idle while the launching thread was blocked in the OS.",
        IdleCause::kHostWait);
  cause("idle.launch", "Idle inside launching calls, and launch latency.", IdleCause::kLaunch);
  cause("idle.host_compute",
        "Idle while the launching thread ran code that the report does not show.",
        IdleCause::kHostCompute);
  cause("idle.peer_wait", "Idle while launched work waited for another device.",
        IdleCause::kPeerWait);
  cause("idle.host_function",
        "Idle while a stream waited for a function that it runs on the host (cudaLaunchHostFunc).",
        IdleCause::kHostFunction);
  cause("idle.profiler_overhead", "Idle while the profiler itself worked.",
        IdleCause::kProfilerOverhead);
  cause("idle.no_work_queued", "Idle with no thread about to launch anything.",
        IdleCause::kNoWorkQueued);
  cause("idle.unknown", "Idle without a visible cause.", IdleCause::kUnknown);
  const auto unseen = [&](const char* name, const char* definition, Nanos UnseenTime::*time) {
    all.Add(name, "ns", definition, [time](const Analysis& a) {
      return ShareOf(static_cast<double>(a.unseen.Sum(time)),
                     static_cast<double>(a.run.active_devices.size()));
    });
  };
  unseen("idle.before_capture",
         "Idle without a visible cause before the first work of a stream that was launched long "
         "before: the GPU probably worked on, or waited for, what began before the capture.",
         &UnseenTime::before_capture);
  unseen("idle.in_graphs",
         "Idle without a visible cause before a node of a CUDA graph that was launched long "
         "before: the profiler probably lost kernels there.",
         &UnseenTime::in_graphs);
  unseen("idle.queued",
         "Idle without a visible cause before other work that was launched long before: what it "
         "waits for is not in the report.",
         &UnseenTime::queued);
}

struct Efficiency {
  double parallel = 0, balance = 0, communication = 0, orchestration = 0;
};

// The factors of the parallel efficiency of the GPUs: their product is the share of the GPU time
// that computes.
Efficiency FindEfficiency(const Analysis& a) {
  double most_useful = 0;
  double sum_useful = 0;
  double most_active = 0;
  for (const std::uint32_t d : a.run.active_devices) {
    const auto useful = static_cast<double>(a.times[d].compute.Total());
    sum_useful += useful;
    most_useful = std::max(most_useful, useful);
    most_active =
        std::max(most_active, static_cast<double>(a.run.window.Length() - a.times[d].idle.Total()));
  }
  const auto time = static_cast<double>(a.run.window.Length());
  const auto devices = static_cast<double>(a.run.active_devices.size());
  return {ShareOf(sum_useful, time * devices), ShareOf(sum_useful, most_useful * devices),
          ShareOf(most_useful, most_active), ShareOf(most_active, time)};
}

void DeclareEfficiency(Catalog* catalog) {
  auto& efficiency = catalog->Of(FindEfficiency);
  efficiency.Add("efficiency.parallel", "share",
                 "Share of the GPU time that computes: balance times communication times "
                 "host keeping up.",
                 &Efficiency::parallel);
  efficiency.Add("efficiency.balance", "share", "Mean compute time of the GPUs over the largest.",
                 &Efficiency::balance);
  efficiency.Add("efficiency.communication", "share",
                 "Largest compute time of a GPU over the largest time in which one had any work.",
                 &Efficiency::communication);
  efficiency.Add("efficiency.orchestration", "share",
                 "Largest time in which a GPU had work over the window.",
                 &Efficiency::orchestration);
}

}  // namespace

void DeclareRunFacts(Catalog* catalog) {
  DeclareWindow(catalog);
  DeclareRun(catalog);
  DeclareBudget(catalog);
  DeclareIdle(catalog);
  DeclareEfficiency(catalog);
}

}  // namespace advise::facts
