#include "engine/metrics/losses/host/stalls.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "engine/metrics/losses/host/delays.h"
#include "engine/metrics/losses/host/like_pauses.h"
#include "engine/replay/stream_waits.h"
#include "engine/timeline/pause.h"

namespace advise {
namespace {

// Idle pieces of the steady loop that `keep` accepts; the remedy is that the host does not do it.
template <typename Keep>
void AddIdle(const Basis& basis, Keep keep, LossBuilder* loss) {
  std::uint32_t last_gap = kNone;
  for (const GapPiece piece : basis.idle.pieces) {
    if (!basis.InLoop(piece.start) || !keep(piece)) continue;
    // Pieces of one gap are one event.
    if (piece.gap != last_gap) loss->Count(piece.start, 0, 0);
    last_gap = piece.gap;
    loss->AddPiece(piece);
    loss->CutHost(basis.idle.ThreadOf(piece), piece.start, piece.end);
  }
}

template <typename Keep>
Loss IdleWhere(const Basis& basis, Keep keep) {
  LossBuilder loss(basis);
  AddIdle(basis, keep, &loss);
  return loss.Build();
}

// A phase of the program that holds the GPU up.
class StallFinder : Finder {
 public:
  StallFinder(const Basis& basis, const Phases& phases) : Finder(basis), phases_(phases) {}

  // Idle time in the phase, by range of it. The remedy is that the host does not do it. What is
  // saved or logged in the background also holds no thread until the GPU is done, and the copies of
  // a checkpoint go on beside the loop. Code that is compiled in the phase is compiled all the same
  // when the phase is done otherwise.
  Loss Find(Phase phase) const {
    LossBuilder loss(basis_);
    if (!basis_.idle.pieces.Any(phase)) return loss.Build();
    std::set<std::pair<std::uint32_t, Nanos>> ranges;  // process, start
    const Single single = phase == Phase::kOptimizer ? SingleStep(phase) : Single{};
    for (const GapPiece piece : basis_.idle.pieces) {
      if (!basis_.InLoop(piece.start) || piece.phase != phase ||
          piece.cause == IdleCause::kJitOrModuleLoad)
        continue;
      const std::uint32_t thread = basis_.idle.ThreadOf(piece);
      if (ranges.insert(RangeAt(phase, thread, piece.start)).second) loss.Count(piece.start, 0, 0);
      const bool alone = single.step != kNone && run_.steps.At(piece.start) == single.step;
      const Nanos end = alone ? std::min(piece.end, piece.start + single.usual) : piece.end;
      loss.AddSpan(piece.device, piece.start, end);
      loss.CutHost(thread, piece.start, end);
    }
    if (phase == Phase::kCheckpoint || phase == Phase::kLogging) AddWaits(phase, &loss);
    if (phase == Phase::kCheckpoint) AddDownloads(&loss);
    return loss.Build();
  }

 private:
  std::pair<std::uint32_t, Nanos> RangeAt(Phase phase, std::uint32_t thread, Nanos time) const {
    const std::uint32_t process = thread == kNone ? kNone : trace_.threads[thread].process;
    if (process == kNone) return {kNone, time};
    const IntervalList& ranges = phases_.Of(process, phase).intervals();
    const auto after =
        std::upper_bound(ranges.begin(), ranges.end(), time,
                         [](Nanos t, const Interval& range) { return t < range.start; });
    return {process, after == ranges.begin() ? time : std::prev(after)->start};
  }

  // A step in which the GPU is idle in the phase for longer than in all others together, and the
  // longest that it is so at once in these. What one step has alone is not how the phase is done.
  struct Single {
    std::uint32_t step = kNone;
    Nanos usual = 0;
  };
  Single SingleStep(Phase phase) const {
    std::map<std::uint32_t, Nanos> idle;
    const auto for_each = [&](auto visit) {
      for (const GapPiece piece : basis_.idle.pieces) {
        if (!basis_.InLoop(piece.start) || piece.phase != phase) continue;
        const std::uint32_t step = run_.steps.At(piece.start);
        if (step != kNone) visit(step, piece.Length());
      }
    };
    Nanos all = 0;
    for_each([&](std::uint32_t step, Nanos length) { idle[step] += length, all += length; });
    Single single;
    for (const auto& [step, time] : idle) {
      if (2 * time > all) single.step = step;
    }
    for_each([&](std::uint32_t step, Nanos length) {
      if (step != single.step) single.usual = std::max(single.usual, length);
    });
    if (single.usual == 0) single.step = kNone;  // only this step has the phase
    return single;
  }

  void AddWaits(Phase phase, LossBuilder* loss) const {
    const CallTable& calls = trace_.calls;
    for (std::uint32_t call = 0; call < calls.size(); ++call) {
      if (phases_.OfCall(call) == phase && basis_.InLoop(calls.start[call]) &&
          IsSync(run_.ClassOfCall(call)))
        loss->remedy().unblocked_calls.push_back(call);
    }
  }

  void AddDownloads(LossBuilder* loss) const {
    const OpTable& ops = trace_.ops;
    for (std::uint32_t op = 0; op < ops.size(); ++op) {
      if (ops.kind[op] != OpKind::kCopy || ops.call[op] == kNone || !basis_.InLoop(ops.start[op]))
        continue;
      if (trace_.copies.direction[ops.detail[op]] != CopyDirection::kDeviceToHost ||
          phases_.OfCall(ops.call[op]) != Phase::kCheckpoint)
        continue;
      loss->AddExposed(op);
      loss->remedy().detached_ops.push_back(op);
      loss->remedy().unblocked_calls.push_back(ops.call[op]);
    }
  }

  const Phases& phases_;
};

// Whether the thread sleeps more than once between two calls of CUDA: it polls, and waits as long
// without these calls.
bool PollsAround(const Run& run, std::uint32_t thread, Nanos time) {
  const std::uint32_t next = NextCall(run, thread, time);
  const RowRange calls = run.calls_of_thread[thread];
  const std::uint32_t last = next == kNone ? calls.last : next;
  const Nanos from = last == calls.first ? 0 : run.trace.calls.end[last - 1];
  const Nanos to = next == kNone ? run.window.end : run.trace.calls.start[next];
  const OsCallTable& os = run.trace.os_calls;
  const RowRange rows = run.os_of_thread[thread];
  const auto first = os.start.begin();
  auto row = std::lower_bound(first + rows.first, first + rows.last, from) - first;
  int sleeps = 0;
  for (; row < rows.last && os.start[static_cast<std::size_t>(row)] < to && sleeps < 2; ++row)
    sleeps += run.names.Os(os.name[static_cast<std::size_t>(row)]) == OsClass::kSleep ? 1 : 0;
  return sleeps > 1;
}

// Whether a timer ends the sleep.
bool IsPaced(const Idle& idle, std::uint32_t thread, Nanos time) {
  return thread < idle.sources.size() && idle.sources[thread].waits.Contains(time);
}

using Pauses = std::set<std::pair<std::uint32_t, std::uint32_t>>;  // thread, its next call

// Idle time for which a thread comes late, because it made such calls while the GPU had work.
// `counted`: the pauses that count already.
void AddDelays(const Basis& basis, Activity activity, Pauses* counted, LikePauses* like,
               LossBuilder* loss) {
  ForEachDelay(
      basis,
      [&](std::uint32_t thread, const HostPiece& piece) {
        return piece.activity == activity && CauseOf(piece) != IdleCause::kDataLoading &&
               !(activity == Activity::kSleep && (PollsAround(basis.run, thread, piece.start) ||
                                                  IsPaced(basis.idle, thread, piece.start)));
      },
      [&](const Delay& delay) {
        const Nanos start = delay.piece.start;
        if (counted->insert({delay.thread, NextCall(basis.run, delay.thread, start)}).second)
          loss->Count(start, 0, 0);
        loss->AddSpan(delay.device, delay.idle.start, delay.idle.end);
        like->Add(delay.thread, start);
      });
}

// The same where threads are inside calls of one kind: with the fix they make none of these.
template <typename Keep>
Loss IdleInside(const Basis& basis, Activity activity, bool delays, Keep keep) {
  LossBuilder loss(basis);
  LikePauses like(basis);
  Pauses counted;
  AddIdle(
      basis,
      [&](const GapPiece& piece) {
        if (!keep(piece)) return false;
        const std::uint32_t thread = basis.idle.ThreadOf(piece);
        like.Add(thread, piece.start);
        if (delays) counted.insert({thread, NextCall(basis.run, thread, piece.start)});
        return true;
      },
      &loss);
  if (delays) AddDelays(basis, activity, &counted, &like, &loss);
  like.CutCalls(activity, &loss);
  return loss.Build();
}

// What writes a file in the background also waits for the data that it writes: the thread that
// launches goes on behind the download, and need not be done with it before the next work.
Loss WithoutWaitsForOutput(const Run& run, Loss writes) {
  if (writes.count == 0) return writes;
  const OsCallTable& os = run.trace.os_calls;
  const OpTable& ops = run.trace.ops;
  const auto tiny = run.knowledge.BytesOf("copy.tiny_bytes");
  const std::vector<std::uint32_t> awaited = AwaitedBySyncs(run);
  std::set<std::uint32_t> waits;
  for (const std::uint32_t thread : run.launching_threads) {
    const RowRange calls = run.calls_of_thread[thread];
    for (const std::uint32_t row : run.os_of_thread[thread]) {
      if (run.names.Os(os.name[row]) != OsClass::kFileWrite || !run.InWindow(os.start[row]))
        continue;
      const std::uint32_t next = NextCall(run, thread, os.start[row]);
      const std::uint32_t last = next == kNone ? calls.last : next;
      if (last == calls.first) continue;
      const std::uint32_t op = awaited[last - 1];
      if (!IsSync(run.ClassOfCall(last - 1)) || op == kNone || ops.kind[op] != OpKind::kCopy)
        continue;
      const std::uint32_t copy = ops.detail[op];
      if (run.trace.copies.direction[copy] == CopyDirection::kDeviceToHost &&
          run.trace.copies.bytes[copy] > tiny)
        waits.insert(last - 1);
    }
  }
  std::vector<std::uint32_t>& unblocked = writes.remedy->unblocked_calls;
  unblocked.insert(unblocked.end(), waits.begin(), waits.end());
  return writes;
}

// When the launching thread is blocked in the OS, be it idle time or copies of what came before.
// The remedy is that it is not. Waits before one and the same call are one event.
Loss Blocked(const Basis& basis, const Idle& beside_copies) {
  LossBuilder loss(basis);
  const Run& run = basis.run;
  std::set<std::pair<std::uint32_t, std::uint32_t>> events;  // thread, its next call
  for (const Idle* part : {&basis.idle, &beside_copies}) {
    for (const GapPiece piece : part->pieces) {
      const bool blocked =
          piece.activity == Activity::kOsWait || piece.activity == Activity::kDeviceWait;
      if (!blocked || !basis.InLoop(piece.start) || piece.cause == IdleCause::kDataLoading ||
          piece.cause == IdleCause::kNoWorkQueued)
        continue;
      const std::uint32_t thread = part->ThreadOf(piece);
      if (events.insert({thread, NextCall(run, thread, piece.start)}).second)
        loss.Count(piece.start, 0, 0);
      loss.AddPiece(piece);
      loss.CutHost(thread, piece.start, piece.end);
    }
  }
  return loss.Build();
}

// The longest stretch of the window in which no device idles in such a piece.
template <typename Keep>
Interval LongestBetween(const Basis& basis, Keep keep) {
  std::vector<Interval> kept;
  for (const GapPiece piece : basis.idle.pieces) {
    if (keep(piece)) kept.push_back({piece.start, piece.end});
  }
  if (kept.empty()) return {};
  const Window& window = basis.run.window;
  Interval longest;
  const IntervalSet between = IntervalSet::Of(std::move(kept)).GapsWithin(window.start, window.end);
  for (const Interval& stretch : between.intervals()) {
    if (stretch.Length() > longest.Length()) longest = stretch;
  }
  return longest;
}

double RateOfSource(const std::vector<PacedWaits>& sources) {
  const auto longest = std::max_element(
      sources.begin(), sources.end(),
      [](const auto& a, const auto& b) { return a.waits.Total() < b.waits.Total(); });
  return longest == sources.end() || longest->period == 0
             ? 0
             : kNanosPerSecond / static_cast<double>(longest->period);
}

}  // namespace

Stalls FindStalls(const Basis& basis, const Phases& phases, const Idle& beside_copies) {
  const GapPieces& pieces = basis.idle.pieces;
  Stalls stalls;
  const StallFinder finder(basis, phases);
  for (const Phase phase : kStallPhases) stalls.phases.push_back(finder.Find(phase));
  const auto waits_for_source = [&](const GapPiece& p) { return basis.idle.AwaitsSource(p); };
  const auto waits_for_input = [&](const GapPiece& p) {
    return p.cause == IdleCause::kNoWorkQueued && p.activity == Activity::kOsWait &&
           !basis.idle.AwaitsSource(p);
  };
  stalls.source = IdleWhere(basis, waits_for_source);
  stalls.source_rate = RateOfSource(basis.idle.sources);
  stalls.input = IdleWhere(basis, waits_for_input);
  stalls.between_input = LongestBetween(basis, waits_for_input);
  const auto doing = [&](Activity activity, bool delays) {
    if (!delays && !pieces.Any(activity)) return LossBuilder(basis).Build();
    return IdleInside(basis, activity, delays, [&](const GapPiece& p) {
      return p.activity == activity && p.cause != IdleCause::kDataLoading &&
             p.cause != IdleCause::kNoWorkQueued;
    });
  };
  stalls.sleep = doing(Activity::kSleep, LaunchingThreadsCall(basis.run, OsClass::kSleep));
  stalls.network = doing(Activity::kNetwork, false);
  stalls.file_write = WithoutWaitsForOutput(
      basis.run, doing(Activity::kFileWrite, LaunchingThreadsCall(basis.run, OsClass::kFileWrite)));
  stalls.os_wait = Blocked(basis, beside_copies);
  stalls.exchange = IdleWhere(basis, [](const GapPiece& p) {
    return p.cause == IdleCause::kPeerWait && p.phase == Phase::kCommunication &&
           p.activity == Activity::kCode;
  });
  return stalls;
}

}  // namespace advise
