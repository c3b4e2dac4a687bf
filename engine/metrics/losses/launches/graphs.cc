#include "engine/metrics/losses/launches/graphs.h"

#include <algorithm>

namespace advise {
namespace {

// By device: idle while the host launches, or runs code between launches. What a graph would take
// off is in that, and not in waits for requests, data or other threads.
std::vector<IntervalSet> IdleForLaunches(const Basis& basis) {
  std::vector<std::vector<Interval>> idle(basis.times.size());
  for (const GapPiece piece : basis.idle.pieces) {
    if (piece.cause == IdleCause::kLaunch || piece.cause == IdleCause::kHostCompute)
      idle[piece.device].push_back({piece.start, piece.end});
  }
  std::vector<IntervalSet> sets;
  for (auto& list : idle) sets.push_back(IntervalSet::Of(std::move(list)));
  return sets;
}

// Steps without a graph launch where most steps have one: the shape was not captured.
void FindMisses(const Basis& basis, const std::vector<Nanos>& launches, Graphs* graphs) {
  const Run& run = basis.run;
  LossBuilder loss(basis);
  const std::vector<IntervalSet> idle_of = IdleForLaunches(basis);
  const auto idle_in = [&](const Step& step) {
    Nanos idle = 0;
    for (const std::uint32_t d : run.active_devices)
      idle += idle_of[d].OverlapWith(step.start, step.end);
    return idle;
  };
  std::vector<const Step*> without;
  std::vector<Nanos> idle_with;
  std::size_t steady = 0;
  for (std::size_t i = run.steps.first_steady; i < run.steps.all.size(); ++i) {
    const Step& step = run.steps.all[i];
    if (!basis.InWindow(step.start)) continue;
    ++steady;
    const auto first = std::lower_bound(launches.begin(), launches.end(), step.start);
    if (first != launches.end() && *first < step.end) {
      idle_with.push_back(idle_in(step));
    } else {
      without.push_back(&step);
    }
  }
  if (idle_with.size() > without.size() && !without.empty()) {
    graphs->miss_share = static_cast<double>(without.size()) / static_cast<double>(steady);
    const Nanos usual = Median(idle_with);
    for (const Step* step : without) {
      const Nanos idle = idle_in(*step);
      loss.Count(step->start, 0, std::max<Nanos>(0, idle - usual));
      if (idle <= usual) continue;
      const double part = 1 - static_cast<double>(usual) / static_cast<double>(idle);
      for (const std::uint32_t d : run.active_devices) {
        const IntervalSet gaps = idle_of[d].Clip(step->start, step->end);
        for (const Interval& gap : gaps.intervals()) {
          const auto kept = static_cast<Nanos>(part * static_cast<double>(gap.Length()));
          loss.AddSpan(d, gap.end - kept, gap.end);
        }
      }
    }
  }
  graphs->misses = loss.Build();
}

bool Works(CallClass call) {
  switch (call) {
    case CallClass::kLaunch:
    case CallClass::kGraphLaunch:
    case CallClass::kCopy:
    case CallClass::kCopyAsync:
    case CallClass::kMemset:
    case CallClass::kMemsetAsync:
    case CallClass::kSyncDevice:
    case CallClass::kSyncStream:
    case CallClass::kSyncEvent:
      return true;
    default:
      return false;
  }
}

// Graphs of a step that follow each other, with nothing else for the GPU between: one launch for
// each such series, and no code between.
void MergeSeries(const Basis& basis, LossBuilder* gaps) {
  const Run& run = basis.run;
  const CallTable& calls = run.trace.calls;
  for (std::uint32_t thread = 0; thread < run.calls_of_thread.size(); ++thread) {
    std::uint32_t last = kNone;  // the graph launch that the next one would follow
    for (const std::uint32_t c : run.calls_of_thread[thread]) {
      const CallClass call = run.ClassOfCall(c);
      if (!Works(call)) continue;
      const std::uint32_t step = run.steps.At(calls.start[c]);
      const bool follows = call == CallClass::kGraphLaunch && last != kNone && step != kNone &&
                           basis.InWindow(calls.start[c]) &&
                           run.steps.At(calls.start[last]) == step;
      if (follows) {
        gaps->remedy().vanished_calls.push_back(c);
        gaps->CutHost(thread, calls.end[last], calls.start[c]);
      }
      last = call == CallClass::kGraphLaunch ? c : kNone;
    }
  }
}

// Launches of graphs take no longer than those of linear ones that do not change.
void CutLaunches(const Basis& basis, LossBuilder* slow) {
  const Run& run = basis.run;
  const CallTable& calls = run.trace.calls;
  const Nanos usual = run.knowledge.Time("launch.usual_graph_call");
  for (const std::uint32_t thread : run.launching_threads) {
    IntervalSet beyond;
    for (const std::uint32_t c : run.calls_of_thread[thread]) {
      if (run.ClassOfCall(c) != CallClass::kGraphLaunch || !basis.InWindow(calls.start[c]))
        continue;
      if (calls.end[c] - calls.start[c] > usual)
        beyond.Append(calls.start[c] + usual, calls.end[c]);
    }
    slow->remedy().host_cuts.push_back({thread, std::move(beyond)});
  }
}

// Time of the window in which devices run graphs that were traced as a whole.
Nanos TimeInWholeGraphs(const Run& run) {
  Nanos time = 0;
  for (const std::uint32_t device : run.active_devices) {
    std::vector<Interval> graphs;
    for (const std::uint32_t op : run.ops_of_device[device]) {
      if (run.trace.ops.kind[op] == OpKind::kGraph)
        graphs.push_back({run.trace.ops.start[op], run.trace.ops.end[op]});
    }
    time += IntervalSet::Of(std::move(graphs)).OverlapWith(run.window.start, run.window.end);
  }
  return time;
}

}  // namespace

Graphs FindGraphs(const Basis& basis) {
  const Run& run = basis.run;
  const Trace& trace = run.trace;
  Graphs graphs;
  LossBuilder gaps(basis);
  LossBuilder slow(basis);
  std::vector<Nanos> whens;
  std::vector<double> calls;
  std::vector<double> spans;
  struct Reach {
    std::uint32_t call = 0;
    Nanos start = 0, end = 0;
  };
  std::vector<Reach> reach;
  std::vector<std::uint32_t> row_of(trace.calls.size(), kNone);  // in `reach`, by call
  graphs.traced_whole_ns = static_cast<double>(TimeInWholeGraphs(run));
  for (std::uint32_t c = 0; c < trace.calls.size(); ++c) {
    if (run.ClassOfCall(c) != CallClass::kGraphLaunch) continue;
    row_of[c] = static_cast<std::uint32_t>(reach.size());
    reach.push_back({.call = c});
  }
  if (reach.empty()) {
    graphs.misses = LossBuilder(basis).Build();
    graphs.gaps = gaps.Build();
    graphs.slow = slow.Build();
    return graphs;
  }
  for (std::uint32_t op = 0; op < trace.ops.size(); ++op) {
    const std::uint32_t call = trace.ops.call[op];
    if (call == kNone || row_of[call] == kNone) continue;
    Reach& r = reach[row_of[call]];
    if (r.end == 0) r.start = trace.ops.start[op];
    r.end = std::max(r.end, trace.ops.end[op]);
  }
  for (const Reach& r : reach) {
    if (r.end == 0 || !basis.InWindow(r.start)) continue;
    const Nanos called = trace.calls.start[r.call];
    whens.push_back(run.steps.of_device ? r.start : called);
    calls.push_back(static_cast<double>(trace.calls.end[r.call] - called));
    spans.push_back(static_cast<double>(r.end - r.start));
  }
  for (const GapPiece piece : basis.idle.pieces) {
    const Gap gap = basis.idle.gaps[piece.gap];
    const std::uint32_t call = CallOf(trace, gap);
    const bool host = piece.cause == IdleCause::kLaunch || piece.cause == IdleCause::kHostCompute;
    if (call == kNone || row_of[call] == kNone || !host) continue;
    // Between the nodes of one launch: no other launch would close it.
    if (reach[row_of[call]].start < gap.start) continue;
    if (piece.start == gap.start) gaps.Count(piece.start, 0, piece.Length());
    gaps.AddPiece(piece);
    if (piece.cause == IdleCause::kLaunch) slow.AddPiece(piece);
  }
  graphs.launches = static_cast<std::int64_t>(whens.size());
  std::sort(whens.begin(), whens.end());
  FindMisses(basis, whens, &graphs);
  StepCounter counter(run);
  for (const Nanos when : whens) counter.Count(when);
  graphs.per_step = counter.PerStep();
  graphs.call_median_ns = Median(std::move(calls));
  graphs.gpu_median_ns = Median(std::move(spans));
  MergeSeries(basis, &gaps);
  CutLaunches(basis, &slow);
  graphs.gaps = gaps.Build();
  graphs.slow = slow.Build();
  return graphs;
}

}  // namespace advise
