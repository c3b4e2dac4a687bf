// What host threads do in a pass: when each call begins and ends.
#include <algorithm>
#include <utility>

#include "engine/replay/replay_pass.h"

namespace advise {

void Replay::Pass::StartCall(std::uint32_t i) {
  const HostCall& call = graph_.calls_[i];
  if (call.paused_for != kNone && call.previous != kNone && changes_.vanished[i] == 0) {
    const Nanos done = graph_.ops_[call.paused_for].end;
    Nanos code = call.start - done - changes_.CutWithin(call.thread, done, call.start);
    // Behind it, the thread may have waited for another one, whose code the fix takes off.
    if (call.waited_for != kNone) code -= changes_.CutWithin(call.waited_for, done, call.start);
    call_start_[i] = AfterTick(
        i, std::max(call_end_[call.previous], DoneAt(call.paused_for) + std::max<Nanos>(code, 0)));
    return;
  }
  const bool released = call.released_by != kNone;
  const std::uint32_t follows = released ? call.released_by : call.previous;
  const Nanos since = follows == kNone ? graph_.from_ : graph_.calls_[follows].end;
  const Nanos ready = follows == kNone ? graph_.from_ : call_end_[follows];
  Nanos code = call.start - since - changes_.CutWithin(call.thread, since, call.start);
  if (call.waited_for != kNone) code -= changes_.CutWithin(call.waited_for, since, call.start);
  if (changes_.vanished[i] != 0 && !call.long_pause) code = 0;
  Nanos begin = ready + std::max<Nanos>(code, 0);
  if (call.arrival != kNone && changes_.vanished[i] == 0)
    begin = AfterBatch(call, since, ready, begin);
  if (call.locks > 0 && changes_.vanished[i] == 0) begin = AfterLocks(call, since, ready);
  begin = AfterTick(i, begin);
  // What it does before it waits takes it as long as before.
  if (released && call.previous != kNone) {
    const Nanos done = graph_.calls_[call.previous].end;
    const Nanos before =
        call.before_wait - changes_.CutWithin(call.thread, done, done + call.before_wait);
    begin = std::max(begin, call_end_[call.previous] + (changes_.vanished[i] != 0 ? 0 : before));
  }
  call_start_[i] = begin;
}

// The tick comes when it comes, unless the fix is that nobody waits for it.
Nanos Replay::Pass::AfterTick(std::uint32_t i, Nanos begin) const {
  const HostCall& call = graph_.calls_[i];
  const Interval& sleep = call.until_tick;
  if (sleep.Length() <= 0 || changes_.CutWithin(call.thread, sleep.start, sleep.end) > 0)
    return begin;
  Nanos code = call.start - sleep.end - changes_.CutWithin(call.thread, sleep.end, call.start);
  if (changes_.vanished[i] != 0 && !call.long_pause) code = 0;
  return std::max(begin, sleep.end + std::max<Nanos>(code, 0));
}

Nanos Replay::Pass::AfterLocks(const HostCall& call, Nanos since, Nanos ready) {
  const auto left = [&](Nanos from, Nanos to) {
    return std::max<Nanos>(0, to - from - changes_.CutWithin(call.thread, from, to));
  };
  for (std::uint32_t i = call.first_lock; i < call.first_lock + call.locks; ++i) {
    const LockWait& lock = graph_.locks_[i];
    const Turns& turns = graph_.turns_[lock.turns];
    const Nanos asks = ready + left(since, lock.asked);
    const Nanos later = TurnsLater(lock.turns, asks - lock.asked);
    const auto next = std::upper_bound(turns.ends.begin(), turns.ends.end(), asks - later);
    const Nanos wait = left(lock.asked, lock.got);
    // A fix of the wait itself, or a holder that is done, leaves nothing to wait for.
    const bool held = 2 * wait >= lock.got - lock.asked && turns.ends.end() - next >= lock.count;
    ready = held ? next[lock.count - 1] + later + lock.wake : asks + wait;
    since = lock.got;
  }
  return ready + left(since, call.start);
}

Nanos Replay::Pass::TurnsLater(std::uint32_t at, Nanos asked_later) {
  std::optional<Nanos>& later = turns_later_[at];
  if (later) return *later;
  const Turns& turns = graph_.turns_[at];
  later = turns.since <= graph_.from_ ? 0 : asked_later;
  if (turns.follows != kNone) {
    const Nanos done = graph_.turns_[turns.follows].ends.back() +
                       turns_later_[turns.follows].value_or(asked_later);
    later = std::max(*later, done - turns.since);
  }
  return *later;
}

void Replay::Pass::Arrive(const HostCall& call, Nanos since, Nanos ready) {
  const std::vector<Nanos>& recorded = graph_.arrivals_;
  const std::uint32_t k = call.arrival;
  const auto [before, is_first] = last_arrival_.try_emplace(call.thread, k);
  const std::uint32_t last = std::exchange(before->second, k);
  arrival_[k] = recorded[k];
  if (!is_first) {
    const Nanos apart = graph_.paced_[k] - graph_.paced_[last];
    arrival_[k] = arrival_[last] + apart;
    // A loader that rested goes on when the thread takes a batch: no sooner than that does.
    if (apart < recorded[k] - recorded[last])
      arrival_[k] = std::max(arrival_[k], recorded[k] - (since - ready));
  }
  // Where it had rested since then, it goes on as much sooner as the thread does, and what it loads
  // takes it as long as before.
  const std::uint32_t resumed = graph_.resumed_at_[k];
  if (resumed == kNone || (!is_first && graph_.calls_[resumed].end <= recorded[last])) return;
  Nanos sooner = graph_.rested_[k];
  if (!is_first) sooner += recorded[last] - arrival_[last] - graph_.rested_[last];
  sooner = std::min(sooner, graph_.calls_[resumed].end - call_end_[resumed]);
  arrival_[k] = std::min(arrival_[k], recorded[k] - sooner);
}

Nanos Replay::Pass::AfterBatch(const HostCall& call, Nanos since, Nanos ready, Nanos begin) {
  const std::vector<Nanos>& recorded = graph_.arrivals_;
  const std::uint32_t k = call.arrival;
  if (recorded[k] <= since) return begin;  // somebody else's wait
  Arrive(call, since, ready);
  const Nanos code = std::max<Nanos>(
      call.start - recorded[k] - changes_.CutWithin(call.thread, recorded[k], call.start), 0);
  // What it does before it waits is not loading.
  const Nanos before_wait =
      call.code_before_wait - changes_.CutWithin(call.thread, since, since + call.code_before_wait);
  const Nanos unhindered = ready + std::max<Nanos>(0, before_wait) + code;
  // Who is waited for works at its own pace. A fix of the wait itself makes it come sooner, and
  // what comes behind it with it.
  arrival_[k] -= changes_.CutWithin(call.thread, graph_.awaited_since_[k], recorded[k]);
  if (call.blocked) return std::max(unhindered, arrival_[k] + code);
  if (remedy_.data_ready) return unhindered;
  const Nanos loading =
      std::max<Nanos>(recorded[k] - since - changes_.CutWithin(call.thread, since, recorded[k]), 0);
  const Nanos with_batch = (graph_.loader_.on_demand ? ready + loading : arrival_[k]) + code;
  waited_for_data_ += std::max<Nanos>(0, with_batch - unhindered);
  return std::max(unhindered, with_batch);
}

void Replay::Pass::EndCall(std::uint32_t i) {
  const HostCall& call = graph_.calls_[i];
  Nanos own = call.own - changes_.CutWithin(call.thread, call.start, call.end);
  if (changes_.vanished[i] != 0) own = 0;
  if (changes_.unblocked[i] != 0)
    own = call.only_waits ? 0 : std::min(own, graph_.nominal_call_ns_);
  Nanos done = call_start_[i] + std::max<Nanos>(own, 0);
  if (call.awaited_op != kNone && changes_.unblocked[i] == 0 && changes_.vanished[i] == 0) {
    const GpuOp& awaited = graph_.ops_[call.awaited_op];
    const Nanos tail =
        std::max<Nanos>(0, std::clamp<Nanos>(call.end - awaited.end, 0, call.own) -
                               changes_.CutWithin(call.thread, awaited.end, call.end));
    const std::uint32_t op = Awaited(call);
    if (op != kNone) done = std::max(done, DoneAt(op) + tail);
  }
  if (call.stream != kNone && !Vanishes(i)) done = std::max(done, PlaceInQueue(call));
  call_end_[i] = done;
}

std::uint32_t Replay::Pass::Awaited(const HostCall& call) const {
  if (call.room == 0 || launches_[call.stream] == call.place) return call.awaited_op;
  const std::vector<std::uint32_t>& begun = begun_[call.stream];
  const std::size_t before = launches_[call.stream];
  if (before < call.room || before - call.room >= begun.size()) return kNone;
  return graph_.calls_[graph_.ops_[begun[before - call.room]].call].last_op;
}

Nanos Replay::Pass::PlaceInQueue(const HostCall& call) {
  const std::size_t before = launches_[call.stream]++;
  const std::size_t depth = graph_.queue_depth_[call.stream];
  const std::vector<std::uint32_t>& begun = begun_[call.stream];
  if (before < depth || before - depth >= begun.size()) return std::numeric_limits<Nanos>::min();
  return op_end_[begun[before - depth]] + graph_.nominal_call_ns_;
}

}  // namespace advise
