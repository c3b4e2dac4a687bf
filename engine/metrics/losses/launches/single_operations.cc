#include "engine/metrics/losses/launches/single_operations.h"

#include <algorithm>
#include <map>

namespace advise {
namespace {

class SingleOperationFinder : Finder {
 public:
  explicit SingleOperationFinder(const Basis& basis)
      : Finder(basis),
        most_kernels_(static_cast<int>(Number("launch.operation_kernels"))),
        least_programs_(CountOf("launch.operation_series")),
        longest_pause_(Time("launch.long_gap")),
        left_(static_cast<float>(Number("launch.operation_left"))),
        is_program_(trace_.strings.size(), -1) {}

  SingleOperations Find() {
    LossBuilder loss(basis_);
    StepCounter programs(run_);
    std::map<std::uint32_t, std::vector<Interval>> series;  // by launching thread
    std::size_t single = 0;
    for (const std::uint32_t thread : run_.launching_threads) {
      std::vector<Interval> open;
      std::vector<std::uint32_t> ops;  // of these programs: the last of each
      const auto close = [&] {
        if (open.size() >= least_programs_) {
          series[thread].push_back({open.front().start, open.back().end});
          for (const Interval& program : open) loss.Count(program.start, 0, program.Length());
          Fuse(ops, &loss);
        }
        open.clear();
        ops.clear();
      };
      ForEachProgram(thread, [&](const Interval& program, int kernels, std::uint32_t op) {
        programs.Count(program.start);
        const bool small = kernels > 0 && kernels <= most_kernels_;
        if (small) ++single;
        if (!small || (!open.empty() && program.start - open.back().end > longest_pause_)) close();
        if (small) open.push_back(program), ops.push_back(op);
      });
      close();
    }
    SingleOperations result;
    result.programs_per_step = programs.PerStep();
    if (programs.all() > 0)
      result.single_share = static_cast<double>(single) / static_cast<double>(programs.all());
    for (auto& [thread, when] : series) Blame(thread, IntervalSet::Of(std::move(when)), &loss);
    result.loss = loss.Build();
    return result;
  }

 private:
  bool IsProgram(StringId name) {
    if (is_program_[name] < 0)
      is_program_[name] =
          run_.knowledge.IsOfFamily(FamilyKind::kRange, "program", trace_.strings[name]) ? 1 : 0;
    return is_program_[name] == 1;
  }

  // Calls `visit(when, kernels, op)` for each program that the thread calls in the loop; `op` is
  // the last that it launches.
  template <typename Visit>
  void ForEachProgram(std::uint32_t thread, Visit visit) {
    const RowRange calls = run_.calls_of_thread[thread];
    std::uint32_t call = calls.first;
    const RowRange ranges = run_.ranges_of_thread[thread];
    for (const std::uint32_t r : ranges) {
      const Interval program{trace_.ranges.start[r], trace_.ranges.end[r]};
      if (!IsProgram(trace_.ranges.name[r]) || !basis_.InLoop(program.start)) continue;
      while (call < calls.last && trace_.calls.start[call] < program.start) ++call;
      int kernels = 0;
      std::uint32_t op = kNone;
      for (std::uint32_t c = call; c < calls.last && trace_.calls.start[c] < program.end; ++c) {
        const CallClass kind = run_.ClassOfCall(c);
        if (kind == CallClass::kLaunch || kind == CallClass::kCopyAsync) {
          ++kernels;
          op = run_.first_op_of_call[c];
        }
        if (kind == CallClass::kGraphLaunch) kernels += most_kernels_ + 1;
      }
      visit(program, kernels, op);
    }
  }

  // Element-wise operations on tensors of one size, one after the other, become one kernel. Numbers
  // are a part of it: nothing waits for their upload.
  void Fuse(const std::vector<std::uint32_t>& ops, LossBuilder* loss) {
    for (const std::uint32_t op : ops) {
      if (op != kNone) loss->remedy().freed_ops.push_back(op);
    }
    for (std::size_t i = 1; i < ops.size(); ++i) {
      if (IsElementwise(ops[i - 1]) && IsElementwise(ops[i]) &&
          BlocksOf(ops[i - 1]) == BlocksOf(ops[i])) {
        loss->AddOp(ops[i]);
        loss->ScaleOp(ops[i], left_);
        loss->remedy().vanished_calls.push_back(trace_.ops.call[ops[i]]);
      }
    }
  }

  bool IsElementwise(std::uint32_t op) const {
    return op != kNone && trace_.ops.kind[op] == OpKind::kKernel &&
           run_.names.Kernel(trace_.ops.detail[op]).name == "elementwise";
  }

  std::uint64_t BlocksOf(std::uint32_t op) const { return Shape(op).Blocks(); }

  // One call replaces each series: the code between its calls goes, what the GPU idles meanwhile,
  // and the uploads of single values that other threads make for it.
  void Blame(std::uint32_t thread, const IntervalSet& series, LossBuilder* loss) {
    for (const GapPiece piece : basis_.idle.pieces) {
      if (basis_.idle.ThreadOf(piece) != thread || piece.cause == IdleCause::kDataLoading ||
          piece.phase >= Phase::kEvaluation)
        continue;
      loss->AddSpans(piece.device, series.Clip(piece.start, piece.end));
    }
    for (const Interval& i : series.intervals()) {
      loss->CutHost(thread, i.start, i.end);
      for (const std::uint32_t other : run_.launching_threads) {
        const bool uploads_values = run_.feeds[other] != 0 && run_.loads[other] == 0;
        if (uploads_values && trace_.threads[other].process == trace_.threads[thread].process)
          loss->CutHost(other, i.start, i.end);
      }
    }
  }

  int most_kernels_;
  std::size_t least_programs_;
  Nanos longest_pause_;
  float left_;
  std::vector<std::int8_t> is_program_;  // by name; -1 not asked yet
};

}  // namespace

SingleOperations FindSingleOperations(const Basis& basis) {
  return SingleOperationFinder(basis).Find();
}

}  // namespace advise
