#include "engine/timeline/step.h"

#include <algorithm>
#include <cmath>
#include <map>

#include "engine/base/median.h"

namespace advise {
namespace {

// Median distance from one start to the next.
Nanos MedianApart(const std::vector<Step>& steps) {
  std::vector<Nanos> apart;
  for (std::size_t i = 1; i < steps.size(); ++i)
    apart.push_back(steps[i].start - steps[i - 1].start);
  return Median(apart);
}

// "step 12" and "step 13" are one family; so are names that do not change.
std::string Family(const std::string& name) {
  std::string family;
  bool digits = false;
  for (const char c : name) {
    const bool digit = c >= '0' && c <= '9';
    if (!digit) family += c;
    if (digit && !digits) family += '#';
    digits = digit;
  }
  return family;
}

// Whether half of the counts are the same. Steps that launch their own work launch the same again.
bool AreAlike(const std::vector<std::size_t>& counts) {
  const std::size_t usual = Median(counts);
  return 2 * static_cast<std::size_t>(std::count(counts.begin(), counts.end(), usual)) >=
         counts.size();
}

struct Candidate {
  std::uint32_t thread = kNone;
  std::string family;
  std::vector<std::uint32_t> rows;
  bool annotated = false;
};

// What calls launched, and from when to when it ran; {0, 0} for nothing.
struct Launched {
  Interval span;
  std::size_t calls = 0;
  bool by_others = true;  // than the thread that was asked for
};

// What calls launched to compute. Copies are left out: the copy of a batch may run long before the
// step's turn comes.
class Computing {
 public:
  explicit Computing(const Run& run) : run_(run), of_call_(run.trace.calls.size()) {
    const OpTable& ops = run.trace.ops;
    for (std::uint32_t op = 0; op < ops.size(); ++op) {
      const bool computes =
          ops.kind[op] == OpKind::kGraph || (ops.kind[op] == OpKind::kKernel && !run.IsComm(op));
      if (ops.call[op] == kNone || !computes) continue;
      Interval& span = of_call_[ops.call[op]];
      span = span.end == 0 ? Interval{ops.start[op], ops.end[op]}
                           : Interval{span.start, std::max(span.end, ops.end[op])};
    }
  }

  // By the calls of the thread's process inside [start, end). O(calls inside).
  Launched Of(std::uint32_t of_thread, Nanos start, Nanos end) const {
    const std::vector<Nanos>& starts = run_.trace.calls.start;
    Launched launched;
    Interval& span = launched.span;
    for (const std::uint32_t thread : run_.launching_threads) {
      if (run_.trace.threads[thread].process != run_.trace.threads[of_thread].process) continue;
      const RowRange rows = run_.calls_of_thread[thread];
      const auto last = starts.begin() + rows.last;
      for (auto at = std::lower_bound(starts.begin() + rows.first, last, start);
           at != last && *at < end; ++at) {
        const Interval& more = of_call_[static_cast<std::size_t>(at - starts.begin())];
        if (more.end == 0) continue;
        ++launched.calls;
        launched.by_others = launched.by_others && thread != of_thread;
        span = span.end == 0
                   ? more
                   : Interval{std::min(span.start, more.start), std::max(span.end, more.end)};
      }
    }
    return launched;
  }

 private:
  const Run& run_;
  std::vector<Interval> of_call_;  // {0, 0} for calls that launched nothing
};

}  // namespace

std::uint32_t Steps::At(Nanos time) const {
  const auto after = std::upper_bound(all.begin(), all.end(), time,
                                      [](Nanos t, const Step& step) { return t < step.start; });
  if (after == all.begin() || time >= std::prev(after)->end) return kNone;
  return static_cast<std::uint32_t>(after - all.begin()) - 1;
}

Nanos Steps::Median() const {
  std::vector<Nanos> lengths;
  for (std::size_t i = first_steady; i < all.size(); ++i) {
    if (!IsOutlier(i)) lengths.push_back(all[i].Length());
  }
  return advise::Median(lengths);
}

namespace {

// Steps in which code was loaded or compiled or memory allocated before their work could start.
std::vector<std::uint8_t> ColdSteps(const Run& run, const Steps& steps) {
  std::vector<std::uint8_t> cold(steps.all.size(), 0);
  for (const std::uint32_t thread : run.launching_threads) {
    bool pending = false;
    for (std::uint32_t call = run.calls_of_thread[thread].first;
         call < run.calls_of_thread[thread].last; ++call) {
      const CallClass call_class = run.ClassOfCall(call);
      pending = pending || IsCodeLoading(call_class) || IsAllocation(call_class);
      const std::uint32_t op = run.first_op_of_call[call];
      if (!pending || op == kNone) continue;
      // The step whose work came next: with a host that runs ahead, calls come long before their
      // step.
      pending = false;
      const Nanos start = run.trace.ops.start[op];
      const auto after = std::upper_bound(steps.all.begin(), steps.all.end(), start,
                                          [](Nanos t, const Step& s) { return t < s.start; });
      if (after == steps.all.begin()) continue;
      const auto at = static_cast<std::size_t>(after - steps.all.begin()) - 1;
      cold[at] = 1;
      // The device waited for the first op of a step at the end of the step before.
      if (at > 0 && steps.all[at].start == start) cold[at - 1] = 1;
    }
  }
  return cold;
}

}  // namespace

void SplitWarmup(const Run& run, Steps* steps) {
  steps->first_steady = 0;
  steps->outliers.clear();
  if (steps->all.size() < 3) return;
  std::vector<Nanos> lengths;
  for (const Step& step : steps->all) lengths.push_back(step.Length());
  const Nanos median = Median(lengths);
  std::vector<Nanos> deviations;
  for (const Nanos length : lengths) deviations.push_back(std::abs(length - median));
  const double band =
      std::max(run.knowledge.Number("step.band_mads") * static_cast<double>(Median(deviations)),
               run.knowledge.Number("step.band_share") * static_cast<double>(median));
  const auto outside = [&](std::size_t i) {
    return std::abs(static_cast<double>(lengths[i] - median)) > band;
  };
  // Loading and allocating is warm-up when the later steps do without.
  const std::vector<std::uint8_t> cold = ColdSteps(run, *steps);
  const std::size_t most = lengths.size() / 2;
  const auto late_cold = static_cast<std::size_t>(
      std::count(cold.begin() + static_cast<std::ptrdiff_t>(most), cold.end(), 1));
  const bool starts_cold = 10 * late_cold <= lengths.size() - most;
  const auto leads = [&](std::size_t i) { return outside(i) || (starts_cold && cold[i] != 0); };
  // Warm-up leads the run; it never takes more than half of the steps, and ends with the first two
  // usual ones.
  for (std::size_t i = 0; i < most; ++i) {
    if (leads(i)) steps->first_steady = i + 1;
    if (!leads(i) && i + 1 < most && !leads(i + 1)) break;
  }
  // What is done for the first time may come a few steps later, where the first steps are short
  // ones; a long run's evaluation that loads its own code is none of it.
  const double late = run.knowledge.Number("step.late_warmup");
  const auto last = static_cast<std::size_t>(late * static_cast<double>(lengths.size()));
  for (std::size_t i = steps->first_steady; i < last; ++i) {
    if (starts_cold && cold[i] != 0 && outside(i) && lengths[i] > median)
      steps->first_steady = i + 1;
  }
  for (std::size_t i = steps->first_steady; i < lengths.size(); ++i) {
    if (outside(i) && lengths[i] > median) steps->outliers.push_back(i);
  }
}

bool StepsEndWithWait(const Run& run, const std::vector<Interval>& gaps, Nanos usual_length) {
  if (gaps.empty()) return false;
  std::vector<Interval> comm;
  for (std::uint32_t op = 0; op < run.trace.ops.size(); ++op) {
    if (run.IsComm(op)) comm.push_back({run.trace.ops.start[op], run.trace.ops.end[op]});
  }
  const IntervalSet busy = IntervalSet::Of(std::move(comm));
  std::vector<Nanos> waits;
  for (const Interval& gap : gaps) {
    const Nanos length = std::max<Nanos>(0, gap.Length());
    waits.push_back(length == 0 ? 0 : length - busy.OverlapWith(gap.start, gap.end));
  }
  return static_cast<double>(Median(std::move(waits))) >
         run.knowledge.Number("step.open_end") * static_cast<double>(usual_length);
}

Steps StepsFromRanges(const Run& run) {
  const RangeTable& ranges = run.trace.ranges;
  std::map<std::pair<std::uint32_t, std::string>, Candidate> families;
  for (std::uint32_t i = 0; i < ranges.size(); ++i) {
    if (!run.names.IsStepRange(ranges.name[i])) continue;
    const std::string& name = run.trace.strings[ranges.name[i]];
    Candidate& candidate = families[{ranges.thread[i], Family(name)}];
    candidate.thread = ranges.thread[i];
    candidate.family = Family(name);
    candidate.annotated = name.rfind("ProfilerStep", 0) == 0;
    candidate.rows.push_back(i);
  }
  const auto min_count = static_cast<std::size_t>(run.knowledge.Number("step.min_count"));
  Steps best;
  if (families.empty()) return best;
  const Computing computing(run);
  double best_score = 0;
  std::vector<Interval> best_gaps;  // between the device's steps; none where the host's are taken
  Nanos best_usual = 0;
  for (auto& [key, candidate] : families) {
    std::vector<Step> host;
    std::vector<Step> device;
    Nanos covered = 0;
    Nanos lag = 0;
    for (const std::uint32_t row : candidate.rows) {
      Step step{ranges.start[row], ranges.end[row]};
      if (!host.empty() && step.start < host.back().end) {
        // Nested in, or overlapping, the one before: a range that was never closed ends where the
        // next begins.
        if (step.start <= host.back().start) continue;
        host.back().end = step.start;
      }
      host.push_back(step);
    }
    bool by_others = true;
    std::vector<std::size_t> calls;
    for (const Step& step : host) {
      const Launched launched = computing.Of(candidate.thread, step.start, step.end);
      const Interval span = launched.span;
      by_others = by_others && launched.by_others;
      calls.push_back(launched.calls);
      if (span.end == 0) continue;
      device.push_back({span.start, span.end});
      covered += step.Length();
      lag = std::max(lag, span.start - step.start);
    }
    if (device.size() < min_count) continue;
    // A step lasts until the next begins: what lies between two ranges belongs to the loop as well.
    const Nanos period = MedianApart(host);
    const bool ahead =
        2 * lag > period;  // the host runs ahead: its clock says nothing of the GPU's steps
    std::vector<Step>& steps = ahead ? device : host;
    const Nanos usual = ahead ? MedianApart(steps) : period;
    std::vector<Interval> gaps;
    for (std::size_t i = 0; i + 1 < steps.size(); ++i) {
      gaps.push_back({steps[i].end, steps[i + 1].start});
      steps[i].end = steps[i + 1].start;
    }
    // Prefer annotations, then what covers most of the time, then the outermost (longest) family.
    const double score = (candidate.annotated ? 1e20 : 0) + static_cast<double>(covered) +
                         static_cast<double>(usual) * 1e-3;
    if (score <= best_score) continue;
    best_score = score;
    best.source = candidate.annotated ? "annotation" : "range";
    best.name = candidate.family;
    best.all = steps;
    best.thread = candidate.thread;
    best.handed_over = by_others && !AreAlike(calls);
    best_gaps = ahead ? std::move(gaps) : std::vector<Interval>();
    best_usual = usual;
  }
  if (best.all.size() > min_count && StepsEndWithWait(run, best_gaps, best_usual)) {
    best.all.pop_back();
  }
  SplitWarmup(run, &best);
  return best;
}

// The longest annotated step; 0 when the framework's profiler marked none.
Nanos LongestAnnotatedStep(const Run& run) {
  Nanos longest = 0;
  for (std::uint32_t i = 0; i < run.trace.ranges.size(); ++i) {
    const std::string& name = run.trace.strings[run.trace.ranges.name[i]];
    if (name.rfind("ProfilerStep", 0) != 0) continue;
    longest = std::max(longest, run.trace.ranges.end[i] - run.trace.ranges.start[i]);
  }
  return longest;
}

// Whether all work of the steps was launched inside one call of a module, as the profiler's python
// frames tell: then it is the module's layers that repeat.
bool InsideOneModule(const Run& run, const Steps& steps) {
  const RangeTable& frames = run.trace.python_frames;
  if (frames.size() == 0 || steps.all.empty()) return false;
  std::vector<Interval> launched(run.trace.threads.size());  // per thread: first and last launch
  for (std::uint32_t op = 0; op < run.trace.ops.size(); ++op) {
    const std::uint32_t call = run.trace.ops.call[op];
    const Nanos start = run.trace.ops.start[op];
    if (call == kNone || start < steps.all.front().start || start >= steps.all.back().end) continue;
    Interval& span = launched[run.trace.calls.thread[call]];
    const Nanos time = run.trace.calls.start[call];
    span = span.end == 0 ? Interval{time, time}
                         : Interval{std::min(span.start, time), std::max(span.end, time)};
  }
  for (std::size_t frame = 0; frame < frames.size(); ++frame) {
    const Interval& span = launched[frames.thread[frame]];
    if (span.end > span.start && frames.start[frame] <= span.start &&
        frames.end[frame] >= span.end &&
        run.trace.strings[frames.name[frame]].rfind("nn.Module: ", 0) == 0) {
      return true;
    }
  }
  return false;
}

Steps FindSteps(const Run& run) {
  const auto min_count = static_cast<std::size_t>(run.knowledge.Number("step.min_count"));
  Steps steps = StepsFromRanges(run);
  if (steps.handed_over) {
    // The work itself tells when its steps begin; the ranges only that there are some.
    Steps of_work = StepsFromPeriod(run);
    if (of_work.steady_count() >= min_count) return of_work;
  }
  if (steps.steady_count() < min_count) {
    steps = StepsFromPeriod(run);
    // What repeats inside one annotated step is a layer, not a step.
    if (2 * steps.Median() < LongestAnnotatedStep(run) || InsideOneModule(run, steps)) return {};
  }
  if (steps.steady_count() < min_count) return {};
  return steps;
}

}  // namespace advise
