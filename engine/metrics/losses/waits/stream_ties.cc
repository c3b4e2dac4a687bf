#include "engine/metrics/losses/waits/stream_ties.h"

#include <algorithm>
#include <map>
#include <set>

#include "engine/timeline/room.h"

namespace advise {
namespace {

class TieFinder : Finder {
 public:
  explicit TieFinder(const Basis& basis) : Finder(basis), room_(basis.run) {}

  StreamTies Find() {
    Streams();
    return std::move(result_);
  }

 private:
  struct Last {
    std::uint32_t op = kNone;
    Nanos end = 0;
  };
  using Lasts = std::map<std::uint32_t, Last>;            // by stream: its last op
  using Place = std::pair<std::uint32_t, std::uint32_t>;  // process, device

  // Streams of one process and device that take turns: an op that was launched in time, whose own
  // stream was free, and that starts only when an op of another stream has ended. Either the
  // program says so (stream waits) or the legacy default stream does, which waits for all and is
  // waited for by all. It costs time where both leave room for each other, as copies always do.
  void Streams() {
    const auto latency = Time("idle.launch_latency");
    LossBuilder by_default(basis_);
    LossBuilder chain(basis_);
    std::map<Place, Lasts> places;
    std::vector<Lasts*> place_of(trace_.streams.size(), nullptr);
    std::vector<std::uint8_t> counted(trace_.ops.size(), 0);
    std::set<std::uint32_t> others;
    std::set<std::uint32_t> chained;
    double default_ns = 0;
    double all_ns = 0;
    const std::vector<std::uint8_t> together = RanTogether();
    for (std::uint32_t op = 0; op < trace_.ops.size(); ++op) {
      if (!Computes(op)) continue;
      const std::uint32_t stream = trace_.ops.stream[op];
      const std::uint32_t process = trace_.streams[stream].process;
      // A stream is one device's.
      if (place_of[stream] == nullptr) place_of[stream] = &places[{process, trace_.ops.device[op]}];
      Lasts& lasts = *place_of[stream];
      const Nanos start = trace_.ops.start[op];
      const auto length = static_cast<double>(trace_.ops.end[op] - start);
      all_ns += length;
      if (trace_.streams[stream].is_default) default_ns += length;
      const std::uint32_t holder = Holder(op, lasts, latency);
      const bool tied = holder != kNone && room_.IsLeftBy(op) && room_.IsLeftBy(holder) &&
                        IsTied(op, holder, lasts);
      const bool by_event = tied && (WaitsForEvent(trace_.ops.call[op]) ||
                                     (!IsOfDefault(op) && !IsOfDefault(holder)));
      if (tied && !(by_event && (together[holder] != 0 || together[op] != 0))) {
        LossBuilder& loss = by_event ? chain : by_default;
        for (const std::uint32_t part : {holder, op}) {
          if (counted[part] != 0) continue;
          counted[part] = 1;
          loss.AddOp(part);
          if (by_event) {
            chained.insert(trace_.ops.stream[part]);
          } else if (!trace_.streams[trace_.ops.stream[part]].is_default) {
            others.insert(trace_.ops.stream[part]);
          }
        }
        loss.Count(start, 0, trace_.ops.end[op] - start);
        loss.remedy().freed_ops.push_back(op);
      }
      Last& last = lasts[stream];
      if (trace_.ops.end[op] >= last.end) last = {op, trace_.ops.end[op]};
    }
    CopiesOfDefault(latency, &by_default, &others);
    result_.default_share = all_ns > 0 ? default_ns / all_ns : 0;
    result_.other_streams = others.size();
    result_.chain_streams = chained.size();
    result_.default_stream = by_default.Build();
    result_.event_chain = chain.Build();
  }

  bool IsOfDefault(std::uint32_t op) const {
    return trace_.streams[trace_.ops.stream[op]].is_default;
  }

  // Kernels of a stream, in the window, that are no communication.
  bool Computes(std::uint32_t op) const {
    return trace_.ops.kind[op] == OpKind::kKernel && trace_.ops.stream[op] != kNone &&
           !run_.IsComm(op) && basis_.InWindow(trace_.ops.start[op]);
  }

  // Kernels that for half of their time, or longer, ran beside one of another stream: branches that
  // are forked and joined use their streams, and need the events.
  std::vector<std::uint8_t> RanTogether() const {
    std::vector<std::uint8_t> together(trace_.ops.size(), 0);
    std::map<std::uint32_t, Lasts> devices;
    for (std::uint32_t op = 0; op < trace_.ops.size(); ++op) {
      if (!Computes(op)) continue;
      Lasts& lasts = devices[trace_.ops.device[op]];
      for (const auto& [stream, last] : lasts) {
        if (stream == trace_.ops.stream[op]) continue;
        const Nanos beside = std::min(last.end, trace_.ops.end[op]) - trace_.ops.start[op];
        for (const std::uint32_t one : {op, last.op}) {
          if (beside > 0 && 2 * beside >= Length(one)) together[one] = 1;
        }
      }
      Last& last = lasts[trace_.ops.stream[op]];
      if (trace_.ops.end[op] >= last.end) last = {op, trace_.ops.end[op]};
    }
    return together;
  }

  // Copies of other streams that the default stream keeps from overlapping with kernels: its kernel
  // waits for a download, or an upload for its kernel. Neither needs what the other does.
  void CopiesOfDefault(Nanos latency, LossBuilder* loss, std::set<std::uint32_t>* others) const {
    const bool has_default = std::any_of(trace_.streams.begin(), trace_.streams.end(),
                                         [](const auto& stream) { return stream.is_default; });
    if (!has_default) return;
    std::map<Place, Lasts> places;
    std::set<std::uint32_t> kernels;  // counted
    for (const std::uint32_t op : basis_.OpsInWindow()) {
      const std::uint32_t stream = trace_.ops.stream[op];
      const bool counts =
          trace_.ops.kind[op] == OpKind::kCopy || trace_.ops.kind[op] == OpKind::kKernel;
      if (!counts || stream == kNone) continue;
      auto& lasts = places[{trace_.streams[stream].process, trace_.ops.device[op]}];
      const std::uint32_t holder = Holder(op, lasts, latency);
      if (holder != kNone && IsNeedlessTie(op, holder) && !WaitsForEvent(trace_.ops.call[op])) {
        const bool behind = trace_.ops.kind[op] == OpKind::kCopy;
        const std::uint32_t copy = behind ? op : holder;
        const Nanos length = Length(copy);
        if (kernels.insert(behind ? holder : op).second) {
          loss->Count(trace_.ops.start[op], 0, length);
        } else {
          loss->AddToCounted(0, length);
        }
        loss->AddExposed(copy);
        loss->remedy().freed_ops.push_back(op);
        others->insert(trace_.ops.stream[copy]);
      }
      Last& last = lasts[stream];
      if (trace_.ops.end[op] >= last.end) last = {op, trace_.ops.end[op]};
    }
  }

  // Of two streams: a kernel of the default one, and a download before or an upload behind it.
  bool IsNeedlessTie(std::uint32_t op, std::uint32_t holder) const {
    const bool behind = trace_.ops.kind[op] == OpKind::kCopy;
    const std::uint32_t kernel = behind ? holder : op;
    const std::uint32_t copy = behind ? op : holder;
    if (trace_.ops.kind[kernel] != OpKind::kKernel || trace_.ops.kind[copy] != OpKind::kCopy)
      return false;
    if (!trace_.streams[trace_.ops.stream[kernel]].is_default) return false;
    return trace_.DirectionOfCopy(copy) ==
           (behind ? CopyDirection::kHostToDevice : CopyDirection::kDeviceToHost);
  }

  // A stream wait was asked for since the launch before this one.
  bool WaitsForEvent(std::uint32_t call) const {
    const std::uint32_t first = run_.calls_of_thread[trace_.calls.thread[call]].first;
    for (std::uint32_t c = call; c > first;) {
      if (run_.ClassOfCall(--c) == CallClass::kStreamWaitEvent) return true;
      if (run_.first_op_of_call[c] != kNone) return false;
    }
    return false;
  }

  // Streams whose work begins as others' ends may do so by chance. The default stream ties them
  // together, or a stream wait that the launching thread asked for since its stream's last op.
  bool IsTied(std::uint32_t op, std::uint32_t holder, const Lasts& lasts) const {
    const std::uint32_t stream = trace_.ops.stream[op];
    if (trace_.streams[stream].is_default || trace_.streams[trace_.ops.stream[holder]].is_default)
      return true;
    const std::uint32_t call = trace_.ops.call[op];
    const auto own = lasts.find(stream);
    const std::uint32_t before =
        own == lasts.end() || own->second.op == kNone ? kNone : trace_.ops.call[own->second.op];
    const Nanos since = before == kNone ? 0 : trace_.calls.start[before];
    for (std::uint32_t c = call; c > run_.calls_of_thread[trace_.calls.thread[call]].first;) {
      if (trace_.calls.start[--c] < since) return false;
      if (run_.ClassOfCall(c) == CallClass::kStreamWaitEvent) return true;
    }
    return false;
  }

  // The op of another stream whose end released `op`: it ended just before, `op` had been launched
  // before that, and the stream of `op` had been free for longer.
  std::uint32_t Holder(std::uint32_t op, const Lasts& lasts, Nanos latency) const {
    if (lasts.size() < 2 && lasts.contains(trace_.ops.stream[op])) return kNone;
    const std::uint32_t call = trace_.ops.call[op];
    if (call == kNone) return kNone;
    const Nanos start = trace_.ops.start[op];
    Nanos own_free = 0;
    std::uint32_t holder = kNone;
    Nanos latest = 0;
    for (const auto& [stream, last] : lasts) {
      if (last.op == kNone) continue;
      if (stream == trace_.ops.stream[op]) {
        own_free = last.end;
      } else if (last.end <= start && last.end > latest) {
        latest = last.end;
        holder = last.op;
      }
    }
    const bool just_ended = holder != kNone && start - latest <= latency;
    const bool launched_before = trace_.calls.end[call] + latency < latest;
    return just_ended && launched_before && own_free + latency < start ? holder : kNone;
  }

  Room room_;
  StreamTies result_;
};

}  // namespace

StreamTies FindStreamTies(const Basis& basis) { return TieFinder(basis).Find(); }

}  // namespace advise
