#include "engine/timeline/compiling.h"

#include <algorithm>
#include <map>
#include <utility>

#include "engine/base/median.h"
#include "engine/timeline/pause.h"

namespace advise {
namespace {

// A call that loads code from memory.
struct Load {
  std::uint32_t call = kNone;
  bool again = false;  // the thread launched nothing since the load before
};

// A pause of a thread that ends with loading code.
struct LoadPause {
  std::uint32_t thread = kNone;
  Interval when;
  bool may_be_library = false;
  int compilation = 0;  // that the load belongs to
};

// What one thread loads, and what it waited for meanwhile.
class LoadsOfThread {
 public:
  LoadsOfThread(const Run& run, std::uint32_t thread) : run_(run), thread_(thread) {
    bool launched = true;
    for (const std::uint32_t c : run.calls_of_thread[thread]) {
      const CallClass call_class = run.ClassOfCall(c);
      if (call_class == CallClass::kLibraryData || call_class == CallClass::kModuleData)
        loads_.push_back({c, !std::exchange(launched, false)});
      launched = launched || run.first_op_of_call[c] != kNone;
    }
    if (!loads_.empty()) FindWaits();
  }

  bool empty() const { return loads_.empty(); }

  // Those that are longer than `least`. `compilation` is counted up.
  void AddPauses(Nanos least, int* compilation, std::vector<LoadPause>* pauses) const {
    std::uint32_t last_step = kNone;
    for (const Load& load : loads_) {
      const std::uint32_t step = run_.steps.At(run_.trace.calls.start[load.call]);
      if (!load.again && (step == kNone || step != last_step)) ++*compilation;
      last_step = step;
      const Interval pause = PauseBefore(load.call);
      const bool may_be_library = run_.ClassOfCall(load.call) == CallClass::kLibraryData;
      if (pause.Length() > least) pauses->push_back({thread_, pause, may_be_library, *compilation});
    }
  }

 private:
  // The longest wait for the compiler, and those that are far longer.
  void FindWaits() {
    const OsCallTable& os = run_.trace.os_calls;
    for (const std::uint32_t i : run_.os_of_thread[thread_])
      if (IsWait(run_.names.Os(os.name[i]))) waits_.push_back({os.start[i], os.end[i]});
    const CallTable& calls = run_.trace.calls;
    Nanos longest = 0;
    for (std::size_t i = 1; i < loads_.size(); ++i) {
      if (!loads_[i].again) continue;
      const Nanos until = calls.start[loads_[i].call];
      for (auto at = From(calls.end[loads_[i - 1].call]); at != waits_.end() && at->end <= until;
           ++at)
        longest = std::max(longest, at->Length());
    }
    const auto most = static_cast<Nanos>(run_.knowledge.Number("launch.compile_most") *
                                         static_cast<double>(longest));
    std::erase_if(waits_, [&](const Interval& wait) { return wait.Length() <= most; });
  }

  std::vector<Interval>::const_iterator From(Nanos time) const {
    return std::partition_point(waits_.begin(), waits_.end(),
                                [&](const Interval& wait) { return wait.start < time; });
  }

  // From the thread's call before this one, or its last wait for anything but a compiler: what it
  // did since then made what it loads. Files that it reads and writes meanwhile, and the children
  // that it runs, are the compiler's.
  Interval PauseBefore(std::uint32_t load) const {
    const Nanos until = run_.trace.calls.start[load];
    const RowRange mpi = run_.mpi_of_thread[thread_];
    if (mpi.first != mpi.last) return PauseAround(run_, thread_, until - 1);
    const bool is_first = load == run_.calls_of_thread[thread_].first;
    Nanos since = is_first ? run_.window.start : run_.trace.calls.end[load - 1];
    const auto next = From(until);
    if (next != waits_.begin()) since = std::max(since, std::prev(next)->end);
    return {std::min(since, until), until};
  }

  const Run& run_;
  std::uint32_t thread_;
  std::vector<Load> loads_;
  std::vector<Interval> waits_;  // of the operating system and not for the compiler, in order
};

std::vector<LoadPause> LoadPauses(const Run& run) {
  std::vector<LoadPause> pauses;
  std::vector<Nanos> long_pauses;
  int compilation = 0;
  for (const std::uint32_t thread : run.launching_threads) {
    const LoadsOfThread loads(run, thread);
    if (loads.empty()) continue;
    if (long_pauses.empty()) long_pauses = LongPauses(run);
    loads.AddPauses(long_pauses[thread], &compilation, &pauses);
  }
  return pauses;
}

// The longest pause of the usual compilation.
Nanos UsualCompilation(const std::vector<LoadPause>& pauses) {
  std::map<int, Nanos> longest;
  for (const LoadPause& pause : pauses) {
    Nanos& most = longest[pause.compilation];
    most = std::max(most, pause.when.Length());
  }
  std::vector<Nanos> lengths;
  for (const auto& [compilation, length] : longest) lengths.push_back(length);
  return LowerMedian(std::move(lengths));
}

}  // namespace

std::vector<IntervalSet> CompilingPauses(const Run& run) {
  std::vector<IntervalSet> compiling(run.trace.threads.size());
  std::vector<LoadPause> pauses = LoadPauses(run);
  const auto of_libraries = std::count_if(pauses.begin(), pauses.end(), [&](const LoadPause& p) {
    return p.may_be_library && run.InWindow(p.when.end);
  });
  const double repeats = run.knowledge.Number(run.steps.known() ? "launch.compile_repeats"
                                                                : "launch.compile_repeats_whole");
  if (static_cast<double>(of_libraries) < repeats) {
    std::erase_if(pauses, [](const LoadPause& p) { return p.may_be_library; });
  }
  if (pauses.empty()) return compiling;
  const auto most = static_cast<Nanos>(run.knowledge.Number("launch.compile_most") *
                                       static_cast<double>(UsualCompilation(pauses)));
  for (const LoadPause& pause : pauses) {
    compiling[pause.thread].Append(std::max(pause.when.start, pause.when.end - most),
                                   pause.when.end);
  }
  return compiling;
}

}  // namespace advise
