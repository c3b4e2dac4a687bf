#include "engine/timeline/awaited.h"

#include <algorithm>
#include <unordered_map>
#include <unordered_set>

#include "engine/timeline/handed_memory.h"
#include "engine/timeline/rests.h"

namespace advise {
namespace {

// A kernel or a range says that weights are updated.
bool SaysTraining(const Run& run) {
  const auto says = [&](const char* in, StringId name) {
    for (const std::size_t i : run.knowledge.RunSignsOf(in, run.trace.strings[name])) {
      const RunSign& sign = run.knowledge.run_signs()[i];
      if (sign.about == RunSign::About::kKind && sign.rule.value == "training") return true;
    }
    return false;
  };
  std::unordered_set<StringId> seen;
  const auto any = [&](const char* in, const auto& rows, auto name_of) {
    return std::any_of(rows.begin(), rows.end(), [&](const auto& row) {
      return seen.insert(name_of(row)).second && says(in, name_of(row));
    });
  };
  if (any("kernel", run.trace.shapes, [](const KernelShape& shape) { return shape.name; }))
    return true;
  seen.clear();
  return any("range", run.trace.ranges.name, [](StringId name) { return name; });
}

// The ranges of one thread that come in each step; finds whether one of them holds an interval.
class StepRanges {
 public:
  StepRanges(const Run& run, std::uint32_t thread, std::size_t least) {
    const RangeTable& ranges = run.trace.ranges;
    const RowRange rows = run.ranges_of_thread[thread];
    std::unordered_map<StringId, std::size_t> count;
    for (std::uint32_t r = rows.first; r < rows.last; ++r) ++count[ranges.name[r]];
    const std::size_t often = std::max(least, run.steps.all.size() / 2);
    for (std::uint32_t r = rows.first; r < rows.last; ++r) {
      if (count[ranges.name[r]] < often && !run.names.IsStepRange(ranges.name[r])) continue;
      const Nanos reached = ends_.empty() ? 0 : ends_.back();
      starts_.push_back(ranges.start[r]);
      ends_.push_back(std::max(reached, ranges.end[r]));
    }
  }

  bool Hold(const Interval& when) const {
    const auto next = std::upper_bound(starts_.begin(), starts_.end(), when.start);
    if (next == starts_.begin()) return false;
    return ends_[static_cast<std::size_t>(next - starts_.begin()) - 1] >= when.end;
  }

 private:
  std::vector<Nanos> starts_;  // in order
  std::vector<Nanos> ends_;    // the latest of this one and all before it
};

void SortByEnd(std::vector<std::vector<Interval>>* lists) {
  for (auto& list : *lists) {
    std::sort(list.begin(), list.end(),
              [](const Interval& a, const Interval& b) { return a.end < b.end; });
  }
}

// What a thread does between two reads is work on what it has read, where that takes no longer than
// they do; a longer pause may be a rest that was not recorded.
bool IsWorkBetween(const Interval& read, const Interval& next) {
  return next.start - read.end <= std::max(read.Length(), next.Length());
}

}  // namespace

Awaited::Awaited(const Run& run)
    : run_(run),
      awaited_share_(run.knowledge.Number("input.awaited_share")),
      silent_share_(run.knowledge.Number("input.silent_share")),
      behind_share_(run.knowledge.Number("replay.hand_over.behind_share")),
      silent_least_(static_cast<Nanos>(run.knowledge.Number("replay.hand_over.pause"))) {
  FindHandedMemory();
  FindLoading();
  FindRequests();
  FindAnswers();
  FindInput();
  FindHandOvers();
  FindWaitsBeforeUploads();
}

void Awaited::FindHandedMemory() {
  handed_ = HandedMemory(run_);
  handed_to_others_.resize(run_.trace.processes.size());
  for (std::uint32_t t = 0; t < handed_.size(); ++t) {
    const std::uint32_t process = run_.trace.threads[t].process;
    const bool launches =
        std::binary_search(run_.launching_threads.begin(), run_.launching_threads.end(), t);
    if (launches || process == kNone) continue;
    std::vector<Interval>& list = handed_to_others_[process];
    list.insert(list.end(), handed_[t].begin(), handed_[t].end());
  }
  SortByEnd(&handed_to_others_);
}

void Awaited::FindLoading() {
  const Trace& trace = run_.trace;
  std::vector<std::vector<Interval>> loading(trace.processes.size());
  std::vector<std::vector<Interval>> decoding(trace.processes.size());
  std::vector<Interval> at_work;
  for (std::uint32_t t = 0; t < trace.threads.size(); ++t) {
    const Role role = run_.names.ThreadRole(t);
    const bool worker = role == Role::kLoaderWorker;
    has_workers_ |= worker;
    compiler_seen_ |= role == Role::kCompiler;
    const bool feeds = run_.loads[t] != 0;
    const bool launches = !feeds && std::binary_search(run_.launching_threads.begin(),
                                                       run_.launching_threads.end(), t);
    const std::uint32_t process = trace.threads[t].process;
    if (launches || process == kNone) continue;
    Interval before;  // the last read, if no recorded wait came since
    for (std::uint32_t i = run_.os_of_thread[t].first; i < run_.os_of_thread[t].last; ++i) {
      const OsClass os = run_.names.Os(trace.os_calls.name[i]);
      const bool receives = os == OsClass::kNetwork && role != Role::kCommunication;
      const Interval call{trace.os_calls.start[i], trace.os_calls.end[i]};
      if (os == OsClass::kFileIo || receives) {
        loading[process].push_back(call);
        if (before.Length() > 0 && IsWorkBetween(before, call))
          decoding[process].push_back({before.end, call.start});
        before = call;
      } else if (IsWait(os)) {
        before = {};
      }
    }
    const Rests rests = worker || feeds ? RestsOf(run_, t) : Rests{};
    if (feeds && rests.Recorded()) {
      const IntervalSet works = rests.AtWork(rests.last);
      loading[process].insert(loading[process].end(), works.intervals().begin(),
                              works.intervals().end());
    }
    if (worker && rests.Recorded()) {
      workers_recorded_ = true;
      // Behind its last call it computes, as far as anybody knows.
      const IntervalSet works = rests.AtWork(std::max(rests.last, run_.window.end));
      at_work.insert(at_work.end(), works.intervals().begin(), works.intervals().end());
    }
    for (std::uint32_t i = run_.ranges_of_thread[t].first; i < run_.ranges_of_thread[t].last; ++i) {
      if (run_.names.RangePhase(trace.ranges.name[i]) == Phase::kDataLoading) {
        loading[process].push_back({trace.ranges.start[i], trace.ranges.end[i]});
      }
    }
  }
  workers_at_work_ = IntervalSet::Of(std::move(at_work));
  const double never_rests = run_.knowledge.Number("input.never_rests");
  for (std::size_t p = 0; p < loading.size(); ++p) {
    std::vector<Interval> works = std::move(decoding[p]);
    works.insert(works.end(), loading[p].begin(), loading[p].end());
    loading_.push_back(IntervalSet::Of(std::move(loading[p])));
    const Nanos busy =
        IntervalSet::Of(std::move(works)).OverlapWith(run_.window.start, run_.window.end);
    never_rests_.push_back(static_cast<double>(busy) >=
                                       never_rests * static_cast<double>(run_.window.Length()) &&
                                   busy > 0
                               ? 1
                               : 0);
  }
}

void Awaited::FindRequests() {
  const OsCallTable& os = run_.trace.os_calls;
  requests_.resize(run_.trace.processes.size());
  for (std::uint32_t t = 0; t < run_.trace.threads.size(); ++t) {
    const Role role = run_.names.ThreadRole(t);
    const std::uint32_t process = run_.trace.threads[t].process;
    if (process == kNone || role == Role::kCommunication || role == Role::kLoaderWorker ||
        role == Role::kPinMemory || !handed_[t].empty() ||
        std::binary_search(run_.launching_threads.begin(), run_.launching_threads.end(), t))
      continue;
    Interval waited;
    for (std::uint32_t i = run_.os_of_thread[t].first; i < run_.os_of_thread[t].last; ++i) {
      const OsClass what = run_.names.Os(os.name[i]);
      if (what == OsClass::kWait) waited = {os.start[i], os.end[i]};
      // Right behind the wait: what arrived ended it.
      const bool follows = static_cast<double>(os.end[i] - waited.end) <=
                           behind_share_ * static_cast<double>(waited.Length());
      if (what == OsClass::kNetwork && waited.Length() > 0 && follows)
        requests_[process].push_back({waited.start, os.end[i]});
    }
  }
  SortByEnd(&requests_);
  FindSilentRequests();
}

void Awaited::FindSilentRequests() {
  awaits_silently_.assign(run_.trace.threads.size(), 0);
  const auto least = static_cast<std::size_t>(run_.knowledge.Number("replay.hand_over.least"));
  const CallTable& calls = run_.trace.calls;
  for (const std::uint32_t thread : run_.launching_threads) {
    const std::uint32_t process = run_.trace.threads[thread].process;
    if (process == kNone || requests_[process].size() < least || ShowsWaits(thread)) continue;
    std::size_t answered = 0;
    const RowRange rows = run_.calls_of_thread[thread];
    Nanos since = run_.window.start;
    for (std::uint32_t c = rows.first; c < rows.last; ++c) {
      const Nanos until = calls.start[c];
      if (run_.InWindow(until) && until - since >= silent_least_ &&
          EndsBehind(requests_[process], since, until))
        ++answered;
      since = std::max(since, calls.end[c]);
    }
    awaits_silently_[thread] = answered >= least ? 1 : 0;
  }
}

bool Awaited::IsSilentForRequest(std::uint32_t thread, Nanos start, Nanos end) const {
  return awaits_silently_[thread] != 0 && end - start >= silent_least_ &&
         IsForRequest(thread, start, end);
}

void Awaited::FindInput() {
  const OsCallTable& os = run_.trace.os_calls;
  input_.resize(run_.trace.threads.size());
  std::vector<std::uint8_t> loops(run_.trace.strings.size(), 0);  // 1: an event loop, 2: is none
  const auto is_event_loop = [&](StringId name) {
    if (loops[name] == 0) {
      const std::string& text = run_.trace.strings[name];
      loops[name] = run_.knowledge.IsOfFamily(FamilyKind::kOs, "event_loop", text) ? 1 : 2;
    }
    return loops[name] == 1;
  };
  const auto as_people = static_cast<Nanos>(run_.knowledge.Number("input.as_people"));
  const double rare = run_.knowledge.Number("input.rare");
  const auto least = static_cast<std::size_t>(run_.knowledge.Number("replay.hand_over.least"));
  // What a program sends before or after its loop are no answers to requests: logs, downloads.
  const std::vector<Step>& steps = run_.steps.all;
  const Interval loop = run_.steps.known() ? Interval{steps.front().start, steps.back().end}
                                           : Interval{run_.window.start, run_.window.end};
  for (const std::uint32_t t : run_.launching_threads) {
    if (!run_.mpi_of_thread[t].empty()) continue;  // MPI waits for its messages in the same way
    std::vector<Interval> received;
    std::vector<Interval> as_long_as_people;
    std::size_t messages = 0;
    const IntervalSet calls = RemoteCalls(t, least);
    const RowRange rows = run_.os_of_thread[t];
    for (std::uint32_t i = rows.first; i < rows.last; ++i) {
      const Interval wait{os.start[i], os.end[i]};
      if (!calls.empty() && calls.OverlapWith(wait.start, wait.end) == wait.Length()) continue;
      const bool in_loop = wait.start >= loop.start && wait.end <= loop.end;
      if (in_loop && run_.names.Os(os.name[i]) == OsClass::kNetwork) ++messages;
      if (wait.Length() < silent_least_ || !is_event_loop(os.name[i])) continue;
      if (wait.Length() >= as_people) as_long_as_people.push_back(wait);
      if (i + 1 == rows.last) continue;
      const OsClass next = run_.names.Os(os.name[i + 1]);
      const bool follows = static_cast<double>(os.start[i + 1] - wait.end) <=
                           behind_share_ * static_cast<double>(wait.Length());
      if (follows && (next == OsClass::kNetwork || next == OsClass::kFileIo))
        received.push_back(wait);
    }
    const bool talks = messages >= std::max(least, steps.size());
    if ((received.size() >= least || talks) && !SaysTraining(run_)) {
      serves_ = true;
      input_[t] = IntervalSet::Of(std::move(received));
    } else if (static_cast<double>(as_long_as_people.size()) <=
                   rare * static_cast<double>(run_.steps.all.size()) ||
               !run_.steps.known()) {
      input_[t] = IntervalSet::Of(std::move(as_long_as_people));
    }
  }
}

void Awaited::FindAnswers() {
  const OsCallTable& os = run_.trace.os_calls;
  answers_.resize(run_.trace.threads.size());
  for (const std::uint32_t t : run_.launching_threads) {
    std::vector<Interval> waits;
    const RowRange rows = run_.os_of_thread[t];
    for (std::uint32_t i = rows.first + 1; i + 1 < rows.last; ++i) {
      if (run_.names.Os(os.name[i]) != OsClass::kWait) continue;
      const Interval wait{os.start[i], os.end[i]};
      const double near = behind_share_ * static_cast<double>(wait.Length());
      if (static_cast<double>(wait.start - os.end[i - 1]) <= near &&
          static_cast<double>(os.start[i + 1] - wait.end) <= near &&
          IsOfFamily("sends", os.name[i - 1]) && IsOfFamily("receives", os.name[i + 1]))
        waits.push_back({os.start[i - 1], os.end[i + 1]});
    }
    answers_[t] = IntervalSet::Of(std::move(waits));
  }
}

// Those exchanges of the thread that lie within one of the ranges that come in each step.
IntervalSet Awaited::RemoteCalls(std::uint32_t thread, std::size_t least) const {
  std::vector<Interval> calls;
  const StepRanges steps(run_, thread, least);
  for (const Interval& exchange : answers_[thread].intervals())
    if (steps.Hold(exchange)) calls.push_back(exchange);
  return IntervalSet::Of(std::move(calls));
}

bool Awaited::IsOfFamily(const char* family, StringId os_call) const {
  return run_.names.Os(os_call) == OsClass::kNetwork &&
         run_.knowledge.IsOfFamily(FamilyKind::kOs, family, run_.trace.strings[os_call]);
}

bool Awaited::IsForAnswer(std::uint32_t thread, Nanos start, Nanos end) const {
  return !answers_[thread].empty() && answers_[thread].OverlapWith(start, end) == end - start;
}

bool Awaited::IsForInput(std::uint32_t thread, Nanos start, Nanos end) const {
  return !input_[thread].empty() && input_[thread].OverlapWith(start, end) == end - start;
}

bool Awaited::IsForRequest(std::uint32_t thread, Nanos start, Nanos end) const {
  const std::uint32_t process = run_.trace.threads[thread].process;
  if (process == kNone) return false;
  return EndsBehind(requests_[process], start, end);
}

bool Awaited::EndsBehind(const std::vector<Interval>& list, Nanos start, Nanos end) const {
  const auto next = std::upper_bound(list.begin(), list.end(), end,
                                     [](Nanos t, const Interval& i) { return t < i.end; });
  if (next == list.begin()) return false;
  const Interval& last = *std::prev(next);
  const auto length = static_cast<double>(end - start);
  const auto meanwhile = static_cast<double>(last.end - std::max(last.start, start));
  return static_cast<double>(end - last.end) <= behind_share_ * length && 2 * meanwhile >= length;
}

// Loading began in the stretch, and ended just before it did.
bool Awaited::AsksAndGets(std::uint32_t process, Nanos start, Nanos end) const {
  const std::vector<Interval>& loads = loading_[process].intervals();
  const auto next =
      std::lower_bound(loads.begin(), loads.end(), end,
                       [](const Interval& load, Nanos time) { return load.end <= time; });
  if (next != loads.end() && next->start < end) return false;  // still loading
  if (next == loads.begin()) return false;
  const Nanos behind = end - std::prev(next)->end;
  return static_cast<double>(behind) <= behind_share_ * static_cast<double>(end - start);
}

void Awaited::FindHandOvers() {
  const CallTable& calls = run_.trace.calls;
  hands_over_.assign(run_.trace.threads.size(), 0);
  const auto least = static_cast<std::size_t>(run_.knowledge.Number("replay.hand_over.least"));
  const double usual = run_.knowledge.Number("replay.hand_over.usual");
  for (const std::uint32_t thread : run_.launching_threads) {
    const std::uint32_t process = run_.trace.threads[thread].process;
    if (process == kNone || loading_[process].empty()) continue;
    std::size_t pauses = 0;
    std::size_t handed = 0;
    Nanos since = run_.window.start;
    for (std::uint32_t c = run_.calls_of_thread[thread].first;
         c < run_.calls_of_thread[thread].last; ++c) {
      const Nanos until = calls.start[c];
      if (run_.InWindow(until) && until - since >= silent_least_ &&
          MostlyLoading(process, since, until)) {
        ++pauses;
        handed += AsksAndGets(process, since, until) ? 1 : 0;
      }
      since = std::max(since, calls.end[c]);
    }
    const bool pattern =
        handed >= least && static_cast<double>(handed) >= usual * static_cast<double>(pauses);
    hands_over_[thread] = pattern ? 1 : 0;
  }
}

bool Awaited::MostlyLoading(std::uint32_t process, Nanos start, Nanos end) const {
  return static_cast<double>(loading_[process].OverlapWith(start, end)) >=
         silent_share_ * static_cast<double>(end - start);
}

void Awaited::FindWaitsBeforeUploads() {
  const Trace& trace = run_.trace;
  before_uploads_.resize(trace.threads.size());
  if (workers_recorded_ || !SaysTraining(run_)) return;
  const auto least = static_cast<std::size_t>(run_.knowledge.Number("replay.hand_over.least"));
  const double usual = run_.knowledge.Number("replay.hand_over.usual");
  for (const std::uint32_t t : run_.launching_threads) {
    if (!run_.mpi_of_thread[t].empty()) continue;
    std::vector<Interval> before_upload;
    Nanos time = 0;
    Nanos all = 0;
    std::uint32_t next = run_.calls_of_thread[t].first;
    for (std::uint32_t i = run_.os_of_thread[t].first; i < run_.os_of_thread[t].last; ++i) {
      const Interval wait{trace.os_calls.start[i], trace.os_calls.end[i]};
      if (run_.names.Os(trace.os_calls.name[i]) != OsClass::kWait) continue;
      if (wait.Length() < silent_least_ || !run_.InWindow(wait.start)) continue;
      while (next < run_.calls_of_thread[t].last &&
             (trace.calls.start[next] < wait.end || run_.first_op_of_call[next] == kNone))
        ++next;
      if (next == run_.calls_of_thread[t].last) break;
      all += wait.Length();
      const std::uint32_t op = run_.first_op_of_call[next];
      if (trace.ops.kind[op] != OpKind::kCopy ||
          trace.copies.direction[trace.ops.detail[op]] != CopyDirection::kHostToDevice)
        continue;
      before_upload.push_back(wait);
      time += wait.Length();
    }
    if (before_upload.size() >= least &&
        static_cast<double>(time) >= usual * static_cast<double>(all))
      before_uploads_[t] = IntervalSet::Of(std::move(before_upload));
  }
}

bool Awaited::IsLoader(std::uint32_t thread, Nanos start, Nanos end) const {
  const std::uint32_t process = run_.trace.threads[thread].process;
  if (process == kNone || OtherCallerActive(thread, process, start, end)) return false;
  if (EndsBehind(handed_to_others_[process], start, end)) return true;
  const std::vector<Interval>& own = handed_[thread];
  const auto own_next = std::upper_bound(own.begin(), own.end(), start,
                                         [](Nanos t, const Interval& i) { return t < i.start; });
  if (own_next != own.begin() && std::prev(own_next)->end >= end) return true;
  const double enough = awaited_share_ * static_cast<double>(end - start);
  if (has_workers_ && (!workers_recorded_ ||
                       static_cast<double>(workers_at_work_.OverlapWith(start, end)) >= enough)) {
    return true;
  }
  if (static_cast<double>(before_uploads_[thread].OverlapWith(start, end)) >= enough) return true;
  return static_cast<double>(loading_[process].OverlapWith(start, end)) >= enough;
}

bool Awaited::IsSilentLoader(std::uint32_t thread, Nanos start, Nanos end) const {
  const std::uint32_t process = run_.trace.threads[thread].process;
  if (process == kNone || end - start < silent_least_ || loading_[process].empty()) return false;
  if (hands_over_[thread] == 0 && (never_rests_[process] == 0 || ShowsWaits(thread))) return false;
  return MostlyLoading(process, start, end) && !OtherCallerActive(thread, process, start, end);
}

// A thread whose waits are recorded does not wait without a trace as well.
bool Awaited::ShowsWaits(std::uint32_t thread) const {
  const RowRange rows = run_.os_of_thread[thread];
  const OsCallTable& os = run_.trace.os_calls;
  const auto least = static_cast<std::ptrdiff_t>(run_.knowledge.Number("replay.hand_over.least"));
  std::ptrdiff_t shown = 0;
  for (std::uint32_t i = rows.first; i < rows.last && shown < least; ++i) {
    if (run_.InWindow(os.start[i]) && os.end[i] - os.start[i] >= silent_least_ &&
        run_.names.Os(os.name[i]) == OsClass::kWait)
      ++shown;
  }
  return shown >= least;
}

bool Awaited::OtherCallerActive(std::uint32_t thread, std::uint32_t process, Nanos start,
                                Nanos end) const {
  const CallTable& calls = run_.trace.calls;
  for (const std::uint32_t other : run_.launching_threads) {
    if (other == thread || run_.trace.threads[other].process != process) continue;
    if (run_.feeds[other] != 0) continue;
    const RowRange rows = run_.calls_of_thread[other];
    const auto first = calls.start.begin() + rows.first;
    const auto last = calls.start.begin() + rows.last;
    const auto next = std::lower_bound(first, last, start);
    if (next != last && *next < end) return true;
  }
  return false;
}

}  // namespace advise
