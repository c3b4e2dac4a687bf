#include "engine/metrics/losses/input/input.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <set>

#include "engine/metrics/losses/input/loaders.h"
#include "engine/metrics/losses/input/loads.h"
#include "engine/timeline/pause.h"
#include "engine/timeline/rests.h"

namespace advise {
namespace {

constexpr const char* kFloorReason = "loading, now done in parallel,";

class InputFinder : Finder {
 public:
  InputFinder(const Basis& basis, const std::vector<IntervalSet>& beside_comm)
      : Finder(basis), beside_comm_(beside_comm), loaders_(FindLoaders(basis.run)) {
    static_cast<WhoLoads&>(result_) = loaders_;
  }

  Input Find() {
    Loads();
    Slow();
    result_.batches = FindLoaderBatches(run_, loaders_.worker_threads, *result_.loss.lost);
    Maps();
    result_.on_demand = OnDemandShare(run_, loads_, loaders_.busy);
    return std::move(result_);
  }

 private:
  bool WaitsForWorkers(const GapPiece& piece, std::uint32_t thread) const {
    return thread != kNone && loaders_.waits_for_workers[thread].Contains(piece.start);
  }

  static bool Waits(const GapPiece& piece) {
    return piece.activity == Activity::kOsWait || piece.activity == Activity::kSilentWait ||
           piece.activity == Activity::kSleep || piece.activity == Activity::kLock ||
           piece.activity == Activity::kNetwork;
  }

  // Without steps, a load that came once: the workers had just started, or the program read what it
  // needs to begin. Every run has it, and there is no batch before it to compute meanwhile. What a
  // range calls loading is a batch all the same.
  bool CameOnce() const {
    return !run_.steps.known() && loads_.size() <= run_.active_devices.size() &&
           (result_.waiting_ns > result_.own_ns || !named_);
  }

  // Mapping memory is no reading: any program does so that asks for a large array.
  static bool IsLoading(const GapPiece& piece) {
    return piece.cause == IdleCause::kDataLoading ||
           (piece.cause == IdleCause::kFileIo && piece.activity == Activity::kFileIo);
  }

  bool Feeds(std::uint32_t thread) const { return thread != kNone && run_.loads[thread] != 0; }

  // The thread waits for what somebody else loads.
  bool IsForOthers(const GapPiece& piece, std::uint32_t thread) const {
    return Waits(piece) || Feeds(thread) ||
           (piece.activity == Activity::kFileIo && result_.workers > 0) ||
           WaitsForWorkers(piece, thread);
  }

  // What the loading in a gap consists of.
  struct InGap {
    std::size_t last = 0;  // behind its last piece
    Nanos loading = 0;
    bool named = false;   // a range says when it loads
    bool itself = false;  // the thread that launches loads
  };
  InGap LoadingFrom(std::size_t first) const {
    const auto& pieces = basis_.idle.pieces;
    InGap gap{.last = first};
    for (; gap.last < pieces.size() && pieces[gap.last].gap == pieces[first].gap; ++gap.last) {
      const GapPiece piece = pieces[gap.last];
      gap.named = gap.named || piece.phase == Phase::kDataLoading;
      if (!IsLoading(piece)) continue;
      gap.loading += piece.Length();
      gap.itself = gap.itself || !IsForOthers(piece, basis_.idle.ThreadOf(piece));
    }
    return gap;
  }

  // When the thread read files, and then computed without a call, up to the gap, if what it uploads
  // behind the gap is the next that it calls: it decodes what it read, and the GPU had work for a
  // part of that. Empty where it is not so.
  Interval ReadBefore(const Gap& gap) const {
    const std::uint32_t upload = NextCall(run_, gap.thread, gap.start);
    if (upload == kNone || result_.workers > 0 || result_.loader == "workers") return {};
    const std::uint32_t op = run_.first_op_of_call[upload];
    const bool first = upload == run_.calls_of_thread[gap.thread].first;
    if (first || op == kNone || trace_.ops.kind[op] != OpKind::kCopy ||
        trace_.DirectionOfCopy(op) != CopyDirection::kHostToDevice)
      return {};
    const Nanos from = trace_.calls.end[upload - 1];
    const OsCallTable& os = trace_.os_calls;
    const RowRange rows = run_.os_of_thread[gap.thread];
    const auto end = os.start.begin() + rows.last;
    Interval found{gap.start, gap.start};
    Nanos read = 0;
    for (auto at = std::lower_bound(os.start.begin() + rows.first, end, from);
         at != end && *at < gap.start; ++at) {
      const auto row = static_cast<std::size_t>(at - os.start.begin());
      const OsClass what = run_.names.Os(os.name[row]);
      if (basis_.idle.sources[gap.thread].waits.Contains(os.start[row])) continue;
      if (what == OsClass::kFileIo) found.start = std::min(found.start, os.start[row]);
      if (what == OsClass::kFileIo) read += os.end[row] - os.start[row];
      if (what == OsClass::kFileWrite) read -= os.end[row] - os.start[row];
    }
    const auto least = Number("input.gap_share") * static_cast<double>(gap.end - from);
    return static_cast<double>(read) < least || read == 0 ? Interval{} : found;
  }

  // Code between reads decodes what was read, unless a range says what is loading. Who waits for
  // what others load computes something else.
  static bool GoesWith(const GapPiece& piece, const InGap& gap, bool feeds) {
    if (gap.named) return false;
    const bool by_thread = piece.cause == IdleCause::kHostCompute ||
                           piece.activity == Activity::kMemoryMap;  // for what it reads
    return piece.cause == IdleCause::kHostWait || (by_thread && (gap.itself || feeds));
  }

  // What of a gap, from its first piece on, is one load; `own` and `loss` take its pieces.
  Load LoadIn(std::size_t first, const InGap& all,
              std::map<std::uint32_t, std::vector<Interval>>* own, LossBuilder* loss) const {
    Load load;
    load.device = basis_.idle.pieces[first].device;
    load.start = basis_.idle.pieces[first].start;
    for (std::size_t k = first; k < all.last; ++k) {
      const GapPiece piece = basis_.idle.pieces[k];
      const std::uint32_t thread = basis_.idle.ThreadOf(piece);
      if (!(IsLoading(piece) || GoesWith(piece, all, Feeds(thread))) ||
          (piece.phase > Phase::kTransfer && piece.phase < Phase::kDataLoading))
        continue;
      loss->AddPiece(piece);
      load.thread = thread;
      load.end = piece.end;
      load.lost += piece.Length();
      const bool for_others = IsForOthers(piece, thread);
      (for_others ? load.waiting : load.own) += piece.Length();
      if (piece.activity == Activity::kFileIo && result_.workers == 0) load.file += piece.Length();
      if (thread == kNone) continue;
      std::vector<Interval>& by_itself = (*own)[thread];  // empty where it only waits
      if (!for_others) by_itself.push_back({piece.start, piece.end});
    }
    return load;
  }

  // One load a gap of the loop: what is read before it is no batch. A gap is of this kind when
  // loading, or reading files, fills a fair part of it.
  void Loads() {
    LossBuilder loss(basis_);
    const double part = Number("input.gap_share");
    const auto& pieces = basis_.idle.pieces;
    double file = 0;
    std::map<std::uint32_t, std::vector<Interval>> own;  // who loads or waits: when by itself
    for (std::size_t i = 0, next = 0; i < pieces.size(); i = next) {
      InGap all = LoadingFrom(i);
      next = all.last;
      const Gap gap = basis_.idle.gaps[pieces[i].gap];
      if (!basis_.InLoop(gap.start)) continue;
      const Interval before = all.loading == 0 ? ReadBefore(gap) : Interval{};
      const bool decodes = before.Length() > 0;
      all.itself = all.itself || decodes;
      if (!decodes && (all.loading == 0 ||
                       static_cast<double>(all.loading) < part * static_cast<double>(gap.Length())))
        continue;
      if (decodes) own[gap.thread].push_back(before);
      const Load load = LoadIn(i, all, &own, &loss);
      loss.Count(load.start, 0, load.lost);
      named_ = named_ || all.named;
      result_.own_ns += static_cast<double>(load.own) / Devices();
      result_.waiting_ns += static_cast<double>(load.waiting) / Devices();
      file += static_cast<double>(load.file);
      loads_.push_back(load);
    }
    LateLoads(&own, &file, &loss);
    if (CameOnce()) {
      loads_.clear();
      result_.own_ns = result_.waiting_ns = 0;
      result_.loss = LossBuilder(basis_).Build();
      return;
    }
    Remedies(std::move(own), &loss);
    result_.loss = loss.Build();
    StepsAffected();
    std::vector<double> lengths;
    for (const Load& load : loads_) {
      lengths.push_back(static_cast<double>(load.lost));
      result_.load_max_ns = std::max(result_.load_max_ns, lengths.back());
    }
    result_.loads = static_cast<std::int64_t>(loads_.size());
    result_.load_median_ns = Median(lengths);
    FileShare(file, result_.own_ns * Devices(), result_.waiting_ns * Devices());
  }

  // The thread loads by itself while the GPU has work, and comes late to what follows: the GPU then
  // does nothing but the upload, which would have run beside the kernels before.
  void LateLoads(std::map<std::uint32_t, std::vector<Interval>>* own, double* file,
                 LossBuilder* loss) {
    if (result_.workers > 0 || result_.loader == "workers") return;
    const auto all = ForEachLateLoad(basis_, [&](const Delay& delay) {
      const Nanos lost = delay.idle.Length();
      const bool again = !loads_.empty() && loads_.back().thread == delay.thread &&
                         loads_.back().end == delay.piece.end;
      loss->AddSpan(delay.device, delay.idle.start, delay.idle.end);
      result_.own_ns += static_cast<double>(lost) / Devices();
      if (delay.piece.activity == Activity::kFileIo) *file += static_cast<double>(lost);
      if (again) {
        loads_.back().lost += lost;
        loss->AddToCounted(0, lost);
        return;
      }
      loss->Count(delay.piece.start, 0, lost);
      loads_.push_back(
          {delay.device, delay.thread, delay.piece.start, delay.piece.end, lost, 0, 0, lost});
    });
    for (const auto& [thread, when] : all) {
      std::vector<Interval>& cut = (*own)[thread];
      cut.insert(cut.end(), when.begin(), when.end());
    }
    std::stable_sort(loads_.begin(), loads_.end(),
                     [](const Load& a, const Load& b) { return a.start < b.start; });
  }

  // The part of the loading that reads files: `file` of what the launching threads load themselves,
  // or what loaders read of the time that they do not wait.
  void FileShare(double file, double own, double waiting) {
    if (own >= waiting) {
      result_.file_share = own > 0 ? file / own : 0;
      return;
    }
    const Window& window = run_.window;
    double reading = 0;
    for (const Interval& i : loaders_.reads) {
      const Nanos inside = std::min(i.end, window.end) - std::max(i.start, window.start);
      reading += static_cast<double>(std::max<Nanos>(0, inside));
    }
    const auto at_work = static_cast<double>(loaders_.working_ns);
    if (at_work > 0) result_.file_share = std::min(1.0, reading / at_work);
  }

  // The steps that lose time to a load, and those in which the thread waits for data for long while
  // its GPU waits for another one. A step that waits for next to nothing of what steps wait for on
  // average only takes a batch that lay ready.
  void StepsAffected() {
    const Steps& steps = run_.steps;
    if (!steps.known() || steps.steady_count() == 0) return;
    std::vector<std::uint8_t> affected(steps.all.size(), 0);
    std::vector<double> lost(steps.all.size(), 0);
    for (const Load& load : loads_) {
      const std::uint32_t step = steps.At(load.start + (load.end - load.start) / 2);
      if (step == kNone || step < steps.first_steady) continue;
      if (load.own >= load.waiting) affected[step] = 1;
      if (load.own < load.waiting) lost[step] += static_cast<double>(load.lost);
    }
    std::vector<std::vector<double>> waited;
    double all = std::accumulate(lost.begin(), lost.end(), 0.0);
    for (const IntervalSet& waits : beside_comm_) {
      std::vector<double> of_steps(steps.all.size(), 0);
      for (std::size_t i = steps.first_steady; i < steps.all.size(); ++i) {
        of_steps[i] = static_cast<double>(waits.OverlapWith(steps.all[i].start, steps.all[i].end));
        all += of_steps[i];
      }
      waited.push_back(std::move(of_steps));
    }
    const double felt =
        Number("input.felt_share") * all / static_cast<double>(steps.steady_count());
    const double real = Number("input.wait_share");
    for (std::size_t i = steps.first_steady; i < steps.all.size(); ++i) {
      if (lost[i] > 0 && lost[i] >= felt) affected[i] = 1;
      const auto length = static_cast<double>(steps.all[i].end - steps.all[i].start);
      for (const std::vector<double>& of_steps : waited)
        if (of_steps[i] >= std::max(felt, real * length)) affected[i] = 1;
    }
    const auto count = static_cast<double>(std::count(affected.begin(), affected.end(), 1));
    result_.steps_affected = count / static_cast<double>(steps.steady_count());
    const auto first = std::find(affected.begin(), affected.end(), 1);
    const auto later = static_cast<double>(affected.end() - first) - 1;
    if (later > 0) result_.steps_affected_later = (count - 1) / later;
  }

  // Loading moves off the launching thread and is shared by workers: it cannot be faster than load
  // / workers.
  void Remedies(std::map<std::uint32_t, std::vector<Interval>> own, LossBuilder* loss) {
    loss->remedy().data_ready = true;
    const double most = Number("input.workers");
    const double workers =
        trace_.cpu_cores > 0 ? std::clamp<double>(trace_.cpu_cores - 1, 1, most) : most;
    for (auto& [thread, intervals] : own) {
      // The whole of each loading range, also what lies beside a busy GPU, moves with it.
      for (const std::uint32_t i : run_.ranges_of_thread[thread]) {
        if (run_.names.RangePhase(trace_.ranges.name[i]) != Phase::kDataLoading) continue;
        intervals.push_back({trace_.ranges.start[i], trace_.ranges.end[i]});
      }
      IntervalSet when =
          IntervalSet::Of(std::move(intervals)).Clip(run_.window.start, run_.window.end);
      const auto floor = static_cast<Nanos>(static_cast<double>(when.Total()) / workers);
      loss->remedy().floor_ns = std::max(loss->remedy().floor_ns, floor);
      loss->remedy().floor_reason = kFloorReason;
      loss->remedy().host_cuts.push_back({thread, std::move(when)});
    }
    FasterFeeders(workers, loss);
  }

  // Threads that compute data and upload it themselves: enough of them have it ready in time.
  void FasterFeeders(double workers, LossBuilder* loss) const {
    if (loads_.empty()) return;
    Nanos together = 0;
    for (std::uint32_t t = 0; t < trace_.threads.size(); ++t) {
      if (run_.loads[t] == 0) continue;
      const Rests rests = RestsOf(run_, t);
      IntervalSet when = IntervalSet::Of({{run_.window.start, run_.window.end}});
      if (rests.Recorded())
        when = rests.AtWork(rests.last).Clip(run_.window.start, run_.window.end);
      together += when.Total();
      loss->remedy().host_cuts.push_back({t, std::move(when)});
    }
    const auto floor = static_cast<Nanos>(static_cast<double>(together) / workers);
    loss->remedy().floor_ns = std::max(loss->remedy().floor_ns, floor);
    loss->remedy().floor_reason = kFloorReason;
  }

  void Slow() {
    LossBuilder loss(basis_);
    const double factor = Number("input.slow_factor");
    if (static_cast<double>(loads_.size()) >= Number("input.slow_least")) {
      for (const Load& load : loads_) {
        const double excess = static_cast<double>(load.lost) - result_.load_median_ns;
        if (static_cast<double>(load.lost) <= factor * result_.load_median_ns) continue;
        loss.Count(load.start, 0, load.lost);
        result_.slow_excess_ns += excess;
        const Nanos from = load.end - static_cast<Nanos>(excess);
        loss.AddSpan(load.device, std::max(load.start, from), load.end);
        loss.CutHost(load.thread, std::max(load.start, from), load.end);
      }
    }
    result_.slow = loss.Build();
  }

  void Maps() {
    LossBuilder loss(basis_);
    std::set<std::uint32_t> threads;
    for (const GapPiece piece : basis_.idle.pieces) {
      if (piece.activity != Activity::kMemoryMap) continue;
      loss.CountPiece(piece);
      threads.insert(basis_.idle.ThreadOf(piece));
    }
    // Also those beside the GPU's work: without them the host gets ahead.
    for (const std::uint32_t thread : threads) {
      if (thread == kNone) continue;
      for (const std::uint32_t row : run_.os_of_thread[thread]) {
        const Nanos start = trace_.os_calls.start[row];
        if (run_.names.Os(trace_.os_calls.name[row]) == OsClass::kMemoryMap &&
            basis_.InWindow(start))
          loss.CutHost(thread, start, trace_.os_calls.end[row]);
      }
    }
    result_.map = loss.Build();
  }

  const std::vector<IntervalSet>& beside_comm_;
  const Loaders loaders_;
  std::vector<Load> loads_;
  bool named_ = false;  // a range says of one of them that it loads
  Input result_;
};

}  // namespace

Input FindInput(const Basis& basis, const std::vector<IntervalSet>& beside_comm) {
  return InputFinder(basis, beside_comm).Find();
}

std::vector<IntervalSet> LoadingBesideCommunication(const Basis& basis,
                                                    const HandOvers& hand_overs) {
  std::vector<IntervalSet> exposed;
  for (const DeviceTime& times : basis.times) exposed.push_back(times.comm_exposed);
  return FollowHosts(basis.run, exposed, hand_overs)
      .Select(exposed.size(),
              [](const GapPiece& piece) { return piece.cause == IdleCause::kDataLoading; });
}

}  // namespace advise
