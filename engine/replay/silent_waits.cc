#include "engine/replay/silent_waits.h"

#include <algorithm>
#include <cstdlib>
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

Nanos Spread(const std::vector<Nanos>& values) { return MedianDeviation(values, Median(values)); }

// The ops that the launching threads of one process launched.
class ProcessWaits {
 public:
  ProcessWaits(const Run& run, const std::vector<std::uint32_t>& ops)
      : run_(run),
        trace_(run.trace),
        least_(run.knowledge.CountOf("replay.silent_wait.least")),
        usual_(run.knowledge.Number("replay.silent_wait.usual")),
        steadier_(run.knowledge.Number("replay.silent_wait.steadier")) {
    for (const std::uint32_t op : ops) by_look_[LookOf(trace_, op)].push_back(op);
    for (auto& [look, list] : by_look_) {
      std::sort(list.begin(), list.end(),
                [&](auto a, auto b) { return trace_.ops.end[a] < trace_.ops.end[b]; });
    }
  }

  void Find(std::uint32_t thread, const HandOvers& hand_overs,
            std::vector<std::uint32_t>* awaited) const {
    const auto shortest = run_.knowledge.Time("replay.hand_over.pause");
    std::map<std::pair<StringId, StringId>, std::vector<Pause>> places;
    const CallTable& calls = trace_.calls;
    const RowRange rows = run_.calls_of_thread[thread];
    Nanos ended = 0;
    std::uint32_t before = kNone;
    for (const std::uint32_t c : rows) {
      if (before != kNone && calls.start[c] - ended >= shortest) {
        const Nanos since =
            HandedOver(hand_overs.AwaitedAt(thread, calls.start[c] - 1), {ended, calls.start[c]});
        places[{calls.name[before], calls.name[c]}].push_back({since, calls.start[c], c});
      }
      if (calls.end[c] <= ended) continue;  // nested
      ended = calls.end[c];
      before = c;
    }
    for (const auto& [place, pauses] : places) {
      if (pauses.size() >= least_) FindPattern(pauses, awaited);
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

  // Of the ops that come once a pause, those behind whose end the thread goes on most steadily.
  // Held against how much all pauses vary, and those that hold such an end: without the others,
  // which are short, what is left may look steady.
  void FindPattern(const std::vector<Pause>& pauses, std::vector<std::uint32_t>* awaited) const {
    const auto count = static_cast<double>(pauses.size());
    std::vector<Nanos> all;
    for (const Pause& pause : pauses) all.push_back(pause.end - pause.start);
    auto least = static_cast<Nanos>(static_cast<double>(Spread(all)) / steadier_);
    std::vector<std::uint32_t> found;
    for (const auto& [look, ops] : by_look_) {
      const auto once = static_cast<double>(ops.size());
      if (once < usual_ * count || usual_ * once > count) continue;
      std::vector<std::uint32_t> ended(pauses.size(), kNone);
      std::vector<Nanos> lags;
      std::vector<Nanos> lengths;  // of the same pauses
      std::size_t at = 0;
      for (std::size_t i = 0; i < pauses.size(); ++i) {
        while (at < ops.size() && trace_.ops.end[ops[at]] <= pauses[i].end) ++at;
        if (at == 0 || trace_.ops.end[ops[at - 1]] <= pauses[i].start) continue;
        ended[i] = ops[at - 1];
        lags.push_back(pauses[i].end - trace_.ops.end[ops[at - 1]]);
        lengths.push_back(pauses[i].end - pauses[i].start);
      }
      if (static_cast<double>(lags.size()) < usual_ * count) continue;
      const Nanos spread = Spread(lags);
      if (spread >= least ||
          steadier_ * static_cast<double>(spread) >= static_cast<double>(Spread(lengths)))
        continue;
      least = spread;
      found = std::move(ended);
    }
    for (std::size_t i = 0; i < found.size(); ++i) {
      if (found[i] != kNone) (*awaited)[pauses[i].call] = found[i];
    }
  }

  const Run& run_;
  const Trace& trace_;
  std::size_t least_;
  double usual_;
  double steadier_;
  std::map<Look, std::vector<std::uint32_t>> by_look_;  // by end
};

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

}  // namespace advise
