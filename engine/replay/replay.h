// Replays the window with a fix applied: the dependency graph of the run (who launched what, who
// waited for whom) is run again with changed durations, and the new length of the window tells what
// the fix wins until the next bound shows.
//
// The model: a host thread makes its calls in order, with the recorded code between them; an op
// starts when it has been launched (plus latency) and its stream is free, or when what it visibly
// waited for has ended; collectives end together; a blocking call returns when the op it waited for
// has ended. Without a fix the replay gives the recorded window.
#pragma once

#include <string>
#include <vector>

#include "engine/replay/remedy.h"
#include "engine/replay/row_index.h"
#include "engine/timeline/idle.h"
#include "engine/timeline/run.h"

namespace advise {

struct LaunchQueues;
struct Polls;

// What is known of the loader beside the batches that a thread waited for.
struct LoaderPace {
  bool on_demand = false;  // it begins a batch only when it is asked for one
  Nanos needs_ns = 0;      // all that is loaded in the window takes it so long; 0 unknown
  double left_share = 0;   // of the window: steps that come only behind that
};

// What holds a run back when batches do not come as fast as they are needed.
inline constexpr const char* kBoundByLoader = "the data loader";

// What holds a run back when nothing keeps its busiest GPU waiting.
inline constexpr const char* kBoundByGpu = "the GPU's own work";

class Replay {
 public:
  // O(n log n) in the calls and ops of the window.
  Replay(const Run& run, const std::vector<DeviceTime>& times, const Idle& idle,
         const HandOvers& hand_overs, const LoaderPace& loader);

  struct Result {
    Nanos length_ns = 0;     // of the window after the fix
    std::string next_bound;  // what limits the run then: "the GPU's compute" …
  };
  // One pass over the graph.
  Result With(const Remedy& remedy) const;

  // Length without any fix; differs from the window only by what the model cannot explain.
  Nanos BaselineNs() const {
    return static_cast<Nanos>(static_cast<double>(baseline_ns_) * scale_);
  }

  // A timer begins each iteration: work that is done sooner makes none shorter.
  bool IsPaced() const { return by_timer_; }

  // By how much the window gets shorter. Never negative. Of a long run the first steps are replayed
  // and stand for all.
  Nanos Gain(const Remedy& remedy, std::string* next_bound = nullptr) const;

 private:
  class Pass;
  struct HostCall {
    Nanos start, end;
    std::uint32_t row;  // in trace.calls
    std::uint32_t thread;
    std::uint32_t previous;  // call before it on this thread, kNone
    // The call on another thread that this thread had been waiting for, kNone.
    std::uint32_t released_by;
    std::uint32_t waited_for;  // the thread that this one waited for before the call, kNone
    std::uint32_t awaited_op;  // whose end lets it return, kNone
    std::uint32_t paused_for;  // the op whose end the thread waited for before the call, kNone
    std::uint32_t arrival;     // batch it needed, kNone
    std::uint32_t first_lock;  // of the waits before it for so many `locks`, in locks_
    std::uint32_t locks;
    std::uint32_t stream;  // that it submits to, kNone
    // What it submits finds a place in its stream's queue: so many went there before it, and where
    // it was `held`, it returned as soon as only `room` of them had not ended. Both in launches.
    std::size_t place, room;
    std::uint32_t last_op;   // of those that it launched, kNone
    Nanos own;               // its cost when nothing blocks it
    bool held;               // a full queue held it back until awaited_op had ended
    bool only_waits;         // it launches nothing: who need not wait need not call it
    bool long_pause;         // the code before it is more than what launching it takes
    bool blocked;            // before it, the thread was blocked in the OS most of the time
    Interval until_tick;     // before it, the thread slept until a timer's tick; empty: it did not
    Nanos code_before_wait;  // what it did before it waited in the OS for that batch
    Nanos before_wait;       // and before it waited there for `released_by`
  };
  // When a thread gave a lock back, while it was at work without a rest.
  struct Turns {
    Nanos since;            // somebody asked it to begin; at the window's start it was at it
    std::uint32_t follows;  // what it did before, in turns_, kNone
    std::vector<Nanos> ends;
  };
  struct LockWait {
    Nanos asked, got;
    std::uint32_t turns;   // in turns_
    std::ptrdiff_t count;  // the lock was given back so often until this thread got it
    Nanos wake;            // from the last of these to that
  };
  struct GpuOp {
    Nanos start, end;
    std::uint32_t row;       // in trace.ops
    std::uint32_t call;      // in calls_, kNone when launched before the window or unknown
    std::uint32_t previous;  // in its stream
    std::uint32_t within;    // op that the driver moved it for, of no call and no stream itself
    std::uint32_t awaited;   // op elsewhere that it visibly waited for
    std::uint32_t event;     // op elsewhere that a recorded event made it wait for
    std::uint32_t group;     // collective, kNone
    std::uint32_t device;
    std::uint32_t stream;         // kNone: not recorded
    bool submitted;               // the first op of its call: takes one place of the stream's queue
    bool early;                   // launched before the window: ready whenever its turn comes
    bool wide;                    // a compute kernel that fills the device by itself
    bool fills;                   // or a copy on the device, which kernels do not run beside
    bool talks;                   // communicates
    bool behind_lost;             // behind work of its stream that the profiler lost
    bool to_device, from_device;  // the ways of the link on which it goes beside kernels
    Nanos latency;                // from the start of the call
    Nanos spacing;   // from the end of the previous op of its stream, when it is queued behind it
    Nanos function;  // and what its stream ran on the host meanwhile
  };
  enum class Event : std::uint8_t { kGroupEnd, kCallEnd, kCallStart, kOpStart };
  struct Node {
    Nanos time;
    Event event;
    std::uint32_t index;
  };

  void Shorten(const Run& run);
  void AddCalls(const Run& run, const Polls& polls, const std::vector<PacedWaits>& sources);
  void FindLastCalls(const Run& run);
  void NameHostBound(const Run& run);
  void AddOps(const Run& run, const LostWork& lost);
  void AwaitTurns(const Run& run);
  void MeasureWide();
  void LinkCalls(const Run& run, const Idle& idle, const HandOvers& hand_overs, const Polls& polls);
  void FollowPeers(const Run& run, const std::vector<IntervalSet>& waits_of,
                   const HandOvers& hand_overs, const Polls& polls);
  std::uint32_t RecordThatEnded(std::uint32_t record, const HostCall& call) const;
  void AwaitBatches(const Run& run, const Idle& idle, const std::vector<IntervalSet>& waits_of,
                    const Polls& polls);
  void AwaitOps(const Run& run, const LaunchQueues& queues);
  std::map<StringId, Nanos> UndisturbedAllocations(const Run& run,
                                                   const std::vector<std::uint32_t>& by_end) const;
  bool AwaitsKnown(std::uint32_t op, HostCall* call) const;
  std::uint32_t LastEndedFor(const Run& run, const HostCall& call,
                             const std::vector<std::uint32_t>& by_end) const;
  // When the thread's call before this one had ended; the window's start before the first.
  Nanos EndBefore(const HostCall& call) const {
    return call.previous == kNone ? from_ : calls_[call.previous].end;
  }
  void AwaitAnswers(const Run& run);
  void FindRests(const Run& run);
  void AwaitLocks(const Run& run);
  Nanos UsualLatency() const;
  void AwaitRoom(const std::vector<std::uint32_t>& by_end, double last_blocks, GpuOp* op);
  void LinkOps(const Run& run);
  void GroupCollectives(const Run& run);
  void Order();
  void PaceArrivals(const Run& run);
  void CountLaunches();

  Nanos from_, to_;
  LoaderPace loader_;
  std::size_t device_count_;
  std::vector<HostCall> calls_;
  std::vector<GpuOp> ops_;
  RowIndex call_index_;               // trace call -> calls_
  RowIndex op_index_;                 // trace op -> ops_
  std::vector<Nanos> arrivals_;       // recorded end of each wait for a batch
  std::vector<Nanos> awaited_since_;  // and its beginning
  // By arrival: the thread's last call before its loaders went on from a rest; kNone where they did
  // not rest since the window's start. And for how long they had rested by then, in all.
  std::vector<std::uint32_t> resumed_at_;
  std::vector<Nanos> rested_;
  // By arrival: when it comes in the time that its thread's loader works. Times of one thread only
  // compare.
  std::vector<Nanos> paced_;
  std::vector<LockWait> locks_;
  std::vector<Turns> turns_;
  std::vector<std::vector<std::uint32_t>> groups_;
  std::vector<std::uint32_t>
      last_calls_;  // the last caller of each process: its tail reaches to the window's end
  std::vector<Node> order_;
  Nanos nominal_call_ns_ = 0;
  Nanos shortest_wait_ = 0;     // a pause that may be a wait for another thread
  double behind_share_ = 0.0;   // of it, at most: from the other thread's call to its end
  Nanos latency_ns_;            // the longest that a launch takes to reach an idle device
  Nanos usual_latency_ns_ = 0;  // as this run shows it
  std::vector<double>
      wide_union_;  // per device: union over sum of its wide kernels, 1 when they never overlap
  Nanos baseline_ns_ = 0;
  std::vector<std::size_t> queue_depth_;  // per stream: launches that may be outstanding
  double busy_share_, input_share_;       // what names the next bound
  std::string bound_by_host_;             // the launching thread, and the range that takes its time
  double graph_spacing_;                  // of the distance between two kernels: between two nodes
  bool by_timer_ = false;
  double scale_ = 1;  // the window over the part of it that is replayed
};

}  // namespace advise
