// One run of the replay's graph.
#pragma once

#include <map>
#include <optional>
#include <vector>

#include "engine/replay/changes.h"
#include "engine/replay/replay.h"

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

}  // namespace advise
