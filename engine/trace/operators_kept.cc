#include "engine/trace/operators_kept.h"

namespace advise {

double OperatorsKept(const Trace& trace) {
  const auto there = static_cast<double>(trace.operators.size());
  for (const Diagnostic& told : trace.diagnostics.list()) {
    if (told.text == kOperatorsLeftOut) return there / (there + static_cast<double>(told.count));
  }
  return 1;
}

}  // namespace advise
