#include "engine/replay/stream_waits.h"

#include <algorithm>
#include <map>
#include <utility>

namespace advise {
namespace {

// The work of a run in the order in which it was handed to the streams.
class Submitted {
 public:
  explicit Submitted(const Run& run) : run_(run), of_stream_(run.trace.streams.size()) {
    const OpTable& ops = run.trace.ops;
    for (std::uint32_t op = 0; op < ops.size(); ++op) {
      if (ops.stream[op] != kNone && ops.call[op] != kNone)
        of_stream_[ops.stream[op]].push_back(op);
    }
    for (auto& list : of_stream_) {
      std::stable_sort(list.begin(), list.end(), [&](auto a, auto b) {
        return Launch(a) != Launch(b) ? Launch(a) < Launch(b) : ops.start[a] < ops.start[b];
      });
    }
    const EventTable& events = run.trace.events;
    for (std::size_t e = 0; e < events.size(); ++e) {
      const std::uint32_t call = events.call[e];
      if (call == kNone || events.stream[e] == kNone || events.event_id[e] == 0) continue;
      records_[{run.ProcessOfCall(call), events.event_id[e]}].push_back(
          {run.trace.calls.start[call], events.stream[e], call});
    }
    for (auto& [event, list] : records_) {
      std::stable_sort(list.begin(), list.end(),
                       [](const Record& a, const Record& b) { return a.called < b.called; });
    }
  }

  bool HasEvents() const { return !records_.empty(); }

  // The last op of the stream that was launched before `when`, the first that was launched no
  // earlier; kNone for none.
  std::uint32_t LastBefore(std::uint32_t stream, Nanos when) const {
    const auto at = From(stream, when);
    return at == of_stream_[stream].begin() ? kNone : *std::prev(at);
  }
  std::uint32_t FirstFrom(std::uint32_t stream, Nanos when) const {
    const auto at = From(stream, when);
    return at == of_stream_[stream].end() ? kNone : *at;
  }

  // The op behind which the event of a process was last recorded before `when`, and the call that
  // did so; kNone when unknown.
  std::uint32_t BehindEvent(std::uint32_t process, std::int64_t event, Nanos when) const {
    const Record* record = LastRecord(process, event, when);
    return record == nullptr ? kNone : LastBefore(record->stream, record->called);
  }
  std::uint32_t RecordedBy(std::uint32_t process, std::int64_t event, Nanos when) const {
    const Record* record = LastRecord(process, event, when);
    return record == nullptr ? kNone : record->call;
  }

  // Of what a process had launched before `when`, the op that ended last; kNone for none.
  std::uint32_t LastOfProcess(std::uint32_t process, Nanos when) const {
    std::uint32_t last = kNone;
    for (std::uint32_t stream = 0; stream < of_stream_.size(); ++stream) {
      if (run_.trace.streams[stream].process != process) continue;
      const std::uint32_t op = LastBefore(stream, when);
      if (op != kNone && (last == kNone || run_.trace.ops.end[op] > run_.trace.ops.end[last]))
        last = op;
    }
    return last;
  }

 private:
  struct Record {
    Nanos called = 0;
    std::uint32_t stream = kNone;
    std::uint32_t call = kNone;
  };

  const Record* LastRecord(std::uint32_t process, std::int64_t event, Nanos when) const {
    const auto found = records_.find({process, event});
    if (found == records_.end()) return nullptr;
    const auto next =
        std::upper_bound(found->second.begin(), found->second.end(), when,
                         [](Nanos time, const Record& record) { return time < record.called; });
    return next == found->second.begin() ? nullptr : &*std::prev(next);
  }

  Nanos Launch(std::uint32_t op) const { return run_.trace.calls.start[run_.trace.ops.call[op]]; }

  std::vector<std::uint32_t>::const_iterator From(std::uint32_t stream, Nanos when) const {
    const std::vector<std::uint32_t>& list = of_stream_[stream];
    return std::lower_bound(list.begin(), list.end(), when,
                            [&](std::uint32_t op, Nanos time) { return Launch(op) < time; });
  }

  const Run& run_;
  std::vector<std::vector<std::uint32_t>> of_stream_;  // its ops as they were launched
  // By process and event, in the order of the calls.
  std::map<std::pair<std::uint32_t, std::int64_t>, std::vector<Record>> records_;
};

// Calls `visit(stream, when, op)` for each time that a stream was made to wait for an event that is
// known: for the op behind which that was recorded.
template <typename Visit>
void ForEachEventWait(const Run& run, const Submitted& submitted, Visit visit) {
  const SyncTable& syncs = run.trace.syncs;
  for (std::size_t w = 0; w < syncs.size(); ++w) {
    const std::uint32_t call = syncs.call[w];
    if (call == kNone || syncs.stream[w] == kNone || syncs.event_id[w] == 0 ||
        run.ClassOfCall(call) != CallClass::kStreamWaitEvent)
      continue;
    const Nanos when = run.trace.calls.start[call];
    const std::uint32_t op =
        submitted.BehindEvent(run.ProcessOfCall(call), syncs.event_id[w], when);
    if (op != kNone) visit(syncs.stream[w], when, op);
  }
}

// What streams were made to wait for behind their own last op: a branch of work is joined so before
// the host waits for the stream.
class Joins {
 public:
  Joins(const Run& run, const Submitted& submitted)
      : run_(run), submitted_(submitted), of_stream_(run.trace.streams.size()) {
    ForEachEventWait(run, submitted, [&](std::uint32_t stream, Nanos when, std::uint32_t op) {
      of_stream_[stream].push_back({when, op});
    });
    for (std::vector<Join>& joins : of_stream_)
      std::stable_sort(joins.begin(), joins.end(),
                       [](const Join& a, const Join& b) { return a.called < b.called; });
  }

  // Of the last op that the stream was handed before `when` and all that it waits for behind that,
  // the op that ended last; kNone for none.
  std::uint32_t LastOfStream(std::uint32_t stream, Nanos when) const {
    const OpTable& ops = run_.trace.ops;
    std::uint32_t last = submitted_.LastBefore(stream, when);
    const Nanos since = last == kNone ? 0 : run_.trace.calls.start[ops.call[last]];
    const std::vector<Join>& joins = of_stream_[stream];
    auto at = std::lower_bound(joins.begin(), joins.end(), when,
                               [](const Join& join, Nanos time) { return join.called < time; });
    while (at != joins.begin() && (--at)->called > since) {
      if (last == kNone || ops.end[at->op] > ops.end[last]) last = at->op;
    }
    return last;
  }

 private:
  struct Join {
    Nanos called = 0;
    std::uint32_t op = kNone;
  };

  const Run& run_;
  const Submitted& submitted_;
  std::vector<std::vector<Join>> of_stream_;  // in the order of the calls
};

// Where the capture does not say which event a call records or waits for. A wait that directly
// follows a record on its thread is for that event; this one stands behind the thread's last
// launch; and what the thread launches next, into another stream, is what waits. Collectives that
// a thread launches behind other kernels, with neither call in between, send what these computed.
class WaitsByOrder {
 public:
  explicit WaitsByOrder(const Run& run) : run_(run), ops_(run.trace.ops) {}

  // By op, as AwaitedByEvents says it.
  std::vector<std::uint32_t> Find() {
    for (const std::uint32_t thread : run_.launching_threads) Follow(run_.calls_of_thread[thread]);
    std::vector<std::uint32_t> awaited(ops_.size(), kNone);
    AddThoseThatHold(waits_, &awaited);
    AddThoseThatHold(sends_, &awaited);
    return awaited;
  }

 private:
  struct Wait {
    std::uint32_t op, for_op;
  };
  using WaitsOfStreams = std::map<std::pair<std::uint32_t, std::uint32_t>, std::vector<Wait>>;

  void AddThoseThatHold(const WaitsOfStreams& of_streams, std::vector<std::uint32_t>* awaited) {
    for (const auto& [streams, waits] : of_streams) {
      // Had one of them started earlier, the waits of these streams would not be what they seem.
      const bool all_waited = std::all_of(waits.begin(), waits.end(), [&](const Wait& wait) {
        return ops_.end[wait.for_op] <= ops_.start[wait.op];
      });
      if (!all_waited) continue;
      for (const Wait& wait : waits) {
        std::uint32_t& known = (*awaited)[wait.op];
        if (known == kNone || ops_.end[wait.for_op] > ops_.end[known]) known = wait.for_op;
      }
    }
  }

  void Follow(RowRange calls) {
    std::uint32_t last = kNone;      // op of the last launch
    std::uint32_t computed = kNone;  // of the last one of a kernel that is no collective
    std::uint32_t recorded = kNone;  // op behind which an event was recorded since then
    std::uint32_t awaited = kNone;   // of the last wait whose stream is not known yet
    for (const std::uint32_t c : calls) {
      const CallClass call_class = run_.ClassOfCall(c);
      const std::uint32_t op = run_.first_op_of_call[c];
      if (op != kNone && ops_.stream[op] != kNone) {
        if (awaited != kNone && ops_.stream[op] != ops_.stream[awaited]) {
          if (ops_.device[op] == ops_.device[awaited])
            waits_[{ops_.stream[awaited], ops_.stream[op]}].push_back({op, awaited});
          awaited = kNone;
        } else if (computed != kNone && run_.IsComm(op) &&
                   ops_.stream[op] != ops_.stream[computed] &&
                   ops_.device[op] == ops_.device[computed]) {
          sends_[{ops_.stream[computed], ops_.stream[op]}].push_back({op, computed});
        }
        last = op;
        if (ops_.kind[op] == OpKind::kKernel && !run_.IsComm(op)) computed = op;
        recorded = kNone;
      } else if (call_class == CallClass::kEventRecord) {
        recorded = last;
      } else if (call_class == CallClass::kStreamWaitEvent) {
        if (recorded != kNone) awaited = recorded;
        recorded = kNone;
      }
    }
  }

  const Run& run_;
  const OpTable& ops_;
  WaitsOfStreams waits_;  // by both streams
  WaitsOfStreams sends_;
};

}  // namespace

std::vector<std::uint32_t> AwaitedByEvents(const Run& run) {
  const OpTable& ops = run.trace.ops;
  const Submitted submitted(run);
  if (!submitted.HasEvents()) return WaitsByOrder(run).Find();
  std::vector<std::uint32_t> awaited(ops.size(), kNone);
  ForEachEventWait(run, submitted, [&](std::uint32_t stream, Nanos when, std::uint32_t for_op) {
    const std::uint32_t waits = submitted.FirstFrom(stream, when);
    // Another start before that end means that the events are not what they seem.
    if (waits == kNone || ops.end[for_op] > ops.start[waits]) return;
    std::uint32_t& known = awaited[waits];
    if (known == kNone || ops.end[for_op] > ops.end[known]) known = for_op;
  });
  return awaited;
}

std::vector<std::uint32_t> AwaitedBySyncs(const Run& run) {
  const CallTable& calls = run.trace.calls;
  const SyncTable& syncs = run.trace.syncs;
  std::vector<std::uint32_t> awaited(calls.size(), kNone);
  const Submitted submitted(run);
  const Joins joins(run, submitted);
  for (std::uint32_t call = 0; call < calls.size(); ++call) {
    // Freeing waits for the device, too.
    const CallClass call_class = run.ClassOfCall(call);
    if (call_class == CallClass::kSyncDevice || call_class == CallClass::kFreeDevice)
      awaited[call] = submitted.LastOfProcess(run.ProcessOfCall(call), calls.start[call]);
  }
  for (std::size_t w = 0; w < syncs.size(); ++w) {
    const std::uint32_t call = syncs.call[w];
    if (call == kNone) continue;
    const CallClass call_class = run.ClassOfCall(call);
    if (call_class == CallClass::kSyncStream && syncs.stream[w] != kNone) {
      awaited[call] = joins.LastOfStream(syncs.stream[w], calls.start[call]);
    } else if (call_class == CallClass::kSyncEvent && syncs.event_id[w] != 0) {
      awaited[call] =
          submitted.BehindEvent(run.ProcessOfCall(call), syncs.event_id[w], calls.start[call]);
    }
  }
  return awaited;
}

std::vector<std::uint32_t> RecordsOfWaits(const Run& run) {
  const CallTable& calls = run.trace.calls;
  const SyncTable& syncs = run.trace.syncs;
  std::vector<std::uint32_t> records(calls.size(), kNone);
  const Submitted submitted(run);
  if (!submitted.HasEvents()) return records;
  for (std::size_t w = 0; w < syncs.size(); ++w) {
    const std::uint32_t call = syncs.call[w];
    if (call == kNone || syncs.event_id[w] == 0 ||
        run.ClassOfCall(call) != CallClass::kStreamWaitEvent)
      continue;
    const std::uint32_t by =
        submitted.RecordedBy(run.ProcessOfCall(call), syncs.event_id[w], calls.start[call]);
    if (by != kNone && calls.thread[by] != calls.thread[call]) records[call] = by;
  }
  return records;
}

std::vector<std::uint32_t> SentOn(const Run& run) {
  const OpTable& ops = run.trace.ops;
  const CopyTable& copies = run.trace.copies;
  std::vector<std::uint32_t> sent(ops.size(), kNone);
  for (const std::uint32_t thread : run.launching_threads) {
    const RowRange calls = run.calls_of_thread[thread];
    std::uint32_t before = kNone;
    for (const std::uint32_t c : calls) {
      const std::uint32_t op = run.first_op_of_call[c];
      if (op == kNone) continue;
      const bool both = before != kNone && ops.kind[op] == OpKind::kCopy &&
                        ops.kind[before] == OpKind::kCopy && ops.device[op] != ops.device[before];
      if (both) {
        const std::uint32_t up = ops.detail[op];
        const std::uint32_t down = ops.detail[before];
        if (copies.direction[up] == CopyDirection::kHostToDevice &&
            copies.direction[down] == CopyDirection::kDeviceToHost &&
            copies.bytes[up] == copies.bytes[down] && ops.end[before] <= ops.start[op])
          sent[op] = before;
      }
      before = op;
    }
  }
  return sent;
}

}  // namespace advise
