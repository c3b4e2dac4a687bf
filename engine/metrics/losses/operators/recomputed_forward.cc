#include "engine/metrics/losses/operators/recomputed_forward.h"

#include <algorithm>
#include <map>

#include "engine/metrics/kernels/shape_work.h"
#include "engine/timeline/operator_families.h"

namespace advise {
namespace {

class ForwardFinder : Finder {
 public:
  ForwardFinder(const Basis& basis, const SizedOperators& sized)
      : Finder(basis),
        table_(trace_.operators),
        sized_(sized),
        loss_(basis),
        of_programs_(run_, {"layer"}) {}

  RecomputedForward Find() {
    kind_.assign(trace_.strings.size(), kUnread);
    const std::vector<RowRange> rows = RowsByThread(table_.thread, trace_.threads.size());
    for (const std::uint32_t thread : run_.launching_threads) Thread(thread, rows[thread]);
    if (!stretches_.empty()) Gone();
    result_.known = true;
    result_.loss = loss_.Build();
    return std::move(result_);
  }

 private:
  enum Kind : std::int8_t { kUnread, kOther, kBackward, kOfPrograms };

  Kind KindOf(std::uint32_t row) {
    Kind& kind = kind_[table_.name[row]];
    if (kind == kUnread) {
      const std::string& name = trace_.strings[table_.name[row]];
      kind = run_.knowledge.RangePhase(name) == "backward" ? kBackward
             : of_programs_.Of(table_.name[row]) >= 0      ? kOfPrograms
                                                           : kOther;
    }
    return kind;
  }

  // What one operator of a backward pass computes again.
  struct Stretch {
    IntervalSet when;  // operators of the forward pass
    bool counted = false;
  };

  void Thread(std::uint32_t thread, RowRange rows) {
    Nanos backward_until = 0;  // the end of the outermost operator of a backward pass
    Nanos inside_until = 0;    // the end of an operator that is computed again
    bool of_program = false;
    std::vector<Interval> spans;
    const auto close = [&] {
      if (of_program) stretches_[thread].push_back({IntervalSet::Of(std::move(spans))});
      spans.clear();
      of_program = false;
    };
    for (const std::uint32_t row : rows) {
      const Nanos start = table_.start[row];
      const Kind kind = KindOf(row);
      if (start >= backward_until) {
        close();
        if (kind == kBackward) backward_until = table_.end[row];
        continue;
      }
      if (kind == kBackward || table_.payload[row] < 0 || start < inside_until) continue;
      inside_until = table_.end[row];
      of_program = of_program || kind == kOfPrograms;
      spans.push_back({start, inside_until});
    }
    close();
  }

  Stretch* StretchAt(std::uint32_t call) {
    if (call == kNone) return nullptr;
    const auto of_thread = stretches_.find(trace_.calls.thread[call]);
    if (of_thread == stretches_.end()) return nullptr;
    const Nanos time = trace_.calls.start[call];
    auto& all = of_thread->second;
    const auto after = std::partition_point(all.begin(), all.end(), [&](const Stretch& stretch) {
      return stretch.when.intervals().front().start <= time;
    });
    if (after == all.begin() || !(after - 1)->when.Contains(time)) return nullptr;
    return &*(after - 1);
  }

  void Gone() {
    double bytes = 0;
    for (const std::uint32_t op : basis_.OpsInWindow()) {
      Stretch* const stretch = StretchAt(trace_.ops.call[op]);
      if (stretch == nullptr) continue;
      if (!stretch->counted && basis_.InLoop(trace_.ops.start[op])) {
        stretch->counted = true;
        loss_.Count(trace_.ops.start[op], 0, 0);
      }
      loss_.RemoveOp(op);
      bytes += BytesOf(sized_.OfOp(op));
    }
    const double steps = run_.steps.known()
                             ? std::max<double>(1, static_cast<double>(run_.steps.steady_count()))
                             : 1;
    if (sized_.recorded()) result_.bytes = bytes / steps;
    HostTime when;
    for (const auto& [thread, all] : stretches_) {
      std::vector<Interval> spans;
      for (const Stretch& stretch : all) {
        const auto& intervals = stretch.when.intervals();
        spans.insert(spans.end(), intervals.begin(), intervals.end());
      }
      when[thread] = IntervalSet::Of(std::move(spans));
    }
    loss_.RemoveFromHost(when);
  }

  // Of the first tensor: each operator keeps about what it was given for the backward pass.
  double BytesOf(std::uint32_t row) const {
    if (row == kNone) return 0;
    const auto& tensors = sized_.Of(row)->tensors;
    if (tensors.empty()) return 0;
    return ElementBytes(tensors.front().type) * static_cast<double>(tensors.front().Elements());
  }

  const OperatorTable& table_;
  const SizedOperators& sized_;
  LossBuilder loss_;
  OperatorFamilies of_programs_;
  std::vector<Kind> kind_;                                   // by name
  std::map<std::uint32_t, std::vector<Stretch>> stretches_;  // by thread, in time order
  RecomputedForward result_;
};

}  // namespace

RecomputedForward FindRecomputedForward(const Basis& basis, const SizedOperators& sized) {
  return ForwardFinder(basis, sized).Find();
}

}  // namespace advise
