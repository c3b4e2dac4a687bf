#include "engine/metrics/losses/input/loader_batches.h"

#include <algorithm>
#include <cmath>

#include "engine/base/median.h"
#include "engine/timeline/rests.h"

namespace advise {
namespace {

struct Batch {
  std::size_t worker = 0;
  Interval when;
  double work_ns = 0;
  bool complete = false;
};

class LoaderBatchFinder {
 public:
  LoaderBatchFinder(const Run& run, const std::vector<std::uint32_t>& workers, const Spans& lost)
      : run_(run), workers_(workers), lost_(lost) {}

  LoaderBatches Find() {
    std::vector<std::vector<Nanos>> calls;
    std::size_t all = 0;
    for (const std::uint32_t worker : workers_) {
      calls.push_back(FileCalls(worker));
      all += calls.back().size();
    }
    const std::size_t steps = run_.steps.all.size();
    if (!run_.steps.known() || all < steps) return {};
    const auto of_batch = static_cast<std::size_t>(
        std::llround(static_cast<double>(all) / static_cast<double>(steps)));
    double usual = 0;
    for (std::size_t w = 0; w < workers_.size(); ++w) usual += Batches(w, calls[w], of_batch);
    std::vector<double> complete;
    for (const Batch& batch : batches_)
      if (batch.complete) complete.push_back(batch.work_ns);
    if (static_cast<double>(complete.size()) < run_.knowledge.Number("input.slow_least")) return {};
    LoaderBatches result;
    result.known = true;
    result.count = all / of_batch;
    result.median_ns = Median(complete);
    usual -= Slow(&result);
    result.usual_ns = usual / static_cast<double>(workers_.size());
    return result;
  }

 private:
  std::vector<Nanos> FileCalls(std::uint32_t worker) const {
    const RowRange rows = run_.os_of_thread[worker];
    const OsCallTable& os = run_.trace.os_calls;
    std::vector<Nanos> starts;
    for (const std::uint32_t i : rows)
      if (run_.names.Os(os.name[i]) == OsClass::kFileIo) starts.push_back(os.start[i]);
    return starts;
  }

  // Batches of one worker; how long it is at work in the window.
  double Batches(std::size_t worker, const std::vector<Nanos>& calls, std::size_t of_batch) {
    const Rests rests = RestsOf(run_, workers_[worker]);
    if (!rests.Recorded()) return 0;
    const IntervalSet at_work = rests.AtWork(rests.last);
    for (std::size_t from = 0; from < calls.size(); from += of_batch) {
      const bool complete = from + of_batch < calls.size();
      const Interval when{calls[from], complete ? calls[from + of_batch] : rests.last};
      batches_.push_back(
          {worker, when, static_cast<double>(at_work.OverlapWith(when.start, when.end)), complete});
    }
    return static_cast<double>(at_work.OverlapWith(run_.window.start, run_.window.end));
  }

  // Notes the slow ones; how much more than the median they take in the window. One that two
  // batches of this count share is one.
  double Slow(LoaderBatches* result) const {
    const double factor = run_.knowledge.Number("input.slow_factor");
    std::vector<Interval> slow;
    double excess = 0;
    const Batch* last = nullptr;
    for (const Batch& batch : batches_) {
      if (batch.work_ns <= factor * result->median_ns) continue;
      slow.push_back(batch.when);
      const bool same =
          last != nullptr && last->worker == batch.worker && last->when.end == batch.when.start;
      if (!same) ++result->slow_count;
      last = &batch;
      const Nanos inside = std::max<Nanos>(0, std::min(batch.when.end, run_.window.end) -
                                                  std::max(batch.when.start, run_.window.start));
      excess += (batch.work_ns - result->median_ns) * static_cast<double>(inside) /
                static_cast<double>(batch.when.end - batch.when.start);
    }
    const IntervalSet when = IntervalSet::Of(std::move(slow));
    Nanos meanwhile = 0;
    for (const IntervalSet& idle : lost_.by_device) meanwhile += idle.Intersect(when).Total();
    if (lost_.Total() > 0)
      result->slow_part = static_cast<double>(meanwhile) / static_cast<double>(lost_.Total());
    return excess;
  }

  const Run& run_;
  const std::vector<std::uint32_t>& workers_;
  const Spans& lost_;
  std::vector<Batch> batches_;
};

}  // namespace

LoaderBatches FindLoaderBatches(const Run& run, const std::vector<std::uint32_t>& workers,
                                const Spans& lost) {
  return LoaderBatchFinder(run, workers, lost).Find();
}

}  // namespace advise
