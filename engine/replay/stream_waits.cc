#include "engine/replay/stream_waits.h"

#include <algorithm>
#include <map>
#include <utility>

namespace advise {
namespace {

struct Record {
  Nanos called = 0;
  std::uint32_t stream = kNone;
};

// By process and event, in the order of the calls.
std::map<std::pair<std::uint32_t, std::int64_t>, std::vector<Record>> RecordsOfEvents(
    const Run& run) {
  std::map<std::pair<std::uint32_t, std::int64_t>, std::vector<Record>> records;
  const EventTable& events = run.trace.events;
  for (std::size_t e = 0; e < events.size(); ++e) {
    const std::uint32_t call = events.call[e];
    if (call == kNone || events.stream[e] == kNone || events.event_id[e] == 0) continue;
    records[{run.ProcessOfCall(call), events.event_id[e]}].push_back(
        {run.trace.calls.start[call], events.stream[e]});
  }
  for (auto& [event, list] : records) {
    std::stable_sort(list.begin(), list.end(),
                     [](const Record& a, const Record& b) { return a.called < b.called; });
  }
  return records;
}

}  // namespace

std::vector<std::uint32_t> AwaitedByEvents(const Run& run) {
  const OpTable& ops = run.trace.ops;
  const CallTable& calls = run.trace.calls;
  const SyncTable& syncs = run.trace.syncs;
  std::vector<std::uint32_t> awaited(ops.size(), kNone);
  const auto records = RecordsOfEvents(run);
  if (records.empty()) return awaited;
  // By stream: its ops as they were launched.
  std::vector<std::vector<std::uint32_t>> launched(run.trace.streams.size());
  for (std::uint32_t op = 0; op < ops.size(); ++op) {
    if (ops.stream[op] != kNone && ops.call[op] != kNone) launched[ops.stream[op]].push_back(op);
  }
  const auto launch = [&](std::uint32_t op) { return calls.start[ops.call[op]]; };
  for (auto& list : launched) {
    std::stable_sort(list.begin(), list.end(), [&](auto a, auto b) {
      return launch(a) != launch(b) ? launch(a) < launch(b) : ops.start[a] < ops.start[b];
    });
  }
  // The first op of the stream that was launched no earlier.
  const auto from = [&](const std::vector<std::uint32_t>& list, Nanos when) {
    return std::lower_bound(list.begin(), list.end(), when,
                            [&](std::uint32_t op, Nanos time) { return launch(op) < time; });
  };
  for (std::size_t w = 0; w < syncs.size(); ++w) {
    const std::uint32_t call = syncs.call[w];
    if (call == kNone || syncs.stream[w] == kNone || syncs.event_id[w] == 0 ||
        run.ClassOfCall(call) != CallClass::kStreamWaitEvent)
      continue;
    const auto of_event = records.find({run.ProcessOfCall(call), syncs.event_id[w]});
    if (of_event == records.end()) continue;
    const auto next =
        std::upper_bound(of_event->second.begin(), of_event->second.end(), calls.start[call],
                         [](Nanos time, const Record& record) { return time < record.called; });
    if (next == of_event->second.begin()) continue;
    const Record& record = *std::prev(next);
    const std::vector<std::uint32_t>& before = launched[record.stream];
    const auto behind = from(before, record.called);
    const std::vector<std::uint32_t>& after = launched[syncs.stream[w]];
    const auto waits = from(after, calls.start[call]);
    if (behind == before.begin() || waits == after.end()) continue;
    const std::uint32_t for_op = *std::prev(behind);
    std::uint32_t& known = awaited[*waits];
    // Another start before that end means that the events are not what they seem.
    if (ops.end[for_op] > ops.start[*waits]) continue;
    if (known == kNone || ops.end[for_op] > ops.end[known]) known = for_op;
  }
  return awaited;
}

}  // namespace advise
