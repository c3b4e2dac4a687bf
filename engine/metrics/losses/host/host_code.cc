#include "engine/metrics/losses/host/host_code.h"

#include <algorithm>
#include <functional>
#include <map>
#include <utility>

#include "engine/metrics/losses/host/delays.h"
#include "engine/metrics/losses/host/like_pauses.h"
#include "engine/metrics/losses/host/preemption.h"
#include "engine/timeline/compiling.h"
#include "engine/timeline/pause.h"
#include "engine/timeline/python_frames.h"

namespace advise {
namespace {

// While pages that the host touched move back to it: it waits for them, and runs no code.
IntervalSet PagesComingBack(const Run& run) {
  const OpTable& ops = run.trace.ops;
  std::vector<Interval> moves;
  for (std::uint32_t op = 0; op < ops.size(); ++op) {
    if (ops.kind[op] != OpKind::kCopy) continue;
    const std::uint32_t copy = ops.detail[op];
    if (run.trace.copies.direction[copy] == CopyDirection::kMigrationToHost &&
        run.trace.copies.cause[copy] == MigrationCause::kFault)
      moves.push_back({ops.start[op], ops.end[op]});
  }
  return IntervalSet::Of(std::move(moves));
}

class HostCodeFinder : Finder {
 public:
  HostCodeFinder(const Basis& basis, const std::vector<IntervalSet>& doubtful)
      : Finder(basis),
        doubtful_(doubtful),
        compiling_(CompilingPauses(basis.run)),
        away_(AwayFromCpu(basis)),
        faulting_(PagesComingBack(basis.run)),
        updates_(run_.names.Shapes([](const KernelClass& c) { return c.name == "optimizer"; })),
        own_frames_(basis.run) {}

  // Gaps in the loop, of code that no call and no range of a known purpose explains, and that may
  // not be the profiler's own; the innermost range says where to look. What counts is how long the
  // thread was at it, not how much of that the GPU was idle: a long pause is no launching.
  HostCode Find() {
    HostCode result;
    LossBuilder loss(basis_);
    const IntervalSet profiler = ProfilerSomewhere();
    LikePauses like(basis_);
    const auto long_gap = Time("launch.long_gap");
    const std::vector<Nanos> long_pauses = LongPauses(run_);
    std::map<std::string, double> names;
    SampledFunctions functions(trace_);
    OperatorsInCode operators(trace_);
    for (const GapPiece piece : basis_.idle.pieces) {
      if (piece.cause != IdleCause::kHostCompute) continue;
      if (!basis_.InLoop(piece.start)) continue;  // start-up is no habit
      if (IsDoubtful(piece)) continue;
      // The profiler's for half of it: it may have held this thread.
      if (2 * profiler.OverlapWith(piece.start, piece.end) >= piece.Length()) continue;
      const std::uint32_t thread = basis_.idle.ThreadOf(piece);
      // Without a CPU it runs no code.
      if (IsMostlyAway(away_, thread, piece.start, piece.end)) continue;
      const bool long_pause = thread != kNone && piece.Length() <= long_gap &&
                              PauseAround(run_, thread, piece.start).Length() > long_pauses[thread];
      if (piece.Length() <= long_gap && !long_pause) continue;
      loss.CountPiece(piece);
      if (thread == kNone) continue;
      CutCode(thread, piece.start, piece.end, &loss);
      functions.Add(thread, piece.start, piece.end);
      operators.Add(thread, piece.start, piece.end);
      like.Add(thread, piece.start);
      if (IsBeforeUpload(thread, piece.start)) {
        result.before_uploads_ns += piece.Length();
        if (IsBehindAnswer(thread, piece.start)) result.between_turns_ns += piece.Length();
      }
      names[NameAt(thread, piece.start + piece.Length() / 2)] +=
          static_cast<double>(piece.Length());
    }
    AddDelays(long_pauses, profiler, &result, &names, &functions, &operators, &like, &loss);
    for (const auto& [name, time] : names) {
      if (!name.empty()) result.ranges.push_back({name, time});
    }
    std::stable_sort(result.ranges.begin(), result.ranges.end(),
                     [](const NamedTime& a, const NamedTime& b) { return a.time_ns > b.time_ns; });
    result.sampled = trace_.samples.size() > 0;
    result.functions = functions.MostFirst();
    result.operators = operators.LongestFirst();
    // Code that the report does not show does not begin when the GPU runs out of work, and in other
    // steps the GPU may have had enough: all that the thread runs in its long pauses at these
    // places goes when it runs elsewhere.
    like.ForEach(long_pauses,
                 [&](std::uint32_t thread, const std::vector<HostPiece>&, const HostPiece& piece) {
                   if (CauseOf(piece) != IdleCause::kHostCompute) return;
                   const IntervalSet code = compiling_[thread].GapsWithin(piece.start, piece.end);
                   for (const Interval& part : code.intervals())
                     CutCode(thread, part.start, part.end, &loss);
                 });
    result.time = loss.Build();
    result.code_ns = TimeOf(result.time.remedy->host_cuts);
    for (const IntervalSet& lost : result.time.lost->by_device) {
      for (const Interval& i : lost.intervals())
        result.longest_ns = std::max(result.longest_ns, i.Length());
    }
    result.steps = FewestSteps(result.time);
    return result;
  }

 private:
  void CutCode(std::uint32_t thread, Nanos start, Nanos end, LossBuilder* loss) const {
    const IntervalSet code = faulting_.GapsWithin(start, end);
    for (const Interval& part : code.intervals()) loss->CutHost(thread, part.start, part.end);
  }

  // How few steps hold `host.most_in_steps` of the loss.
  std::size_t FewestSteps(const Loss& loss) const {
    const Steps& steps = run_.steps;
    if (!steps.known()) return 0;
    std::map<std::uint32_t, Nanos> of_step;
    for (const IntervalSet& lost : loss.lost->by_device) {
      for (const Interval& i : lost.intervals()) of_step[steps.At(i.start)] += i.Length();
    }
    std::vector<Nanos> parts;
    for (const auto& [step, part] : of_step) parts.push_back(part);
    std::sort(parts.begin(), parts.end(), std::greater<>());
    const double most = Number("host.most_in_steps") * static_cast<double>(loss.lost->Total());
    double held = 0;
    std::size_t count = 0;
    while (count < parts.size() && held < most) held += static_cast<double>(parts[count++]);
    return count;
  }

  // The same code while the GPU had work: the thread came late to what it did next, for which the
  // GPU idles, or waits for an upload.
  void AddDelays(const std::vector<Nanos>& long_pauses, const IntervalSet& profiler,
                 HostCode* result, std::map<std::string, double>* names,
                 SampledFunctions* functions, OperatorsInCode* operators, LikePauses* like,
                 LossBuilder* loss) const {
    if (!doubtful_.empty()) return;
    std::pair<std::uint32_t, Nanos> last{kNone, 0};  // one piece of code delays much that follows
    ForEachDelay(
        basis_,
        [&](std::uint32_t thread, const HostPiece& piece) {
          const Nanos length = piece.end - piece.start;
          return piece.activity == Activity::kCode && CauseOf(piece) == IdleCause::kHostCompute &&
                 length > long_pauses[thread] && basis_.InLoop(piece.start) &&
                 !IsMostlyAway(away_, thread, piece.start, piece.end) &&
                 compiling_[thread].OverlapWith(piece.start, piece.end) == 0 &&
                 2 * profiler.OverlapWith(piece.start, piece.end) < length;
        },
        [&](const Delay& delay) {
          loss->AddSpan(delay.device, delay.idle.start, delay.idle.end);
          CutCode(delay.thread, delay.piece.start, delay.piece.end, loss);
          like->Add(delay.thread, delay.piece.start);
          const Nanos length = delay.idle.Length();
          const Nanos start = delay.piece.start;
          (*names)[NameAt(delay.thread, start + (delay.piece.end - start) / 2)] +=
              static_cast<double>(length);
          if (std::exchange(last, {delay.thread, start}) != std::pair{delay.thread, start}) {
            functions->Add(delay.thread, start, delay.piece.end);
            operators->Add(delay.thread, start, delay.piece.end);
          }
          if (delay.upload) result->late_uploads_ns += length;
          if (IsBeforeUpload(delay.thread, start)) {
            result->before_uploads_ns += length;
            if (IsBehindAnswer(delay.thread, start)) result->between_turns_ns += length;
          }
        });
  }

  // Whether the thread's next call copies data to the GPU.
  bool IsBeforeUpload(std::uint32_t thread, Nanos time) const {
    const std::uint32_t call = NextCall(run_, thread, time);
    const std::uint32_t op = call == kNone ? kNone : run_.first_op_of_call[call];
    return op != kNone && trace_.ops.kind[op] == OpKind::kCopy &&
           trace_.DirectionOfCopy(op) == CopyDirection::kHostToDevice;
  }

  // Whether what the thread did last with the GPU was to take the result of its last upload, for
  // which no weights were updated: the code may need that result, as an environment needs actions.
  bool IsBehindAnswer(std::uint32_t thread, Nanos time) const {
    const RowRange rows = run_.calls_of_thread[thread];
    const std::uint32_t next = NextCall(run_, thread, time);
    std::uint32_t call = next == kNone ? rows.last : next;
    std::uint32_t op = kNone;
    while (op == kNone && call > rows.first) op = run_.first_op_of_call[--call];
    const auto copies = [this](std::uint32_t one, CopyDirection direction) {
      return trace_.ops.kind[one] == OpKind::kCopy && trace_.DirectionOfCopy(one) == direction;
    };
    if (op == kNone || !copies(op, CopyDirection::kDeviceToHost)) return false;
    constexpr int kTries = 1 << 12;  // ops: more than a pass has, and few enough for each pause
    const std::vector<std::uint32_t>& ops = run_.ops_of_device[trace_.ops.device[op]];
    auto at = std::lower_bound(ops.begin(), ops.end(), op);
    for (int tries = 0; at != ops.begin() && tries < kTries; ++tries) {
      --at;
      if (copies(*at, CopyDirection::kHostToDevice)) return true;
      if (trace_.ops.kind[*at] == OpKind::kKernel && updates_.Has(trace_.ops.detail[*at]))
        return false;
    }
    return false;
  }

  bool IsDoubtful(const GapPiece& piece) const {
    return !doubtful_.empty() &&
           doubtful_[piece.device].OverlapWith(piece.start, piece.end) == piece.Length();
  }

  // In the window. A thread that waits for another, as forward for backward passes, shows no calls
  // either: beyond one thread per device, what lies side by side counts once.
  Nanos TimeOf(const std::vector<Remedy::HostCut>& cuts) const {
    const Window& window = run_.window;
    Nanos sum = 0;
    std::vector<Interval> all;
    for (const Remedy::HostCut& cut : cuts) {
      const IntervalSet inside = cut.when.Clip(window.start, window.end);
      sum += inside.Total();
      all.insert(all.end(), inside.intervals().begin(), inside.intervals().end());
    }
    const auto devices = static_cast<Nanos>(run_.active_devices.size());
    return std::min(sum, devices * IntervalSet::Of(std::move(all)).Total());
  }

  // When the profiler worked, in formats that do not say on which thread.
  IntervalSet ProfilerSomewhere() const {
    const OverheadTable& overheads = trace_.overheads;
    std::vector<Interval> when;
    for (std::size_t i = 0; i < overheads.size(); ++i) {
      if (overheads.thread[i] == kNone) when.push_back({overheads.start[i], overheads.end[i]});
    }
    return IntervalSet::Of(std::move(when));
  }

  // The innermost range around that time, or rather a line of the program, which says more; "" of
  // neither.
  std::string NameAt(std::uint32_t thread, Nanos time) const {
    std::string frame = InnermostOwnFrame(thread, time);
    return frame.empty() ? trace_.strings[InnermostRange(run_, thread, time)] : frame;
  }

  // Of the python functions open at that time, the innermost of the program's own files.
  std::string InnermostOwnFrame(std::uint32_t thread, Nanos time) const {
    const RangeTable& frames = trace_.python_frames;
    if (frames.size() == 0) return "";
    if (frames_of_thread_.empty()) {
      frames_of_thread_ = RowsByThread(frames.thread, trace_.threads.size());
    }
    constexpr int kTries = 1 << 14;  // calls that came and went since the function began
    const auto first = frames.start.begin() + frames_of_thread_[thread].first;
    auto at = std::upper_bound(first, frames.start.begin() + frames_of_thread_[thread].last, time);
    for (int tries = 0; at != first && tries < kTries; ++tries) {
      const auto row = static_cast<std::size_t>(--at - frames.start.begin());
      if (frames.end[row] <= time) continue;
      if (own_frames_.Has(frames.name[row])) return trace_.strings[frames.name[row]];
    }
    return "";
  }

  const std::vector<IntervalSet>& doubtful_;
  const std::vector<IntervalSet> compiling_;
  const std::vector<IntervalSet> away_;
  const IntervalSet faulting_;
  const ShapeSet updates_;
  mutable std::vector<RowRange> frames_of_thread_;
  mutable OwnPythonFrames own_frames_;
};

}  // namespace

HostCode FindHostCode(const Basis& basis, const std::vector<IntervalSet>& doubtful) {
  return HostCodeFinder(basis, doubtful).Find();
}

}  // namespace advise
