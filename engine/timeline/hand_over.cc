#include "engine/timeline/hand_over.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <set>

#include "engine/base/median.h"
#include "engine/timeline/thread_devices.h"

namespace advise {
namespace {

// What a thread did, so that the same place of another step has the same kind: a CUDA call by its
// name and the kernel that it launches, or a call of the operating system by its name.
struct Kind {
  bool os = false;
  StringId name = 0;
  std::uint32_t shape = kNone;
  auto operator<=>(const Kind&) const = default;
};

Kind KindOfCall(const Run& run, std::uint32_t call) {
  const std::uint32_t op = run.first_op_of_call[call];
  const bool kernel = op != kNone && run.trace.ops.kind[op] == OpKind::kKernel;
  return {false, run.trace.calls.name[call], kernel ? run.trace.ops.detail[op] : kNone};
}

// One pause that ends behind another thread's call is no pattern, however close it is.
constexpr std::size_t kFewest = 2;

bool Blocks(OsClass os) { return IsWait(os) || os == OsClass::kChild; }

// A thread between two of its outermost calls.
struct Pause {
  Nanos start = 0;
  Nanos end = 0;
  Nanos Length() const { return end - start; }
};

// The last thing that a thread finished before some moment.
struct Mark {
  Nanos end = 0;
  Kind kind;
  bool rests = false;  // it then made no call for as long as a pause
};

// What one thread shows beside its calls: whether it works or is blocked.
class Shown {
 public:
  Shown(const Run& run, std::uint32_t thread, Nanos pause)
      : run_(run), thread_(thread), pause_(pause), os_(run.os_of_thread[thread]) {
    std::vector<Interval> files;
    for (const std::uint32_t i : os_) {
      const OsClass os = run.names.Os(run.trace.os_calls.name[i]);
      const Interval when{run.trace.os_calls.start[i], run.trace.os_calls.end[i]};
      if (os == OsClass::kFileIo || os == OsClass::kFileWrite) files.push_back(when);
      if (os == OsClass::kSleep) sleeps_.push_back(when);
    }
    files_ = IntervalSet::Of(std::move(files));
  }

  // Named ranges that begin and end in the pause, and calls that read or write files, for half of
  // its length. A range that ends once the other thread has let go (around a backward pass, which
  // another thread runs) holds the wait itself. So much of one sleep waits for its own end; who
  // polls sleeps again and again.
  bool WorksIn(const Pause& pause, Nanos let_go) const {
    const auto sleep =
        std::lower_bound(sleeps_.begin(), sleeps_.end(), pause.start,
                         [](const Interval& one, Nanos time) { return one.start < time; });
    if (sleep != sleeps_.end() && sleep->end <= pause.end && 2 * sleep->Length() >= pause.Length())
      return true;
    Nanos inside = files_.OverlapWith(pause.start, pause.end);
    Nanos until = pause.start;  // ranges nest: the outermost ones inside the pause count
    const RangeTable& ranges = run_.trace.ranges;
    const RowRange rows = run_.ranges_of_thread[thread_];
    const auto first = ranges.start.begin() + rows.first;
    const auto last = ranges.start.begin() + rows.last;
    for (auto at = std::lower_bound(first, last, pause.start); at != last && *at < pause.end;
         ++at) {
      const auto row = static_cast<std::size_t>(at - ranges.start.begin());
      if (ranges.end[row] > let_go || ranges.start[row] < until) continue;
      inside += ranges.end[row] - ranges.start[row];
      until = ranges.end[row];
    }
    return 2 * inside >= pause.Length();
  }

  // Throughout [from, to).
  bool IsBlocked(Nanos from, Nanos to) const {
    const std::uint32_t os = LastBefore(run_.trace.os_calls.start, os_, from);
    if (os != kNone && run_.trace.os_calls.end[os] >= to &&
        Blocks(run_.names.Os(run_.trace.os_calls.name[os])))
      return true;
    const RowRange calls = run_.calls_of_thread[thread_];
    const std::uint32_t call = LastBefore(run_.trace.calls.start, calls, from);
    return call != kNone && run_.trace.calls.end[call] >= to && IsSync(run_.ClassOfCall(call));
  }

  // For most of the pause, until close before its end, in a wait that somebody else ends.
  bool WaitsUntilNear(const Pause& pause, double near) const {
    const auto margin = static_cast<Nanos>(near * static_cast<double>(pause.Length()));
    const OsCallTable& os = run_.trace.os_calls;
    const std::uint32_t first = LastBefore(os.start, os_, pause.start + margin);
    return first != kNone && os.end[first] >= pause.end - margin &&
           run_.names.Os(os.name[first]) == OsClass::kWait;
  }

  // The last CUDA call or call of the operating system to end in the pause, or the beginning of a
  // wait that goes on behind it: who asks another thread to work then waits for that one. Calls of
  // one kind that follow each other closely (writes of a file) end with the last of them.
  std::optional<Mark> LastIn(const Pause& pause) const {
    std::optional<Mark> mark;
    const CallTable& calls = run_.trace.calls;
    const RowRange rows = run_.calls_of_thread[thread_];
    std::uint32_t call = LastBefore(calls.start, rows, pause.end);
    if (call != kNone && calls.end[call] > pause.end) call = call > rows.first ? call - 1 : kNone;
    if (call != kNone && calls.end[call] > pause.start && calls.end[call] <= pause.end)
      mark = Mark{calls.end[call], KindOfCall(run_, call), RestsAfter(call)};
    const OsCallTable& os = run_.trace.os_calls;
    std::uint32_t row = LastBefore(os.start, os_, pause.end);
    if (row != kNone && os.end[row] > pause.end) {
      if (run_.names.Os(os.name[row]) == OsClass::kWait && os.start[row] > pause.start)
        return Mark{os.start[row], {true, os.name[row], kNone}, true};
      row = row > os_.first ? row - 1 : kNone;
    }
    if (row != kNone && os.end[row] > pause.start && os.end[row] <= pause.end && EndsRun(row) &&
        (!mark || os.end[row] > mark->end))
      mark = Mark{os.end[row], {true, os.name[row], kNone}, true};
    return mark;
  }

  // How long something of these kinds is the last that the thread did, and no longer ago than that.
  // What another of its calls follows far sooner is never so long the last, and does not count; of
  // CUDA calls only those behind which it rests, where that is asked for.
  Nanos Behind(const std::set<Kind>& kinds, Nanos longest, bool rests) const {
    Nanos time = 0;
    const CallTable& calls = run_.trace.calls;
    const RowRange rows = run_.calls_of_thread[thread_];
    for (const std::uint32_t c : rows) {
      if (rests && !RestsAfter(c)) continue;
      if (!kinds.contains(KindOfCall(run_, c))) continue;
      const Nanos next = c + 1 < rows.last ? calls.start[c + 1] - calls.end[c] : longest;
      if (2 * next >= longest) time += std::min(next, longest);
    }
    for (const std::uint32_t i : os_) {
      if (kinds.contains({true, run_.trace.os_calls.name[i], kNone}) && EndsRun(i)) time += longest;
    }
    return time;
  }

  // From its first CUDA call to its last one.
  Nanos Seen() const {
    const RowRange rows = run_.calls_of_thread[thread_];
    if (rows.empty()) return 1;
    const CallTable& calls = run_.trace.calls;
    return std::max<Nanos>(1, calls.end[rows.last - 1] - calls.start[rows.first]);
  }

 private:
  static std::uint32_t LastBefore(const auto& starts, RowRange rows, Nanos time) {
    const auto first = starts.begin() + rows.first;
    const auto at = std::lower_bound(first, starts.begin() + rows.last, time);
    return at == first ? kNone : static_cast<std::uint32_t>(at - starts.begin()) - 1;
  }

  bool RestsAfter(std::uint32_t call) const {
    const CallTable& calls = run_.trace.calls;
    return call + 1 >= run_.calls_of_thread[thread_].last ||
           calls.start[call + 1] - calls.end[call] >= pause_;
  }

  bool EndsRun(std::uint32_t row) const {
    const OsCallTable& os = run_.trace.os_calls;
    return row + 1 >= os_.last || os.name[row + 1] != os.name[row] ||
           os.start[row + 1] - os.end[row] >= pause_;
  }

  const Run& run_;
  std::uint32_t thread_;
  Nanos pause_;
  RowRange os_;
  IntervalSet files_;
  std::vector<Interval> sleeps_;
};

// The hand-overs between the launching threads of one process.
class Finder {
 public:
  Finder(const Run& run, const std::vector<std::uint32_t>& threads, const ThreadDevices& devices)
      : run_(run),
        threads_(threads),
        devices_(devices),
        shortest_(run.knowledge.Time("replay.hand_over.pause")),
        least_(run.knowledge.CountOf("replay.hand_over.least")),
        usual_(run.knowledge.Number("replay.hand_over.usual")),
        behind_share_(run.knowledge.Number("replay.hand_over.behind_share")),
        chance_(run.knowledge.Number("replay.hand_over.chance")) {
    for (const std::uint32_t thread : threads) shown_.emplace_back(run, thread, shortest_);
  }

  // Of the thread at that place.
  std::vector<HandOver> Of(std::size_t waiting) const {
    std::map<Kind, std::vector<Pause>> pauses;  // by the call that follows
    Collect(threads_[waiting], &pauses);
    std::vector<HandOver> found;
    for (const auto& [kind, of_kind] : pauses) Assign(waiting, of_kind, &found);
    std::sort(found.begin(), found.end(),
              [](const HandOver& a, const HandOver& b) { return a.start < b.start; });
    return found;
  }

 private:
  // Only long pauses: between the layers of a model ordinary code stands before the same kernels.
  void Collect(std::uint32_t thread, std::map<Kind, std::vector<Pause>>* pauses) const {
    const CallTable& calls = run_.trace.calls;
    const RowRange rows = run_.calls_of_thread[thread];
    if (rows.empty()) return;
    Nanos until = calls.end[rows.first];
    for (std::uint32_t c = rows.first + 1; c < rows.last; ++c) {
      if (calls.start[c] - until >= shortest_)
        (*pauses)[KindOfCall(run_, c)].push_back({until, calls.start[c]});
      until = std::max(until, calls.end[c]);
    }
  }

  // A thread that works for the same GPU comes into question before others. The same call may
  // follow waits for several threads: for the one that begins a step, and for one that copies
  // within it. What does not end behind the likeliest thread, or behind what let that one go, is
  // looked at once more, and is a wait for that thread, too, where no other comes into question.
  void Assign(std::size_t waiting, const std::vector<Pause>& pauses,
              std::vector<HandOver>* found) const {
    std::vector<std::uint8_t> asked = WorkElsewhere(waiting);
    asked[waiting] = 1;
    Partner likeliest = PartnerOf(asked, pauses);
    if (likeliest.thread == threads_.size()) {
      asked.assign(threads_.size(), 0);
      asked[waiting] = 1;
      likeliest = PartnerOf(asked, pauses);
    }
    std::vector<Pause> left = pauses;
    Partner partner = likeliest;
    while (partner.thread != threads_.size() && !left.empty()) {
      asked[partner.thread] = 1;
      std::vector<Pause> others;
      for (const Pause& pause : left) {
        const std::optional<Nanos> late = Late(shown_[partner.thread], pause);
        if (late && !LetGo(waiting, partner.thread, pause))
          Add(waiting, partner.thread, pause, *late, found);
        else
          others.push_back(pause);
      }
      left = std::move(others);
      partner = PartnerOf(asked, left);
    }
    if (likeliest.thread == threads_.size() || !likeliest.mostly) return;
    for (const Pause& pause : left) {
      if (!LetGo(waiting, likeliest.thread, pause)) Add(waiting, likeliest.thread, pause, 0, found);
    }
  }

  // By thread, 1 for those that launch on none of the devices that the waiting one launches on.
  std::vector<std::uint8_t> WorkElsewhere(std::size_t waiting) const {
    std::vector<std::uint8_t> elsewhere(threads_.size(), 0);
    for (std::size_t other = 0; other < threads_.size(); ++other)
      elsewhere[other] = devices_.Share(threads_[waiting], threads_[other]) ? 0 : 1;
    return elsewhere;
  }

  // It may wait as soon as it has handed over, and did not hand over when it waits for long.
  void Add(std::size_t waiting, std::size_t from, const Pause& pause, Nanos behind,
           std::vector<HandOver>* found) const {
    const Nanos late =
        pause.end - static_cast<Nanos>(behind_share_ * static_cast<double>(pause.Length()));
    if (shown_[waiting].WorksIn(pause, pause.end - behind) ||
        shown_[from].IsBlocked(late, pause.end))
      return;
    found->push_back({pause.start, pause.end, threads_[from]});
  }

  // How long after something that the other thread did the pause ends, when that is just behind.
  std::optional<Nanos> Late(const Shown& other, const Pause& pause, Mark* last = nullptr) const {
    const std::optional<Mark> mark = other.LastIn(pause);
    if (!mark) return std::nullopt;
    const Nanos late = pause.end - mark->end;
    // Code between two launches: a wait is longer than what follows it.
    if (static_cast<double>(late) > behind_share_ * static_cast<double>(pause.Length()))
      return std::nullopt;
    if (last != nullptr) *last = *mark;
    return late;
  }

  // The other thread waited for long, came back just before the pause ends, and did nothing since
  // that it could have handed over, while this thread shows no wait: it let the other one go, and
  // not the other way round.
  bool LetGo(std::size_t waiting, std::size_t other, const Pause& pause) const {
    const std::optional<Mark> last = shown_[other].LastIn(pause);
    return last && IsWaitOf(*last) && shown_[other].WaitsUntilNear(pause, behind_share_) &&
           !shown_[waiting].WaitsUntilNear(pause, behind_share_);
  }

  bool IsWaitOf(const Mark& mark) const {
    return mark.kind.os && run_.names.Os(mark.kind.name) == OsClass::kWait;
  }

  struct Partner {
    std::size_t thread = 0;  // the number of threads when there is none
    bool mostly = true;      // most pauses end behind it; else most of their time, in a few of them
  };

  // The thread that most of these pauses, or pauses with most of their time, end just behind; the
  // closest one of several. One that comes back from a wait itself and does nothing since may have
  // waited for the same, as at a barrier: it comes behind those that do something. A thread that
  // runs ahead of its partner need not wait at first, and then waits in each step. `asked`: by
  // thread, 1 for those that do not come into question.
  Partner PartnerOf(const std::vector<std::uint8_t>& asked,
                    const std::vector<Pause>& pauses) const {
    Partner best{threads_.size(), true};
    std::pair<bool, Nanos> closest;  // only comes back from waits, and how close
    Nanos all = 0;
    for (const Pause& pause : pauses) all += pause.Length();
    for (std::size_t other = 0; other < threads_.size(); ++other) {
      if (asked[other] != 0) continue;
      std::set<Kind> kinds;
      std::vector<Nanos> behind;
      Nanos time = 0;
      std::size_t rests = 0;
      std::size_t waits = 0;
      for (const Pause& pause : pauses) {
        Mark last;
        const std::optional<Nanos> late = Late(shown_[other], pause, &last);
        if (!late) continue;
        behind.push_back(*late);
        kinds.insert(last.kind);
        rests += last.rests ? 1 : 0;
        waits += IsWaitOf(last) ? 1 : 0;
        time += pause.Length();
      }
      const bool mostly =
          static_cast<double>(behind.size()) >= usual_ * static_cast<double>(pauses.size());
      if (behind.size() < kFewest ||
          (!mostly && static_cast<double>(time) < usual_ * static_cast<double>(all)))
        continue;
      // One thread rests where the other goes on: far fewer of its calls come into question.
      const bool rested = static_cast<double>(rests) >= usual_ * static_cast<double>(behind.size());
      const bool few = behind.size() < least_;
      if (few && behind.size() < pauses.size()) continue;
      const double share = static_cast<double>(least_) / static_cast<double>(behind.size());
      const bool waited = static_cast<double>(waits) >= usual_ * static_cast<double>(behind.size());
      const Nanos median = Median(std::move(behind));
      // How much of the time lies, by chance, so close behind something of these kinds. Where the
      // host runs ahead in most steps it hardly pauses: few pauses must be as unlikely together.
      const auto span =
          static_cast<double>(few ? shown_[other].Seen()
                                  : std::max<Nanos>(1, pauses.back().end - pauses.front().start));
      const double by_chance =
          static_cast<double>(shown_[other].Behind(kinds, median, rested)) / span;
      if (by_chance > (few ? std::pow(chance_, share) : chance_)) continue;
      const std::pair<bool, Nanos> close{waited, median};
      if (best.thread == threads_.size() || close < closest)
        best = {other, mostly}, closest = close;
    }
    return best;
  }

  const Run& run_;
  const std::vector<std::uint32_t>& threads_;
  const ThreadDevices& devices_;
  Nanos shortest_;
  std::size_t least_;
  double usual_, behind_share_, chance_;
  std::vector<Shown> shown_;  // in the order of the threads
};

}  // namespace

HandOvers::HandOvers(const Run& run) {
  std::map<std::uint32_t, std::vector<std::uint32_t>> by_process;
  for (const std::uint32_t thread : run.launching_threads) {
    const Role role = run.names.ThreadRole(thread);
    if (role == Role::kPinMemory || role == Role::kProfiler) continue;
    by_process[run.trace.threads[thread].process].push_back(thread);
  }
  const ThreadDevices devices(run);
  for (const auto& [process, threads] : by_process) {
    if (process == kNone || threads.size() < 2) continue;
    const Finder finder(run, threads, devices);
    for (std::size_t i = 0; i < threads.size(); ++i) {
      std::vector<HandOver> found = finder.Of(i);
      if (found.empty()) continue;
      of_thread_.resize(run.trace.threads.size());
      of_thread_[threads[i]] = std::move(found);
    }
  }
}

const std::vector<HandOver>& HandOvers::Of(std::uint32_t thread) const {
  static const std::vector<HandOver> kNothing;
  return thread < of_thread_.size() ? of_thread_[thread] : kNothing;
}

std::uint32_t HandOvers::AwaitedAt(std::uint32_t thread, Nanos time) const {
  const std::vector<HandOver>& list = Of(thread);
  const auto after =
      std::upper_bound(list.begin(), list.end(), time,
                       [](Nanos t, const HandOver& hand_over) { return t < hand_over.start; });
  if (after == list.begin() || std::prev(after)->end <= time) return kNone;
  return std::prev(after)->from;
}

}  // namespace advise
