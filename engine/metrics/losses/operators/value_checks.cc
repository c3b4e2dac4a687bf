#include "engine/metrics/losses/operators/value_checks.h"

#include <algorithm>

#include "engine/timeline/operator_families.h"

namespace advise {
namespace {

class CheckFinder : Finder {
 public:
  explicit CheckFinder(const Basis& basis)
      : Finder(basis),
        loss_(basis),
        reads_(basis.run),
        does_(basis.run,
              {"value_test", "value_reduction", "autograd_check", "value_logic", "value_read"}),
        near_(Time("checks.near")),
        trace_ns_(Time("checks.stack_trace")) {}

  ValueChecks Find() {
    if (trace_.operators.size() > 0) {
      const std::vector<RowRange> rows =
          RowsByThread(trace_.operators.thread, trace_.threads.size());
      for (const std::uint32_t thread : run_.launching_threads) Operators(thread, rows[thread]);
      result_.anomaly_mode = of_autograd_ > 0 && 2 * of_autograd_ >= of_operators_;
      if (result_.anomaly_mode) {
        for (const std::uint32_t thread : run_.launching_threads) StackTraces(thread, rows[thread]);
      }
    }
    Gone(Joined(std::move(spans_)));
    result_.reads = reads_.PerStep();
    result_.loss = loss_.Build();
    return std::move(result_);
  }

 private:
  // What an operator does, as does_ has its families.
  enum Step { kOther = OperatorFamilies::kNoFamily, kTests, kReduces, kAnomaly, kCombines, kReads };

  // From the test to the last thing that is done with its answer.
  struct Chain {
    Nanos start = 0, end = 0;
    std::uint32_t parent = kNone;
    bool open = false, reduces = false, reads = false, of_autograd = false;
  };

  // A test that is followed by no reduction is part of the model, such as a mask.
  void Close(std::uint32_t thread, Chain* chain) {
    if (chain->open && (chain->reduces || chain->reads) && basis_.InLoop(chain->start)) {
      loss_.Count(chain->start, 0, chain->end - chain->start);
      spans_[thread].push_back({chain->start, chain->end});
      if (chain->reads) reads_.Count(chain->start);
      ++of_operators_;
      of_autograd_ += chain->of_autograd ? 1 : 0;
    }
    chain->open = false;
  }

  void Operators(std::uint32_t thread, RowRange rows) {
    const OperatorTable& operators = trace_.operators;
    std::vector<std::uint32_t> open;  // the operators around
    Chain chain;
    for (const std::uint32_t row : rows) {
      const Nanos start = operators.start[row];
      while (!open.empty() && operators.end[open.back()] <= start) open.pop_back();
      const std::uint32_t parent = open.empty() ? kNone : open.back();
      open.push_back(row);
      if (chain.open && start < chain.end) continue;  // inside one of its operators
      const int step = does_.Of(operators.name[row]);
      const bool follows = chain.open && parent == chain.parent && start - chain.end <= near_;
      const bool anew = step == kTests && (chain.reduces || chain.reads);
      if (!follows || anew || step == kOther) Close(thread, &chain);
      if (!chain.open) {
        if (step != kTests) continue;
        chain = {start, start, parent, true};
      }
      chain.end = operators.end[row];
      chain.reduces |= step == kReduces || step == kAnomaly;
      chain.reads |= step == kReads;
      chain.of_autograd |= step == kAnomaly;
    }
    Close(thread, &chain);
  }

  // In anomaly mode, autograd records where each operator was called, before the operator does
  // anything: nothing else takes so long there.
  void StackTraces(std::uint32_t thread, RowRange rows) {
    const OperatorTable& operators = trace_.operators;
    const RowRange calls = run_.calls_of_thread[thread];
    std::uint32_t call = calls.first;
    for (const std::uint32_t row : rows) {
      const Nanos start = operators.start[row];
      while (call < calls.last && trace_.calls.start[call] < start) ++call;
      if (operators.payload[row] < 0 || !basis_.InLoop(start) ||
          !trace_.strings[operators.name[row]].starts_with("aten::")) {
        continue;
      }
      Nanos until = operators.end[row];
      const Nanos end = until;
      if (row + 1 < rows.last) until = std::min(until, operators.start[row + 1]);
      if (call < calls.last) until = std::min(until, trace_.calls.start[call]);
      if (until == end || until - start < trace_ns_) continue;
      result_.stack_traces_ns += static_cast<double>(until - start);
      spans_[thread].push_back({start, until});
    }
  }

  void Gone(const HostTime& when) {
    std::vector<std::int8_t> by_name(trace_.strings.size(), -1);
    for (const std::uint32_t op : basis_.OpsInWindow()) {
      const bool operators = IsLaunchedIn(when, op);
      if (!operators && !(trace_.ops.kind[op] == OpKind::kKernel && IsByName(op, &by_name)))
        continue;
      const Nanos length = Length(op);
      if (!operators) loss_.Count(trace_.ops.start[op], 0, length);
      if (trace_.ops.kind[op] == OpKind::kKernel) {
        loss_.AddOp(op);
      } else {
        loss_.AddExposed(op);
      }
      loss_.ScaleOp(op, 0);
    }
    loss_.RemoveFromHost(when);
  }

  bool IsByName(std::uint32_t op, std::vector<std::int8_t>* known) const {
    const std::uint32_t shape = trace_.ops.detail[op];
    const StringId name = trace_.shapes[shape].name;
    if ((*known)[name] < 0) {
      (*known)[name] =
          run_.knowledge.IsOfFamily(FamilyKind::kKernel, "checks", trace_.strings[name],
                                    run_.names.Kernel(shape).name)
              ? 1
              : 0;
    }
    return (*known)[name] == 1;
  }

  LossBuilder loss_;
  StepCounter reads_;
  OperatorFamilies does_;
  Nanos near_;
  Nanos trace_ns_;
  std::map<std::uint32_t, std::vector<Interval>> spans_;  // by thread: what is gone
  std::size_t of_operators_ = 0, of_autograd_ = 0;
  ValueChecks result_;
};

}  // namespace

ValueChecks FindValueChecks(const Basis& basis) { return CheckFinder(basis).Find(); }

}  // namespace advise
