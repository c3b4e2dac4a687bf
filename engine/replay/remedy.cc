#include "engine/replay/remedy.h"

#include <algorithm>
#include <map>

#include "engine/timeline/pause.h"

namespace advise {
namespace {

// What host threads work that a remedy takes off them: code, and calls that vanish with the code
// before them.
HostTime WorkGone(const Remedy& remedy, const Run& run) {
  std::vector<Remedy::HostCut> spans = remedy.host_cuts;
  const CallTable& calls = run.trace.calls;
  std::map<std::uint32_t, std::vector<Interval>> of_calls;
  const std::vector<Nanos> long_pauses =
      remedy.vanished_calls.empty() ? std::vector<Nanos>() : LongPauses(run);
  for (const std::uint32_t call : remedy.vanished_calls) {
    const std::uint32_t thread = calls.thread[call];
    const bool first = call == run.calls_of_thread[thread].first;
    const Nanos code = first ? 0 : calls.start[call] - calls.end[call - 1];
    const bool own = code > 0 && code <= long_pauses[thread];
    of_calls[thread].push_back({calls.start[call] - (own ? code : 0), calls.end[call]});
  }
  for (auto& [thread, list] : of_calls) spans.push_back({thread, IntervalSet::Of(std::move(list))});
  return CutsByThread(spans);
}

// The same with the waits in calls.
HostTime HostTimeOf(const Remedy& remedy, const Run& run) {
  const CallTable& calls = run.trace.calls;
  std::map<std::uint32_t, std::vector<Interval>> waits;
  for (const std::uint32_t call : remedy.unblocked_calls)
    waits[calls.thread[call]].push_back({calls.start[call], calls.end[call]});
  HostTime time = WorkGone(remedy, run);
  for (auto& [thread, list] : waits)
    time[thread] = time[thread].Union(IntervalSet::Of(std::move(list)));
  return time;
}

}  // namespace

HostTime CutsByThread(const std::vector<Remedy::HostCut>& cuts) {
  std::map<std::uint32_t, std::vector<Interval>> spans;
  for (const Remedy::HostCut& cut : cuts) {
    auto& list = spans[cut.thread];
    list.insert(list.end(), cut.when.intervals().begin(), cut.when.intervals().end());
  }
  HostTime time;
  for (auto& [thread, list] : spans) time[thread] = IntervalSet::Of(std::move(list));
  return time;
}

std::int64_t Remedy::Extent() const {
  const std::size_t rows = unblocked_calls.size() + vanished_calls.size() + scaled_ops.size() +
                           lighter_ops.size() + detached_ops.size() + freed_ops.size() +
                           (data_ready ? 1 : 0);
  auto extent = static_cast<std::int64_t>(rows);
  for (const HostCut& cut : host_cuts) extent += cut.when.Total();
  return extent;
}

void Remedy::Join(const Remedy& other) {
  if (ChangesNothing() || (reach_ns > 0 && other.reach_ns > 0)) {
    reach_ns += other.reach_ns;
    if (other.reach_ns > 0) reach_reason = other.reach_reason;
  } else {
    reach_ns = 0;
  }
  const auto append = [](auto* to, const auto& from) {
    to->insert(to->end(), from.begin(), from.end());
  };
  append(&unblocked_calls, other.unblocked_calls);
  append(&vanished_calls, other.vanished_calls);
  append(&scaled_ops, other.scaled_ops);
  append(&lighter_ops, other.lighter_ops);
  append(&detached_ops, other.detached_ops);
  append(&detached_if_unblocked, other.detached_if_unblocked);
  append(&freed_ops, other.freed_ops);
  append(&host_cuts, other.host_cuts);
  in_graph = in_graph || other.in_graph;
  data_ready = data_ready || other.data_ready;
  makes_room = makes_room || other.makes_room;
  if (other.floor_ns > floor_ns) {
    floor_ns = other.floor_ns;
    floor_reason = other.floor_reason;
  }
}

Nanos HostTimeSaved(const Remedy& remedy, const Run& run) {
  IntervalSet saved;
  for (const auto& [thread, when] : WorkGone(remedy, run)) saved = saved.Union(when);
  return saved.Clip(run.window.start, run.window.end).Total();
}

Remedy Without(const Remedy& remedy, const Remedy& made, const Run& run) {
  std::vector<std::uint32_t> calls = made.unblocked_calls;
  calls.insert(calls.end(), made.vanished_calls.begin(), made.vanished_calls.end());
  // A call that only returns at once has still to be made.
  std::vector<std::uint32_t> gone = made.vanished_calls;
  std::vector<std::uint32_t> ops = made.detached_ops;
  // An op that is only faster has still to be taken out of its stream.
  std::vector<std::uint32_t> aside = made.detached_ops;
  std::vector<std::uint32_t> lighter;
  for (const auto& [op, factor] : made.scaled_ops) {
    ops.push_back(op);
    if (factor == 0.0F) aside.push_back(op);
    if (factor == 0.0F) lighter.push_back(op);
  }
  for (const auto& [op, factor] : made.lighter_ops) lighter.push_back(op);
  std::vector<std::uint32_t> freed = made.freed_ops;
  for (auto* rows : {&calls, &gone, &ops, &lighter, &aside, &freed})
    std::sort(rows->begin(), rows->end());
  const auto in = [](const std::vector<std::uint32_t>& rows) {
    return [&rows](std::uint32_t row) { return std::binary_search(rows.begin(), rows.end(), row); };
  };

  Remedy left = remedy;
  std::erase_if(left.unblocked_calls, in(calls));
  std::erase_if(left.vanished_calls, in(gone));
  std::erase_if(left.detached_ops, in(aside));
  std::erase_if(left.scaled_ops, [&](const auto& scaled) { return in(ops)(scaled.first); });
  std::erase_if(left.lighter_ops, [&](const auto& op) { return in(lighter)(op.first); });
  std::erase_if(left.freed_ops, in(freed));
  const HostTime taken = HostTimeOf(made, run);
  // Code before a call that takes longer than launching it does would go with the call.
  const auto long_pause = run.knowledge.Time("launch.long_pause");
  std::erase_if(left.vanished_calls, [&](std::uint32_t call) {
    const std::uint32_t thread = run.trace.calls.thread[call];
    const auto same = taken.find(thread);
    if (same == taken.end() || call == run.calls_of_thread[thread].first) return false;
    const Nanos since = run.trace.calls.end[call - 1];
    const Nanos until = run.trace.calls.start[call];
    return until - since > long_pause && 2 * same->second.OverlapWith(since, until) > until - since;
  });
  left.host_cuts.clear();
  for (auto& [thread, cut] : CutsByThread(remedy.host_cuts)) {
    const auto same = taken.find(thread);
    IntervalSet rest = same == taken.end() ? cut : cut.Subtract(same->second);
    if (!rest.empty()) left.host_cuts.push_back({thread, std::move(rest)});
  }
  left.data_ready = remedy.data_ready && !made.data_ready;
  return left;
}

}  // namespace advise
