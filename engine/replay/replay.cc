#include "engine/replay/replay.h"

#include <algorithm>
#include <map>
#include <optional>
#include <utility>

#include "engine/replay/changes.h"

namespace advise {

// One pass over the graph with a remedy applied: when each call and op starts and ends then.
class Replay::Pass {
 public:
  Pass(const Replay& graph, const Remedy& remedy);

  Result Run();

 private:
  void StartCall(std::uint32_t i);
  void EndCall(std::uint32_t i);
  void StartOp(std::uint32_t i);
  void EndGroup(std::uint32_t g);
  // When a call can begin that could at `begin` if the thread did not wait for a tick before it.
  Nanos AfterTick(std::uint32_t i, Nanos begin) const;
  // When a call can begin before which the thread waits for locks, after code that runs on at
  // `ready` since `since`.
  Nanos AfterLocks(const HostCall& call, Nanos since, Nanos ready);
  // By how much a holder of locks takes these turns later, if its first one was asked for so much
  // later: what it did before has to be done.
  Nanos TurnsLater(std::uint32_t at, Nanos asked_later);
  // When the batch comes that the call needed: as its loaders make them, who may have rested.
  void Arrive(const HostCall& call, Nanos since, Nanos ready);
  // When a call can begin whose code, since `since`, is ready to run on at `ready`, and splits at
  // the arrival of a batch: only what follows the arrival comes after it.
  Nanos AfterBatch(const HostCall& call, Nanos since, Nanos ready, Nanos begin);
  Nanos OpStart(std::uint32_t i) const;
  // What the op needs behind the one before it in its stream.
  Nanos SpacingOf(std::uint32_t i) const;
  // When the host is done: its last calls, and the code behind them.
  Nanos HostEnd() const;
  // What keeps the run from getting shorter still; lengthens it to what the links and the remedy
  // allow.
  void Bound(Result* result) const;

  Nanos DurationOf(std::uint32_t op) const {
    return static_cast<Nanos>(static_cast<double>(graph_.ops_[op].end - graph_.ops_[op].start) *
                              static_cast<double>(changes_.factor[op]));
  }
  // When a host that waits for the op can go on. One that now runs beside the others is done by the
  // time that those are.
  Nanos DoneAt(std::uint32_t op) const {
    return changes_.detached[op] != 0 ? reached_[graph_.ops_[op].device] : op_end_[op];
  }
  bool Vanishes(std::uint32_t call) const { return changes_.vanished[call] != 0; }
  // The op whose end lets the call return. A full queue lets it go when as many launches are ahead
  // of it as in the recording; where some of those are gone, that is an earlier one. kNone: none.
  std::uint32_t Awaited(const HostCall& call) const;
  // When the stream's queue has a place for what the call submits: once the launch that is as many
  // before it as the queue is deep is done. The least of all times where there is one at once.
  Nanos PlaceInQueue(const HostCall& call);
  // Where an op that runs on its own follows the one before it in its stream.
  Nanos ChainEndBefore(const GpuOp& op) const {
    return op.previous == kNone ? graph_.from_ : chain_end_[op.previous];
  }

  const Replay& graph_;
  const Remedy& remedy_;
  Changes changes_;
  std::vector<Nanos> call_start_, call_end_, op_start_, op_end_;
  std::vector<Nanos> chain_end_;  // when the op's stream is free after it
  std::vector<Nanos> arrival_;
  std::map<std::uint32_t, std::uint32_t> last_arrival_;  // by thread: so far
  std::vector<std::optional<Nanos>> turns_later_;  // by turns of a lock: by how much they move
  std::vector<Nanos> reached_;  // per device: end of what has run so far, less what runs aside
  // Per device; of what runs aside, and of communication among that.
  std::vector<Nanos> device_busy_;
  std::vector<Nanos> link_busy_, talk_busy_;       // by device and way: links carry both at once
  std::vector<std::size_t> launches_;              // per stream: so far
  std::vector<std::vector<std::uint32_t>> begun_;  // per stream: the ops of these, in order
  std::vector<double> wide_busy_;
  std::vector<std::uint32_t> last_wide_;  // per device: the last kernel so far that fills it
  Nanos waited_for_data_ = 0;
  Nanos end_;  // of the GPU's work
};

Replay::Pass::Pass(const Replay& graph, const Remedy& remedy)
    : graph_(graph),
      remedy_(remedy),
      changes_(Spread(remedy, graph.call_index_, graph.op_index_, graph.calls_.size(),
                      graph.ops_.size())),
      call_start_(graph.calls_.size()),
      call_end_(graph.calls_.size()),
      op_start_(graph.ops_.size()),
      op_end_(graph.ops_.size()),
      chain_end_(graph.ops_.size()),
      arrival_(graph.arrivals_.size()),
      turns_later_(graph.turns_.size()),
      reached_(graph.device_count_, graph.from_),
      device_busy_(graph.device_count_, 0),
      link_busy_(2 * graph.device_count_, 0),
      talk_busy_(2 * graph.device_count_, 0),
      launches_(graph.queue_depth_.size(), 0),
      begun_(graph.queue_depth_.size()),
      wide_busy_(graph.device_count_, 0),
      last_wide_(graph.device_count_, kNone),
      end_(graph.from_) {
  for (const std::uint32_t row : remedy.detached_if_unblocked) {
    const std::uint32_t op = At(graph.op_index_, row);
    if (op == kNone) continue;
    const std::uint32_t call = graph.ops_[op].call;
    if (call != kNone && changes_.unblocked[call] == 0) changes_.detached[op] = 0;
  }
}

Replay::Result Replay::Pass::Run() {
  for (const Node& node : graph_.order_) {
    switch (node.event) {
      case Event::kGroupEnd:
        EndGroup(node.index);
        break;
      case Event::kCallEnd:
        EndCall(node.index);
        break;
      case Event::kCallStart:
        StartCall(node.index);
        break;
      case Event::kOpStart:
        StartOp(node.index);
        break;
    }
  }
  Result result;
  result.length_ns = std::max(end_, HostEnd()) - graph_.from_;
  // Kernels that fill the device cannot run side by side, whatever the order allows.
  for (std::size_t d = 0; d < graph_.device_count_; ++d) {
    result.length_ns =
        std::max(result.length_ns, static_cast<Nanos>(wide_busy_[d] * graph_.wide_union_[d]));
  }
  Bound(&result);
  return result;
}

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

Nanos Replay::Pass::OpStart(std::uint32_t i) const {
  const GpuOp& op = graph_.ops_[i];
  const auto since_end_of = [&](std::uint32_t other) { return op.start - graph_.ops_[other].end; };
  Nanos begin = op.start;
  if (op.call != kNone) {
    // What staging a pageable copy took before it reached the copy engine goes with the wait for
    // it; what an op waited for other streams, when it no longer does.
    const bool at_once = changes_.unblocked[op.call] != 0 || changes_.freed[i] != 0;
    // A call that takes less time hands the op over sooner.
    const HostCall& call = graph_.calls_[op.call];
    const Nanos cut = changes_.CutWithin(call.thread, call.start, std::min(call.end, op.start));
    const Nanos latency = std::max<Nanos>(0, op.latency - cut);
    begin =
        call_start_[op.call] + (at_once ? std::min(latency, graph_.usual_latency_ns_) : latency);
  } else if (op.early && op.awaited != kNone) {
    begin = graph_.from_;
  } else if (op.previous != kNone) {
    // What held it, when nothing visible did, holds it still.
    const Nanos held = since_end_of(op.previous) - (changes_.freed[i] != 0 ? op.function : 0);
    begin = chain_end_[op.previous] + std::max<Nanos>(0, held);
  } else if (op.within != kNone) {
    begin = std::min(op_start_[op.within] + op.start - graph_.ops_[op.within].start,
                     op_end_[op.within]);
  }
  const Nanos function = changes_.freed[i] != 0 ? 0 : op.function;
  const Nanos spacing = SpacingOf(i) + function;
  if (op.previous != kNone) begin = std::max(begin, chain_end_[op.previous] + spacing);
  // Beside a kernel that fills the GPU it would win nothing.
  if (changes_.freed[i] != 0) {
    const std::uint32_t wide = last_wide_[op.device];
    const bool behind = wide != kNone && graph_.ops_[wide].end <= op.start;
    return behind ? std::max(begin, op_end_[wide]) : begin;
  }
  // Of one that runs beside its stream, what the stream did before it is still waited for.
  const auto behind = [&](std::uint32_t other, Nanos distance) {
    return changes_.detached[other] == 0 ? op_end_[other] + distance : chain_end_[other];
  };
  if (op.awaited != kNone) begin = std::max(begin, behind(op.awaited, since_end_of(op.awaited)));
  if (op.event != kNone) begin = std::max(begin, behind(op.event, function > 0 ? spacing : 0));
  return begin;
}

Nanos Replay::Pass::SpacingOf(std::uint32_t i) const {
  const GpuOp& op = graph_.ops_[i];
  if (op.spacing <= 0 || op.call == kNone || !Vanishes(op.call)) return op.spacing;
  // What becomes a part of the kernel before it has no start of its own.
  if (changes_.factor[i] < 1.0F) return 0;
  const double part = remedy_.in_graph ? graph_.graph_spacing_ : 1;
  return static_cast<Nanos>(part * static_cast<double>(op.spacing));
}

void Replay::Pass::StartOp(std::uint32_t i) {
  const GpuOp& op = graph_.ops_[i];
  op_start_[i] = OpStart(i);
  if (op.submitted && !Vanishes(op.call)) begun_[op.stream].push_back(i);
  op_end_[i] = op_start_[i] + DurationOf(i);
  const bool gone = changes_.factor[i] == 0.0F;
  const bool aside = changes_.detached[i] != 0 || gone;
  chain_end_[i] = aside ? ChainEndBefore(op) : op_end_[i];
  // Its stream still waits for the other streams for which it was made to wait.
  if (aside && changes_.freed[i] == 0) {
    for (const std::uint32_t other : {op.awaited, op.event}) {
      if (other != kNone && changes_.detached[other] == 0)
        chain_end_[i] = std::max(chain_end_[i], op_end_[other]);
    }
  }
  if (changes_.detached[i] != 0) {
    for (const std::uint32_t way : {2 * op.device, 2 * op.device + 1}) {
      if (way % 2 == 0 ? !op.to_device : !op.from_device) continue;
      link_busy_[way] += DurationOf(i);
      if (op.talks) talk_busy_[way] += DurationOf(i);
    }
    return;
  }
  device_busy_[op.device] += DurationOf(i);
  if (op.wide) {
    wide_busy_[op.device] += static_cast<double>(DurationOf(i));
    last_wide_[op.device] = i;
  }
  reached_[op.device] = std::max(reached_[op.device], op_end_[i]);
  if (op.group == kNone && changes_.factor[i] > 0.0F) end_ = std::max(end_, op_end_[i]);
}

void Replay::Pass::EndGroup(std::uint32_t g) {
  Nanos last_start = 0;
  Nanos transfer = std::numeric_limits<Nanos>::max();
  for (const std::uint32_t i : graph_.groups_[g]) {
    last_start = std::max(last_start, op_start_[i]);
    transfer = std::min(transfer, DurationOf(i));
  }
  for (const std::uint32_t i : graph_.groups_[g]) {
    if (changes_.detached[i] != 0) continue;
    op_end_[i] = last_start + transfer;
    chain_end_[i] = op_end_[i];
    end_ = std::max(end_, op_end_[i]);
  }
}

Nanos Replay::Pass::HostEnd() const {
  Nanos host_end = graph_.from_;
  for (const std::uint32_t i : graph_.last_calls_) {
    const HostCall& call = graph_.calls_[i];
    const Nanos tail =
        graph_.to_ - call.end - changes_.CutWithin(call.thread, call.end, graph_.to_);
    host_end = std::max(host_end, call_end_[i] + std::max<Nanos>(0, tail));
  }
  return host_end;
}

void Replay::Pass::Bound(Result* result) const {
  const auto busiest_link = std::max_element(link_busy_.begin(), link_busy_.end());
  const Nanos link = *busiest_link;
  const bool talks =
      2 * talk_busy_[static_cast<std::size_t>(busiest_link - link_busy_.begin())] > link;
  const auto in_part = [&](Nanos time) {
    return static_cast<Nanos>(static_cast<double>(time) / graph_.scale_);
  };
  const Nanos floor = in_part(remedy_.floor_ns);
  const LoaderPace& loader = graph_.loader_;
  const auto behind =
      static_cast<Nanos>(loader.left_share * static_cast<double>(result->length_ns));
  const Nanos loading =
      remedy_.data_ready || loader.needs_ns == 0 ? 0 : in_part(loader.needs_ns) + behind;
  const Nanos busiest = *std::max_element(device_busy_.begin(), device_busy_.end());
  const double length = static_cast<double>(std::max<Nanos>(1, result->length_ns));
  if (link > std::max({result->length_ns, floor, loading})) {
    result->length_ns = link;
    result->next_bound = talks ? "communication" : "the link that the copies use";
  } else if (floor > std::max(result->length_ns, loading)) {
    result->length_ns = floor;
    result->next_bound = remedy_.floor_reason;
  } else if (loading > result->length_ns) {
    result->length_ns = loading;
    result->next_bound = kBoundByLoader;
  } else if (static_cast<double>(busiest) > graph_.busy_share_ * length) {
    result->next_bound = kBoundByGpu;
  } else if (static_cast<double>(waited_for_data_) > graph_.input_share_ * length) {
    result->next_bound = kBoundByLoader;
  } else {
    result->next_bound = graph_.bound_by_host_;
  }
}

Replay::Result Replay::With(const Remedy& remedy) const { return Pass(*this, remedy).Run(); }

Nanos Replay::Gain(const Remedy& remedy, std::string* next_bound) const {
  if (ops_.empty()) return 0;
  const Result result = With(remedy);
  if (next_bound != nullptr) *next_bound = result.next_bound;
  const auto gain = static_cast<Nanos>(
      scale_ * static_cast<double>(std::max<Nanos>(0, baseline_ns_ - result.length_ns)));
  if (remedy.reach_ns == 0 || gain <= remedy.reach_ns) return gain;
  if (next_bound != nullptr) *next_bound = remedy.reach_reason;
  return remedy.reach_ns;
}

}  // namespace advise
