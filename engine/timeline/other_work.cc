#include "engine/timeline/other_work.h"

#include <algorithm>
#include <set>

#include "engine/timeline/code_loading.h"

namespace advise {
namespace {

// When GPUs of the run work between two times, whichever of them it is, and how long they do
// together.
struct Work {
  IntervalSet any;
  double time = 0;
};

Work WorkBetween(const Run& run, Nanos start, Nanos end) {
  const OpTable& ops = run.trace.ops;
  Work work;
  std::vector<Interval> of_any;
  for (const std::uint32_t device : run.active_devices) {
    std::vector<Interval> spans;
    for (const std::uint32_t op : run.ops_of_device[device]) {
      const Interval span{std::max(start, ops.start[op]), std::min(end, ops.end[op])};
      if (span.start < span.end) spans.push_back(span);
    }
    of_any.insert(of_any.end(), spans.begin(), spans.end());
    work.time += static_cast<double>(IntervalSet::Of(std::move(spans)).Total());
  }
  work.any = IntervalSet::Of(std::move(of_any));
  return work;
}

// The stretch with most work, between pauses that are longer than `pause`.
Interval LongestStretch(const IntervalSet& work, Nanos pause) {
  Interval longest;
  Nanos most = 0;
  Interval now;
  Nanos worked = 0;
  for (const Interval& piece : work.intervals()) {
    if (worked == 0 || piece.start - now.end > pause) {
      now = piece;
      worked = 0;
    }
    now.end = piece.end;
    worked += piece.Length();
    if (worked > most) {
      most = worked;
      longest = now;
    }
  }
  return longest;
}

// Whether calls that load code, and first launches that do, take a fair part of the time in which
// the GPUs do nothing.
bool LoadsCode(const Run& run, const Interval& span, double busy) {
  const CallTable& calls = run.trace.calls;
  const CodeLoading first_launches(run);
  double loading = 0;
  for (const std::uint32_t thread : run.launching_threads) {
    for (const std::uint32_t call : run.calls_of_thread[thread]) {
      if (calls.start[call] < span.start || calls.start[call] >= span.end) continue;
      const std::uint32_t op = run.first_op_of_call[call];
      if (IsCodeLoading(run.ClassOfCall(call)) || (op != kNone && first_launches.InLaunchOf(op)))
        loading += static_cast<double>(calls.end[call] - calls.start[call]);
    }
  }
  const double idle = (1 - busy) * static_cast<double>(span.Length());
  return loading > run.knowledge.Number("window.other_loading") * idle;
}

// Whether what comes behind the steps is one more: no longer than a step, and of their kernels
// only.
bool IsOneMoreStep(const Run& run, const Interval& span) {
  if (span.Length() > run.steps.Median() ||
      span.start - run.steps.all.back().end > run.steps.Median()) {
    return false;
  }
  const OpTable& ops = run.trace.ops;
  std::set<StringId> of_steps;
  std::set<StringId> behind;
  for (std::uint32_t op = 0; op < ops.size(); ++op) {
    if (ops.kind[op] != OpKind::kKernel) continue;
    const StringId name = run.trace.shapes[ops.detail[op]].name;
    if (run.steps.At(ops.start[op]) != kNone) of_steps.insert(name);
    if (ops.start[op] >= span.start && ops.start[op] < span.end) behind.insert(name);
  }
  return !behind.empty() &&
         std::includes(of_steps.begin(), of_steps.end(), behind.begin(), behind.end());
}

}  // namespace

OtherWork FindOtherWork(const Run& run) {
  OtherWork found;
  const OpTable& ops = run.trace.ops;
  if (run.window.mode != "steady" || !run.steps.known() || ops.size() == 0) return found;
  if (run.steps.standstill.Length() > 0) return found;  // the same loop goes on
  const Nanos last = *std::max_element(ops.end.begin(), ops.end.end());
  const double all = WorkBetween(run, ops.start.front(), last).time;
  const double left_out =
      1 - WorkBetween(run, run.window.start, run.window.end).time / std::max(1.0, all);
  const Nanos least_pause = run.knowledge.Time("window.other_pause");
  const Nanos pause = std::max(least_pause, 2 * run.steps.Median());
  const auto devices = static_cast<double>(run.active_devices.size());
  const Interval sides[] = {{ops.start.front(), run.steps.all.front().start},
                            {run.steps.all.back().end, last}};
  for (const Interval& side : sides) {
    if (side.end <= side.start) continue;
    const Interval span = LongestStretch(WorkBetween(run, side.start, side.end).any, pause);
    const double time = WorkBetween(run, span.start, span.end).time;
    const double share = time / all;
    const double busy = time / (devices * static_cast<double>(std::max<Nanos>(1, span.Length())));
    if (share < run.knowledge.Number("window.other_share") || share <= found.share ||
        busy < run.knowledge.Number("window.other_busy")) {
      continue;
    }
    if (&side != sides && IsOneMoreStep(run, span)) {
      found.last_step = share;
      continue;
    }
    found = {span, &side == sides, share, busy, LoadsCode(run, span, busy), found.last_step};
  }
  found.left_out = left_out;
  return found;
}

}  // namespace advise
