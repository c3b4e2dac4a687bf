#include "engine/metrics/losses/step_stats.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <map>
#include <set>
#include <utility>

#include "engine/metrics/losses/rhythm.h"

namespace advise {
namespace {

constexpr const char* kMoreWork = "more work on the GPU";

class StepFinder {
 public:
  StepFinder(const Basis& basis, const Phases& phases)
      : basis_(basis),
        run_(basis.run),
        trace_(basis.run.trace),
        phases_(phases),
        median_(run_.steps.Median()) {}

  StepStats Find() {
    result_.outlier = LossBuilder(basis_).Build();
    result_.stall = LossBuilder(basis_).Build();
    if (!run_.steps.known()) return std::move(result_);
    Jitter();
    Drift();
    Warmup();
    Outliers();
    Phased();
    return std::move(result_);
  }

 private:
  const std::vector<Step>& Steps() const { return run_.steps.all; }

  void Jitter() {
    std::vector<double> lengths;
    for (std::size_t i = run_.steps.first_steady; i < Steps().size(); ++i) {
      lengths.push_back(static_cast<double>(Steps()[i].Length()));
    }
    std::sort(lengths.begin(), lengths.end());
    if (lengths.size() < 4 || median_ <= 0) return;
    result_.jitter = (lengths[lengths.size() * 3 / 4] - lengths[lengths.size() / 4]) /
                     static_cast<double>(median_);
  }

  void Drift() {
    std::vector<double> lengths;
    for (std::size_t i = run_.steps.first_steady; i < run_.steps.all.size(); ++i) {
      if (run_.steps.IsOutlier(i)) continue;
      lengths.push_back(static_cast<double>(run_.steps.all[i].Length()));
    }
    const std::size_t third = lengths.size() / 3;
    if (third < static_cast<std::size_t>(run_.knowledge.Number("step.drift_steps"))) return;
    const auto from = [&](std::size_t first) {
      const auto at = lengths.begin() + static_cast<std::ptrdiff_t>(first);
      return Median(std::vector<double>(at, at + static_cast<std::ptrdiff_t>(third)));
    };
    const double early = from(0);
    if (early > 0) result_.drift = from(lengths.size() - third) / early - 1;
    // Two kinds: the widest relative distance between neighbours, away from the ends.
    std::sort(lengths.begin(), lengths.end());
    const double least = run_.knowledge.Number("step.kind_share");
    const auto edge = std::max<std::size_t>(
        1, static_cast<std::size_t>(least * static_cast<double>(lengths.size())));
    double widest = 0;
    for (std::size_t i = edge; i + edge <= lengths.size(); ++i) {
      const double ratio = lengths[i - 1] > 0 ? lengths[i] / lengths[i - 1] : 0;
      if (ratio <= widest) continue;
      widest = ratio;
      result_.two_kinds_share =
          static_cast<double>(lengths.size() - i) / static_cast<double>(lengths.size());
      result_.two_kinds_ratio = ratio;
    }
  }

  // What the leading slow steps did that the others do not: host time by kind of call.
  void Warmup() {
    double compiling = 0;
    double allocating = 0;
    for (std::size_t i = 0; i < run_.steps.first_steady; ++i) {
      result_.warmup_excess_ns +=
          static_cast<double>(std::max<Nanos>(0, Steps()[i].Length() - median_));
    }
    if (run_.steps.first_steady == 0) return;
    const Nanos end = Steps()[run_.steps.first_steady - 1].end;
    for (std::uint32_t c = 0; c < trace_.calls.size(); ++c) {
      if (trace_.calls.start[c] >= end || trace_.calls.start[c] < Steps().front().start) continue;
      const CallClass call_class = run_.ClassOfCall(c);
      const auto length = static_cast<double>(trace_.calls.end[c] - trace_.calls.start[c]);
      if (IsCodeLoading(call_class)) compiling += length;
      if (IsAllocation(call_class)) allocating += length;
    }
    const double excess = result_.warmup_excess_ns;
    const double least = run_.knowledge.Number("step.warmup_share") * excess;
    result_.warmup_cause = compiling >= allocating && compiling > least
                               ? "loading and compiling GPU code"
                           : allocating > least ? "allocating memory"
                                                : "first-time work on the host";
  }

  // A copy by direction and size (to a power of two).
  using CopyClass = std::pair<CopyDirection, long>;
  CopyClass ClassOfCopy(std::uint32_t op) const {
    const std::uint32_t row = trace_.ops.detail[op];
    const auto bytes = static_cast<double>(std::max<std::int64_t>(0, trace_.copies.bytes[row]));
    return {trace_.copies.direction[row], std::lround(std::log2(1.0 + bytes))};
  }

  struct UsualCopies {
    std::set<CopyClass> in_steps;  // that at least half of the steady steps make
    // Uploads that are half as many as the steps: a host that ran ahead sends the batches of many
    // steps in one go.
    std::set<CopyClass> in_bursts;
  };
  UsualCopies FindUsualCopies() const {
    std::map<CopyClass, std::set<std::size_t>> steps_with;
    std::map<CopyClass, std::size_t> uploads;
    for (const auto& [op, step] : CopiesOfSteps()) {
      const CopyClass kind = ClassOfCopy(op);
      steps_with[kind].insert(step);
      if (kind.first == CopyDirection::kHostToDevice) ++uploads[kind];
    }
    UsualCopies usual;
    for (const auto& [kind, steps] : steps_with) {
      if (2 * steps.size() >= run_.steps.steady_count()) usual.in_steps.insert(kind);
    }
    for (const auto& [kind, count] : uploads) {
      if (2 * count >= run_.steps.steady_count()) usual.in_bursts.insert(kind);
    }
    return usual;
  }

  // Copies that most steps do not make and that may go on beside the loop, as those of a checkpoint
  // do. Where a step sends about as much back, it needs what it sends, and waits for all of it.
  std::vector<std::uint32_t> ExtraCopiesToHide() const {
    const UsualCopies usual = FindUsualCopies();
    struct OfStep {
      std::vector<std::uint32_t> copies;
      double down = 0;
      double up = 0;
    };
    std::map<std::size_t, OfStep> steps;
    for (const auto& [op, step] : CopiesOfSteps()) {
      const CopyClass kind = ClassOfCopy(op);
      if (usual.in_steps.contains(kind)) continue;
      OfStep& of = steps[step];
      if (!usual.in_bursts.contains(kind)) of.copies.push_back(op);
      const std::uint32_t row = trace_.ops.detail[op];
      const auto bytes = static_cast<double>(std::max<std::int64_t>(0, trace_.copies.bytes[row]));
      if (trace_.copies.direction[row] == CopyDirection::kDeviceToHost) of.down += bytes;
      if (trace_.copies.direction[row] == CopyDirection::kHostToDevice) of.up += bytes;
    }
    const double back = run_.knowledge.Number("step.sent_back");
    std::vector<std::uint32_t> extra;
    for (const auto& [step, of] : steps) {
      if (std::min(of.down, of.up) >= back * std::max(of.down, of.up) && of.up > 0) continue;
      extra.insert(extra.end(), of.copies.begin(), of.copies.end());
    }
    return extra;
  }

  // Copies inside steady steps, with the step's number.
  std::vector<std::pair<std::uint32_t, std::size_t>> CopiesOfSteps() const {
    std::vector<std::pair<std::uint32_t, std::size_t>> copies;
    std::size_t step = run_.steps.first_steady;
    for (std::uint32_t op = 0; op < trace_.ops.size(); ++op) {
      while (step < Steps().size() && trace_.ops.start[op] >= Steps()[step].end) ++step;
      if (step == Steps().size()) break;
      if (trace_.ops.kind[op] == OpKind::kCopy && trace_.ops.start[op] >= Steps()[step].start)
        copies.emplace_back(op, step);
    }
    return copies;
  }

  // The extra copies could run beside the kernels, and hold no thread, when they go to pinned
  // memory on a stream of their own. Returns the time in which only they run.
  Nanos ExtraCopies(const Step& step, LossBuilder* loss) const {
    Nanos exposed = 0;
    for (const std::uint32_t op : extra_copies_) {
      if (trace_.ops.start[op] < step.start || trace_.ops.start[op] >= step.end) continue;
      loss->AddExposed(op);
      exposed += basis_.times[trace_.ops.device[op]].copy_exposed.OverlapWith(trace_.ops.start[op],
                                                                              trace_.ops.end[op]);
      loss->remedy().detached_ops.push_back(op);
      if (trace_.ops.call[op] != kNone)
        loss->remedy().unblocked_calls.push_back(trace_.ops.call[op]);
    }
    return exposed / static_cast<Nanos>(run_.active_devices.size());
  }

  // What each of these steps copies to the host and a usual step does not, in bytes.
  double ExtraDownloads(const std::vector<std::size_t>& steps) const {
    double bytes = 0;
    for (const std::uint32_t op : extra_copies_) {
      const std::uint32_t row = trace_.ops.detail[op];
      if (trace_.copies.direction[row] != CopyDirection::kDeviceToHost) continue;
      const bool inside = std::any_of(steps.begin(), steps.end(), [&](std::size_t i) {
        return trace_.ops.start[op] >= Steps()[i].start && trace_.ops.start[op] < Steps()[i].end;
      });
      if (inside) bytes += static_cast<double>(std::max<std::int64_t>(0, trace_.copies.bytes[row]));
    }
    return bytes / static_cast<double>(steps.size());
  }

  // How long the first device idles in a step for somebody's doing, and in a usual one.
  Nanos IdleIn(const Step& step) const {
    const std::uint32_t device = run_.active_devices.front();
    return basis_.times[device].idle.OverlapWith(step.start, step.end) - WithoutWork(step);
  }
  Nanos UsualIdle() const {
    std::vector<Nanos> idle;
    for (std::size_t i = run_.steps.first_steady; i < Steps().size(); ++i) {
      if (!run_.steps.IsOutlier(i)) idle.push_back(IdleIn(Steps()[i]));
    }
    return Median(std::move(idle));
  }

  // What a step took beyond the median: its extra copies, then the idle time that usual steps do
  // not have, in its longest gaps.
  void Excess(const Step& step, LossBuilder* loss, std::map<std::string, double>* what) {
    Nanos left = step.Length() - WithoutWork(step) - median_;
    loss->Count(step.start, 0, left);
    const Nanos copying = std::min(left, ExtraCopies(step, loss));
    left -= copying;
    if (copying > 0) (*what)["copies that other steps do not make"] += static_cast<double>(copying);
    Nanos idle = std::min(left, std::max<Nanos>(0, IdleIn(step) - usual_idle_));
    left -= idle;
    std::vector<GapPiece> pieces;
    const GapPieces& all = basis_.idle.pieces;
    const std::uint32_t device = run_.active_devices.front();
    for (std::size_t i = all.FirstEndingAfter(device, step.start); i < all.size(); ++i) {
      const GapPiece piece = all[i];
      if (piece.device != device || piece.start >= step.end) break;
      if (piece.start >= step.start) pieces.push_back(piece);
    }
    std::stable_sort(pieces.begin(), pieces.end(),
                     [](const GapPiece& a, const GapPiece& b) { return a.Length() > b.Length(); });
    for (const GapPiece& piece : pieces) {
      if (idle <= 0) break;
      if (piece.cause == IdleCause::kNoWorkQueued) continue;  // nobody's doing
      const Nanos part = std::min(idle, piece.Length());
      idle -= part;
      for (const std::uint32_t d : run_.active_devices) {
        const IntervalSet idles = basis_.times[d].idle.Clip(piece.end - part, piece.end);
        for (const Interval& i : idles.intervals()) loss->AddSpan(d, i.start, i.end);
      }
      const std::uint32_t thread = basis_.idle.ThreadOf(piece);
      (*what)[Describe(piece)] += static_cast<double>(part);
      if (thread == kNone) continue;
      IntervalSet cut;
      cut.Append(piece.end - part, piece.end);
      loss->remedy().host_cuts.push_back({thread, std::move(cut)});
    }
    // What is not idle is extra work: ops that the median step does not have are not known, so it
    // stays unclaimed.
    if (left > 0) (*what)[kMoreWork] += static_cast<double>(left);
  }

  static std::string Describe(const GapPiece& piece) {
    if (piece.phase >= Phase::kEvaluation) return PhaseName(piece.phase);
    switch (piece.cause) {
      case IdleCause::kDataLoading:
        return "data loading";
      case IdleCause::kFileIo:
        return "file calls";
      case IdleCause::kHostSync:
        return "synchronization calls";
      case IdleCause::kAllocation:
        return "memory allocation";
      case IdleCause::kJitOrModuleLoad:
        return "compiling or loading code";
      case IdleCause::kHostWait:
        return "waiting in the OS";
      case IdleCause::kProfilerOverhead:
        return "the profiler";
      default:
        return "host code";
    }
  }

  // What the step takes longer than the median one, without the time in which it had nothing to do.
  Nanos Beyond(std::size_t step) const {
    return Steps()[step].Length() - WithoutWork(Steps()[step]) - median_;
  }

  // How long the first device had nobody to work for in a step.
  Nanos WithoutWork(const Step& step) const {
    const GapPieces& all = basis_.idle.pieces;
    const std::uint32_t device = run_.active_devices.front();
    Nanos without = 0;
    for (std::size_t i = all.FirstEndingAfter(device, step.start); i < all.size(); ++i) {
      const GapPiece piece = all[i];
      if (piece.device != device || piece.start >= step.end) break;
      if (piece.cause == IdleCause::kNoWorkQueued)
        without += std::min(piece.end, step.end) - std::max(piece.start, step.start);
    }
    return without;
  }

  // The slow steps, but for those that mostly waited for a request or for a person.
  std::vector<std::size_t> SlowSteps() const {
    std::vector<std::size_t> slow;
    for (const std::size_t i : run_.steps.outliers) {
      if (2 * Beyond(i) >= Steps()[i].Length() - median_) slow.push_back(i);
    }
    return slow;
  }

  // What these steps lose, and what fills it.
  Loss Slow(const std::vector<std::size_t>& steps, double* excess, std::string* mostly,
            double* busy) {
    LossBuilder loss(basis_);
    std::map<std::string, double> total;
    for (const std::size_t i : steps) {
      std::map<std::string, double> what;
      Excess(Steps()[i], &loss, &what);
      *excess += static_cast<double>(Beyond(i));
      result_.outliers.push_back({i, static_cast<double>(Steps()[i].Length()),
                                  static_cast<double>(median_), Largest(what)});
      for (const auto& [name, time] : what) total[name] += time;
    }
    *mostly = Largest(total);
    *busy = total[kMoreWork];
    return loss.Build();
  }

  void Outliers() {
    const std::vector<std::size_t> slow = SlowSteps();
    if (slow.empty()) return;
    extra_copies_ = ExtraCopiesToHide();
    usual_idle_ = UsualIdle();
    std::vector<SlowStep> longer;
    for (const std::size_t i : slow) longer.push_back({i, Beyond(i)});
    const Rhythm rhythm =
        FindRhythm(longer, run_.steps.first_steady, Steps().size(), run_.knowledge);
    result_.stall_every = rhythm.every;
    const std::vector<std::size_t>& regular = rhythm.steps;
    std::vector<std::size_t> single;
    std::set_difference(slow.begin(), slow.end(), regular.begin(), regular.end(),
                        std::back_inserter(single));
    std::string mostly;
    double busy = 0;
    if (!regular.empty())
      result_.stall = Slow(regular, &result_.stall_excess_ns, &result_.stall_what, &busy);
    if (!regular.empty()) result_.stall_bytes = ExtraDownloads(regular);
    if (result_.stall_excess_ns > 0) result_.stall_gpu_share = busy / result_.stall_excess_ns;
    if (!single.empty()) {
      result_.outliers.clear();  // the rows are of what the finding speaks of
      result_.outlier = Slow(single, &result_.outlier_excess_ns, &mostly, &busy);
    }
    std::stable_sort(
        result_.outliers.begin(), result_.outliers.end(),
        [](const OutlierRow& a, const OutlierRow& b) { return a.time_ns > b.time_ns; });
  }

  static std::string Largest(const std::map<std::string, double>& what) {
    std::string name;
    double most = 0;
    for (const auto& [n, time] : what) {
      if (time > most) most = time, name = n;
    }
    return name;
  }

  void Phased() {
    const auto steps = static_cast<double>(run_.steps.steady_count());
    const auto devices = static_cast<double>(std::max<std::size_t>(1, run_.active_devices.size()));
    for (std::uint32_t op = 0; op < trace_.ops.size(); ++op) {
      if (!basis_.InWindow(trace_.ops.start[op]) || run_.IsComm(op)) continue;
      const Phase phase = phases_.OfOp(run_, op);
      const auto length =
          static_cast<double>(trace_.ops.end[op] - trace_.ops.start[op]) / steps / devices;
      if (phase == Phase::kForward) result_.forward_gpu_ns += length;
      if (phase == Phase::kBackward) result_.backward_gpu_ns += length;
    }
    double processes = 0;
    for (std::uint32_t p = 0; p < trace_.processes.size(); ++p) {
      const Nanos forward =
          phases_.Of(p, Phase::kForward).OverlapWith(run_.window.start, run_.window.end);
      const Nanos backward =
          phases_.Of(p, Phase::kBackward).OverlapWith(run_.window.start, run_.window.end);
      if (forward > 0 || backward > 0) processes += 1;
      result_.forward_host_ns += static_cast<double>(forward) / steps;
      result_.backward_host_ns += static_cast<double>(backward) / steps;
    }
    if (processes > 0) result_.forward_host_ns /= processes, result_.backward_host_ns /= processes;
  }

  const Basis& basis_;
  const Run& run_;
  const Trace& trace_;
  const Phases& phases_;
  Nanos median_;
  Nanos usual_idle_ = 0;
  std::vector<std::uint32_t> extra_copies_;
  StepStats result_;
};

}  // namespace

StepStats FindStepStats(const Basis& basis, const Phases& phases) {
  return StepFinder(basis, phases).Find();
}

}  // namespace advise
