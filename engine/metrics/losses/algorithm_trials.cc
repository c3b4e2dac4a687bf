#include "engine/metrics/losses/algorithm_trials.h"

#include <algorithm>

namespace advise {
namespace {

// Trials inside one operator.
struct Search {
  std::size_t waits = 0;  // for what the operator has launched
  Nanos first = 0;        // when the first trial is launched
  Nanos end = 0;          // when the last one is over, and its memory given back
};

class TrialFinder {
 public:
  explicit TrialFinder(const Basis& basis)
      : basis_(basis), run_(basis.run), trace_(basis.run.trace), loss_(basis) {}

  AlgorithmTrials Find() {
    if (trace_.operators.size() == 0) return std::move(result_);
    const std::vector<RowRange> rows = RowsByThread(trace_.operators.thread, trace_.threads.size());
    for (const std::uint32_t thread : run_.launching_threads) Thread(thread, rows[thread]);
    if (loss_.count() > 0) result_.mean = trials_ / static_cast<double>(loss_.count());
    Gone();
    result_.loss = loss_.Build();
    return std::move(result_);
  }

 private:
  bool IsConvolution(StringId name) {
    if (known_.empty()) known_.assign(trace_.strings.size(), -1);
    if (known_[name] < 0) {
      const std::string& text = trace_.strings[name];
      const bool is = text.starts_with("aten::") && text.find("convolution") != std::string::npos;
      known_[name] = is ? 1 : 0;
    }
    return known_[name] == 1;
  }

  void Thread(std::uint32_t thread, RowRange rows) {
    const auto least = static_cast<std::size_t>(run_.knowledge.Number("convolution.trial_waits"));
    const OperatorTable& operators = trace_.operators;
    std::vector<Interval> cuts;
    Nanos until = 0;  // the end of the outermost convolution
    for (std::uint32_t row = rows.first; row < rows.last; ++row) {
      const Nanos start = operators.start[row];
      if (start < until || !IsConvolution(operators.name[row])) continue;
      until = operators.end[row];
      if (!basis_.InLoop(start)) continue;
      const Search search = Inside(thread, {start, until});
      if (search.waits < least) continue;
      loss_.Count(start, 0, search.end - start);
      // A trial is run twice: once to warm up, once for its time. Without a search, one algorithm
      // is prepared instead of all.
      const double tried = static_cast<double>(search.waits) / 2;
      trials_ += tried;
      const auto prepared = static_cast<double>(search.first - start) / tried;
      cuts.push_back({start + static_cast<Nanos>(prepared), search.end});
    }
    if (!cuts.empty()) when_[thread] = IntervalSet::Of(std::move(cuts));
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

  // The trials, on the host and on the GPU.
  void Gone() {
    for (std::uint32_t op = 0; op < trace_.ops.size() && !when_.empty(); ++op) {
      const std::uint32_t call = trace_.ops.call[op];
      if (call == kNone || !basis_.InWindow(trace_.ops.start[op])) continue;
      const auto at = when_.find(trace_.calls.thread[call]);
      if (at == when_.end() || !at->second.Contains(trace_.calls.start[call])) continue;
      loss_.AddOp(op);
      loss_.remedy().scaled_ops.emplace_back(op, 0.0F);
    }
    loss_.RemoveFromHost(when_);
  }

  const Basis& basis_;
  const Run& run_;
  const Trace& trace_;
  LossBuilder loss_;
  std::vector<std::int8_t> known_;  // by name: whether it is a convolution; -1 until asked for
  std::map<std::uint32_t, IntervalSet> when_;  // by thread: what is gone without a search
  double trials_ = 0;
  AlgorithmTrials result_;
};

}  // namespace

AlgorithmTrials FindAlgorithmTrials(const Basis& basis) { return TrialFinder(basis).Find(); }

}  // namespace advise
