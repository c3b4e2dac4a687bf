#include "engine/metrics/losses/operators/algorithm_trials.h"

#include <algorithm>
#include <functional>
#include <limits>
#include <set>
#include <utility>

#include "engine/timeline/operator_families.h"

namespace advise {
namespace {

// Trials inside one operator.
struct Search {
  std::size_t waits = 0;  // for what the operator has launched
  Nanos first = 0;        // when the first trial is launched
  Nanos end = 0;          // when the last one is over, and its memory given back
};

// Searches in the calls of one thread, of which it is given one after the other.
class PairFinder : Finder {
 public:
  PairFinder(const Basis& basis, std::function<void(Nanos, const Search&)> found)
      : Finder(basis),
        least_waits_(CountOf("convolution.trial_waits")),
        least_kernels_(CountOf("convolution.trial_kernels")),
        most_launches_(static_cast<int>(Number("convolution.trial_launches"))),
        long_pause_(Time("launch.long_gap")),
        found_(std::move(found)) {}

  void Call(std::uint32_t call) {
    switch (run_.ClassOfCall(call)) {
      case CallClass::kLaunch:
        Launch(call);
        break;
      case CallClass::kSyncDevice:
      case CallClass::kSyncStream:
      case CallClass::kSyncEvent:
        if (launches_ > 0) Wait(call);
        break;
      case CallClass::kAllocDevice:  // of the working memory, ahead of the trials
        if (launches_ > 0) Close();
        break;
      case CallClass::kCopy:
      case CallClass::kCopyAsync:
        worked_ = trace_.calls.end[call];
        break;
      case CallClass::kFreeDevice:
        if (launches_ == 0 && search_.waits > 0) search_.end = trace_.calls.end[call];
        break;
      default:
        break;
    }
  }

  void Close() {
    const bool convolves = 2 * convolutions_ >= search_.waits;
    if (search_.waits >= least_waits_ && kernels_.size() >= least_kernels_ && convolves)
      found_(begun_, search_);
    search_ = {};
    kernels_.clear();
    convolutions_ = 0;
    once_ = {};
    launches_ = 0;
  }

 private:
  struct Trial {
    std::uint32_t shape = kNone;  // of its last kernel
    Nanos begun = 0, first = 0;   // when it is prepared, and launched
  };

  void Launch(std::uint32_t call) {
    const std::uint32_t op = run_.first_op_of_call[call];
    if (op == kNone || trace_.ops.kind[op] != OpKind::kKernel) return;
    const Nanos start = trace_.calls.start[call];
    if (start - worked_ > long_pause_) launches_ = 0;  // it was prepared meanwhile
    if (launches_++ == 0) {
      next_.first = start;
      next_.begun = worked_;
    }
    next_.shape = trace_.ops.detail[op];
    worked_ = trace_.calls.end[call];
  }

  void Wait(std::uint32_t call) {
    if (launches_ > most_launches_) Close();
    const Trial now = std::exchange(next_, {});
    launches_ = 0;
    if (once_.shape == kNone || NameOf(once_) != NameOf(now)) {
      if (once_.shape != kNone) Close();  // what ran once was no trial
      once_ = now;
      return;
    }
    if (search_.waits == 0) begun_ = once_.begun, search_.first = once_.first;
    search_.waits += 2;
    search_.end = trace_.calls.end[call];
    kernels_.insert(NameOf(now));
    if (run_.names.Kernel(now.shape).name == "convolution") convolutions_ += 2;
    once_ = {};
  }

  StringId NameOf(const Trial& trial) const { return trace_.shapes[trial.shape].name; }

  std::size_t least_waits_;
  std::size_t least_kernels_;
  int most_launches_;
  Nanos long_pause_;
  std::function<void(Nanos, const Search&)> found_;
  Search search_;
  Nanos begun_ = 0;  // when the search was prepared
  std::set<StringId> kernels_;
  std::size_t convolutions_ = 0;  // waits for them
  Trial once_;                    // waited for once
  Trial next_;                    // launched, and not waited for
  int launches_ = 0;              // since the last wait
  Nanos worked_ = 0;              // the end of the last launch or copy
};

class TrialFinder : Finder {
 public:
  explicit TrialFinder(const Basis& basis)
      : Finder(basis), loss_(basis), convolutions_(run_, {"convolution"}) {}

  AlgorithmTrials Find() {
    const std::vector<RowRange> rows = RowsByThread(trace_.operators.thread, trace_.threads.size());
    for (const std::uint32_t thread : run_.launching_threads) {
      std::vector<Interval> cuts =
          trace_.operators.size() > 0 ? InOperators(thread, rows[thread]) : InCalls(thread);
      if (!cuts.empty()) when_[thread] = IntervalSet::Of(std::move(cuts));
    }
    if (OnlyAtStart()) {
      result_.loss = LossBuilder(basis_).Build();
      return std::move(result_);
    }
    if (loss_.count() > 0) result_.mean = trials_ / static_cast<double>(loss_.count());
    Gone();
    result_.loss = loss_.Build();
    return std::move(result_);
  }

 private:
  std::vector<Interval> InOperators(std::uint32_t thread, RowRange rows) {
    const auto least = CountOf("convolution.trial_waits");
    const OperatorTable& operators = trace_.operators;
    std::vector<Interval> cuts;
    Nanos until = 0;  // the end of the outermost convolution
    for (const std::uint32_t row : rows) {
      const Nanos start = operators.start[row];
      if (start < until || convolutions_.Of(operators.name[row]) < 0) continue;
      until = operators.end[row];
      if (!basis_.InLoop(start)) continue;
      const Search search = Inside(thread, {start, until});
      if (search.waits < least) continue;
      cuts.push_back(Take(start, search));
    }
    return cuts;
  }

  // A trial is run twice: once to warm up, once for its time. Without a search, one algorithm is
  // prepared instead of all.
  Interval Take(Nanos start, const Search& search) {
    loss_.Count(start, 0, search.end - start);
    last_ = std::max(last_, search.end);
    const double tried = static_cast<double>(search.waits) / 2;
    trials_ += tried;
    const auto prepared = static_cast<double>(search.first - start) / tried;
    return {start + static_cast<Nanos>(prepared), search.end};
  }

  // Where no steps are known the window holds the start as well, in which all sizes that come later
  // are tried out.
  bool OnlyAtStart() const {
    const double part = Number("verdict.last_part");
    const auto last = static_cast<Nanos>(part * static_cast<double>(run_.window.Length()));
    return !run_.steps.known() && last_ < run_.window.end - last;
  }

  Search Inside(std::uint32_t thread, Interval when) const {
    const RowRange calls = run_.calls_of_thread[thread];
    const auto begin = trace_.calls.start.begin();
    const auto from = std::lower_bound(begin + calls.first, begin + calls.last, when.start);
    Search search;
    bool launched = false;  // since the last wait
    for (auto c = static_cast<std::uint32_t>(from - begin);
         c < calls.last && trace_.calls.start[c] < when.end; ++c) {
      switch (run_.ClassOfCall(c)) {
        case CallClass::kLaunch:
          if (search.first == 0) search.first = trace_.calls.start[c];
          launched = true;
          break;
        case CallClass::kSyncDevice:
        case CallClass::kSyncStream:
        case CallClass::kSyncEvent:
          search.waits += launched ? 1 : 0;
          if (launched) search.end = trace_.calls.end[c];
          launched = false;
          break;
        case CallClass::kFreeDevice:
          if (search.waits > 0 && !launched) search.end = trace_.calls.end[c];
          break;
        default:
          break;
      }
    }
    return search;
  }

  // Where no operators were recorded: the same kernel twice in a row, alone and waited for, and
  // then another one. Nothing but a search runs several convolutions so.
  std::vector<Interval> InCalls(std::uint32_t thread) {
    std::vector<Interval> cuts;
    PairFinder pairs(basis_, [&](Nanos start, const Search& search) {
      if (basis_.InLoop(search.first)) cuts.push_back(Take(start, search));
    });
    for (const std::uint32_t c : run_.calls_of_thread[thread]) pairs.Call(c);
    pairs.Close();
    return cuts;
  }

  // The trials, on the host and on the GPU.
  void Gone() {
    if (when_.empty()) return;  // as in most runs
    for (const std::uint32_t op : basis_.OpsInWindow()) {
      if (IsLaunchedIn(when_, op)) loss_.RemoveOp(op);
    }
    loss_.RemoveFromHost(when_);
  }

  LossBuilder loss_;
  OperatorFamilies convolutions_;
  HostTime when_;  // by thread: what is gone without a search
  double trials_ = 0;
  Nanos last_ = std::numeric_limits<Nanos>::min();  // the end of the last search
  AlgorithmTrials result_;
};

}  // namespace

AlgorithmTrials FindAlgorithmTrials(const Basis& basis) { return TrialFinder(basis).Find(); }

}  // namespace advise
