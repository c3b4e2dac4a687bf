// Waits in the operating system for a thread that launches nothing.
#include <algorithm>
#include <map>

#include "engine/base/median.h"
#include "engine/replay/replay.h"
#include "engine/timeline/awaited.h"
#include "engine/timeline/blocking_calls.h"

namespace advise {
namespace {

// Whether a thread that launches nothing is at work throughout the window: it makes calls from
// beginning to end, and hardly ever waits. What others wait for it to make comes at its own pace.
bool NeverRests(const Run& run, std::uint32_t thread) {
  const OsCallTable& os = run.trace.os_calls;
  const Nanos quarter = run.window.Length() / 4;
  bool early = false;
  bool late = false;
  Nanos waited = 0;
  for (const std::uint32_t i : run.os_of_thread[thread]) {
    if (os.end[i] <= run.window.start || os.start[i] >= run.window.end) continue;
    early = early || os.start[i] < run.window.start + quarter;
    late = late || os.end[i] > run.window.end - quarter;
    if (IsWait(run.names.Os(os.name[i])))
      waited += std::min(os.end[i], run.window.end) - std::max(os.start[i], run.window.start);
  }
  const double works = run.knowledge.Number("replay.never_rests");
  return early && late &&
         static_cast<double>(waited) <= (1 - works) * static_cast<double>(run.window.Length());
}

// By process.
std::map<std::uint32_t, bool> HasSteadyWorker(const Run& run) {
  std::map<std::uint32_t, bool> has;
  for (std::uint32_t t = 0; t < run.trace.threads.size(); ++t) {
    const Role role = run.names.ThreadRole(t);
    if (role == Role::kProfiler || role == Role::kCommunication ||
        std::binary_search(run.launching_threads.begin(), run.launching_threads.end(), t))
      continue;
    bool& found = has[run.trace.threads[t].process];
    found = found || NeverRests(run, t);
  }
  return has;
}

// Where the last wait ended that fills at least half of the pause [since, until) of the thread;
// `since` without any. A lock is no wait for what somebody makes.
Nanos EndOfWait(const Run& run, std::uint32_t thread, Nanos since, Nanos until) {
  const OsCallTable& os = run.trace.os_calls;
  const auto first = os.start.begin() + run.os_of_thread[thread].first;
  const auto last = os.start.begin() + run.os_of_thread[thread].last;
  Nanos waited = 0;
  Nanos end = since;
  for (auto at = std::lower_bound(first, last, until); at != first;) {
    const auto row = static_cast<std::size_t>(--at - os.start.begin());
    if (os.end[row] <= since) break;
    if (run.names.Os(os.name[row]) != OsClass::kWait) continue;
    waited += std::min(os.end[row], until) - std::max(os.start[row], since);
    end = std::max(end, std::min(os.end[row], until));
  }
  return 2 * waited >= until - since ? end : since;
}

}  // namespace

// What a thread waited for in the operating system, nobody knows who made it. A thread at work all
// the time did so at its own pace: it comes when it came. Otherwise, a thread that waits for the
// GPU and then for somebody may have handed over what it read: what it gets comes no sooner because
// it no longer waits for the GPU.
void Replay::AwaitAnswers(const Run& run) {
  const bool loads = !arrivals_.empty();
  std::map<std::uint32_t, bool> steady;
  for (HostCall& call : calls_) {
    if (call.arrival != kNone) call.blocked = false;
    if (!call.blocked || call.released_by != kNone || call.paused_for != kNone ||
        call.previous == kNone)
      continue;
    if (steady.empty()) steady = HasSteadyWorker(run);
    const HostCall& before = calls_[call.previous];
    const Nanos waited_until = EndOfWait(run, call.thread, before.end, call.start);
    if (waited_until == before.end) continue;
    if (!loads && steady[run.trace.threads[call.thread].process]) {
      call.arrival = static_cast<std::uint32_t>(arrivals_.size());
      arrivals_.push_back(waited_until);
      awaited_since_.push_back(before.end);
      continue;
    }
    // A copy that blocks is often followed by a wait that finds it done.
    const HostCall* read = &before;
    if (read->awaited_op == kNone && IsSync(run.ClassOfCall(read->row)) && read->previous != kNone)
      read = &calls_[read->previous];
    if (BlocksHost(run, read->row) && read->awaited_op != kNone &&
        ops_[read->awaited_op].end <= call.start)
      call.paused_for = read->awaited_op;
  }
}

// Batches of steps that were not waited for lay ready: the loader was ahead, and may have rested
// since. Up to the next batch that is waited for, it then takes no longer than for as many of those
// that follow one on the other.
void Replay::PaceArrivals(const Run& run) {
  paced_ = arrivals_;
  std::map<std::uint32_t, std::vector<std::uint32_t>> by_thread;
  for (const HostCall& call : calls_) {
    if (call.arrival != kNone && !call.blocked) by_thread[call.thread].push_back(call.arrival);
  }
  for (auto& of_thread : by_thread) {
    std::vector<std::uint32_t>& list = of_thread.second;
    std::sort(list.begin(), list.end(),
              [&](auto a, auto b) { return arrivals_[a] < arrivals_[b]; });
    const auto steps_between = [&](std::size_t i) {
      const std::uint32_t before = run.steps.At(arrivals_[list[i - 1]]);
      const std::uint32_t at = run.steps.At(arrivals_[list[i]]);
      return before == kNone || at == kNone ? Nanos{-1} : Nanos{at} - Nanos{before};
    };
    std::vector<Nanos> apart;  // of batches of steps that follow one on the other
    bool one_each = true;
    for (std::size_t i = 1; i < list.size(); ++i) {
      one_each &= steps_between(i) != 0;
      if (steps_between(i) == 1) apart.push_back(arrivals_[list[i]] - arrivals_[list[i - 1]]);
    }
    if (!one_each || apart.size() < 2) continue;
    const Nanos pace = Median(apart);
    Nanos rested = 0;
    for (std::size_t i = 1; i < list.size(); ++i) {
      const Nanos steps = steps_between(i);
      const Nanos recorded = arrivals_[list[i]] - arrivals_[list[i - 1]];
      if (steps > 1) rested += std::max<Nanos>(0, recorded - steps * pace);
      paced_[list[i]] = arrivals_[list[i]] - rested;
    }
  }
}

// After which call the loaders went on, of a batch that they began after a rest.
void Replay::FindRests(const Run& run) {
  resumed_at_.assign(arrivals_.size(), kNone);
  rested_.assign(arrivals_.size(), 0);
  if (arrivals_.empty()) return;
  const Awaited awaited(run);
  std::map<std::uint32_t, IntervalSet> by_thread;
  for (const HostCall& call : calls_) {
    if (call.arrival == kNone) continue;
    const auto [at, is_new] = by_thread.try_emplace(call.thread);
    if (is_new) at->second = IntervalSet::Of(awaited.RestsOfLoaders(call.thread));
    const IntervalList& rests = at->second.intervals();
    const Nanos arrival = arrivals_[call.arrival];
    const auto next =
        std::lower_bound(rests.begin(), rests.end(), arrival,
                         [](const Interval& rest, Nanos time) { return rest.end < time; });
    if (next == rests.begin() || (*std::prev(next)).end <= from_) continue;
    const Nanos went_on = (*std::prev(next)).end;
    std::uint32_t before = call.previous;
    while (before != kNone && calls_[before].end > went_on) before = calls_[before].previous;
    resumed_at_[call.arrival] = before;
    rested_[call.arrival] = at->second.OverlapWith(from_, went_on);
  }
}

}  // namespace advise
