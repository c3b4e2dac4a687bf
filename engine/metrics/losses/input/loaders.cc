#include "engine/metrics/losses/input/loaders.h"

#include <algorithm>
#include <map>
#include <optional>

#include "engine/timeline/awaited.h"
#include "engine/timeline/handed_memory.h"
#include "engine/timeline/rests.h"

namespace advise {
namespace {

// A thread that loads, in the window.
struct AtWork {
  std::uint32_t thread = kNone;
  Nanos time = 0;  // without waits
  Nanos seen = 0;  // from its first call to its last one
  Nanos all = 0;   // without waits, in the whole capture
  Nanos last = 0;  // when its last call ended
};

class LoaderFinder {
 public:
  explicit LoaderFinder(const Run& run)
      : run_(run),
        trace_(run.trace),
        never_rests_(run.knowledge.Number("input.never_rests")),
        handed_(HandedMemory(run)) {}

  Loaders Find() {
    LoaderRanges();
    Threads();
    return std::move(result_);
  }

 private:
  enum class LoaderName { kOther, kInProcess, kOfWorkers };

  LoaderName LoaderNameOf(StringId name) {
    const auto [known, is_new] = loader_names_.try_emplace(name, LoaderName::kOther);
    if (!is_new) return known->second;
    const auto is = [&](const char* family) {
      return run_.knowledge.IsOfFamily(FamilyKind::kRange, family, trace_.strings[name]);
    };
    if (is("loader_in_process")) known->second = LoaderName::kInProcess;
    if (is("loader_of_workers")) known->second = LoaderName::kOfWorkers;
    return known->second;
  }

  // PyTorch's data loader names its class in the range around it: with worker processes the range
  // is a wait for them, without it is the loading itself. Only workers hand over shared memory, or
  // need a thread that pins it.
  void LoaderRanges() {
    result_.waits_for_workers.resize(trace_.threads.size());
    bool own = false;
    bool workers = false;
    for (const std::uint32_t t : run_.launching_threads) {
      std::vector<Interval> waits;
      for (const std::uint32_t i : run_.ranges_of_thread[t]) {
        const LoaderName name = LoaderNameOf(trace_.ranges.name[i]);
        own = own || name == LoaderName::kInProcess;
        if (name != LoaderName::kOfWorkers) continue;
        waits.push_back({trace_.ranges.start[i], trace_.ranges.end[i]});
        workers = true;
      }
      result_.waits_for_workers[t] = IntervalSet::Of(std::move(waits));
    }
    for (std::uint32_t t = 0; t < trace_.threads.size(); ++t)
      workers = workers || IsFedByWorkers(t);
    result_.loader = own && workers ? "" : own ? "own" : workers ? "workers" : "";
  }

  // What worker processes made arrives at this thread.
  bool IsFedByWorkers(std::uint32_t thread) const {
    return !handed_[thread].empty() || run_.names.ThreadRole(thread) == Role::kPinMemory;
  }

  // Threads that load beside the launching ones: what they read, and when they are at work.
  void Threads() {
    std::vector<Interval> busy;
    for (std::uint32_t t = 0; t < trace_.threads.size(); ++t) {
      const bool feeds = run_.loads[t] != 0;
      if (!feeds &&
          std::binary_search(run_.launching_threads.begin(), run_.launching_threads.end(), t))
        continue;
      const bool worker = run_.names.ThreadRole(t) == Role::kLoaderWorker;
      // Its files are the pipes of the workers, which it waits for.
      if (IsFedByWorkers(t)) {
        busy.insert(busy.end(), handed_[t].begin(), handed_[t].end());
        continue;
      }
      const bool recorded = !run_.os_of_thread[t].empty() || !run_.ranges_of_thread[t].empty();
      if (worker && (recorded || !SameProcessHasLaunches(t))) result_.worker_threads.push_back(t);
      OsCallsOfLoader(t, worker || feeds, &busy);
      for (const std::uint32_t i : run_.ranges_of_thread[t]) {
        if (run_.names.RangePhase(trace_.ranges.name[i]) == Phase::kDataLoading) {
          busy.push_back({trace_.ranges.start[i], trace_.ranges.end[i]});
        }
      }
    }
    result_.busy = IntervalSet::Of(std::move(busy));
    // Workers are processes; their helper threads do not count again.
    std::map<std::uint32_t, std::size_t> processes;
    for (const std::uint32_t t : result_.worker_threads) ++processes[trace_.threads[t].process];
    result_.workers = processes.size() > 1 ? processes.size() : result_.worker_threads.size();
    result_.background =
        !result_.busy.empty() || result_.workers > 0 || result_.loader == "workers";
    // What a worker does behind its last call in the OS was not seen: it may compute or be gone.
    if (worker_time_ > 0) {
      result_.workers_busy = static_cast<double>(worker_time_) / static_cast<double>(worker_seen_);
    }
    const bool by_readers = result_.worker_threads.empty() && at_work_.empty();
    SetPace(by_readers ? readers_ : at_work_, by_readers ? 1 : at_work_.size());
  }

  Nanos InWindow(const Interval& when) const {
    return std::max<Nanos>(
        0, std::min(when.end, run_.window.end) - std::max(when.start, run_.window.start));
  }

  bool NeverRests(const AtWork& loader) const {
    return static_cast<double>(loader.time) >= never_rests_ * static_cast<double>(loader.seen);
  }

  // How long the loaders work side by side on what is loaded for the window; not known where one of
  // them seems never to rest, and may just not show it. Each makes the batches of as many steps as
  // there are `sides` to share them.
  void SetPace(const std::vector<AtWork>& loaders, std::size_t sides) {
    Nanos together = 0;
    std::size_t ahead = 0;
    for (const AtWork& loader : loaders) {
      const bool rests = !NeverRests(loader);
      if (!rests && !WouldShowRests(run_, loader.thread, run_.steps.all.size() / sides)) return;
      const bool done = !rests && IsDone(loader, sides);
      const bool began = done && SeenToBegin(run_, loader.thread);
      ahead += began ? 1 : 0;
      together += done && !began ? std::max(loader.time, ForSteps(loader)) : loader.time;
    }
    if (loaders.empty()) return;
    result_.needs_ns = together / static_cast<Nanos>(loaders.size());
    if (ahead == loaders.size())
      result_.left_share =
          static_cast<double>(sides) / static_cast<double>(run_.steps.steady_count());
  }

  // A loader that calls nothing any more long before the window ends has made the batches of all
  // steps.
  bool IsDone(const AtWork& loader, std::size_t sides) const {
    const Steps& steps = run_.steps;
    if (!steps.known() || steps.steady_count() < sides) return false;
    const Nanos round =
        run_.window.Length() * static_cast<Nanos>(sides) / static_cast<Nanos>(steps.steady_count());
    return run_.window.end - loader.last > round;
  }

  // What one that is done takes for the batches of the window.
  Nanos ForSteps(const AtWork& loader) const {
    const auto all = static_cast<double>(run_.steps.all.size()) + CutSteps();
    return static_cast<Nanos>(static_cast<double>(loader.all) *
                              static_cast<double>(run_.steps.steady_count()) / all);
  }

  // How much of a step the capture holds before the first whole one, which a capture that starts in
  // the middle cuts, and behind the last. What else a program does there is no more than a step.
  double CutSteps() const {
    const Steps& steps = run_.steps;
    const OpTable& ops = trace_.ops;
    if (steps.source != "period" || steps.Median() <= 0) return 0.0;
    Nanos last = 0;
    for (const Nanos end : ops.end) last = std::max(last, end);
    const auto part = [&](Nanos time) {
      return std::clamp(static_cast<double>(time) / static_cast<double>(steps.Median()), 0.0, 1.0);
    };
    return part(steps.all.front().start - ops.start.front()) + part(last - steps.all.back().end);
  }

  // What a thread that may load reads, and when it is at work: a worker is whenever it does not
  // wait, another one while it reads. What a thread receives in a program that trains are batches
  // from elsewhere; in a server they are requests.
  void OsCallsOfLoader(std::uint32_t t, bool worker, std::vector<Interval>* busy) {
    const std::size_t read_before = result_.reads.size();
    std::size_t received = 0;
    Nanos receiving = 0;  // in the window
    for (const std::uint32_t i : run_.os_of_thread[t]) {
      const OsClass os = run_.names.Os(trace_.os_calls.name[i]);
      if (os == OsClass::kNetwork) {
        ++received;
        receiving += InWindow({trace_.os_calls.start[i], trace_.os_calls.end[i]});
      }
      if (os != OsClass::kFileIo) continue;
      result_.reads.push_back({trace_.os_calls.start[i], trace_.os_calls.end[i]});
      if (!worker) busy->push_back(result_.reads.back());
    }
    if (received > 0 && (run_.names.ThreadRole(t) == Role::kCommunication || !Trains()))
      received = 0;
    const std::size_t loads = received + result_.reads.size() - read_before;
    if (!worker && loads == 0) return;
    const bool often = run_.steps.known() && loads >= run_.steps.all.size();
    const Rests rests = RestsOf(run_, t, !worker && often && received > 0);
    if (!rests.Recorded()) return;
    const IntervalSet at_work = rests.AtWork(rests.last);
    const Nanos time = at_work.OverlapWith(run_.window.start, run_.window.end);
    const Nanos seen = InWindow({rests.first, rests.last});
    result_.working_ns += time;
    const AtWork loader{t, time, seen, at_work.Total(), rests.last};
    if (!worker) {
      // Who receives most of the time, and never rests, may as well wait for a message that has
      // nothing to do with data.
      const bool listens = received == loads && NeverRests(loader) && 2 * receiving >= time;
      if (often && !listens) readers_.push_back(loader);
      return;
    }
    busy->insert(busy->end(), at_work.intervals().begin(), at_work.intervals().end());
    worker_time_ += time;
    worker_seen_ += seen;
    if (time > 0) at_work_.push_back(loader);
  }

  bool Trains() {
    if (!trains_) trains_ = SaysTraining(run_);
    return *trains_;
  }

  bool SameProcessHasLaunches(std::uint32_t thread) const {
    for (const std::uint32_t t : run_.launching_threads) {
      if (trace_.threads[t].process == trace_.threads[thread].process) return true;
    }
    return false;
  }

  const Run& run_;
  const Trace& trace_;
  std::optional<bool> trains_;  // asked for only where a thread receives
  const double never_rests_;
  const std::vector<std::vector<Interval>> handed_;  // by thread: see HandedMemory
  std::vector<AtWork> at_work_;                      // workers
  std::vector<AtWork> readers_;  // other threads that read or receive in each step
  Nanos worker_time_ = 0;        // of workers that do not wait
  Nanos worker_seen_ = 0;        // from the first to the last call of each
  std::map<StringId, LoaderName> loader_names_;
  Loaders result_;
};

}  // namespace

Loaders FindLoaders(const Run& run) { return LoaderFinder(run).Find(); }

}  // namespace advise
