#include "engine/metrics/losses/operators/forward_only.h"

#include <algorithm>
#include <map>
#include <set>
#include <string_view>
#include <utility>

#include "engine/metrics/kernels/shape_work.h"
#include "engine/timeline/operator_families.h"

namespace advise {
namespace {

class PassFinder : Finder {
 public:
  PassFinder(const Basis& basis, const SizedOperators& sized, const Phases& phases)
      : Finder(basis),
        table_(trace_.operators),
        sized_(sized),
        phases_(phases),
        loss_(basis),
        convolutions_(run_, {"convolution"}) {}

  ForwardOnly Find() {
    Recorded();
    if (result_.recorded) {
      Arithmetic();
      const std::vector<RowRange> rows = RowsByThread(table_.thread, trace_.threads.size());
      pass_.assign(trace_.calls.size(), 0);
      for (const std::uint32_t thread : run_.launching_threads) Thread(thread, rows[thread]);
      Ops();
    }
    result_.loss = loss_.Build();
    return std::move(result_);
  }

 private:
  // Training whose operators have numbers.
  void Recorded() {
    is_backward_.assign(trace_.strings.size(), -1);
    bool forward = false;
    bool backward = false;
    for (std::uint32_t row = 0; row < table_.size(); ++row) {
      const bool is_backward = IsBackward(row);
      if (!basis_.InLoop(table_.start[row])) continue;
      backward = backward || is_backward;
      forward = forward || (!is_backward && table_.payload[row] >= 0);
    }
    result_.recorded = forward && backward;
  }

  bool IsBackward(std::uint32_t row) {
    std::int8_t& known = is_backward_[table_.name[row]];
    if (known < 0) {
      known = run_.knowledge.RangePhase(trace_.strings[table_.name[row]]) == "backward" ? 1 : 0;
    }
    return known == 1;
  }

  bool Multiplies(std::uint32_t op) const {
    if (trace_.ops.kind[op] != OpKind::kKernel) return false;
    return run_.names.Kernel(trace_.ops.detail[op]).Multiplies();
  }

  // The calls that launch products.
  void Arithmetic() {
    multiplies_.assign(trace_.calls.size(), 0);
    for (std::uint32_t op = 0; op < trace_.ops.size(); ++op) {
      if (trace_.ops.call[op] != kNone && Multiplies(op)) multiplies_[trace_.ops.call[op]] = 1;
    }
  }

  // From the first product that autograd does not record to the last, with no pass of training in
  // between, and no optimizer. What trains are products: autocast has the casts of weights recorded
  // in any pass, to use them again.
  void Thread(std::uint32_t thread, RowRange rows) {
    const RowRange calls = run_.calls_of_thread[thread];
    std::vector<std::uint32_t> open;
    std::uint32_t next = rows.first;
    std::uint32_t first = kNone;
    std::uint32_t last = kNone;
    const auto close = [&] {
      if (first != kNone) std::fill(pass_.begin() + first, pass_.begin() + last + 1, ++passes_);
      first = last = kNone;
    };
    for (const std::uint32_t call : calls) {
      const Nanos at = trace_.calls.start[call];
      for (; next < rows.last && table_.start[next] <= at; ++next) {
        while (!open.empty() && table_.end[open.back()] <= table_.start[next]) open.pop_back();
        open.push_back(next);
      }
      while (!open.empty() && table_.end[open.back()] <= at) open.pop_back();
      if (run_.first_op_of_call[call] == kNone) continue;
      const bool optimizes = phases_.OfCall(call) == Phase::kOptimizer;
      const bool multiplies = multiplies_[call] == 1;
      bool backward = false;
      bool recorded = false;
      for (const std::uint32_t row : open) {
        backward = backward || IsBackward(row);
        recorded = recorded || table_.payload[row] >= 0;
      }
      if (optimizes || backward || (recorded && multiplies)) {
        close();
      } else if (multiplies && !open.empty()) {
        if (first == kNone) first = call;
        last = call;
      }
    }
    close();
  }

  using Sizes = std::vector<std::int64_t>;

  // The weights of a product or convolution, in any order; none where they are not known.
  Sizes WeightsOf(std::uint32_t op) {
    const std::uint32_t row = sized_.OfOp(op);
    if (row == kNone) return {};
    int at = SecondOperand(sized_.FormulaOf(row));
    if (at < 0 && convolutions_.Of(sized_.table().name[row]) >= 0) at = 1;
    const auto& tensors = sized_.Of(row)->tensors;
    if (at < 0 || static_cast<std::size_t>(at) >= tensors.size()) return {};
    Sizes sizes = tensors[static_cast<std::size_t>(at)].sizes;
    std::sort(sizes.begin(), sizes.end());
    return sizes;
  }

  // A pass lasts from its first kernel to its last, by the time of the GPU, which may be far behind
  // the host.
  void Take(std::uint32_t op, std::uint32_t pass) {
    const Nanos start = trace_.ops.start[op];
    const auto [at, is_new] =
        spans_.try_emplace({pass, trace_.ops.device[op]}, Interval{start, start});
    at->second.end = std::max(at->second.end, std::min(trace_.ops.end[op], run_.window.end));
    if (is_new && basis_.InLoop(start)) loss_.Count(start, 0, 0);
  }

  void Ops() {
    std::set<Sizes> trained;
    std::map<Sizes, double> others;
    for (const std::uint32_t op : basis_.OpsInWindow()) {
      const std::uint32_t call = trace_.ops.call[op];
      if (call == kNone) continue;
      const bool without = pass_[call] > 0;
      if (without && trace_.ops.kind[op] == OpKind::kKernel) Take(op, pass_[call]);
      if (!Multiplies(op)) continue;
      Sizes weights = WeightsOf(op);
      if (weights.empty()) continue;
      if (without) {
        others[std::move(weights)] += static_cast<double>(Length(op));
      } else {
        trained.insert(std::move(weights));
      }
    }
    for (const auto& [pass, span] : spans_) {
      loss_.AddSpan(pass.second, span.start, span.end);
    }
    double all = 0;
    double same = 0;
    for (const auto& [weights, time] : others) {
      all += time;
      if (trained.contains(weights)) same += time;
    }
    if (all > 0) result_.same_layers = same / all;
  }

  const OperatorTable& table_;
  const SizedOperators& sized_;
  const Phases& phases_;
  LossBuilder loss_;
  OperatorFamilies convolutions_;
  std::vector<std::int8_t> is_backward_;  // by name; -1 not asked
  std::vector<std::uint8_t> multiplies_;  // by call: it launches a product
  std::vector<std::uint32_t> pass_;       // by call: the number of such a pass; 0 none
  std::uint32_t passes_ = 0;
  std::map<std::pair<std::uint32_t, std::uint32_t>, Interval> spans_;  // by pass and device
  ForwardOnly result_;
};

}  // namespace

ForwardOnly FindForwardOnly(const Basis& basis, const SizedOperators& sized, const Phases& phases) {
  return PassFinder(basis, sized, phases).Find();
}

}  // namespace advise
