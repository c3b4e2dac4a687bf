// Steps from ranges that the program or its framework opened.
#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <unordered_map>

#include "engine/base/ascii.h"
#include "engine/base/median.h"
#include "engine/base/text.h"
#include "engine/timeline/step.h"

namespace advise {
namespace {

// Median distance from one start to the next.
Nanos MedianApart(const std::vector<Step>& steps) {
  std::vector<Nanos> apart;
  for (std::size_t i = 1; i < steps.size(); ++i)
    apart.push_back(steps[i].start - steps[i - 1].start);
  return Median(apart);
}

// From one start to the next, of a host that may wait in every other step only: then the median is
// one of two lengths, and the device's steps are as long as the mean. Where a pause makes the mean
// longer, the median tells.
Nanos PaceOf(const std::vector<Step>& host) {
  const auto count = static_cast<Nanos>(host.size()) - 1;
  return std::min(MedianApart(host), (host.back().start - host.front().start) / count);
}

// "launch at solver.f90:42": the number says where, not the how manyth.
bool EndsWithPlace(const std::string& name) {
  const std::size_t line = name.find_last_not_of("0123456789");
  return line != std::string::npos && line + 1 < name.size() && name[line] == ':' &&
         name.find('.', name.find_last_of(' ') + 1) < line;
}

// Steps of a model server are one family, whether they read prompts or generate.
std::string FamilyIn(const Knowledge& knowledge, const std::string& name) {
  const auto size = knowledge.StepSizeOf(name);
  if (size) return fmt::format("step of {}", size->server);
  return EndsWithPlace(name) ? name : WithoutNumbers(name);
}

// Whether half of the counts are the same, and not 0. Steps that launch their own work launch the
// same again.
bool AreAlike(const std::vector<std::size_t>& counts) {
  const std::size_t usual = Median(counts);
  return usual > 0 &&
         2 * static_cast<std::size_t>(std::count(counts.begin(), counts.end(), usual)) >=
             counts.size();
}

// "ProfilerStep#12" counts on while the profiler pauses; -1 for a name without a number at its end.
std::int64_t CountOfStep(const std::string& name) {
  const std::size_t before = name.find_last_not_of("0123456789");
  const std::size_t first = before == std::string::npos ? 0 : before + 1;
  constexpr std::size_t kMostDigits = 18;
  if (first == name.size() || name.size() - first > kMostDigits) return -1;
  return std::stoll(name.substr(first));
}

// Ranges of one family on one thread.
struct RangeFamily {
  std::uint32_t thread = kNone;
  std::string family;
  std::vector<std::uint32_t> rows;
  bool annotated = false;
};
using RangeFamilies = std::map<std::pair<std::uint32_t, std::string>, RangeFamily>;

// By thread and family. Names are looked at once.
RangeFamilies Gather(const Run& run, const std::function<bool(StringId)>& takes) {
  const RangeTable& ranges = run.trace.ranges;
  std::unordered_map<std::uint64_t, RangeFamily*> of_name;  // by thread and name; null: not taken
  RangeFamilies families;
  for (std::uint32_t i = 0; i < ranges.size(); ++i) {
    if (!run.IsSearched(ranges.start[i])) continue;
    const std::uint64_t key = (std::uint64_t{ranges.thread[i]} << 32U) | ranges.name[i];
    const auto [at, is_new] = of_name.try_emplace(key, nullptr);
    if (is_new && takes(ranges.name[i])) {
      const std::string& name = run.trace.strings[ranges.name[i]];
      std::string family = FamilyIn(run.knowledge, name);
      at->second = &families[{ranges.thread[i], family}];
      at->second->thread = ranges.thread[i];
      at->second->family = std::move(family);
      at->second->annotated = run.names.IsAnnotatedStep(ranges.name[i]);
    }
    if (at->second != nullptr) at->second->rows.push_back(i);
  }
  return families;
}

// What calls launched, and from when to when it ran; {0, 0} for nothing.
struct Launched {
  Interval span;
  std::size_t calls = 0;
  bool by_others = true;  // than the thread that was asked for
};

// What calls launched to compute. Copies are left out: the copy of a batch may run long before the
// step's turn comes.
class Computing {
 public:
  explicit Computing(const Run& run) : run_(run), of_call_(run.trace.calls.size()) {
    const OpTable& ops = run.trace.ops;
    for (std::uint32_t op = 0; op < ops.size(); ++op) {
      const bool computes =
          ops.kind[op] == OpKind::kGraph || (ops.kind[op] == OpKind::kKernel && !run.IsComm(op));
      if (ops.call[op] == kNone || !computes) continue;
      Interval& span = of_call_[ops.call[op]];
      span = span.end == 0 ? Interval{ops.start[op], ops.end[op]}
                           : Interval{span.start, std::max(span.end, ops.end[op])};
    }
  }

  // By the calls of the thread's process inside [start, end). O(calls inside).
  Launched Of(std::uint32_t of_thread, Nanos start, Nanos end) const {
    const std::vector<Nanos>& starts = run_.trace.calls.start;
    Launched launched;
    Interval& span = launched.span;
    for (const std::uint32_t thread : run_.launching_threads) {
      if (run_.trace.threads[thread].process != run_.trace.threads[of_thread].process) continue;
      const RowRange rows = run_.calls_of_thread[thread];
      const auto last = starts.begin() + rows.last;
      for (auto at = std::lower_bound(starts.begin() + rows.first, last, start);
           at != last && *at < end; ++at) {
        const Interval& more = of_call_[static_cast<std::size_t>(at - starts.begin())];
        if (more.end == 0) continue;
        ++launched.calls;
        launched.by_others = launched.by_others && thread != of_thread;
        span = span.end == 0
                   ? more
                   : Interval{std::min(span.start, more.start), std::max(span.end, more.end)};
      }
    }
    return launched;
  }

 private:
  const Run& run_;
  std::vector<Interval> of_call_;  // {0, 0} for calls that launched nothing
};

// Steps of the host, as the device ran them.
struct OnDevice {
  std::vector<Step> steps;
  std::vector<Interval> gaps;  // between the device's steps; none where the host's are taken
  std::vector<Nanos> done;     // when the work of each was done; none where the host's are taken
  Nanos begin = 0;             // of the first one on the host
  bool goes_on = false;        // other steps came before it
  std::vector<std::size_t> calls;
  Nanos covered = 0;
  Nanos usual = 0;     // from one start to the next
  bool ahead = false;  // the host is, so that the device's are taken
  bool by_others = true;
};

// Of fewer than `min_count` with work: no steps. `goes_on`: other steps came before the first one.
OnDevice AsRun(const Computing& computing, std::uint32_t thread, std::vector<Step> host,
               std::size_t min_count, bool goes_on = false) {
  OnDevice made;
  std::vector<Step> device;
  Nanos lag = 0;
  for (const Step& step : host) {
    const Launched launched = computing.Of(thread, step.start, step.end);
    made.by_others = made.by_others && launched.by_others;
    made.calls.push_back(launched.calls);
    if (launched.span.end == 0) continue;
    device.push_back({launched.span.start, launched.span.end});
    made.covered += step.Length();
    lag = std::max(lag, launched.span.start - step.start);
  }
  if (device.size() < min_count) return {};
  // A step lasts until the next begins: what lies between two ranges belongs to the loop as well.
  const Nanos period = MedianApart(host);
  made.ahead = 2 * lag > PaceOf(host);  // the host's clock says nothing of the GPU's steps then
  made.begin = host.front().start;
  made.goes_on = goes_on;
  for (const Step& step : device) {
    if (made.ahead)
      made.done.push_back(std::max(step.end, made.done.empty() ? 0 : made.done.back()));
  }
  made.steps = made.ahead ? std::move(device) : std::move(host);
  made.usual = made.ahead ? MedianApart(made.steps) : period;
  for (std::size_t i = 0; i + 1 < made.steps.size(); ++i) {
    if (made.ahead) made.gaps.push_back({made.steps[i].end, made.steps[i + 1].start});
    made.steps[i].end = made.steps[i + 1].start;
  }
  return made;
}

// When the device had no work of earlier steps any more, after the host began the first one of
// these; nothing where the recording does not show it. O(ops before them).
std::optional<Nanos> DoneBefore(const Run& run, const OnDevice& made) {
  const OpTable& ops = run.trace.ops;
  const Nanos first = made.steps.front().start;
  Nanos done = 0;
  for (std::uint32_t op = 0; op < ops.size() && ops.start[op] < first; ++op) {
    const bool computes =
        ops.kind[op] == OpKind::kGraph || (ops.kind[op] == OpKind::kKernel && !run.IsComm(op));
    if (computes) done = std::max(done, ops.end[op]);
  }
  done = std::min(done, first);
  if (done <= made.begin && !made.goes_on) return std::nullopt;
  return std::max(done, made.begin);
}

// Where steps end with a wait, nobody knows how long the last one would have waited at its end.
// Each wait belongs to the step behind it then, if the recording shows the one before the first
// step; else the last step is dropped.
Steps Finish(const Run& run, OnDevice made, Steps steps) {
  const auto min_count = run.knowledge.CountOf("step.min_count");
  steps.of_device = made.ahead;
  if (StepsEndWithWait(run, made.gaps, made.usual)) {
    const std::optional<Nanos> before = DoneBefore(run, made);
    for (std::size_t i = 0; before && i < made.steps.size(); ++i) {
      made.steps[i].start = i == 0 ? *before : made.steps[i - 1].end;
      made.steps[i].end = made.done[i];
    }
    if (!before && made.steps.size() > min_count) made.steps.pop_back();
  }
  steps.all = std::move(made.steps);
  SplitWarmup(run, {}, &steps);
  return steps;
}

// One after the other. Nested in, or overlapping, the one before: a range that was never closed
// ends where the next begins.
std::vector<Step> InTurn(const RangeTable& ranges, const std::vector<std::uint32_t>& rows) {
  std::vector<Step> host;
  for (const std::uint32_t row : rows) {
    const Step step{ranges.start[row], ranges.end[row]};
    if (!host.empty() && step.start < host.back().end) {
      if (step.start <= host.back().start) continue;
      host.back().end = step.start;
    }
    host.push_back(step);
  }
  return host;
}

// When the last call or range ends that the thread, or one that launches, has inside a step.
Nanos LastOnHost(const Run& run, std::uint32_t of_step, const Step& step) {
  const RangeTable& ranges = run.trace.ranges;
  Nanos last = step.start;
  std::vector<std::uint32_t> threads = run.launching_threads;
  threads.push_back(of_step);
  for (const std::uint32_t thread : threads) {
    const auto look = [&](const RowRange& rows, const std::vector<Nanos>& starts,
                          const std::vector<Nanos>& ends) {
      const auto begin = starts.begin() + rows.first;
      const auto end = starts.begin() + rows.last;
      for (auto row = std::lower_bound(begin, end, step.start); row != end && *row < step.end;
           ++row) {
        const Nanos ended = ends[static_cast<std::size_t>(row - starts.begin())];
        if (ended < step.end) last = std::max(last, ended);
      }
    };
    look(run.calls_of_thread[thread], run.trace.calls.start, run.trace.calls.end);
    look(run.ranges_of_thread[thread], ranges.start, ranges.end);
  }
  return last;
}

// PyTorch's profiler stops inside the last step that it annotates, and what that takes is no part
// of the program: the step ends as long behind the last event of the host as others do, and not
// before the GPU's work. O(events).
void EndWithRecording(const Run& run, std::uint32_t thread, std::vector<Step>* host) {
  if (host->size() < 2) return;
  std::vector<Nanos> behind;
  for (const Step& step : *host) behind.push_back(step.end - LastOnHost(run, thread, step));
  Step& stopped = host->back();
  const Nanos beyond = behind.back() - Median(std::vector<Nanos>(behind.begin(), behind.end() - 1));
  const OpTable& ops = run.trace.ops;
  Nanos worked = stopped.start;
  for (std::uint32_t op = 0; op < ops.size() && ops.start[op] < stopped.end; ++op)
    worked = std::max(worked, ops.end[op]);
  if (beyond > 0) stopped.end = std::min(stopped.end, std::max(stopped.end - beyond, worked));
}

// A schedule that repeats records a few steps again and again. Between two such recordings the
// count of the annotations leaves numbers out, and no call launches anything: the program went on,
// unseen. The rows of the longest recording, of the first of several.
std::vector<std::uint32_t> LongestRecording(const Run& run, const Computing& computing,
                                            const RangeFamily& family, std::size_t* recordings) {
  const RangeTable& ranges = run.trace.ranges;
  std::vector<std::uint32_t> longest;
  std::vector<std::uint32_t> rows;
  *recordings = 0;
  const auto close = [&] {
    ++*recordings;
    if (rows.size() > longest.size()) longest = rows;
    rows.clear();
  };
  for (const std::uint32_t row : family.rows) {
    if (!rows.empty()) {
      const std::uint32_t last = rows.back();
      const std::int64_t count = CountOfStep(run.trace.strings[ranges.name[row]]);
      const std::int64_t before = CountOfStep(run.trace.strings[ranges.name[last]]);
      if (before >= 0 && count > before + 1 &&
          computing.Of(family.thread, ranges.end[last], ranges.start[row]).calls == 0)
        close();
    }
    rows.push_back(row);
  }
  close();
  return longest;
}

}  // namespace

Steps StepsFromRanges(const Run& run) {
  const RangeFamilies families =
      Gather(run, [&](StringId name) { return run.names.IsStepRange(name); });
  const auto min_count = run.knowledge.CountOf("step.min_count");
  Steps best;
  if (families.empty()) return best;
  const Computing computing(run);
  double best_score = 0;
  OnDevice best_made;
  for (const auto& [key, candidate] : families) {
    std::size_t recordings = 1;
    const std::vector<std::uint32_t> rows =
        candidate.annotated ? LongestRecording(run, computing, candidate, &recordings)
                            : candidate.rows;
    std::vector<Step> host = InTurn(run.trace.ranges, rows);
    if (candidate.annotated) EndWithRecording(run, candidate.thread, &host);
    const std::size_t named = host.size();
    const std::string& first_name = run.trace.strings[run.trace.ranges.name[rows.front()]];
    const bool goes_on = candidate.annotated && CountOfStep(first_name) > 0;
    OnDevice made = AsRun(computing, candidate.thread, std::move(host), min_count, goes_on);
    // Prefer annotations, then what covers most of the time, then the outermost (longest) family.
    const double score = (candidate.annotated ? 1e20 : 0) + static_cast<double>(made.covered) +
                         static_cast<double>(made.usual) * 1e-3;
    if (made.steps.empty() || score <= best_score) continue;
    best_score = score;
    best.source = candidate.annotated ? "annotation" : "range";
    best.name = candidate.family;
    best.thread = candidate.thread;
    best.handed_over = made.by_others && !AreAlike(made.calls);
    best.named = named;
    best.recordings = recordings;
    best_made = std::move(made);
  }
  return Finish(run, std::move(best_made), std::move(best));
}

MarkedSteps FindMarkedSteps(const Run& run) {
  const RangeFamilies families =
      Gather(run, [&](StringId name) { return run.names.IsStepRange(name); });
  if (families.empty()) return {};
  const Computing computing(run);
  MarkedSteps most;
  for (const auto& [key, candidate] : families) {
    MarkedSteps marked;
    std::vector<Nanos> lengths;
    for (const Step& step : InTurn(run.trace.ranges, candidate.rows)) {
      const std::size_t launches = computing.Of(candidate.thread, step.start, step.end).calls;
      if (launches == 0) continue;
      if (marked.count++ == 0) marked.start = step.start, marked.thread = candidate.thread;
      marked.launches += launches;
      lengths.push_back(step.Length());
    }
    marked.usual = Median(std::move(lengths));
    if (marked.count > most.count) most = marked;
  }
  return most;
}

Steps StepsFromOtherRanges(const Run& run) {
  const RangeTable& ranges = run.trace.ranges;
  const RangeFamilies families = Gather(run, [](StringId) { return true; });
  const auto min_count = run.knowledge.CountOf("step.min_count");
  const double enough = run.knowledge.Number("step.meets_host");
  const double cover = run.knowledge.Number("step.range_cover");
  const Computing computing(run);
  Steps best;
  OnDevice best_made;
  for (const auto& [key, candidate] : families) {
    if (candidate.rows.size() < min_count || candidate.rows.size() < best_made.steps.size())
      continue;
    const std::vector<Step> host = InTurn(ranges, candidate.rows);
    const Interval all{host.front().start, host.back().end};
    Nanos covered = 0;
    for (const Step& step : host) covered += step.Length();
    if (host.size() != candidate.rows.size() ||
        static_cast<double>(covered) < cover * static_cast<double>(all.Length()))
      continue;
    const Interval launched =
        computing.Of(candidate.thread, 0, std::numeric_limits<Nanos>::max()).span;
    if (static_cast<double>(all.Length()) < cover * static_cast<double>(launched.Length()))
      continue;
    OnDevice made = AsRun(computing, candidate.thread, host, min_count);
    if (made.steps.size() != host.size() || made.steps.size() < best_made.steps.size()) continue;
    if (made.steps.size() == best_made.steps.size() && made.usual <= best_made.usual) continue;
    std::vector<Nanos> opened;
    for (const Step& step : host) opened.push_back(step.start);
    if (HostTakesPart(run, std::move(opened), false) < enough) continue;
    best.source = "range";
    best.name = candidate.family;
    best.thread = candidate.thread;
    best_made = std::move(made);
  }
  return Finish(run, std::move(best_made), std::move(best));
}

Steps StepsFromUpdates(const Run& run) {
  const RangeFamilies families =
      Gather(run, [&](StringId name) { return run.names.RangePhase(name) == Phase::kOptimizer; });
  const auto min_count = run.knowledge.CountOf("step.min_count");
  if (families.empty()) return {};
  const Computing computing(run);
  Steps best;
  OnDevice best_made;
  for (const auto& [key, candidate] : families) {
    std::vector<Step> host;
    Nanos since = -1;
    for (const Step& update : InTurn(run.trace.ranges, candidate.rows)) {
      if (computing.Of(candidate.thread, update.start, update.end).calls == 0) continue;
      if (since >= 0) host.push_back({since, update.end});
      since = update.end;
    }
    OnDevice made = AsRun(computing, candidate.thread, std::move(host), min_count);
    if (made.steps.size() <= best_made.steps.size()) continue;
    best.source = "range";
    best.name = candidate.family;
    best.thread = candidate.thread;
    best_made = std::move(made);
  }
  return Finish(run, std::move(best_made), std::move(best));
}

}  // namespace advise
