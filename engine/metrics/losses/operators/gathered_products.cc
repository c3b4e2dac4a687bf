#include "engine/metrics/losses/operators/gathered_products.h"

#include <algorithm>
#include <map>
#include <optional>

#include "engine/metrics/kernels/shape_work.h"
#include "engine/timeline/operator_families.h"

namespace advise {
namespace {

class GatheredProductFinder : Finder {
 public:
  GatheredProductFinder(const Basis& basis, const SizedOperators& operators)
      : Finder(basis),
        operators_(operators),
        start_ns_(Number("roofline.kernel_start")),
        gathers_(run_, {"index_gather"}),
        loss_(basis) {}

  GatheredProducts Find() {
    result_.recorded = operators_.recorded();
    if (result_.recorded) {
      for (const std::uint32_t op : basis_.OpsInWindow()) {
        if (trace_.ops.kind[op] == OpKind::kKernel) Visit(op);
      }
    }
    result_.loss = loss_.Build();
    return std::move(result_);
  }

 private:
  struct Gather {
    std::uint32_t op = kNone;
    std::int64_t copies = 0, matrices = 0;
    std::int64_t elements = 0;  // of a matrix
    bool counted = false;
  };

  void Visit(std::uint32_t op) {
    const std::uint32_t row = operators_.OfOp(op);
    const OperatorInputs* inputs = row == kNone ? nullptr : operators_.Of(row);
    if (inputs == nullptr) return;
    std::optional<Gather>& last = last_[trace_.ops.device[op]];
    if (gathers_.Of(operators_.table().name[row]) == 0) {
      last = GatherOf(op, *inputs);
    } else if (last && Multiplies(row, *inputs, *last)) {
      Count(op, *inputs, &*last);
    }
  }

  // Whole matrices by index, and some of them more than once.
  static std::optional<Gather> GatherOf(std::uint32_t op, const OperatorInputs& inputs) {
    const auto& tensors = inputs.tensors;
    if (tensors.size() < 2 || tensors.front().sizes.size() != 3) return {};
    std::int64_t copies = 0;
    for (std::size_t i = 1; i < tensors.size(); ++i) {
      if (!tensors[i].sizes.empty()) copies = tensors[i].Elements();
    }
    const std::int64_t matrices = tensors.front().sizes.front();
    if (matrices <= 0 || copies <= matrices) return {};
    return Gather{op, copies, matrices, tensors.front().Elements() / matrices};
  }

  // A row by each of the copies.
  bool Multiplies(std::uint32_t row, const OperatorInputs& inputs, const Gather& gather) const {
    const int second = SecondOperand(operators_.FormulaOf(row));
    if (second <= 0 || static_cast<std::size_t>(second) >= inputs.tensors.size()) return false;
    const OperatorTensor& left = inputs.tensors[static_cast<std::size_t>(second) - 1];
    const OperatorTensor& right = inputs.tensors[static_cast<std::size_t>(second)];
    return left.sizes.size() == 3 && left.sizes[0] == gather.copies && left.sizes[1] == 1 &&
           right.sizes.size() == 3 && right.sizes[0] == gather.copies &&
           right.Elements() == gather.copies * gather.elements;
  }

  // Such a product takes as long as reading its operands does.
  void Count(std::uint32_t op, const OperatorInputs& inputs, Gather* gather) {
    if (!gather->counted) {
      gather->counted = true;
      loss_.CountOp(gather->op);
      loss_.RemoveOp(gather->op);
      loss_.RemoveCallOf(gather->op);
      if (static_cast<double>(gather->copies) > result_.copies) {
        result_.copies = static_cast<double>(gather->copies);
        result_.matrices = static_cast<double>(gather->matrices);
      }
    }
    double all = 0;
    for (const OperatorTensor& tensor : inputs.tensors)
      all += static_cast<double>(tensor.Elements());
    const auto gone = static_cast<double>((gather->copies - gather->matrices) * gather->elements);
    const Nanos length = Length(op);
    const double left = std::max(start_ns_, static_cast<double>(length) * (1 - gone / all));
    if (all <= gone || left >= static_cast<double>(length)) return;
    loss_.AddToCounted(0, length);
    loss_.AddOpBeyond(op, static_cast<Nanos>(left));
    loss_.ScaleOp(op, left / static_cast<double>(length));
  }

  const SizedOperators& operators_;
  double start_ns_;  // of a kernel
  OperatorFamilies gathers_;
  LossBuilder loss_;
  std::map<std::uint32_t, std::optional<Gather>> last_;  // by device
  GatheredProducts result_;
};

}  // namespace

GatheredProducts FindGatheredProducts(const Basis& basis, const SizedOperators& operators) {
  return GatheredProductFinder(basis, operators).Find();
}

}  // namespace advise
