// steps.*, phase.*: the steps of the loop, and the phases of a step.
#include <algorithm>
#include <array>
#include <numeric>

#include "engine/facts/of_ranks.h"

namespace advise::facts {
namespace {

constexpr const char* kNoSteps = "too few steps were found";

bool HasSteps(const Analysis& a) { return a.run.steps.known(); }

// Of several reports: of the steps that all ranks have.
template <typename Get>
auto OfCommonSteps(Get get) {
  return [get](const Cluster& c) -> Value {
    if (!HasCommonSteps(c)) return OfOneReport();
    return ValueOf(get(c));
  };
}

Rows OutlierRows(const StepStats& stats) {
  return RowsOf(
      stats.outliers,
      [](const OutlierRow& o) {
        return Row{{"index", static_cast<double>(o.index)},
                   {"time", o.time_ns},
                   {"median", o.median_ns},
                   {"what", o.what}};
      },
      20);
}

void DeclareSteps(Catalog* catalog) {
  auto& steps = catalog->Of([](const Analysis& a) -> const Steps& { return a.run.steps; });
  steps.Needs(HasSteps, kNoSteps, "steps");
  steps
      .Add("steps.count", "count", "Steady steps in the window; absent when no steps were found.",
           &Steps::steady_count)
      .OfRanks(OfCommonSteps([](const Cluster& c) { return c.job.steps; }));
  steps.Add("steps.median", "ns", "Median length of a steady step.", &Steps::Median)
      .OfRanks(OfCommonSteps([](const Cluster& c) { return Median(c.job.job_length); }));
  steps
      .Add("steps.mean", "ns",
           "Mean length of a steady step: what the window divided by its steps gives.",
           &Steps::Mean)
      .OfRanks(OfCommonSteps([](const Cluster& c) {
        const std::vector<Nanos>& lengths = c.job.job_length;
        const Nanos sum = std::accumulate(lengths.begin(), lengths.end(), Nanos{0});
        return lengths.empty() ? 0 : sum / static_cast<Nanos>(lengths.size());
      }));
  steps
      .Add("steps.source", "name", "How steps were found: annotation, range or period.",
           &Steps::source)
      .OfRanks(OfCommonSteps([](const Cluster& c) { return c.ranks.front().steps_source; }));
  steps.Add("steps.warmup.count", "count", "Leading steps left out as warm-up.",
            &Steps::first_steady);
  auto& stats = catalog->Of(&Analysis::step_stats);
  stats.Needs(HasSteps, kNoSteps, "steps");
  stats.Add("steps.warmup.excess", "ns", "Time of the warm-up steps beyond the median step.",
            &StepStats::warmup_excess_ns);
  stats.Add("steps.warmup.cause", "name",
            "What most of the warm-up's excess was spent on, in words.",
            UnlessEmpty(&StepStats::warmup_cause,
                        "there are no warm-up steps in the capture, or no calls of the host", ""));
  stats.Add("steps.jitter", "share", "Interquartile range of the step lengths over their median.",
            &StepStats::jitter);
  stats.Add(
      "steps.drift", "share",
      "Median of the last third of the steady steps over the median of the first third, less 1.",
      &StepStats::drift);
  stats.Add("steps.drift_by_chance", "share",
            "Standard error of steps.drift, by how much the steps of a third vary.",
            &StepStats::drift_by_chance);
  stats.Add("steps.kinds.share", "share",
            "Share of the slower of two kinds of steps; 0 for few steps.",
            &StepStats::two_kinds_share);
  stats.Add("steps.kinds.ratio", "num",
            "Shortest step of the slower kind over the longest step of the faster kind.",
            &StepStats::two_kinds_ratio);
}

void DeclareSlowSteps(Catalog* catalog) {
  auto& stats = catalog->Of(&Analysis::step_stats);
  stats.Needs(HasSteps, kNoSteps, "steps");
  stats.Add("steps.outliers.count", "count", "Steps far slower than the rest.",
            [](const StepStats& s) { return s.outliers.size(); });
  stats.Add("steps.outliers.excess", "ns", "Time of the slowest steps beyond the median step.",
            &StepStats::outlier_excess_ns);
  stats.Add("steps.outliers.gpu_share", "share",
            "Share of the excess of the slowest steps in which the GPU has more work.",
            &StepStats::outlier_gpu_share);
  stats.Add("steps.outliers.what", "name",
            "What fills most of the excess of the slowest steps: host code, communication …",
            UnlessEmpty(&StepStats::outlier_what, "no step stands out", ""));
  stats.Add("steps.outliers.rows", "rows",
            "The slowest steps: index, time, median, what (the largest difference to the median "
            "step).",
            OutlierRows);
  stats.AddLoss("steps.outliers", kChange,
                {"", "Idle time of the slowest steps beyond that of the median step.",
                 "Host work that makes some steps far slower than the rest is gone."},
                &StepStats::outlier);
  auto& stall = catalog->Of(&Analysis::step_stats);
  stall.Needs(HasSteps, kNoSteps, "steps");
  stall.Needs([](const Analysis& a) { return a.step_stats.stall_every > 0; },
              "slow steps do not come at even distances", "");
  stall.Add("steps.stall.every", "count",
            "Distance of periodic slow steps, in steps; absent when slow steps are not periodic.",
            &StepStats::stall_every);
  stall.Add("steps.stall.excess", "ns", "Time of the periodic slow steps beyond the median step.",
            &StepStats::stall_excess_ns);
  stall.Add("steps.stall.what", "name",
            "What fills the excess of periodic slow steps: a range name, a phase, reading files …",
            &StepStats::stall_what);
  stall.Add("steps.stall.gpu_share", "share",
            "Share of the excess of periodic slow steps in which the GPU has more work.",
            &StepStats::stall_gpu_share);
  stall.Add(
      "steps.stall.work", "num",
      "Kernels and graphs of a periodic slow step over those of a usual step; 0 when unknown.",
      &StepStats::stall_work);
  stall.Add("steps.stall.phase", "name",
            "The phase that launches most of the work that only periodic slow steps have.",
            UnlessEmpty(&StepStats::stall_work_phase, "no range names this work", "nvtx"));
  stall.Add("steps.stall.bytes", "bytes",
            "Bytes that each periodic slow step copies to the host and other steps do not.",
            &StepStats::stall_bytes);
  stall.Add("steps.stall.upload_bytes", "bytes",
            "Bytes that each periodic slow step copies to the GPU and other steps do not.",
            &StepStats::stall_upload_bytes);
  stall.Add(
      "steps.stall.may_wait", "flag",
      "The slow steps may wait for requests: nothing that was recorded tells that from what the "
      "program does or waits for itself.",
      &StepStats::stall_may_wait);
  stall.Add("steps.stall.of_pieces", "flag",
            "Each step was found from a kernel that repeats alone: the loop may be around several, "
            "and what comes after the last of them in each of its iterations.",
            &StepStats::stall_of_pieces);
  stall.AddLoss("steps.stall", kChange,
                {"", "Idle time of the periodic slow steps beyond that of the median step.",
                 "Host work that makes slow steps periodic is gone."},
                &StepStats::stall);
}

void DeclarePasses(Catalog* catalog) {
  auto& stats = catalog->Of(&Analysis::step_stats);
  stats.Needs(HasSteps, kNoSteps, "steps");
  stats.Needs(
      [](const Analysis& a) {
        return a.phases.known(Phase::kForward) && a.phases.known(Phase::kBackward);
      },
      "no ranges name the forward and backward pass", "nvtx");
  stats.Add("steps.forward.time", "ns",
            "GPU time of work launched in forward ranges (or before backward), per step.",
            &StepStats::forward_gpu_ns);
  stats.Add("steps.backward.time", "ns", "GPU time of work launched in backward ranges, per step.",
            &StepStats::backward_gpu_ns);
  stats.Add("steps.forward.host_time", "ns", "Host time inside forward ranges, per step.",
            &StepStats::forward_host_ns);
  stats.Add("steps.backward.host_time", "ns", "Host time inside backward ranges, per step.",
            &StepStats::backward_host_ns);
}

// Steps of the window; 1 when there are none.
double Units(const Work& work) { return std::max(1.0, static_cast<double>(work.steps.size())); }

Rows PhaseRows(const Work& work) {
  return RowsOf(work.phases, [&](const PhaseWork& phase) {
    return Row{{"phase", std::string(PhaseName(phase.phase))},
               {"count", static_cast<double>(phase.count)},
               {"host", phase.host_ns / Units(work)},
               {"gpu", phase.gpu_ns / Units(work)},
               {"idle", phase.idle_ns / Units(work)}};
  });
}

std::string MostIdlePhase(const Work& work) {
  Phase most = Phase::kUnnamed;
  double idle = 0;
  for (const PhaseWork& phase : work.phases) {
    if (phase.idle_ns > idle) idle = phase.idle_ns, most = phase.phase;
  }
  return most == Phase::kUnnamed ? "unnamed" : PhaseName(most);
}

struct NamedPhase {
  Phase phase;
  const char* group;  // of facts
  const char* words;
  const char* reason;  // why its facts are absent
};
constexpr std::array<NamedPhase, 5> kPhases = {
    {{Phase::kDataLoading, "phase.data_loading", "loading data", "no ranges name loading data"},
     {Phase::kTransfer, "phase.transfer", "transfers", "no ranges name transfers"},
     {Phase::kForward, "phase.forward", "the forward pass", "no ranges name the forward pass"},
     {Phase::kBackward, "phase.backward", "the backward pass", "no ranges name the backward pass"},
     {Phase::kOptimizer, "phase.optimizer", "the optimizer", "no ranges name the optimizer"}}};

// What a run does in each phase.
void DeclarePhaseWork(Catalog* catalog) {
  const auto has_phases = [](const Analysis& a) { return !a.work.phases.empty(); };
  auto& work = catalog->Of(&Analysis::work);
  work.Needs(has_phases, "no ranges name the phases of the step", "nvtx");
  work.Add("phase.rows", "rows",
           "Named phases, times per step: phase, count (in all), host, gpu, idle.", PhaseRows);
  work.Add("phase.most_idle", "name",
           "The phase during which the GPU is idle longest; \"unnamed\" outside of all.",
           MostIdlePhase);
  for (const NamedPhase& named : kPhases) {
    const Phase which = named.phase;
    const auto row_of = [which](const Work& w) {
      const auto found = std::find_if(w.phases.begin(), w.phases.end(),
                                      [&](const PhaseWork& p) { return p.phase == which; });
      return found == w.phases.end() ? PhaseWork() : *found;
    };
    const std::string group = named.group;
    const std::string words = named.words;
    auto& phase = catalog->Of(&Analysis::work);
    phase.Needs([row_of](const Analysis& a) { return row_of(a.work).count > 0; }, named.reason,
                "nvtx");
    phase.Add(group + ".host", "ns", "Host time inside ranges of " + words + ", per step.",
              [row_of](const Work& w) { return row_of(w).host_ns / Units(w); });
    phase.Add(group + ".gpu", "ns", "GPU time of work launched in " + words + ", per step.",
              [row_of](const Work& w) { return row_of(w).gpu_ns / Units(w); });
    phase.Add(group + ".idle", "ns", "Idle time of a device under " + words + ", per step.",
              [row_of](const Work& w) { return row_of(w).idle_ns / Units(w); });
    phase.Add(
        group + ".ranges", "count",
        "Ranges of " + words + " in the window; where none names it, passes that operators tell.",
        [row_of](const Work& w) { return row_of(w).count; });
  }
}

// Phases that hold the GPU up.
void DeclareStalls(Catalog* catalog) {
  constexpr std::array<std::pair<const char*, const char*>, kStallPhases.size()> kGroups = {
      {{"phase.checkpoint", "checkpoint"},
       {"phase.evaluation", "evaluation"},
       {"phase.garbage_collection", "garbage collection"},
       {"phase.logging", "logging"},
       {"phase.optimizer", "optimizer"}}};
  auto& stalls = catalog->Of(&Analysis::stalls);
  for (std::size_t i = 0; i < kGroups.size(); ++i) {
    const std::string words = kGroups[i].second;
    stalls.AddLoss(kGroups[i].first, kOfGaps,
                   {words + " ranges of the loop in which the GPU waits",
                    "Idle time of the GPU inside " + words + " ranges of the loop" +
                        (kStallPhases[i] == Phase::kCheckpoint
                             ? ", and downloads in them that no kernel runs beside."
                             : "."),
                    "The host does no " + words + " work where the GPU waits for it."},
                   [i](const Stalls& s) -> const Loss& { return s.phases[i]; });
  }
}

}  // namespace

void DeclareStepFacts(Catalog* catalog) {
  DeclareSteps(catalog);
  DeclareSlowSteps(catalog);
  DeclarePasses(catalog);
  DeclarePhaseWork(catalog);
  DeclareStalls(catalog);
}

}  // namespace advise::facts
