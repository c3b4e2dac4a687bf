#include "engine/replay/silent_waits.h"

#include <algorithm>
#include <cstdlib>
#include <iterator>
#include <map>
#include <tuple>
#include <utility>

#include "engine/base/median.h"

namespace advise {
namespace {

// Ops that look the same: of one device, and one kernel, direction of copies, or graph.
using Look = std::tuple<std::uint32_t, OpKind, std::uint32_t>;

Look LookOf(const Trace& trace, std::uint32_t op) {
  const OpTable& ops = trace.ops;
  std::uint32_t what = 0;
  if (ops.kind[op] == OpKind::kKernel) what = ops.detail[op];
  if (ops.kind[op] == OpKind::kCopy)
    what = static_cast<std::uint32_t>(trace.copies.direction[ops.detail[op]]);
  if (ops.kind[op] == OpKind::kGraph) what = ops.detail[op];
  return {ops.device[op], ops.kind[op], what};
}

// A pause of a thread, and the call that follows.
struct Pause {
  Nanos start = 0, end = 0;
  std::uint32_t call = kNone;
};

// How much these times differ. Most of them, or all: where most are alike, the few others tell.
enum class Differ : std::uint8_t { kMost, kAll };

Nanos Spread(const std::vector<Nanos>& values, Differ differ) {
  const Nanos middle = Median(values);
  if (differ == Differ::kMost) return MedianDeviation(values, middle);
  Nanos apart = 0;
  for (const Nanos value : values) apart += std::abs(value - middle);
  return values.empty() ? 0 : apart / static_cast<Nanos>(values.size());
}

// Something that happened, by its end: a row of ops or of calls.
struct Event {
  Nanos end = 0;
  std::uint32_t row = 0;
};

// What a place of the loop is: the calls before and behind it.
using Place = std::pair<StringId, StringId>;

std::map<Place, std::vector<Pause>> PausesOf(const Run& run, std::uint32_t thread) {
  const auto shortest = run.knowledge.Time("replay.hand_over.pause");
  const CallTable& calls = run.trace.calls;
  std::map<Place, std::vector<Pause>> places;
  Nanos ended = 0;
  std::uint32_t before = kNone;
  for (const std::uint32_t c : run.calls_of_thread[thread]) {
    if (before != kNone && calls.start[c] - ended >= shortest)
      places[{calls.name[before], calls.name[c]}].push_back({ended, calls.start[c], c});
    if (calls.end[c] <= ended) continue;  // nested
    ended = calls.end[c];
    before = c;
  }
  return places;
}

// Where most pauses end behind the same place of what repeats, such as the same one of many like
// ops of a step, the events at that place; else nothing. What goes on at a pace of its own drifts
// against the pauses: as many events between each two of them are then rare.
std::vector<Event> SamePlace(const std::vector<Event>& events, const std::vector<Pause>& pauses,
                             double usual) {
  std::vector<std::int64_t> last;  // by pause: how many had ended
  for (const Pause& pause : pauses) {
    const auto at = std::partition_point(events.begin(), events.end(),
                                         [&](const Event& e) { return e.end <= pause.end; });
    last.push_back(at - events.begin());
  }
  std::vector<std::int64_t> apart;
  for (std::size_t i = 1; i < last.size(); ++i) apart.push_back(last[i] - last[i - 1]);
  if (apart.empty()) return {};
  const std::int64_t once = Median(apart);
  const auto same = static_cast<double>(std::count(apart.begin(), apart.end(), once));
  if (once <= 0 || same < usual * static_cast<double>(apart.size())) return {};
  std::vector<Event> found;
  for (std::size_t i = 0; i < last.size(); ++i) {
    const bool in_step = (i > 0 && apart[i - 1] == once) || (i < apart.size() && apart[i] == once);
    if (!in_step || last[i] == 0) continue;
    const Event& event = events[static_cast<std::size_t>(last[i]) - 1];
    if (found.empty() || found.back().row != event.row) found.push_back(event);
  }
  return found;
}

class Pattern {
 public:
  explicit Pattern(const Run& run)
      : least_(run.knowledge.CountOf("replay.silent_wait.least")),
        usual_(run.knowledge.Number("replay.silent_wait.usual")),
        steadier_(run.knowledge.Number("replay.silent_wait.steadier")) {}

  // Of the events that come once a pause, or of which the pauses end at the same place, those
  // behind whose end the thread goes on most steadily, by the call behind the pause; `kinds` are
  // events that look the same, by their end. Held against how much all pauses vary, and those that
  // hold such an end: without the others, which are short, what is left may look steady.
  void Find(const std::vector<Pause>& pauses, const std::vector<std::vector<Event>>& kinds,
            std::vector<std::uint32_t>* awaited) const {
    if (!Find(pauses, kinds, Differ::kMost, awaited)) Find(pauses, kinds, Differ::kAll, awaited);
  }

 private:
  bool Find(const std::vector<Pause>& pauses, const std::vector<std::vector<Event>>& kinds,
            Differ differ, std::vector<std::uint32_t>* awaited) const {
    if (pauses.size() < least_) return false;
    const auto count = static_cast<double>(pauses.size());
    std::vector<Nanos> all;
    for (const Pause& pause : pauses) all.push_back(pause.end - pause.start);
    auto least = static_cast<Nanos>(static_cast<double>(Spread(all, differ)) / steadier_);
    std::vector<std::uint32_t> found;
    for (const std::vector<Event>& kind : kinds) {
      if (static_cast<double>(kind.size()) < usual_ * count) continue;
      const bool oftener = usual_ * static_cast<double>(kind.size()) > count;
      const std::vector<Event> events = oftener ? SamePlace(kind, pauses, usual_) : kind;
      std::vector<std::uint32_t> ended(pauses.size(), kNone);
      std::vector<Nanos> lags;
      std::vector<Nanos> lengths;  // of the same pauses
      std::size_t at = 0;
      for (std::size_t i = 0; i < pauses.size(); ++i) {
        while (at < events.size() && events[at].end <= pauses[i].end) ++at;
        if (at == 0 || events[at - 1].end <= pauses[i].start) continue;
        // One that comes many times in a long pause goes on without the thread.
        const bool again = at > 1 && events[at - 2].end > pauses[i].start;
        if (differ == Differ::kAll && again) continue;
        ended[i] = events[at - 1].row;
        lags.push_back(pauses[i].end - events[at - 1].end);
        lengths.push_back(pauses[i].end - pauses[i].start);
      }
      if (static_cast<double>(lags.size()) < usual_ * count) continue;
      const Nanos spread = Spread(lags, differ);
      if (spread >= least ||
          steadier_ * static_cast<double>(spread) >= static_cast<double>(Spread(lengths, differ)))
        continue;
      if (oftener && !IsBehind(lags, lengths, differ)) continue;
      least = spread;
      found = std::move(ended);
    }
    for (std::size_t i = 0; i < found.size(); ++i) {
      if (found[i] != kNone) (*awaited)[pauses[i].call] = found[i];
    }
    return !found.empty();
  }

  // Of what comes many times a pause, something ends at any time. The wait is most of the pause,
  // and nearly all pauses end as long after it.
  bool IsBehind(const std::vector<Nanos>& lags, const std::vector<Nanos>& lengths,
                Differ differ) const {
    const Nanos lag = Median(lags);
    if (2 * lag > Median(lengths)) return false;
    const auto near = static_cast<Nanos>(static_cast<double>(Spread(lengths, differ)) / steadier_);
    const auto count = static_cast<double>(std::count_if(
        lags.begin(), lags.end(), [&](Nanos l) { return std::abs(l - lag) <= near; }));
    return count >= usual_ * static_cast<double>(lags.size());
  }

  std::size_t least_;
  double usual_;
  double steadier_;
};

std::vector<std::vector<Event>> ByEnd(auto by_kind) {
  std::vector<std::vector<Event>> kinds;
  for (auto& [kind, events] : by_kind) {
    std::sort(events.begin(), events.end(),
              [](const Event& a, const Event& b) { return a.end < b.end; });
    kinds.push_back(std::move(events));
  }
  return kinds;
}

// The ops that the launching threads of one process launched.
class ProcessWaits {
 public:
  ProcessWaits(const Run& run, const std::vector<std::uint32_t>& ops)
      : run_(run), trace_(run.trace), pattern_(run) {
    std::map<Look, std::vector<Event>> by_look;
    for (const std::uint32_t op : ops)
      by_look[LookOf(trace_, op)].push_back({trace_.ops.end[op], op});
    kinds_ = ByEnd(std::move(by_look));
  }

  void Find(std::uint32_t thread, const HandOvers& hand_overs,
            std::vector<std::uint32_t>* awaited) const {
    std::map<Place, std::vector<Pause>> places = PausesOf(run_, thread);
    for (auto& [place, pauses] : places) {
      for (Pause& pause : pauses) {
        const std::uint32_t from = hand_overs.AwaitedAt(thread, pause.end - 1);
        pause.start = HandedOver(from, {pause.start, pause.end});
      }
      pattern_.Find(pauses, kinds_, awaited);
    }
  }

 private:
  // When that thread made its last call in the pause; else its start.
  Nanos HandedOver(std::uint32_t thread, Interval pause) const {
    if (thread == kNone) return pause.start;
    const CallTable& calls = trace_.calls;
    const RowRange rows = run_.calls_of_thread[thread];
    const auto first = calls.start.begin();
    auto at = std::lower_bound(first + rows.first, first + rows.last, pause.end) - first;
    while (at > rows.first && calls.end[static_cast<std::size_t>(--at)] > pause.start) {
      if (calls.end[static_cast<std::size_t>(at)] <= pause.end)
        return calls.end[static_cast<std::size_t>(at)];
    }
    return pause.start;
  }

  const Run& run_;
  const Trace& trace_;
  Pattern pattern_;
  std::vector<std::vector<Event>> kinds_;
};

// The calls of a thread that lie in no other of its calls.
std::vector<Event> OutermostCalls(const Run& run, std::uint32_t thread) {
  std::vector<Event> calls;
  Nanos ended = 0;
  for (const std::uint32_t c : run.calls_of_thread[thread]) {
    if (run.trace.calls.end[c] <= ended) continue;
    ended = run.trace.calls.end[c];
    calls.push_back({ended, c});
  }
  return calls;
}

}  // namespace

std::vector<std::uint32_t> AwaitedInPauses(const Run& run, const HandOvers& hand_overs) {
  std::vector<std::uint32_t> awaited(run.trace.calls.size(), kNone);
  std::map<std::uint32_t, std::vector<std::uint32_t>> ops_of_process;
  for (std::uint32_t op = 0; op < run.trace.ops.size(); ++op) {
    const std::uint32_t call = run.trace.ops.call[op];
    if (call != kNone) ops_of_process[run.ProcessOfCall(call)].push_back(op);
  }
  std::map<std::uint32_t, ProcessWaits> processes;
  for (const auto& [process, ops] : ops_of_process) {
    processes.emplace(process, ProcessWaits(run, ops));
  }
  for (const std::uint32_t thread : run.launching_threads) {
    const auto at = processes.find(run.trace.threads[thread].process);
    if (at != processes.end()) at->second.Find(thread, hand_overs, &awaited);
  }
  return awaited;
}

std::vector<std::uint32_t> LetGoInPauses(const Run& run, const ThreadDevices& devices) {
  const CallTable& calls = run.trace.calls;
  std::vector<std::uint32_t> let_go(calls.size(), kNone);
  const Pattern pattern(run);
  for (const std::uint32_t thread : run.launching_threads) {
    std::map<std::tuple<std::uint32_t, StringId>, std::vector<Event>> by_name;
    std::vector<std::vector<Event>> peers;
    for (const std::uint32_t other : run.launching_threads) {
      const bool peer = other != thread &&
                        run.trace.threads[other].process == run.trace.threads[thread].process &&
                        devices.Share(other, thread);
      if (!peer) continue;
      for (const std::uint32_t c : run.calls_of_thread[other])
        by_name[{other, calls.name[c]}].push_back({calls.end[c], c});
      peers.push_back(OutermostCalls(run, other));
    }
    if (by_name.empty()) continue;
    auto kinds = ByEnd(std::move(by_name));
    std::move(peers.begin(), peers.end(), std::back_inserter(kinds));
    for (const auto& [place, pauses] : PausesOf(run, thread)) pattern.Find(pauses, kinds, &let_go);
  }
  return let_go;
}

}  // namespace advise
