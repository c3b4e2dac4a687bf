#include "engine/metrics/losses/steps/slow_steps.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <numeric>
#include <utility>

#include "engine/metrics/losses/steps/rhythm.h"
#include "engine/metrics/losses/steps/step_copies.h"
#include "engine/metrics/losses/steps/step_work.h"
#include "engine/metrics/losses/steps/usual_pauses.h"

namespace advise {
namespace {

constexpr const char* kMoreWork = "more work on the GPU";
constexpr const char* kTalk = "waiting for other ranks, or slow communication";

class SlowStepFinder : Finder {
 public:
  SlowStepFinder(const Basis& basis, const Phases& phases, double link, StepStats* result)
      : Finder(basis),
        phases_(phases),
        link_(link),
        median_(run_.steps.Median()),
        long_gap_(Time("launch.long_gap")),
        usual_pauses_(run_),
        result_(*result) {}

  void Find() {
    const std::vector<std::size_t> slow = SlowSteps();
    std::vector<SlowStep> longer;
    usual_talk_ = UsualTalk();
    for (const std::size_t i : slow) {
      // What waits for other ranks, or for the network, has its rhythm from them.
      if (2 * (TalkIn(Steps()[i]) - usual_talk_) <= Beyond(i)) longer.push_back({i, Beyond(i)});
    }
    Rhythm rhythm = FindRhythm(longer, run_.steps.first_steady, Steps().size(), run_.knowledge);
    Pauses pauses = RegularPauses();
    // Where many steps are slow, few of them stand out: these may keep a slower rhythm by chance.
    if (pauses.lost > BeyondIn(rhythm)) {
      rhythm = {};
    } else {
      pauses = {};
    }
    if (slow.empty() && pauses.every == 0) return;
    extra_copies_ = ExtraCopies(run_);
    usual_idle_ = UsualIdle();
    if (rhythm.every > 0) Stall(rhythm);
    if (pauses.every > 0) Stall(pauses);
    result_.stall_of_pieces = result_.stall_every > 0 && HoldOneKernelEach();
    std::vector<std::size_t> regular = rhythm.steps;
    for (const SlowStep& one : pauses.steps) regular.push_back(one.step);
    std::vector<std::size_t> single;
    std::set_difference(slow.begin(), slow.end(), regular.begin(), regular.end(),
                        std::back_inserter(single));
    if (!single.empty()) {
      result_.outliers.clear();  // the rows are of what the finding speaks of
      Lost lost = Slow(single, &result_.outlier_excess_ns);
      result_.outlier = std::move(lost.loss);
      result_.outlier_what = lost.excess;
      if (result_.outlier_excess_ns > 0)
        result_.outlier_gpu_share = lost.busy / result_.outlier_excess_ns;
      Reach(result_.outlier_excess_ns, &result_.outlier);
    }
    std::stable_sort(
        result_.outliers.begin(), result_.outliers.end(),
        [](const OutlierRow& a, const OutlierRow& b) { return a.time_ns > b.time_ns; });
  }

 private:
  const std::vector<Step>& Steps() const { return run_.steps.all; }

  bool IsOfPageable(std::uint32_t op) const {
    const std::uint32_t copy = trace_.ops.detail[op];
    return trace_.copies.source[copy] == MemoryKind::kPageable ||
           trace_.copies.target[copy] == MemoryKind::kPageable;
  }

  // The extra copies could run beside the kernels, and hold no thread, when they go to pinned
  // memory on a stream of their own. Returns the time in which only they run.
  Nanos HideCopies(std::size_t of_step, LossBuilder* loss) const {
    Nanos exposed = 0;
    for (const auto& [op, step] : extra_copies_) {
      if (step != of_step) continue;
      loss->AddExposed(op);
      exposed += basis_.times[trace_.ops.device[op]].copy_exposed.OverlapWith(trace_.ops.start[op],
                                                                              trace_.ops.end[op]);
      loss->remedy().detached_ops.push_back(op);
      if (IsOfPageable(op)) loss->ScaleOp(op, ToRate(op, link_));
      if (trace_.ops.call[op] != kNone)
        loss->remedy().unblocked_calls.push_back(trace_.ops.call[op]);
    }
    return exposed / static_cast<Nanos>(run_.active_devices.size());
  }

  // What the extra copies of a step are called: by the phase that they lie in, such as a
  // checkpoint.
  std::string ExtraCopiesAs(std::size_t of_step) const {
    std::map<std::string, double> by_name;
    for (const auto& [op, step] : extra_copies_) {
      if (step != of_step) continue;
      const Phase phase = phases_.OfOp(run_, op);
      by_name[phase >= Phase::kEvaluation ? PhaseName(phase)
                                          : "copies that other steps do not make"] +=
          static_cast<double>(Length(op));
    }
    return Largest(by_name);
  }

  // What each of these steps copies that way and a usual step does not, in bytes.
  double ExtraBytes(const std::vector<std::size_t>& steps, CopyDirection direction) const {
    double bytes = 0;
    for (const auto& [op, step] : extra_copies_) {
      const std::uint32_t row = trace_.ops.detail[op];
      if (trace_.copies.direction[row] != direction) continue;
      if (std::find(steps.begin(), steps.end(), step) != steps.end())
        bytes += static_cast<double>(std::max<std::int64_t>(0, trace_.copies.bytes[row]));
    }
    return bytes / static_cast<double>(steps.size());
  }

  void FillBytes(const std::vector<std::size_t>& steps) {
    result_.stall_bytes = ExtraBytes(steps, CopyDirection::kDeviceToHost);
    result_.stall_upload_bytes = ExtraBytes(steps, CopyDirection::kHostToDevice);
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

  // How long the first device only communicates in a step, and in a usual one.
  Nanos TalkIn(const Step& step) const {
    const std::uint32_t device = run_.active_devices.front();
    return basis_.times[device].comm_exposed.OverlapWith(step.start, step.end);
  }
  Nanos UsualTalk() const {
    std::vector<Nanos> talk;
    for (std::size_t i = run_.steps.first_steady; i < Steps().size(); ++i)
      talk.push_back(TalkIn(Steps()[i]));
    return Median(std::move(talk));
  }

  // The pieces of the first device's gaps that begin in the step and are somebody's doing.
  std::vector<GapPiece> PiecesFrom(const Step& step) const {
    std::vector<GapPiece> pieces;
    const GapPieces& all = basis_.idle.pieces;
    const std::uint32_t device = run_.active_devices.front();
    for (std::size_t i = all.FirstEndingAfter(device, step.start); i < all.size(); ++i) {
      const GapPiece piece = all[i];
      if (piece.device != device || piece.start >= step.end) break;
      if (piece.start >= step.start && piece.cause != IdleCause::kNoWorkQueued)
        pieces.push_back(piece);
    }
    return pieces;
  }

  // Claims so much idle time of a step, in its longest gaps, but for what the host does in most
  // steps. Adds to `what` what fills them.
  void ClaimIdle(const Step& step, Nanos idle, LossBuilder* loss,
                 std::map<std::string, double>* what) const {
    std::vector<GapPiece> pieces = PiecesFrom(step);
    std::stable_sort(pieces.begin(), pieces.end(),
                     [](const GapPiece& a, const GapPiece& b) { return a.Length() > b.Length(); });
    const auto rare_sync = [&](const GapPiece& piece) {
      return usual_pauses_.RareSyncBefore(basis_.idle.ThreadOf(piece), piece.start);
    };
    const bool syncs = std::any_of(pieces.begin(), pieces.end(), [&](const GapPiece& piece) {
      return !IsUsual(piece) && rare_sync(piece) != kNone;
    });
    for (const GapPiece& piece : pieces) {
      if (idle <= 0) break;
      const Nanos part = std::min(idle, piece.Length());
      idle -= part;
      if (IsUsual(piece)) continue;
      for (const std::uint32_t d : run_.active_devices) {
        loss->AddSpans(d, basis_.times[d].idle.Clip(piece.end - part, piece.end));
      }
      const std::uint32_t thread = basis_.idle.ThreadOf(piece);
      (*what)[FilledBy(piece)] += static_cast<double>(part);
      if (thread == kNone) continue;
      // What the step alone waits for the GPU for goes elsewhere, and the wait with it. Short gaps
      // of the step are there because of the wait: the host only catches up in them.
      const std::uint32_t sync = rare_sync(piece);
      if (sync != kNone) loss->remedy().unblocked_calls.push_back(sync);
      if (syncs && sync == kNone && piece.Length() <= long_gap_) continue;
      // Without the wait, the code of other steps runs beside the GPU as it does there.
      const Nanos code =
          sync == kNone ? part : std::min(part, usual_pauses_.BeyondUsual(thread, piece.start));
      IntervalSet cut;
      cut.Append(piece.end - code, piece.end);
      loss->remedy().host_cuts.push_back({thread, std::move(cut)});
    }
  }

  // What a step took beyond the median: its extra copies, then the idle time that usual steps do
  // not have.
  void Excess(std::size_t number, LossBuilder* loss, std::map<std::string, double>* what) const {
    const Step& step = Steps()[number];
    Nanos left = step.Length() - WithoutWork(step) - median_;
    loss->Count(step.start, 0, left);
    const Nanos copying = std::min(left, HideCopies(number, loss));
    left -= copying;
    if (copying > 0) (*what)[ExtraCopiesAs(number)] += static_cast<double>(copying);
    const Nanos idle = std::min(left, std::max<Nanos>(0, IdleIn(step) - usual_idle_));
    left -= idle;
    ClaimIdle(step, idle, loss, what);
    // The rest is extra work: ops that the median step does not have are not known, so it stays
    // unclaimed, as does what the device only communicates.
    const Nanos talk = std::max<Nanos>(0, std::min(left, TalkIn(step) - usual_talk_));
    if (talk > 0) (*what)[kTalk] += static_cast<double>(talk);
    if (left > talk) (*what)[kMoreWork] += static_cast<double>(left - talk);
  }

  static const char* FilledBy(const GapPiece& piece) {
    if (piece.phase < Phase::kEvaluation) {
      if (piece.cause == IdleCause::kFileIo && piece.activity == Activity::kFileIo)
        return "reading files";
      if (piece.activity == Activity::kSleep && piece.cause == IdleCause::kHostWait)
        return "sleeping";
      if (piece.activity == Activity::kLock && piece.cause == IdleCause::kHostWait)
        return "waiting for locks";
      if (piece.activity == Activity::kChildWait && piece.cause == IdleCause::kHostWait)
        return "waiting for a child process";
    }
    return piece.phase >= Phase::kEvaluation ? PhaseName(piece.phase) : WordsOf(piece.cause).host;
  }

  // What the step takes longer than the median one, without the time in which it had nothing to do.
  Nanos Beyond(std::size_t step) const {
    return Steps()[step].Length() - WithoutWork(Steps()[step]) - median_;
  }

  Nanos BeyondIn(const Rhythm& rhythm) const {
    return std::accumulate(rhythm.steps.begin(), rhythm.steps.end(), Nanos{0},
                           [&](Nanos lost, std::size_t step) { return lost + Beyond(step); });
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

  struct Lost {
    Loss loss;
    std::string mostly;  // what fills most of the lost time
    std::string excess;  // what fills most of the excess: that, more work or communication
    double busy = 0;     // with more work on the GPU, in ns: none of it is lost
  };

  // What these steps lose beyond the median step, and what fills it.
  Lost Slow(const std::vector<std::size_t>& steps, double* excess) {
    LossBuilder loss(basis_);
    std::map<std::string, double> total;
    for (const std::size_t i : steps) {
      std::map<std::string, double> what;
      Excess(i, &loss, &what);
      *excess += static_cast<double>(Beyond(i));
      AddRow(i, what, &total);
    }
    const double busy = total[kMoreWork];
    const std::string fills = Largest(total);
    total.erase(kMoreWork);
    total.erase(kTalk);
    return {loss.Build(), Largest(total), fills, busy};
  }

  void AddRow(std::size_t step, const std::map<std::string, double>& what,
              std::map<std::string, double>* total) {
    result_.outliers.push_back({step, static_cast<double>(Steps()[step].Length()),
                                static_cast<double>(median_), Largest(what)});
    for (const auto& [name, time] : what) (*total)[name] += time;
  }

  void Stall(const Rhythm& rhythm) {
    result_.stall_every = rhythm.every;
    Lost lost = Slow(rhythm.steps, &result_.stall_excess_ns);
    result_.stall = std::move(lost.loss);
    result_.stall_what = lost.mostly;
    FillBytes(rhythm.steps);
    if (result_.stall_excess_ns > 0) result_.stall_gpu_share = lost.busy / result_.stall_excess_ns;
    const StepWork work = WorkOf(basis_, phases_, rhythm.steps);
    result_.stall_work = work.times;
    if (work.phase != Phase::kUnnamed) result_.stall_work_phase = PhaseName(work.phase);
    Reach(result_.stall_excess_ns, &result_.stall);
  }

  // Whether each step is a kernel that repeats alone. Then nothing tells an iteration from one of
  // the pieces of a longer one, and what comes after every n-th kernel may be in each iteration.
  bool HoldOneKernelEach() const {
    if (run_.steps.source != "period") return false;
    const Nanos begin = Steps()[run_.steps.first_steady].start;
    const Nanos end = Steps().back().end;
    std::size_t kernels = 0;
    for (const std::uint32_t device : run_.active_devices) {
      for (const std::uint32_t op : run_.ops_of_device[device]) {
        if (trace_.ops.start[op] < begin || trace_.ops.start[op] >= end) continue;
        if (trace_.ops.kind[op] != OpKind::kKernel) return false;
        ++kernels;
      }
    }
    return kernels <= run_.steps.steady_count() * run_.active_devices.size();
  }

  // How long the first device idles in the gaps that begin in a step, for what the host does beside
  // launching. A gap belongs to one step as a whole, or a pause would make two steps slow.
  struct Pause {
    Nanos all = 0;
    Nanos unusual = 0;  // of it, in pauses of the host that most steps do not have
  };
  Pause PauseIn(std::size_t step) const {
    Pause pause;
    for (const GapPiece& piece : PiecesFrom(Steps()[step])) {
      if (piece.cause == IdleCause::kLaunch || piece.cause == IdleCause::kPeerWait) continue;
      pause.all += piece.Length();
      if (!IsUsual(piece)) pause.unusual += piece.Length();
    }
    return pause;
  }
  bool IsUsual(const GapPiece& piece) const {
    return usual_pauses_.Holds(basis_.idle.ThreadOf(piece), piece.start, piece.Length());
  }

  struct Pauses {
    std::size_t every = 0;  // steps apart; 0: none
    std::vector<SlowStep> steps;
    Nanos lost = 0;  // in all of them
  };

  // The steps with longer pauses than usual ones, if they come at a regular distance without
  // exception, but for slow steps: in their lengths the others do not stand out, so that chance
  // must be told more strictly. With the pause beyond the usual one; none where they do not.
  Pauses RegularPauses() const {
    std::vector<Nanos> pauses;
    std::vector<Nanos> unusual;
    for (std::size_t i = run_.steps.first_steady; i < Steps().size(); ++i) {
      const Pause pause = PauseIn(i);
      pauses.push_back(pause.all);
      unusual.push_back(pause.unusual);
    }
    const Nanos usual = Median(pauses);
    const double least = Number("step.pause_share") * static_cast<double>(median_);
    std::vector<SlowStep> paused;
    for (std::size_t i = 0; i < pauses.size(); ++i) {
      const std::size_t step = run_.steps.first_steady + i;
      if (static_cast<double>(pauses[i] - usual) >= least && 2 * unusual[i] >= pauses[i] - usual)
        paused.push_back({step, pauses[i] - usual});
    }
    if (static_cast<double>(paused.size()) < Number("step.min_count")) return {};
    const Rhythm rhythm =
        FindRhythm(paused, run_.steps.first_steady, Steps().size(), run_.knowledge);
    if (rhythm.every == 0) return {};
    const auto in_turn = [&](const SlowStep& one) {
      return std::binary_search(rhythm.steps.begin(), rhythm.steps.end(), one.step);
    };
    const bool even = std::all_of(paused.begin(), paused.end(), [&](const SlowStep& one) {
      return in_turn(one) || run_.steps.IsOutlier(one.step);
    });
    const std::size_t whole = pauses.size() / rhythm.every;
    const auto due = static_cast<double>(whole);
    const double least_seen = Number("step.periodic_share") * due;
    if (!even || static_cast<double>(rhythm.steps.size()) < least_seen) return {};
    std::erase_if(paused, [&](const SlowStep& one) { return !in_turn(one); });
    const Nanos lost = LostIn(paused);
    return {rhythm.every, std::move(paused), lost};
  }

  void Stall(const Pauses& pauses) {
    result_.stall_every = pauses.every;
    LossBuilder loss(basis_);
    std::map<std::string, double> total;
    std::vector<std::size_t> steps;
    for (const SlowStep& one : pauses.steps) {
      std::map<std::string, double> what;
      loss.Count(Steps()[one.step].start, 0, one.beyond);
      ClaimIdle(Steps()[one.step], one.beyond, &loss, &what);
      result_.stall_excess_ns += static_cast<double>(one.beyond);
      steps.push_back(one.step);
      AddRow(one.step, what, &total);
    }
    result_.stall = loss.Build();
    result_.stall_what = Largest(total);
    FillBytes(steps);
    Reach(result_.stall_excess_ns, &result_.stall);
  }

  // Without the waits of slow steps the host might get further ahead than it is in other steps.
  static void Reach(double excess_ns, Loss* loss) {
    Remedy& remedy = *loss->remedy;
    if (remedy.unblocked_calls.empty()) return;
    remedy.reach_ns = static_cast<Nanos>(excess_ns);
    remedy.reach_reason = "the usual step";
  }

  static std::string Largest(const std::map<std::string, double>& what) {
    std::string name;
    double most = 0;
    for (const auto& [n, time] : what) {
      if (time > most) most = time, name = n;
    }
    return name;
  }

  const Phases& phases_;
  double link_;  // bytes per second
  Nanos median_;
  Nanos long_gap_;
  UsualPauses usual_pauses_;
  Nanos usual_idle_ = 0;
  Nanos usual_talk_ = 0;
  std::vector<CopyOfStep> extra_copies_;
  StepStats& result_;
};

}  // namespace

void FindSlowSteps(const Basis& basis, const Phases& phases, double link_bytes_per_s,
                   StepStats* stats) {
  SlowStepFinder(basis, phases, link_bytes_per_s, stats).Find();
}

}  // namespace advise
