// Waits for locks that another thread takes and gives back at its own pace.
#include <algorithm>
#include <limits>
#include <map>
#include <set>

#include "engine/replay/replay.h"

namespace advise {
namespace {

struct Wait {
  std::uint32_t call;  // the host call of the replay that came behind it
  Nanos asked, got;
};

// The waits for locks in the pause [since, until) of the thread.
void AddLocks(const Run& run, std::uint32_t thread, Nanos since, Nanos until, std::uint32_t call,
              std::vector<Wait>* waits) {
  const OsCallTable& os = run.trace.os_calls;
  const auto first = os.start.begin() + run.os_of_thread[thread].first;
  const auto last = os.start.begin() + run.os_of_thread[thread].last;
  for (auto at = std::lower_bound(first, last, since); at != last && *at < until; ++at) {
    const auto row = static_cast<std::size_t>(at - os.start.begin());
    if (run.names.Os(os.name[row]) == OsClass::kLock && os.end[row] <= until)
      waits->push_back({call, os.start[row], os.end[row]});
  }
}

// The ends of the thread's calls of the operating system, by name.
std::map<StringId, std::vector<Nanos>> EndsOf(const Run& run, std::uint32_t thread) {
  const OsCallTable& os = run.trace.os_calls;
  std::map<StringId, std::vector<Nanos>> ends;
  for (const std::uint32_t i : run.os_of_thread[thread])
    if (!IsWait(run.names.Os(os.name[i]))) ends[os.name[i]].push_back(os.end[i]);
  for (auto& [name, times] : ends) std::sort(times.begin(), times.end());
  return ends;
}

// When a thread whose waits were not recorded went to work again: in each step it makes several
// calls, and once a step a pause that is far longer than those between them. Who works at a pace of
// its own does not begin once in each step of another thread.
std::vector<Nanos> EndsOfSilentRests(const Run& run, std::uint32_t thread) {
  const OsCallTable& os = run.trace.os_calls;
  std::vector<Interval> pauses;  // in the steady steps
  Nanos done = 0;
  for (const std::uint32_t i : run.os_of_thread[thread]) {
    if (done > 0 && run.InWindow(done) && os.start[i] > done) pauses.push_back({done, os.start[i]});
    done = os.end[i];
  }
  const std::size_t steps = run.steps.known() ? run.steps.steady_count() : 0;
  if (steps == 0 || pauses.size() <= steps) return {};
  std::sort(pauses.begin(), pauses.end(),
            [](const Interval& a, const Interval& b) { return a.Length() > b.Length(); });
  const double rest = run.knowledge.Number("replay.lock_rest");
  const double alike = run.knowledge.Number("replay.lock_alike");
  // Before the first step and behind the last one, one more or less.
  std::size_t rests = steps - 1;
  while (rests < pauses.size() && rests <= steps &&
         static_cast<double>(pauses[rests].Length()) >
             alike * static_cast<double>(pauses[0].Length()))
    ++rests;
  if (rests == pauses.size() || rests == 0 ||
      static_cast<double>(pauses[rests - 1].Length()) <=
          rest * static_cast<double>(pauses[rests].Length()))
    return {};
  std::vector<Nanos> ends;
  std::set<std::uint32_t> of_steps;
  for (std::size_t i = 0; i < rests; ++i) {
    // What it does before its first call takes it as long as what it does between two of them.
    ends.push_back(pauses[i].end - pauses[rests].Length());
    of_steps.insert(run.steps.At(pauses[i].end));
  }
  // All in steps of their own, but for the one before the first step and the one behind the last.
  constexpr std::size_t kAtTheEnds = 2;
  if (of_steps.size() + kAtTheEnds < rests) return {};
  std::sort(ends.begin(), ends.end());
  return ends;
}

// When the thread was given something to do after it had waited for that.
std::vector<Nanos> EndsOfRests(const Run& run, std::uint32_t thread) {
  const OsCallTable& os = run.trace.os_calls;
  std::vector<Nanos> ends;
  for (const std::uint32_t i : run.os_of_thread[thread])
    if (run.names.Os(os.name[i]) == OsClass::kWait) ends.push_back(os.end[i]);
  if (ends.empty()) return EndsOfSilentRests(run, thread);
  std::sort(ends.begin(), ends.end());
  return ends;
}

// Whether most of the waits end just behind one of the times, more than chance would have it.
bool EndBehind(const std::vector<Wait>& waits, const std::vector<Nanos>& times, const Run& run) {
  const Knowledge& knowledge = run.knowledge;
  const auto wake = knowledge.Time("replay.lock_wake");
  Nanos all = 0;
  Nanos behind = 0;
  std::size_t count = 0;
  for (const Wait& wait : waits) {
    all += wait.got - wait.asked;
    const auto after = std::upper_bound(times.begin(), times.end(), wait.got);
    if (after == times.begin()) continue;
    const Nanos end = *std::prev(after);
    if (end <= wait.asked || wait.got - end > wake) continue;
    behind += wait.got - wait.asked;
    ++count;
  }
  const auto in_window =
      std::count_if(times.begin(), times.end(), [&](Nanos time) { return run.InWindow(time); });
  const double chance = static_cast<double>(wake) * static_cast<double>(in_window) /
                        static_cast<double>(run.window.Length());
  return static_cast<double>(count) >= knowledge.Number("replay.hand_over.least") &&
         static_cast<double>(behind) >=
             knowledge.Number("replay.hand_over.usual") * static_cast<double>(all) &&
         chance <= knowledge.Number("replay.hand_over.chance");
}

// When a thread gave a lock back, and since when it had been at work without a rest each time.
struct Holder {
  std::vector<Nanos> releases;
  std::vector<Nanos> at_work_since;
};

// The thread that gave back the lock for which the other one waited; without releases where nobody
// knows.
Holder HolderFor(const Run& run, std::uint32_t thread, const std::vector<Wait>& waits) {
  for (std::uint32_t t = 0; t < run.trace.threads.size(); ++t) {
    if (run.trace.threads[t].process != run.trace.threads[thread].process || t == thread ||
        run.names.ThreadRole(t) == Role::kProfiler)
      continue;
    for (auto& [name, times] : EndsOf(run, t)) {
      if (!EndBehind(waits, times, run)) continue;
      Holder holder{std::move(times), {}};
      const std::vector<Nanos> rests = EndsOfRests(run, t);
      for (const Nanos release : holder.releases) {
        const auto after = std::upper_bound(rests.begin(), rests.end(), release);
        holder.at_work_since.push_back(after == rests.begin() ? run.window.start
                                                              : *std::prev(after));
      }
      return holder;
    }
  }
  return {};
}

}  // namespace

// A thread that asks earlier for a lock that another one holds again and again gets it earlier only
// by whole turns of that one: with the next release behind its question, as in the recording. Where
// the other one rests in between, it begins its turns as much earlier as it is asked to.
void Replay::AwaitLocks(const Run& run) {
  std::map<std::uint32_t, std::vector<Wait>> by_thread;
  for (std::uint32_t i = 0; i < calls_.size(); ++i) {
    const HostCall& call = calls_[i];
    if (call.released_by != kNone || call.paused_for != kNone || call.arrival != kNone ||
        call.previous == kNone)
      continue;
    AddLocks(run, call.thread, calls_[call.previous].end, call.start, i, &by_thread[call.thread]);
  }
  for (const auto& [thread, waits] : by_thread) {
    const Holder holder = HolderFor(run, thread, waits);
    Nanos at_work_since = std::numeric_limits<Nanos>::min();
    std::uint32_t current = kNone;
    for (const Wait& wait : waits) {
      const std::vector<Nanos>& all = holder.releases;
      const auto first = std::upper_bound(all.begin(), all.end(), wait.asked);
      const auto last = std::upper_bound(first, all.end(), wait.got);
      if (first == last) continue;
      const Nanos since = holder.at_work_since[static_cast<std::size_t>(first - all.begin())];
      if (current == kNone || since != at_work_since) {
        at_work_since = since;
        turns_.push_back({since, current, {}});
        current = static_cast<std::uint32_t>(turns_.size() - 1);
        for (std::size_t i = 0; i < all.size(); ++i)
          if (holder.at_work_since[i] == since) turns_.back().ends.push_back(all[i]);
      }
      HostCall& call = calls_[wait.call];
      if (call.locks++ == 0) call.first_lock = static_cast<std::uint32_t>(locks_.size());
      locks_.push_back({wait.asked, wait.got, current, last - first, wait.got - *std::prev(last)});
    }
  }
}

}  // namespace advise
