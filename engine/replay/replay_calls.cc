// The host's side of the graph that the replay runs: which calls lie in the window, and what each
// waited for.
#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <map>
#include <optional>

#include "engine/base/median.h"
#include "engine/base/text.h"
#include "engine/replay/batch_waits.h"
#include "engine/replay/launch_queue.h"
#include "engine/replay/polls.h"
#include "engine/replay/replay.h"
#include "engine/replay/silent_waits.h"
#include "engine/replay/stream_waits.h"
#include "engine/timeline/blocking_calls.h"
#include "engine/timeline/pause.h"
#include "engine/timeline/thread_devices.h"

namespace advise {
namespace {

// Per thread: when its calls were held because the queue to the device was full.
std::vector<IntervalSet> BackPressure(const Run& run) {
  std::vector<IntervalSet> held(run.trace.threads.size());
  for (const std::uint32_t t : run.launching_threads) {
    for (const std::uint32_t i : run.overheads_of_thread[t]) {
      if (ActivityOfOverhead(run.trace.strings[run.trace.overheads.name[i]]) != Activity::kLaunch)
        continue;
      held[t].Append(run.trace.overheads.start[i], run.trace.overheads.end[i]);
    }
  }
  return held;
}

bool IsBlocked(OsClass os) {
  return os == OsClass::kWait || os == OsClass::kLock || os == OsClass::kNetwork;
}

// Per thread: when it was in such calls of the OS.
std::vector<IntervalSet> OsTimes(const Run& run, auto&& counts) {
  std::vector<IntervalSet> times(run.trace.threads.size());
  for (const std::uint32_t t : run.launching_threads) {
    std::vector<Interval> intervals;
    for (const std::uint32_t i : run.os_of_thread[t]) {
      if (counts(run.names.Os(run.trace.os_calls.name[i])))
        intervals.push_back({run.trace.os_calls.start[i], run.trace.os_calls.end[i]});
    }
    times[t] = IntervalSet::Of(std::move(intervals));
  }
  return times;
}

// When the thread was blocked in the OS for that wait, which may have begun before a GPU was idle;
// nothing where it did something else for most of it, such as reading the data itself.
std::optional<Nanos> BlockedSince(const IntervalSet& blocked, const Interval& wait) {
  if (2 * blocked.OverlapWith(wait.start, wait.end) < wait.Length()) return std::nullopt;
  const IntervalList& all = blocked.intervals();
  const auto after =
      std::upper_bound(all.begin(), all.end(), wait.start,
                       [](Nanos time, const Interval& one) { return time < one.start; });
  const bool inside = after != all.begin() && (*std::prev(after)).end > wait.start;
  return inside ? (*std::prev(after)).start : wait.start;
}

// Where the first of these stretches begins that ends behind `since`, but not before that.
Nanos FirstIn(const IntervalSet& times, Nanos since) {
  const IntervalList& all = times.intervals();
  const auto at = std::upper_bound(all.begin(), all.end(), since,
                                   [](Nanos time, const Interval& one) { return time < one.end; });
  return at == all.end() ? since : std::max(since, at->start);
}

// Calls that hand work to the GPU, which a full queue holds back.
bool Submits(CallClass call_class) {
  switch (call_class) {
    case CallClass::kLaunch:
    case CallClass::kGraphLaunch:
    case CallClass::kCopyAsync:
    case CallClass::kMemsetAsync:
    case CallClass::kEventRecord:
    case CallClass::kStreamWaitEvent:
      return true;
    default:
      return false;
  }
}

}  // namespace

void Replay::AddCalls(const Run& run, const Polls& polls, const std::vector<PacedWaits>& sources) {
  const CallTable& calls = run.trace.calls;
  const std::vector<Nanos> long_pauses = LongPauses(run);
  for (const std::uint32_t t : run.launching_threads) {
    const IntervalList ticks = sources[t].waits.intervals();
    auto tick = ticks.begin();
    by_timer_ = by_timer_ || !ticks.empty();
    std::uint32_t previous = kNone;
    Nanos covered = std::numeric_limits<Nanos>::min();
    std::uint32_t outer = kNone;
    for (const std::uint32_t c : run.calls_of_thread[t]) {
      if (calls.end[c] <= from_ || calls.start[c] >= to_) continue;
      call_index_.resize(c + 1, kNone);
      // Nested in a call that stands for it, or as often as it takes to wait.
      if (calls.start[c] < covered || polls.asks_again[c] != 0) {
        call_index_[c] = outer;
        continue;
      }
      covered = calls.end[c];
      HostCall call{};
      // Old traces count whole microseconds: a short call has no length, and the next one begins
      // at the same time. Each comes behind the one before.
      const Nanos behind = previous == kNone ? from_ : calls_[previous].end;
      call.start = std::max(calls.start[c], behind);
      call.end = std::max(call.start + 1, std::min(calls.end[c], to_));
      call.row = c;
      call.thread = t;
      call.previous = previous;
      call.released_by = call.waited_for = kNone;
      call.awaited_op = call.paused_for = call.arrival = call.stream = call.last_op = kNone;
      call.own = call.end - call.start;
      call.only_waits = IsSync(run.ClassOfCall(c)) && run.first_op_of_call[c] == kNone;
      for (; tick != ticks.end() && tick->end <= call.start; ++tick)
        if (tick->end > behind) call.until_tick = *tick;
      call.long_pause = call.start - EndBefore(call) > long_pauses[t];
      previous = outer = static_cast<std::uint32_t>(calls_.size());
      call_index_[c] = previous;
      calls_.push_back(call);
    }
  }
  FindLastCalls(run);
}

// A range that holds most of the code between the calls of launching threads, and the smaller part
// of the calls themselves, says what these threads do for so long. Ranges of steps hold both.
void Replay::NameHostBound(const Run& run) {
  struct Held {
    Nanos code = 0;
    std::size_t calls = 0;
  };
  std::map<StringId, Held> by_range;
  Nanos code = 0;
  for (const HostCall& call : calls_) {
    ++by_range[InnermostRange(run, call.thread, call.start)].calls;
    const Nanos pause = call.start - EndBefore(call);
    if (call.blocked || call.paused_for != kNone || pause <= 0) continue;
    code += pause;
    by_range[InnermostRange(run, call.thread, call.start - pause / 2)].code += pause;
  }
  bound_by_host_ = "the launching thread";
  for (const auto& [name, held] : by_range) {
    if (name != 0 && !run.names.IsStepRange(name) && 2 * held.code > code &&
        2 * held.calls < calls_.size())
      bound_by_host_ =
          fmt::format("code in \"{}\" on the launching thread", SafeText(run.trace.strings[name]));
  }
}

// The last caller of each process. A host that had queued all its work before the end does not hold
// the window open; one whose device is idle then does.
void Replay::FindLastCalls(const Run& run) {
  std::map<std::uint32_t, std::uint32_t> last;
  for (std::uint32_t i = 0; i < calls_.size(); ++i) {
    const std::uint32_t process = run.trace.threads[calls_[i].thread].process;
    const auto [at, is_new] = last.try_emplace(process, i);
    if (!is_new && calls_[i].end > calls_[at->second].end) at->second = i;
  }
  for (const auto& [process, call] : last) {
    bool busy_at_end = false;
    for (const std::uint32_t d : run.active_devices) {
      Nanos done = 0;  // by any process that shares the device
      for (auto op = run.ops_of_device[d].rbegin(); op != run.ops_of_device[d].rend(); ++op) {
        const std::uint32_t launch = run.trace.ops.call[*op];
        if (run.trace.ops.start[*op] >= to_) continue;
        done = std::max(done, run.trace.ops.end[*op]);
        if (launch == kNone || run.ProcessOfCall(launch) != process) continue;
        busy_at_end = busy_at_end || done + latency_ns_ >= to_;
        break;
      }
    }
    if (!busy_at_end) last_calls_.push_back(call);
  }
}

void Replay::LinkCalls(const Run& run, const Idle& idle, const HandOvers& hand_overs,
                       const Polls& polls) {
  const std::vector<IntervalSet> waits_of = OsTimes(run, IsBlocked);
  FollowPeers(run, waits_of, hand_overs, polls);
  AwaitBatches(run, idle, waits_of, polls);
}

// Which call of another thread let each call go, and the op that its thread waited for before it.
void Replay::FollowPeers(const Run& run, const std::vector<IntervalSet>& waits_of,
                         const HandOvers& hand_overs, const Polls& polls) {
  const bool os_known = !run.trace.os_calls.start.empty();
  const std::vector<IntervalSet> sleeps =
      OsTimes(run, [](OsClass os) { return os == OsClass::kSleep; });
  const ThreadDevices devices(run);
  std::map<std::uint32_t, std::vector<std::uint32_t>> by_process;  // by their end
  for (std::uint32_t i = 0; i < calls_.size(); ++i) {
    by_process[run.trace.threads[calls_[i].thread].process].push_back(i);
  }
  for (auto& [process, list] : by_process) {
    std::sort(list.begin(), list.end(),
              [&](auto a, auto b) { return calls_[a].end < calls_[b].end; });
  }
  const std::vector<std::uint32_t> paused_for = AwaitedInPauses(run, hand_overs);
  const std::vector<std::uint32_t> let_go = LetGoInPauses(run, devices);
  const std::vector<std::uint32_t> records = RecordsOfWaits(run);
  for (HostCall& call : calls_) {
    const Nanos since = EndBefore(call);
    const std::uint32_t asked_for = polls.awaited[call.row];
    call.paused_for = At(op_index_, asked_for != kNone ? asked_for : paused_for[call.row]);
    const std::uint32_t awaited = hand_overs.AwaitedAt(call.thread, call.start - 1);
    const Nanos in_os = waits_of[call.thread].OverlapWith(since, call.start);
    // Who sleeps neither works nor waits for anybody: the rest of the pause tells.
    const Nanos slept = sleeps[call.thread].OverlapWith(since, call.start);
    call.blocked = in_os > 0 && 2 * in_os >= call.start - since - slept;
    call.waited_for = awaited;
    // Nothing shows what a thread did before its first call, nor a wait that began before the
    // recording: it may have begun with what another thread handed to it.
    const bool is_first = call.row == run.calls_of_thread[call.thread].first && in_os == 0;
    const bool may_wait = !os_known || is_first;
    // Without a recorded wait, only what works for the same GPU may have let it go.
    const auto may_let_go = [&](std::uint32_t thread) {
      if (thread == call.thread) return false;
      if (awaited != kNone) return thread == awaited;
      return call.blocked || (may_wait && devices.Share(thread, call.thread));
    };
    const auto& peers = by_process[run.trace.threads[call.thread].process];
    auto at = std::upper_bound(peers.begin(), peers.end(), call.start,
                               [&](Nanos t, std::uint32_t p) { return t < calls_[p].end; });
    const bool waits = call.blocked || may_wait || awaited != kNone;
    while (waits && at != peers.begin() && calls_[*--at].end > since) {
      if (!may_let_go(calls_[*at].thread)) continue;
      call.released_by = *at;
      call.waited_for = calls_[*at].thread;
      if (call.blocked) call.before_wait = FirstIn(waits_of[call.thread], since) - since;
      break;
    }
    // Nothing shows a wait, but it goes on in step with the other thread.
    const bool alone = in_os == 0 && call.released_by == kNone && call.paused_for == kNone;
    if (alone) call.released_by = At(call_index_, let_go[call.row]);
    if (alone && call.released_by == kNone)
      call.released_by = RecordThatEnded(At(call_index_, records[call.row]), call);
    // What happened last let it go.
    if (call.paused_for != kNone && asked_for == kNone && call.released_by != kNone &&
        calls_[call.released_by].end > ops_[call.paused_for].end)
      call.paused_for = kNone;
  }
}

// The record of an event, if the thread paused until another one made it and then went on soon to
// make a stream wait for that event; else kNone. A record hands over like any call of another
// thread: the same limits hold for the length of the pause and for how soon the thread goes on.
std::uint32_t Replay::RecordThatEnded(std::uint32_t record, const HostCall& call) const {
  if (record == kNone || calls_[record].thread == call.thread) return kNone;
  const Nanos since = EndBefore(call);
  const Nanos recorded = calls_[record].end;
  const Nanos pause = call.start - since;
  const bool in_pause = recorded > since && recorded <= call.start;
  const auto behind = static_cast<double>(call.start - recorded);
  return in_pause && pause >= shortest_wait_ && behind <= behind_share_ * static_cast<double>(pause)
             ? record
             : kNone;
}

// Which calls a wait for a batch ended just before, and when that began.
void Replay::AwaitBatches(const Run& run, const Idle& idle,
                          const std::vector<IntervalSet>& waits_of, const Polls& polls) {
  const std::map<std::uint32_t, std::vector<Interval>> batches = BatchWaits(run, idle, waits_of);
  for (HostCall& call : calls_) {
    const auto found = batches.find(call.thread);
    if (found == batches.end()) continue;
    const std::vector<Interval>& of_thread = found->second;
    const auto next =
        std::upper_bound(of_thread.begin(), of_thread.end(), call.start,
                         [](Nanos time, const Interval& wait) { return time < wait.end; });
    const Nanos since = EndBefore(call);
    if (next == of_thread.begin() || std::prev(next)->end <= since) continue;
    const Interval wait{std::max(since, std::prev(next)->start), std::prev(next)->end};
    const std::optional<Nanos> blocked_since = BlockedSince(waits_of[call.thread], wait);
    call.arrival = static_cast<std::uint32_t>(arrivals_.size());
    arrivals_.push_back(wait.end);
    awaited_since_.push_back(wait.start);
    if (blocked_since) call.code_before_wait = std::max<Nanos>(0, *blocked_since - since);
    // The wait for the batch was recorded. The op that had ended by then was only as even as that.
    const bool asked_for = polls.awaited[call.row] != kNone;
    if (blocked_since && !asked_for && call.paused_for != kNone &&
        ops_[call.paused_for].end < wait.end)
      call.paused_for = kNone;
  }
}

// By name: what calls that manage memory usually take where nothing ended meanwhile for which they
// could have waited. `by_end`: all ops.
std::map<StringId, Nanos> Replay::UndisturbedAllocations(
    const Run& run, const std::vector<std::uint32_t>& by_end) const {
  std::map<StringId, std::vector<Nanos>> lengths;
  for (const HostCall& call : calls_) {
    if (IsAllocation(run.ClassOfCall(call.row)) && LastEndedFor(run, call, by_end) == kNone)
      lengths[run.trace.calls.name[call.row]].push_back(call.end - call.start);
  }
  std::map<StringId, Nanos> usual;
  for (auto& [name, all] : lengths) usual[name] = Median(all);
  return usual;
}

// What each blocking call waited for: its own op, or what the capture says; where neither is known,
// the last op to end before it returned, among those launched before it. Not for what ended so late
// that the call's own work had begun before. So do calls that a full queue held back.
void Replay::AwaitOps(const Run& run, const LaunchQueues& queues) {
  const std::vector<IntervalSet> back_pressure = BackPressure(run);
  const std::vector<std::uint32_t> by_syncs = AwaitedBySyncs(run);
  std::vector<std::uint32_t> by_end(ops_.size());
  for (std::uint32_t i = 0; i < by_end.size(); ++i) by_end[i] = i;
  std::sort(by_end.begin(), by_end.end(),
            [&](auto a, auto b) { return ops_[a].end < ops_[b].end; });
  const std::map<StringId, Nanos> usual = UndisturbedAllocations(run, by_end);
  const double alone_share = run.knowledge.Number("replay.alone_share");
  const double held_factor = run.knowledge.Number("replay.held_factor");
  const double deep_factor = run.knowledge.Number("replay.queue.held_factor");
  const auto takes_long = [&](const HostCall& call, bool deep) {
    const auto known = queues.usual_of_name.find(run.trace.calls.name[call.row]);
    const Nanos of_name = known == queues.usual_of_name.end() ? 0 : known->second;
    const auto short_call = static_cast<double>(std::max(nominal_call_ns_, of_name));
    return static_cast<double>(call.own) > (deep ? deep_factor : held_factor) * short_call;
  };
  for (HostCall& call : calls_) {
    const bool blocks = BlocksHost(run, call.row);
    const bool deep = queues.deep[call.row] != 0;
    // A launch that takes far longer than usual with the device busy throughout is held back by a
    // full queue. Once let go it still costs what a launch costs.
    const bool held = !blocks && Submits(run.ClassOfCall(call.row)) && takes_long(call, deep);
    // Newer captures say so themselves.
    const bool pressed =
        !blocks &&
        2 * back_pressure[call.thread].OverlapWith(call.start, call.end) > call.end - call.start;
    if (!blocks && !held && !pressed) continue;
    const std::uint32_t own_op = run.first_op_of_call[call.row];
    const std::uint32_t known = own_op != kNone ? own_op : by_syncs[call.row];
    if (blocks && AwaitsKnown(At(op_index_, known), &call)) continue;
    std::uint32_t op = LastEndedFor(run, call, by_end);
    const auto undisturbed = usual.find(run.trace.calls.name[call.row]);
    if (op != kNone && undisturbed != usual.end() &&
        static_cast<double>(call.end - ops_[op].end) <
            alone_share * static_cast<double>(undisturbed->second))
      op = kNone;
    // It ended too long before: something else took the launch so long.
    const Nanos let_go = latency_ns_ + (deep ? nominal_call_ns_ : 0);
    const bool too_early = held && !pressed && op != kNone && call.end - ops_[op].end > let_go;
    if (op != kNone && !too_early) {
      call.awaited_op = op;
      call.held = !blocks;
      call.own = std::min(call.own, std::max(nominal_call_ns_, call.end - ops_[op].end));
    }
    // What a synchronize call found done, it waits for where the host gets there earlier.
    if (call.awaited_op == kNone) call.awaited_op = At(op_index_, by_syncs[call.row]);
  }
}

// Whether the call returned because this op ended, for which it waits as itself or the capture
// says: then nothing else that ends meanwhile counts.
bool Replay::AwaitsKnown(std::uint32_t op, HostCall* call) const {
  if (op == kNone || ops_[op].end > call->end) return false;
  const bool found_done = ops_[op].end <= call->start;
  if (found_done && call->end - call->start > latency_ns_) return false;
  const Nanos since = call->end - std::max(call->start, ops_[op].end);
  call->awaited_op = op;
  call->own = std::min(call->own, std::max(nominal_call_ns_, since));
  return true;
}

// The op of the call's process that ended last while the call lasted, and had been launched before
// it; kNone if there is none. `by_end`: all ops.
std::uint32_t Replay::LastEndedFor(const Run& run, const HostCall& call,
                                   const std::vector<std::uint32_t>& by_end) const {
  const std::uint32_t process = run.trace.threads[call.thread].process;
  auto at = std::upper_bound(by_end.begin(), by_end.end(), call.end,
                             [&](Nanos t, std::uint32_t o) { return t < ops_[o].end; });
  for (int tries = 0; at != by_end.begin() && tries < 64; ++tries) {
    const std::uint32_t op = *--at;
    if (ops_[op].end <= call.start) return kNone;
    const std::uint32_t launch = run.trace.ops.call[ops_[op].row];
    const std::uint32_t stream = run.trace.ops.stream[ops_[op].row];
    // The launch may be missing in the capture: then the op's stream tells whose it is.
    const std::uint32_t of = launch != kNone   ? run.ProcessOfCall(launch)
                             : stream != kNone ? run.trace.streams[stream].process
                                               : kNone;
    const bool later =
        launch != kNone && run.trace.calls.start[launch] > run.trace.calls.start[call.row];
    if (of == process && !later) return op;
  }
  return kNone;
}

}  // namespace advise
