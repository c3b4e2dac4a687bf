#include "engine/replay/launch_queue.h"

#include <algorithm>
#include <limits>
#include <map>

#include "engine/base/median.h"

namespace advise {
namespace {

// The calls of one process, and when the last op of each that launched something ended.
struct Submissions {
  std::vector<std::uint32_t> calls;
  std::vector<Nanos> started, ended;                   // of calls that launched something
  Nanos first_op = std::numeric_limits<Nanos>::max();  // when the first of their ops began
};

// How many of the sorted times lie before each of those asked for, which mostly ascend.
class Before {
 public:
  explicit Before(const std::vector<Nanos>& times) : times_(times) {}
  std::size_t operator()(Nanos time) {
    constexpr int kNear = 8;
    for (int i = 0; i < kNear && at_ < times_.size() && times_[at_] < time; ++i) ++at_;
    const bool low = at_ < times_.size() && times_[at_] < time;
    if (low || (at_ > 0 && times_[at_ - 1] >= time)) {
      at_ = static_cast<std::size_t>(std::lower_bound(times_.begin(), times_.end(), time) -
                                     times_.begin());
    }
    return at_;
  }

 private:
  const std::vector<Nanos>& times_;
  std::size_t at_ = 0;
};

std::map<std::uint32_t, Submissions> ByProcess(const Run& run) {
  const OpTable& ops = run.trace.ops;
  const CallTable& calls = run.trace.calls;
  std::vector<Nanos> done(calls.size(), std::numeric_limits<Nanos>::min());
  std::map<std::uint32_t, Submissions> all;
  for (std::uint32_t op = 0; op < ops.size(); ++op) {
    const std::uint32_t call = ops.call[op];
    if (call == kNone) continue;
    done[call] = std::max(done[call], ops.end[op]);
    Nanos& first = all[run.ProcessOfCall(call)].first_op;
    first = std::min(first, ops.start[op]);
  }
  for (std::uint32_t c = 0; c < calls.size(); ++c) {
    Submissions& own = all[run.ProcessOfCall(c)];
    own.calls.push_back(c);
    if (run.first_op_of_call[c] == kNone) continue;
    own.started.push_back(calls.start[c]);
    own.ended.push_back(done[c]);
  }
  for (auto& [process, own] : all) {
    for (std::vector<Nanos>* times : {&own.started, &own.ended}) {
      if (!std::is_sorted(times->begin(), times->end())) std::sort(times->begin(), times->end());
    }
  }
  return all;
}

// By thread: its launches that returned after the end of their kernel, less those that did not. A
// kernel of a few microseconds may end before its launch returns: only longer ones tell.
std::vector<std::int64_t> WaitingLaunches(const Run& run) {
  const auto longer = run.knowledge.Time("idle.host_ahead");
  const OpTable& ops = run.trace.ops;
  std::vector<std::int64_t> waiting(run.trace.threads.size(), 0);
  for (std::uint32_t op = 0; op < ops.size(); ++op) {
    const std::uint32_t call = ops.call[op];
    if (call == kNone || run.first_op_of_call[call] != op || ops.end[op] - ops.start[op] < longer ||
        run.ClassOfCall(call) != CallClass::kLaunch)
      continue;
    waiting[run.trace.calls.thread[call]] += run.trace.calls.end[call] >= ops.end[op] ? 1 : -1;
  }
  return waiting;
}

// The length that a tenth of the launches stay below.
Nanos QuickLaunch(const Run& run) {
  const CallTable& calls = run.trace.calls;
  std::vector<Nanos> lengths;
  for (std::uint32_t c = 0; c < calls.size(); ++c) {
    if (run.ClassOfCall(c) == CallClass::kLaunch && run.first_op_of_call[c] != kNone)
      lengths.push_back(calls.end[c] - calls.start[c]);
  }
  return Quantile(std::move(lengths), run.knowledge.Number("launch.quick_call"));
}

// By stream: the launches that it takes, or those that were outstanding when one of its calls
// returned, where these are more.
std::vector<std::size_t> DepthsOfStreams(const Run& run) {
  const OpTable& ops = run.trace.ops;
  const auto usual = run.knowledge.CountOf("replay.queue.depth");
  std::vector<std::size_t> depths(run.trace.streams.size(), usual);
  std::vector<std::vector<Nanos>> ends(depths.size());
  std::vector<std::size_t> ended(depths.size(), 0);
  for (std::uint32_t op = 0; op < ops.size(); ++op) {
    const std::uint32_t call = ops.call[op];
    const std::uint32_t stream = ops.stream[op];
    if (call == kNone || stream == kNone || run.first_op_of_call[call] != op) continue;
    ends[stream].push_back(ops.end[op]);
    std::size_t& done = ended[stream];
    while (done < ends[stream].size() && ends[stream][done] <= run.trace.calls.end[call]) ++done;
    depths[stream] = std::max(depths[stream], ends[stream].size() - done);
  }
  return depths;
}

}  // namespace

LaunchQueues MeasureQueues(const Run& run) {
  const Knowledge& knowledge = run.knowledge;
  const auto least = knowledge.CountOf("replay.queue.least");
  const std::vector<std::int64_t> waiting = WaitingLaunches(run);
  const double deep_share = knowledge.Number("replay.queue.deep_share");
  const CallTable& calls = run.trace.calls;
  LaunchQueues queues;
  queues.depth = DepthsOfStreams(run);
  queues.deep.assign(calls.size(), 0);
  std::vector<Nanos> with_room;
  std::map<StringId, std::vector<Nanos>> of_name;
  std::size_t launches = 0;
  for (const auto& [process, own] : ByProcess(run)) {
    std::vector<std::uint32_t> outstanding;
    outstanding.reserve(own.calls.size());
    std::uint32_t deepest = 0;
    Before before_start(own.started);
    Before before_end(own.ended);
    for (const std::uint32_t c : own.calls) {
      const std::size_t started = before_start(calls.start[c]);
      const std::size_t ended = std::min(started, before_end(calls.start[c]));
      outstanding.push_back(static_cast<std::uint32_t>(started - ended));
      deepest = std::max(deepest, outstanding.back());
    }
    for (std::size_t i = 0; i < own.calls.size(); ++i) {
      const std::uint32_t c = own.calls[i];
      const bool deep = deepest >= least && static_cast<double>(outstanding[i]) >=
                                                deep_share * static_cast<double>(deepest);
      queues.deep[c] = deep ? 1 : 0;
      if (run.ClassOfCall(c) != CallClass::kLaunch || run.first_op_of_call[c] == kNone) continue;
      ++launches;
      // Where launches wait for their kernel, their length says nothing of what launching costs.
      if (waiting[calls.thread[c]] > 0) continue;
      // Before its first op began, the process may have had work in its queue that was launched
      // before the capture.
      if (!deep && (deepest < least || calls.start[c] >= own.first_op)) {
        with_room.push_back(calls.end[c] - calls.start[c]);
        of_name[calls.name[c]].push_back(with_room.back());
      }
    }
  }
  const auto assumed = knowledge.Time("replay.call_cost");
  const auto samples = knowledge.CountOf("replay.queue.samples");
  for (auto& [name, lengths] : of_name) {
    if (lengths.size() >= samples) queues.usual_of_name[name] = Median(std::move(lengths));
  }
  if (with_room.size() >= std::min(samples, launches) && !with_room.empty()) {
    queues.usual_call = Median(std::move(with_room));
  } else {
    queues.usual_call = launches == 0 ? assumed : std::min(QuickLaunch(run), assumed);
  }
  return queues;
}

}  // namespace advise
