// Waits for what comes from outside the program: requests, and answers of other programs.
#include <algorithm>
#include <limits>
#include <unordered_map>

#include "engine/base/median.h"
#include "engine/timeline/awaited.h"

namespace advise {
namespace {

// The ranges of one thread that come in each step; finds whether one of them holds an interval.
class StepRanges {
 public:
  StepRanges(const Run& run, std::uint32_t thread, std::size_t least) {
    const RangeTable& ranges = run.trace.ranges;
    const RowRange rows = run.ranges_of_thread[thread];
    std::unordered_map<StringId, std::size_t> count;
    for (const std::uint32_t r : rows) ++count[ranges.name[r]];
    const std::size_t often = std::max(least, run.steps.all.size() / 2);
    for (const std::uint32_t r : rows) {
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

// In how many steps a thread makes calls of a kind, such as to send or to receive. What a program
// sends before, after or once in its loop are no answers to requests: logs, downloads.
class StepsWith {
 public:
  explicit StepsWith(const std::vector<Step>& steps) : all_(steps) {}

  // Calls come in time order.
  void Add(const Interval& call) {
    while (next_ < all_.size() && all_[next_].end <= call.start) ++next_;
    if (next_ == all_.size() || call.start < all_[next_].start) return;
    if (next_ == last_) return;
    last_ = next_;
    ++steps_;
  }
  std::size_t steps() const { return steps_; }

 private:
  const std::vector<Step>& all_;
  std::size_t next_ = 0;
  std::size_t last_ = static_cast<std::size_t>(-1);
  std::size_t steps_ = 0;
};

}  // namespace

// What calls of the OS do with sockets, asked once for each name.
class Awaited::SocketCalls {
 public:
  enum Kind : std::uint8_t { kNoSocket, kEventLoop, kPoll, kReceive, kOther, kUnknown };

  explicit SocketCalls(const Run& run)
      : run_(run), kinds_(run.trace.strings.size(), Kind::kUnknown) {}

  Kind Of(StringId name) {
    Kind& kind = kinds_[name];
    if (kind == Kind::kUnknown) kind = Find(name);
    return kind;
  }

 private:
  Kind Find(StringId name) const {
    const auto is = [&](const char* family) {
      return run_.knowledge.IsOfFamily(FamilyKind::kOs, family, run_.trace.strings[name]);
    };
    const OsClass os = run_.names.Os(name);
    if (is("event_loop")) return kEventLoop;
    if (os == OsClass::kWait && is("poll")) return kPoll;
    if (os != OsClass::kNetwork) return kNoSocket;
    return is("receives") ? kReceive : kOther;
  }

  const Run& run_;
  std::vector<Kind> kinds_;  // by name
};

// By process: its launching threads send something time after time, in a program that does not
// train. They answer, and others may receive for them.
std::vector<std::uint8_t> Awaited::AnswerAlone() const {
  const OsCallTable& os = run_.trace.os_calls;
  std::vector<std::size_t> sent(run_.trace.processes.size(), 0);
  std::vector<std::uint8_t> alone(run_.trace.processes.size(), 0);
  if (SaysTraining(run_)) return alone;
  const auto least = run_.knowledge.CountOf("replay.hand_over.least");
  for (const std::uint32_t t : run_.launching_threads) {
    const std::uint32_t process = run_.trace.threads[t].process;
    if (process == kNone) continue;
    for (const std::uint32_t i : run_.os_of_thread[t])
      if (run_.InWindow(os.start[i]) && IsOfFamily("sends", os.name[i])) ++sent[process];
  }
  for (std::size_t p = 0; p < sent.size(); ++p) alone[p] = sent[p] >= least ? 1 : 0;
  return alone;
}

void Awaited::FindRequests() {
  const OsCallTable& os = run_.trace.os_calls;
  const std::vector<std::uint8_t> answer_alone = AnswerAlone();
  requests_.resize(run_.trace.processes.size());
  for (std::uint32_t t = 0; t < run_.trace.threads.size(); ++t) {
    const Role role = run_.names.ThreadRole(t);
    const std::uint32_t process = run_.trace.threads[t].process;
    if (process == kNone || role == Role::kCommunication || role == Role::kLoaderWorker ||
        role == Role::kPinMemory || !handed_[t].empty() ||
        std::binary_search(run_.launching_threads.begin(), run_.launching_threads.end(), t))
      continue;
    Interval waited;
    const RowRange rows = run_.os_of_thread[t];
    const std::size_t known = requests_[process].size();
    for (const std::uint32_t i : rows) {
      const OsClass what = run_.names.Os(os.name[i]);
      if (what == OsClass::kWait) waited = {os.start[i], os.end[i]};
      // Right behind the wait: what arrived ended it.
      const bool follows = static_cast<double>(os.end[i] - waited.end) <=
                           behind_share_ * static_cast<double>(waited.Length());
      if (what == OsClass::kNetwork && waited.Length() > 0 && follows)
        requests_[process].push_back({waited.start, os.end[i]});
    }
    // What it receives may take less time than the profiler keeps: its event loop alone is seen.
    if (requests_[process].size() == known && answer_alone[process] != 0) {
      for (const std::uint32_t i : rows)
        if (run_.knowledge.IsOfFamily(FamilyKind::kOs, "event_loop",
                                      run_.trace.strings[os.name[i]]))
          requests_[process].push_back({os.start[i], os.end[i]});
      continue;
    }
    // Its first wait began before the capture, so no row holds it: what follows waits is there.
    if (requests_[process].size() > known &&
        run_.names.Os(os.name[rows.first]) == OsClass::kNetwork)
      requests_[process].push_back({std::numeric_limits<Nanos>::min(), os.end[rows.first]});
  }
  SortByEnd(&requests_);
  FindSilentRequests();
}

void Awaited::FindSilentRequests() {
  awaits_silently_.assign(run_.trace.threads.size(), 0);
  const auto least = run_.knowledge.CountOf("replay.hand_over.least");
  const CallTable& calls = run_.trace.calls;
  for (const std::uint32_t thread : run_.launching_threads) {
    const std::uint32_t process = run_.trace.threads[thread].process;
    if (process == kNone || requests_[process].size() < least || ShowsWaits(thread)) continue;
    std::size_t answered = 0;
    const RowRange rows = run_.calls_of_thread[thread];
    Nanos since = run_.window.start;
    for (const std::uint32_t c : rows) {
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
  input_.resize(run_.trace.threads.size());
  const bool trains = SaysTraining(run_);
  engine_ = !trains && SaysServing(run_);
  SocketCalls calls(run_);
  for (const std::uint32_t t : run_.launching_threads) {
    // MPI waits for its messages in the same way.
    if (run_.mpi_of_thread[t].empty()) input_[t] = InputOf(t, trains, &calls);
  }
}

IntervalSet Awaited::InputOf(std::uint32_t thread, bool trains, SocketCalls* socket_calls) {
  const OsCallTable& os = run_.trace.os_calls;
  const Knowledge& knowledge = run_.knowledge;
  const auto as_people = knowledge.Time("input.as_people");
  const auto least = knowledge.CountOf("replay.hand_over.least");
  std::vector<Interval> received;
  std::vector<Interval> in_loop;    // waits of an event loop, whatever follows
  std::vector<Interval> polls;      // other waits for sockets, and much else
  std::vector<Interval> receiving;  // in the call that receives
  std::vector<Interval> as_long_as_people;
  StepsWith messages(run_.steps.all);
  StepsWith waits(run_.steps.all);
  std::vector<Interval> all;  // of these waits
  const IntervalSet calls = RemoteCalls(thread, least);
  const RowRange rows = run_.os_of_thread[thread];
  for (const std::uint32_t i : rows) {
    const Interval wait{os.start[i], os.end[i]};
    if (!calls.empty() && calls.OverlapWith(wait.start, wait.end) == wait.Length()) continue;
    const SocketCalls::Kind kind = socket_calls->Of(os.name[i]);
    if (kind == SocketCalls::kReceive || kind == SocketCalls::kOther) messages.Add(wait);
    if (kind == SocketCalls::kReceive) receiving.push_back(wait);
    if (wait.Length() < silent_least_) continue;
    const bool waits_for_socket = kind == SocketCalls::kPoll || kind == SocketCalls::kReceive ||
                                  kind == SocketCalls::kEventLoop;
    if (!waits_for_socket) continue;
    waits.Add(wait);
    all.push_back(wait);
    if (kind == SocketCalls::kPoll) polls.push_back(wait);
    if (kind != SocketCalls::kEventLoop) continue;
    in_loop.push_back(wait);
    if (wait.Length() >= as_people) as_long_as_people.push_back(wait);
    if (i + 1 == rows.last) continue;
    const OsClass next = run_.names.Os(os.name[i + 1]);
    const bool follows = static_cast<double>(os.start[i + 1] - wait.end) <=
                         behind_share_ * static_cast<double>(wait.Length());
    if (follows && (next == OsClass::kNetwork || next == OsClass::kFileIo))
      received.push_back(wait);
  }
  const auto steps = static_cast<double>(run_.steps.all.size());
  if (trains) {
    const double rare = knowledge.Number("input.rare");
    const bool as_rare =
        !run_.steps.known() || static_cast<double>(as_long_as_people.size()) <= rare * steps;
    return as_rare ? IntervalSet::Of(std::move(as_long_as_people)) : IntervalSet();
  }
  const bool talks =
      messages.steps() >= least &&
      static_cast<double>(messages.steps()) >= knowledge.Number("replay.hand_over.usual") * steps;
  // In most steps, and about as long each time, an engine's worker waits for the process that
  // schedules.
  const bool now_and_then = 2 * waits.steps() < run_.steps.all.size() || IsUneven(all);
  const bool engine = engine_ && !all.empty() && now_and_then;
  const bool by_requests = engine || (talks && IsUneven(receiving));
  serves_ = serves_ || received.size() >= least || talks || engine;
  // To receive may take less time than the profiler keeps: then the loop alone is seen.
  if (received.size() < least && (talks || engine)) {
    received = std::move(in_loop);
    received.insert(received.end(), polls.begin(), polls.end());
  } else if (received.size() < least) {
    received = std::move(as_long_as_people);
  }
  if (by_requests) received.insert(received.end(), receiving.begin(), receiving.end());
  return IntervalSet::Of(std::move(received));
}

// Whether they last as unevenly as waits for requests do.
bool Awaited::IsUneven(const std::vector<Interval>& waits) const {
  if (waits.size() < run_.knowledge.CountOf("replay.hand_over.least")) return false;
  std::vector<Nanos> lengths;
  for (const Interval& wait : waits) lengths.push_back(wait.Length());
  constexpr double kQuarter = 0.25;
  const auto shorter = static_cast<double>(Quantile(lengths, kQuarter));
  const auto longer = static_cast<double>(Quantile(std::move(lengths), 1 - kQuarter));
  return longer >= run_.knowledge.Number("input.uneven_requests") * shorter;
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
  return !input_[thread].empty() && 2 * input_[thread].OverlapWith(start, end) > end - start;
}

bool Awaited::IsForRequest(std::uint32_t thread, Nanos start, Nanos end) const {
  const std::uint32_t process = run_.trace.threads[thread].process;
  if (process == kNone) return false;
  return EndsBehind(requests_[process], start, end);
}

}  // namespace advise
