#include "engine/metrics/kernels/sized_operators.h"

#include <algorithm>

#include "engine/metrics/innermost.h"
#include "engine/metrics/kernels/shape_work.h"

namespace advise {

SizedOperators::SizedOperators(const Run& run) : run_(run), trace_(run.trace) {
  if (!recorded()) return;
  of_thread_ = RowsByThread(table().thread, trace_.threads.size());
  of_call_ = InnermostOfCalls(table(), trace_,
                              [&](std::uint32_t row) { return table().inputs[row] != kNone; });
  is_backward_.assign(trace_.strings.size(), -1);
  formula_.assign(trace_.strings.size(), nullptr);
  for (std::uint32_t row = 0; row < table().size(); ++row) {
    std::int8_t& is_backward = is_backward_[table().name[row]];
    if (is_backward < 0) {
      is_backward = run.knowledge.RangePhase(Name(row)) == "backward" ? 1 : 0;
      formula_[table().name[row]] = run.knowledge.operators().Find(Name(row));
    }
    if (is_backward == 1) backward_.push_back(table().start[row]);
  }
  std::sort(backward_.begin(), backward_.end());
}

std::uint32_t SizedOperators::OfOp(std::uint32_t op) const {
  const std::uint32_t call = trace_.ops.call[op];
  return call == kNone || call >= of_call_.size() || trace_.ops.in_graph[op] != 0
             ? std::uint32_t{kNone}
             : of_call_[call];
}

double SizedOperators::ElementBytesOf(const OperatorTensor& tensor, std::uint32_t op) const {
  ElementType type = tensor.type;
  if (type == ElementType::kUnknown && trace_.ops.kind[op] == OpKind::kKernel) {
    const std::uint32_t shape = trace_.ops.detail[op];
    type = TypeNamed(run_.names.Kernel(shape).precision);
    if (type == ElementType::kUnknown) {
      type = TypeInKernelName(trace_.strings[trace_.shapes[shape].name]);
    }
  }
  return ElementBytes(type);
}

bool SizedOperators::BackwardIn(Nanos from, Nanos to) const {
  const auto next = std::lower_bound(backward_.begin(), backward_.end(), from);
  return next != backward_.end() && *next < to;
}

}  // namespace advise
