#include "engine/metrics/kernels/casts.h"

#include "engine/metrics/kernels/sized_operators.h"
#include "engine/timeline/operator_families.h"

namespace advise {

Casts FindCasts(const Basis& basis) {
  Casts result;
  const SizedOperators operators(basis.run);
  if (!operators.recorded()) return result;
  OperatorFamilies casts(basis.run, {"cast"});
  const RangeTable& table = operators.table();
  double widening = 0;
  double all = 0;
  for (std::uint32_t row = 0; row < table.size(); ++row) {
    if (!basis.run.InWindow(table.start[row]) || casts.Of(table.name[row]) != 0) continue;
    const OperatorInputs* const inputs = operators.Of(row);
    if (inputs == nullptr || inputs->tensors.empty()) continue;
    const ElementType type = inputs->tensors.front().type;
    const bool widens = type == ElementType::kFloat16 || type == ElementType::kBFloat16;
    if (!widens && type != ElementType::kFloat32) continue;  // masks and indices
    all += 1;
    widening += widens ? 1 : 0;
  }
  if (all > 0) result.widening = widening / all;
  return result;
}

}  // namespace advise
