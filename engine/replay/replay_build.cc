// Building the graph that the replay runs: which ops lie in the window, and what each waited for.
// The calls are in replay_calls.cc.
#include <algorithm>
#include <limits>

#include "engine/base/median.h"
#include "engine/replay/launch_queue.h"
#include "engine/replay/polls.h"
#include "engine/replay/replay.h"
#include "engine/replay/stream_waits.h"
#include "engine/timeline/collective_match.h"
#include "engine/timeline/host_functions.h"
#include "engine/timeline/room.h"
#include "engine/timeline/spacing.h"

namespace advise {

Replay::Replay(const Run& run, const std::vector<DeviceTime>& times, const Idle& idle,
               const HandOvers& hand_overs, const LoaderPace& loader)
    : from_(run.window.start),
      to_(run.window.end),
      loader_(loader),
      device_count_(std::max<std::size_t>(1, times.size())),
      latency_ns_(run.knowledge.Time("idle.launch_latency")),
      busy_share_(run.knowledge.Number("replay.busy_share")),
      input_share_(run.knowledge.Number("replay.input_share")),
      graph_spacing_(run.knowledge.Number("replay.graph_spacing")) {
  const LaunchQueues queues = MeasureQueues(run);
  nominal_call_ns_ = queues.usual_call;
  shortest_wait_ = run.knowledge.Time("replay.hand_over.pause");
  behind_share_ = run.knowledge.Number("replay.hand_over.behind_share");
  queue_depth_ = queues.depth;
  Shorten(run);
  const Polls polls = FindPolls(run);
  AddCalls(run, polls, idle.sources);
  AddOps(run, idle.lost_work);
  LinkCalls(run, idle, hand_overs, polls);
  AwaitOps(run, queues);
  AwaitAnswers(run);
  PaceArrivals(run);
  FindRests(run);
  AwaitLocks(run);
  LinkOps(run);
  GroupCollectives(run);
  Order();
  CountLaunches();
  NameHostBound(run);
  if (!ops_.empty()) baseline_ns_ = With(Remedy{}).length_ns;
}

// Long runs repeat themselves: as many whole steps as the limit allows stand for all.
void Replay::Shorten(const Run& run) {
  const auto most = run.knowledge.CountOf("replay.most_ops");
  const OpTable& ops = run.trace.ops;
  const auto first = std::lower_bound(ops.start.begin(), ops.start.end(), from_);
  const auto last = std::lower_bound(first, ops.start.end(), to_);
  if (static_cast<std::size_t>(last - first) <= most) return;
  const Nanos length = to_ - from_;
  const Nanos limit = *(first + static_cast<std::ptrdiff_t>(most));
  Nanos end = limit;
  for (const Step& step : run.steps.all) {
    if (step.start > from_ && step.start <= limit) end = step.start;
  }
  to_ = end;
  scale_ = static_cast<double>(length) / static_cast<double>(to_ - from_);
}

void Replay::AddOps(const Run& run, const LostWork& lost) {
  const OpTable& table = run.trace.ops;
  std::vector<std::uint32_t> last_of_stream(run.trace.streams.size(), kNone);
  std::vector<std::uint32_t> last_of_device(device_count_, kNone);
  const Room room(run);
  for (std::uint32_t row = 0; row < table.size(); ++row) {
    if (table.end[row] <= from_ || table.start[row] > to_) continue;
    GpuOp op{};
    op.start = std::max(table.start[row], from_);
    op.end = std::min(std::max(table.end[row], op.start + 1), std::max(to_, op.start + 1));
    // Where the window ends because the next step begins, the op that begins it is part of the
    // replay, without its length: when it can start tells how long the steps before it took.
    const bool opens_next = op.start == to_;
    if (opens_next) op.end = to_;
    op.row = row;
    op.call = At(call_index_, table.call[row]);
    op.early = op.call == kNone && table.call[row] != kNone;
    op.device = table.device[row];
    op.talks = run.IsComm(row);
    const CopyDirection way = table.kind[row] == OpKind::kCopy
                                  ? run.trace.copies.direction[table.detail[row]]
                                  : CopyDirection::kUnknown;
    op.to_device = way != CopyDirection::kDeviceToHost;
    op.from_device = way != CopyDirection::kHostToDevice;
    const bool computes = table.kind[row] == OpKind::kKernel && !op.talks;
    op.wide = computes && !opens_next && !room.IsLeftBy(row);
    op.fills = op.wide || way == CopyDirection::kDeviceToDevice;
    op.within = op.awaited = op.event = op.group = op.previous = kNone;
    op.stream = table.stream[row];
    const auto index = static_cast<std::uint32_t>(ops_.size());
    if (op.stream != kNone) {
      op.previous = last_of_stream[op.stream];
      last_of_stream[op.stream] = last_of_device[op.device] = index;
      op.behind_lost = op.previous != kNone &&
                       lost.IsBetween(run, table.call[ops_[op.previous].row], table.call[row]);
      op.submitted = op.call != kNone && calls_[op.call].stream == kNone;
      if (op.submitted) calls_[op.call].stream = op.stream;
    } else if (table.call[row] == kNone) {
      op.within = last_of_device[op.device];
    }
    op_index_.resize(row + 1, kNone);
    op_index_[row] = index;
    ops_.push_back(op);
  }
  const std::vector<std::uint32_t> by_events = AwaitedByEvents(run);
  const std::vector<std::uint32_t> sent_on = SentOn(run);
  for (GpuOp& op : ops_) {
    const std::uint32_t other = by_events[op.row] != kNone ? by_events[op.row] : sent_on[op.row];
    if (other != kNone) op.event = At(op_index_, other);
  }
  AwaitTurns(run);
  MeasureWide();
}

// On a device that processes share in turns: what was launched in time, into a free stream, waited
// until another process had its turn.
void Replay::AwaitTurns(const Run& run) {
  const auto longest = run.knowledge.Time("replay.process_switch");
  const auto process_of = [&](const GpuOp& op) { return run.trace.streams[op.stream].process; };
  std::vector<std::uint32_t> last(device_count_, kNone);  // to end so far
  for (std::uint32_t i = 0; i < ops_.size(); ++i) {
    GpuOp& op = ops_[i];
    if (op.stream == kNone) continue;
    std::uint32_t& before = last[op.device];
    const Nanos free = op.previous == kNone ? from_ : ops_[op.previous].end;
    const Nanos ready = op.call == kNone ? free : std::max(free, calls_[op.call].start);
    if (before != kNone && process_of(ops_[before]) != process_of(op) &&
        ops_[before].end <= op.start && op.start - ops_[before].end <= longest &&
        op.start - ready > 2 * latency_ns_)
      op.awaited = before;
    if (before == kNone || op.end >= ops_[before].end) before = i;
  }
}

// By how much kernels that fill their device seem to overlap.
void Replay::MeasureWide() {
  std::vector<IntervalSet> wide(device_count_);
  std::vector<double> sum(device_count_, 0);
  for (const GpuOp& op : ops_) {
    if (!op.wide) continue;
    wide[op.device].Append(op.start, op.end);
    sum[op.device] += static_cast<double>(op.end - op.start);
  }
  for (std::size_t d = 0; d < device_count_; ++d) {
    wide_union_.push_back(sum[d] > 0 ? static_cast<double>(wide[d].Total()) / sum[d] : 1);
  }
}

// From launch to start, of ops that found their stream free.
Nanos Replay::UsualLatency() const {
  std::vector<Nanos> latencies;
  for (const GpuOp& op : ops_) {
    if (op.call == kNone) continue;
    const Nanos latency = op.start - calls_[op.call].start;
    const bool stream_free = op.previous == kNone || ops_[op.previous].end + latency_ns_ < op.start;
    if (stream_free && latency >= 0 && latency < 10 * latency_ns_) latencies.push_back(latency);
  }
  return latencies.empty() ? latency_ns_ : Median(std::move(latencies));
}

// An op that began while another one filled the device had no room before. What it waited for had
// been launched before it, and ended while that one ran, or just before. Where the op began in the
// last blocks of the other one, these left the room: it begins so long before the end of them.
void Replay::AwaitRoom(const std::vector<std::uint32_t>& by_end, double last_blocks, GpuOp* op) {
  const auto ended = std::upper_bound(by_end.begin(), by_end.end(), op->start,
                                      [&](Nanos t, std::uint32_t o) { return t < ops_[o].end; });
  if (ended == by_end.end() || op->call == kNone) return;
  const GpuOp& other = ops_[*ended];
  if (!other.fills || other.start >= op->start) return;
  std::uint32_t awaited = kNone;
  for (auto at = ended; at != by_end.begin() && awaited == kNone;) {
    const GpuOp& before = ops_[*--at];
    if (before.end < other.start - latency_ns_) break;
    const bool launched_before =
        before.call == kNone || calls_[before.call].start < calls_[op->call].start;
    if (before.stream != op->stream && launched_before) awaited = *at;
  }
  const auto left = static_cast<double>(other.end - op->start);
  if (left > last_blocks * static_cast<double>(other.end - other.start)) {
    op->awaited = awaited;
  } else {
    op->awaited = *ended;
    if (op->event == kNone) op->event = awaited;
  }
  if (op->awaited != kNone) op->latency = usual_latency_ns_;
}

void Replay::LinkOps(const Run& run) {
  usual_latency_ns_ = UsualLatency();
  const std::vector<Nanos> usual_spacing = UsualSpacing(run);
  const HostFunctions functions(run);
  const double last_blocks = run.knowledge.Number("replay.last_blocks");
  // By end, for each device and (last) for all.
  std::vector<std::vector<std::uint32_t>> by_end(device_count_ + 1);
  for (std::uint32_t i = 0; i < ops_.size(); ++i) {
    by_end[ops_[i].device].push_back(i);
    by_end.back().push_back(i);
  }
  for (auto& list : by_end) {
    std::sort(list.begin(), list.end(), [&](auto a, auto b) { return ops_[a].end < ops_[b].end; });
  }
  // The op of `list` that ended last before `op` began, when that was just before.
  const auto released = [&](const std::vector<std::uint32_t>& list, std::uint32_t i) {
    const Nanos start = ops_[i].start;
    const auto at = std::upper_bound(list.begin(), list.end(), start,
                                     [&](Nanos t, std::uint32_t o) { return t < ops_[o].end; });
    if (at == list.begin()) return kNone;
    const std::uint32_t before = *std::prev(at);
    return before != i && start - ops_[before].end <= latency_ns_ && ops_[before].start < start
               ? before
               : kNone;
  };
  std::vector<std::uint32_t> last_node(calls_.size(),
                                       kNone);  // of each call: graphs launch many ops
  for (std::uint32_t i = 0; i < ops_.size(); ++i) {
    GpuOp& op = ops_[i];
    const Nanos since_launch = op.call != kNone ? op.start - calls_[op.call].start
                               : op.early       ? op.start - from_ + 4 * usual_latency_ns_
                                                : 0;
    // Queued: launched while the op before it in its stream had not ended. Else only its launch
    // held it.
    const bool queued =
        op.previous != kNone &&
        (op.early || (op.call != kNone && calls_[op.call].start < ops_[op.previous].end));
    const Nanos behind = op.previous == kNone ? 0 : op.start - ops_[op.previous].end;
    op.latency = queued ? std::min(since_launch, usual_latency_ns_) : since_launch;
    // What came late needs the usual distance, too, once a fix has it queued.
    op.spacing =
        !queued || behind < 0
            ? std::min<Nanos>(usual_spacing[op.device], behind)
            : std::min({behind, std::max<Nanos>(0, since_launch - usual_latency_ns_), latency_ns_});
    // What its stream ran on the host before it, no op shows: it began when the op before it had
    // ended, and that of another stream for which its stream waits. An op that begins as soon as an
    // op of another stream ends waited for that one.
    const Nanos behind_both =
        op.event == kNone ? behind : std::min(behind, op.start - ops_[op.event].end);
    const bool by_function = queued && behind_both > latency_ns_ && functions.Precedes(op.row) &&
                             released(by_end[op.device], i) == kNone;
    if (by_function) op.function = behind_both - op.spacing;
    // What the profiler lost may have run until this op began.
    if (op.behind_lost) op.spacing = std::max<Nanos>(0, behind);
    const bool stream_explains = queued && (behind <= latency_ns_ || by_function);
    // A launch that waits for its own kernel returns late: that tells nothing of when it was made.
    const bool waits = op.call != kNone && calls_[op.call].awaited_op == i;
    if (op.call != kNone && last_node[op.call] != kNone) {
      // A later node of the same graph: it follows the node before it.
      op.awaited = last_node[op.call];
      op.latency = std::min(since_launch, usual_latency_ns_);
    } else if (!stream_explains && since_launch > 2 * usual_latency_ns_ &&
               (op.early || waits || op.start > calls_[op.call].end + latency_ns_)) {
      // Launched early and not held by its own stream: the op that ended just before it let it go.
      std::uint32_t before = released(by_end[op.device], i);
      if (before == kNone) before = released(by_end.back(), i);
      if (before != kNone) {
        op.awaited = before;
        op.latency = usual_latency_ns_;
      } else if (op.awaited == kNone) {  // else it waited for its process's turn
        AwaitRoom(by_end[op.device], last_blocks, &op);
      }
    }
    if (op.latency < 0) op.latency = 0;
    if (op.call != kNone) last_node[op.call] = i;
  }
}

void Replay::GroupCollectives(const Run& run) {
  for (const std::vector<std::uint32_t>& rows : MatchCollectives(run)) {
    std::vector<std::uint32_t> members;
    for (const std::uint32_t row : rows) {
      if (At(op_index_, row) != kNone) members.push_back(op_index_[row]);
    }
    if (members.size() != rows.size()) continue;  // cut by the window
    for (const std::uint32_t i : members)
      ops_[i].group = static_cast<std::uint32_t>(groups_.size());
    groups_.push_back(std::move(members));
  }
}

void Replay::Order() {
  order_.reserve(2 * calls_.size() + ops_.size() + groups_.size());
  for (std::uint32_t i = 0; i < calls_.size(); ++i) {
    order_.push_back({calls_[i].start, Event::kCallStart, i});
    order_.push_back({calls_[i].end, Event::kCallEnd, i});
  }
  for (std::uint32_t i = 0; i < ops_.size(); ++i) {
    const Nanos launched = ops_[i].call == kNone ? ops_[i].start : calls_[ops_[i].call].start;
    order_.push_back({std::max(ops_[i].start, launched), Event::kOpStart, i});
  }
  for (std::uint32_t g = 0; g < groups_.size(); ++g) {
    // All members have started, and nothing that follows one of them has.
    Nanos time = std::numeric_limits<Nanos>::max();
    for (const std::uint32_t i : groups_[g]) time = std::min(time, ops_[i].end);
    order_.push_back({time, Event::kGroupEnd, g});
  }
  std::stable_sort(order_.begin(), order_.end(), [](const Node& a, const Node& b) {
    return a.time != b.time ? a.time < b.time : a.event < b.event;
  });
}

}  // namespace advise
