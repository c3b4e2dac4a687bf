#include "engine/replay/hand_over.h"

#include <algorithm>
#include <map>
#include <tuple>

#include "engine/base/median.h"

namespace advise {
namespace {

// What a call does, so that the same place of another step has the same kind: the call's name and
// the kernel that it launches.
using CallKind = std::pair<std::uint32_t, std::uint32_t>;

CallKind KindOf(const Run& run, std::uint32_t call) {
  const std::uint32_t op = run.first_op_of_call[call];
  const bool kernel = op != kNone && run.trace.ops.kind[op] == OpKind::kKernel;
  return {run.trace.calls.name[call], kernel ? run.trace.ops.detail[op] : kNone};
}

// Whether the thread visibly works in the pause: named ranges that begin and end in it, and calls
// that read or write files, for half of its length.
class OwnWork {
 public:
  explicit OwnWork(const Run& run) : run_(run), of_thread_(run.trace.threads.size()) {}

  bool Fills(const Pause& pause) {
    const std::uint32_t thread = run_.trace.calls.thread[pause.call];
    Known& known = of_thread_[thread];
    if (!known.built) Build(thread, &known);
    Nanos inside = known.files.OverlapWith(pause.start, pause.end);
    Nanos until = pause.start;  // ranges nest: the outermost ones inside the pause count
    const RangeTable& ranges = run_.trace.ranges;
    const RowRange rows = run_.ranges_of_thread[thread];
    const auto first = ranges.start.begin() + rows.first;
    const auto last = ranges.start.begin() + rows.last;
    for (auto at = std::lower_bound(first, last, pause.start); at != last && *at < pause.end;
         ++at) {
      const auto row = static_cast<std::size_t>(at - ranges.start.begin());
      if (ranges.end[row] > pause.end || ranges.start[row] < until) continue;
      inside += ranges.end[row] - ranges.start[row];
      until = ranges.end[row];
    }
    return 2 * inside >= pause.Length();
  }

 private:
  struct Known {
    bool built = false;
    IntervalSet files;
  };

  void Build(std::uint32_t thread, Known* known) const {
    std::vector<Interval> files;
    for (std::uint32_t i = run_.os_of_thread[thread].first; i < run_.os_of_thread[thread].last;
         ++i) {
      const OsClass os = run_.names.Os(run_.trace.os_calls.name[i]);
      if (os != OsClass::kFileIo && os != OsClass::kFileWrite) continue;
      files.push_back({run_.trace.os_calls.start[i], run_.trace.os_calls.end[i]});
    }
    known->files = IntervalSet::Of(std::move(files));
    known->built = true;
  }

  const Run& run_;
  std::vector<Known> of_thread_;
};

}  // namespace

std::vector<std::uint8_t> InferHandOvers(const Run& run, const std::vector<Pause>& pauses) {
  const Knowledge& knowledge = run.knowledge;
  const auto shortest = static_cast<Nanos>(knowledge.Number("replay.hand_over.pause"));
  const auto least = static_cast<std::size_t>(knowledge.Number("replay.hand_over.least"));
  const double usual = knowledge.Number("replay.hand_over.usual");
  const double behind_share = knowledge.Number("replay.hand_over.behind_share");
  const double chance_most = knowledge.Number("replay.hand_over.chance");

  const CallTable& calls = run.trace.calls;
  using PauseKind = std::pair<std::uint32_t, CallKind>;  // thread, call that follows
  using Pattern = std::tuple<std::uint32_t, CallKind, std::uint32_t, CallKind>;  // and the peer's
  std::map<PauseKind, std::size_t> of_kind;
  std::map<Pattern, std::vector<std::uint32_t>> patterns;
  std::map<std::uint32_t, std::map<CallKind, std::size_t>> peers;  // by thread: calls of each kind
  for (std::uint32_t i = 0; i < pauses.size(); ++i) {
    const Pause& pause = pauses[i];
    if (pause.peer == kNone || pause.Length() < shortest) continue;
    const auto behind = static_cast<double>(pause.end - calls.end[pause.peer]);
    // Code between two launches: a wait is longer than what follows it.
    if (behind > behind_share * static_cast<double>(pause.Length())) continue;
    const std::uint32_t peer_thread = calls.thread[pause.peer];
    patterns[{calls.thread[pause.call], KindOf(run, pause.call), peer_thread,
              KindOf(run, pause.peer)}]
        .push_back(i);
    peers.try_emplace(peer_thread);
  }
  if (patterns.empty()) return std::vector<std::uint8_t>(pauses.size(), 0);
  for (const Pause& pause : pauses) ++of_kind[{calls.thread[pause.call], KindOf(run, pause.call)}];
  for (auto& [peer_thread, kinds] : peers) {
    const RowRange rows = run.calls_of_thread[peer_thread];
    for (std::uint32_t c = rows.first; c < rows.last; ++c) {
      if (run.InWindow(calls.start[c])) ++kinds[KindOf(run, c)];
    }
  }

  std::vector<std::uint8_t> inferred(pauses.size(), 0);
  OwnWork own_work(run);
  for (const auto& [pattern, members] : patterns) {
    const auto& [thread, kind, peer_thread, peer_kind] = pattern;
    const auto all = static_cast<double>(of_kind[{thread, kind}]);
    if (members.size() < least || static_cast<double>(members.size()) < usual * all) continue;
    std::vector<Nanos> behind;
    for (const std::uint32_t i : members)
      behind.push_back(pauses[i].end - calls.end[pauses[i].peer]);
    // How many of the peer's calls of that kind lie, by chance, so close before any moment.
    const double by_chance = static_cast<double>(peers[peer_thread][peer_kind]) *
                             static_cast<double>(Median(std::move(behind))) /
                             static_cast<double>(std::max<Nanos>(1, run.window.Length()));
    if (by_chance > chance_most) continue;
    for (const std::uint32_t i : members) inferred[i] = own_work.Fills(pauses[i]) ? 0 : 1;
  }
  return inferred;
}

}  // namespace advise
