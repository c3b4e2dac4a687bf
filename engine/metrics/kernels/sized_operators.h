// Operators whose sizes were recorded, whichever table holds them: those of a framework, else
// ranges (emit_nvtx).
#pragma once

#include <string>
#include <vector>

#include "engine/timeline/run.h"

namespace advise {

class SizedOperators {
 public:
  explicit SizedOperators(const Run& run);  // O(operators + calls)

  bool recorded() const { return !table().inputs.empty(); }
  const RangeTable& table() const {
    return trace_.operators.inputs.empty() ? trace_.ranges : trace_.operators;
  }
  // What a row was given; nullptr where that was not recorded.
  const OperatorInputs* Of(std::uint32_t row) const {
    const std::uint32_t at = recorded() ? table().inputs[row] : kNone;
    return at == kNone ? nullptr : &trace_.operator_inputs[at];
  }
  const std::string& Name(std::uint32_t row) const { return trace_.strings[table().name[row]]; }
  // How much work a row is; nullptr where its name does not tell. O(1).
  const OperatorFormula* FormulaOf(std::uint32_t row) const { return formula_[table().name[row]]; }
  // The innermost operator with sizes around the call that launched an op; kNone for none.
  std::uint32_t OfOp(std::uint32_t op) const;
  // Bytes of an element of a tensor: by its type, else by the type that the kernel of an op names.
  // 0 unknown.
  double ElementBytesOf(const OperatorTensor& tensor, std::uint32_t op) const;
  // The operators of each thread.
  const std::vector<RowRange>& of_thread() const { return of_thread_; }
  bool IsBackward(std::uint32_t row) const { return is_backward_[table().name[row]] == 1; }
  // Whether any operator of a backward pass begins in this time. O(log operators).
  bool BackwardIn(Nanos from, Nanos to) const;

 private:
  const Run& run_;
  const Trace& trace_;
  std::vector<RowRange> of_thread_;
  std::vector<std::uint32_t> of_call_;
  std::vector<const OperatorFormula*> formula_;  // by name
  std::vector<std::int8_t> is_backward_;         // by name; -1 not asked
  std::vector<Nanos> backward_;                  // when such operators begin, ascending
};

}  // namespace advise
