#include "engine/timeline/step.h"

#include <algorithm>
#include <cmath>

#include "engine/base/ascii.h"
#include "engine/base/median.h"
#include "engine/timeline/layers.h"
#include "engine/timeline/standstill.h"

namespace advise {

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

Nanos Steps::Mean() const {
  if (all.size() <= first_steady) return 0;
  Nanos sum = 0;
  for (std::size_t i = first_steady; i < all.size(); ++i) sum += all[i].Length();
  return sum / static_cast<Nanos>(all.size() - first_steady);
}

namespace {

// Steps in which such calls were made before their work could start.
std::vector<std::uint8_t> StepsBehind(const Run& run, const Steps& steps,
                                      bool (*is_such)(CallClass)) {
  std::vector<std::uint8_t> found(steps.all.size(), 0);
  for (const std::uint32_t thread : run.launching_threads) {
    bool pending = false;
    for (const std::uint32_t call : run.calls_of_thread[thread]) {
      pending = pending || is_such(run.ClassOfCall(call));
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
      found[at] = 1;
      // The device waited for the first op of a step at the end of the step before.
      if (at > 0 && steps.all[at].start == start) found[at - 1] = 1;
    }
  }
  return found;
}

// Steps in which code was loaded or compiled, or memory allocated, where those from `later` on do
// without. Each counts by itself: a loop that goes on compiling may allocate at its start only.
std::vector<std::uint8_t> ColdSteps(const Run& run, const Steps& steps, std::size_t later) {
  const double most =
      run.knowledge.Number("step.late_cold") * static_cast<double>(steps.all.size() - later);
  std::vector<std::uint8_t> cold(steps.all.size(), 0);
  for (const auto is_such : {IsCodeLoading, IsAllocation}) {
    const std::vector<std::uint8_t> found = StepsBehind(run, steps, is_such);
    const auto late =
        std::count(found.begin() + static_cast<std::ptrdiff_t>(later), found.end(), 1);
    if (static_cast<double>(late) > most) continue;
    for (std::size_t i = 0; i < cold.size(); ++i) cold[i] = std::max(cold[i], found[i]);
  }
  return cold;
}

// How long the devices do nothing in each step, on average.
std::vector<Nanos> IdleOf(const Run& run, const Steps& steps) {
  std::vector<Nanos> idle(steps.all.size(), 0);
  const OpTable& ops = run.trace.ops;
  for (const std::uint32_t device : run.active_devices) {
    std::vector<Interval> works;
    for (const std::uint32_t op : run.ops_of_device[device])
      works.push_back({ops.start[op], ops.end[op]});
    const IntervalSet busy = IntervalSet::Of(std::move(works));
    for (std::size_t i = 0; i < idle.size(); ++i)
      idle[i] += steps.all[i].Length() - busy.OverlapWith(steps.all[i].start, steps.all[i].end);
  }
  const auto devices = static_cast<Nanos>(std::max<std::size_t>(1, run.active_devices.size()));
  for (Nanos& one : idle) one /= devices;
  return idle;
}

// What is usual among the lengths of steps.
struct UsualLength {
  std::vector<Nanos> lengths;
  Nanos median = 0;
  double band = 0;  // those further from the median are unusual
};

UsualLength UsualOf(const Run& run, const Steps& steps) {
  UsualLength usual;
  for (const Step& step : steps.all) usual.lengths.push_back(step.Length());
  usual.median = Median(usual.lengths);
  const Nanos deviation = MedianDeviation(usual.lengths, usual.median);
  usual.band =
      std::max(run.knowledge.Number("step.band_mads") * static_cast<double>(deviation),
               run.knowledge.Number("step.band_share") * static_cast<double>(usual.median));
  return usual;
}

// Steps that take far longer than the median one. What uneven steps are asked for makes them long:
// there, those in which the devices do nothing for so much longer.
void FindOutliers(const Run& run, const UsualLength& usual, Steps* steps) {
  std::vector<Nanos> idle;
  if (steps->uneven) idle = IdleOf(run, *steps);
  const Nanos middle = steps->uneven ? Median(idle) : usual.median;
  const std::vector<Nanos>& times = steps->uneven ? idle : usual.lengths;
  steps->outliers.clear();
  for (std::size_t i = steps->first_steady; i < times.size(); ++i) {
    if (static_cast<double>(times[i] - middle) > usual.band) steps->outliers.push_back(i);
  }
}

}  // namespace

void SplitWarmup(const Run& run, const std::vector<Nanos>& waits, Steps* steps) {
  steps->first_steady = 0;
  steps->outliers.clear();
  if (steps->all.size() < 3) return;
  const UsualLength usual = UsualOf(run, *steps);
  const std::vector<Nanos>& lengths = usual.lengths;
  const Nanos median = usual.median;
  const auto outside = [&](std::size_t i, Nanos waited = 0) {
    return std::abs(static_cast<double>(lengths[i] - waited - median)) > usual.band;
  };
  const std::size_t most = lengths.size() / 2;
  const std::vector<std::uint8_t> cold = ColdSteps(run, *steps, most);
  // A shorter step or two are cut off by the start of the capture; when more of them come in the
  // first half, whatever lies between them, the run became slower.
  const auto most_cut_off = run.knowledge.CountOf("step.cut_off");
  std::size_t shorter = 0;
  for (std::size_t i = 0; i < most; ++i) shorter += outside(i) && lengths[i] < median ? 1 : 0;
  const auto leads = [&](std::size_t i) {
    const bool unusual = !steps->uneven && outside(i, i < waits.size() ? waits[i] : 0) &&
                         (lengths[i] > median || shorter <= most_cut_off);
    return unusual || cold[i] != 0;
  };
  // Warm-up leads the run; it never takes more than half of the steps, and ends with the first two
  // usual ones. A slow step behind a usual first one is none, unless it loads code.
  for (std::size_t i = 0; i < most; ++i) {
    if (leads(i)) steps->first_steady = i + 1;
    if (leads(i) || i + 1 >= most) continue;
    const bool goes_on = i == 0 ? cold[1] != 0 : leads(i + 1);
    if (!goes_on) break;
  }
  // What is done for the first time may come a few steps later, where the first steps are short
  // ones; a long run's evaluation that loads its own code is none of it.
  const double late = run.knowledge.Number("step.late_warmup");
  const auto last = static_cast<std::size_t>(late * static_cast<double>(lengths.size()));
  for (std::size_t i = steps->first_steady; i < last; ++i) {
    if (cold[i] != 0 && outside(i) && lengths[i] > median) steps->first_steady = i + 1;
  }
  FindOutliers(run, usual, steps);
}

void BeginSteadyAt(const Run& run, std::size_t first, Steps* steps) {
  steps->first_steady = first;
  FindOutliers(run, UsualOf(run, *steps), steps);
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

std::vector<std::uint8_t> HostMeets(const Run& run, const std::vector<Nanos>& opened,
                                    bool data_only, std::uint32_t only) {
  if (opened.size() < 2) return {};
  const Trace& trace = run.trace;
  std::vector<std::uint8_t> met(opened.size() - 1, 0);
  const auto meets = [&](Nanos when) {
    if (when < opened.front() || when >= opened.back()) return;
    met[static_cast<std::size_t>(std::upper_bound(opened.begin(), opened.end(), when) -
                                 opened.begin()) -
        1] = 1;
  };
  const auto polls = run.knowledge.CountOf("step.poll_queries");
  for (const std::uint32_t thread : run.launching_threads) {
    if (only != kNone && thread != only) continue;
    const RowRange calls = run.calls_of_thread[thread];
    std::size_t asked = 0;  // in a row
    for (const std::uint32_t call : calls) {
      asked = run.ClassOfCall(call) == CallClass::kQuery ? asked + 1 : 0;
      if (asked == polls && !data_only) meets(trace.calls.start[call]);
      const std::uint32_t op = run.first_op_of_call[call];
      const bool copy = op != kNone && trace.ops.kind[op] == OpKind::kCopy;
      const CopyDirection direction = copy ? trace.DirectionOfCopy(op) : CopyDirection::kUnknown;
      const bool takes = direction == CopyDirection::kHostToDevice;
      const bool gives = direction == CopyDirection::kDeviceToHost;
      if (takes || (!data_only && (gives || IsSync(run.ClassOfCall(call)))))
        meets(trace.calls.start[call]);
    }
    const RowRange messages = run.mpi_of_thread[thread];
    for (std::uint32_t i = messages.first; i < messages.last && !data_only; ++i) {
      if (MovesData(trace.mpi.kind[i])) meets(trace.mpi.start[i]);
    }
  }
  return met;
}

double HostTakesPart(const Run& run, std::vector<Nanos> opened, bool data_only) {
  if (opened.size() < 2) return 1;
  std::sort(opened.begin(), opened.end());
  const std::vector<std::uint8_t> met = HostMeets(run, opened, data_only);
  return static_cast<double>(std::count(met.begin(), met.end(), 1)) /
         static_cast<double>(met.size());
}

// The longest step that the framework's profiler marked, or a range with the step's number; or the
// usual one of several ranges called steps that launch most of the work; 0 where there is none.
Nanos LongestMarkedStep(const Run& run) {
  const MarkedSteps marked = FindMarkedSteps(run);
  const bool most = marked.count >= 2 && 2 * marked.launches > LaunchingCalls(run);
  Nanos longest = most ? marked.usual : 0;
  const auto marks = [&](StringId name) {
    const std::string& text = run.trace.strings[name];
    return run.names.IsAnnotatedStep(name) ||
           (run.names.IsStepRange(name) && !text.empty() && IsDigit(text.back()));
  };
  for (std::uint32_t i = 0; i < run.trace.ranges.size(); ++i) {
    if (!marks(run.trace.ranges.name[i])) continue;
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

// The GPUs' work in the steady steps, summed over streams. What stands in an outlier of steps that
// are alike repeats nothing.
double Covered(const Run& run, const Steps& steps) {
  if (!steps.known()) return 0;
  double work = 0;
  for (std::uint32_t op = 0; op < run.trace.ops.size(); ++op) {
    const std::uint32_t step = steps.At(run.trace.ops.start[op]);
    if (step == kNone || step < steps.first_steady) continue;
    if (!steps.uneven && steps.IsOutlier(step)) continue;
    work += static_cast<double>(run.trace.ops.end[op] - run.trace.ops.start[op]);
  }
  return work;
}

// Ranges without a number that come several times for each update of the weights are of batches
// whose gradients are added up: then a step reaches from update to update.
Steps WithoutMicroBatches(const Run& run, Steps marked) {
  if (marked.source != "range" || marked.name.find('#') != std::string::npos) return marked;
  Steps updates = StepsFromUpdates(run);
  const bool known = updates.steady_count() >= run.knowledge.CountOf("step.min_count");
  return known && AreParts(run, marked, updates) ? updates : marked;
}

Steps StepsOfPeer(const Run& run, const Steps& peer) {
  std::vector<std::uint8_t> meets(peer.all.size(), 0);
  for (std::uint32_t op = 0; op < run.trace.ops.size(); ++op) {
    if (!run.IsComm(op)) continue;
    const std::uint32_t step = peer.At(run.trace.ops.start[op]);
    if (step != kNone) meets[step] = 1;
  }
  const auto met = std::count(meets.begin(), meets.end(), 1);
  if (2 * static_cast<std::size_t>(met) <= peer.all.size()) return {};
  Steps steps;
  steps.source = "period";
  steps.name = peer.name;
  steps.all = peer.all;
  steps.of_device = true;
  steps.uneven = peer.uneven;
  SplitWarmup(run, {}, &steps);
  return steps;
}

Steps FindSteps(const Run& run, const Steps* peer) {
  const auto min_count = run.knowledge.CountOf("step.min_count");
  const double enough = run.knowledge.Number("step.period_cover");
  Steps steps = WithoutMicroBatches(run, StepsFromRanges(run));
  std::string why_layers;
  std::vector<Step> offloaded;
  if (steps.handed_over) {
    // The work itself tells when its steps begin; the ranges only that there are some.
    Steps of_work = StepsFromPeriod(run, steps.named);
    if (of_work.steady_count() >= min_count) return of_work;
  }
  if (steps.steady_count() < min_count) steps = StepsFromOtherRanges(run);
  if (steps.steady_count() < min_count) {
    steps = StepsFromPeriod(run);
    // What repeats inside one marked step is a layer, not a step.
    if (2 * steps.Median() < LongestMarkedStep(run) || InsideOneModule(run, steps)) steps = {};
    why_layers = WhyLayers(run, steps);
    if (AreUploadedLayers(run, steps)) offloaded = steps.all;
    if (!why_layers.empty()) steps = {};
    // Where only some of the work repeats, the answers tell the steps of a server.
    Steps answered = StepsFromAnswers(run);
    const bool known = answered.steady_count() >= min_count;
    if (known && Covered(run, steps) < enough * Covered(run, answered)) return answered;
    Steps trained = StepsFromTraining(run);
    if (trained.steady_count() >= min_count && steps.known() && AreParts(run, steps, trained))
      steps = std::move(trained);
  }
  if (steps.steady_count() < min_count) steps = StepsFromUpdates(run);
  if (steps.steady_count() < min_count && peer != nullptr) steps = StepsOfPeer(run, *peer);
  // The clocks of host and GPU jumped apart: nothing tells when a step was.
  if (std::any_of(steps.all.begin(), steps.all.end(),
                  [](const Step& step) { return step.end < step.start; })) {
    return {};
  }
  if (steps.steady_count() >= min_count) {
    LeaveOutStandstill(run, &steps);
    return steps;
  }
  Steps none;
  none.why_layers = std::move(why_layers);
  none.offloaded = std::move(offloaded);
  return none;
}

}  // namespace advise
