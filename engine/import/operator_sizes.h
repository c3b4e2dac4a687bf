// Sizes of operators' tensors as PyTorch writes them: as JSON in a Kineto trace's arguments, and
// behind the name of a range with emit_nvtx(record_shapes=True):
//
//   "Input Dims": [[128], [65536, 17], [17, 128], [], []]
//   "Input type": ["float", "float", "float", "Scalar", "Scalar"]
//   "Input Strides": [[1], [17, 1], [1, 17], [], []]
//   "Concrete Inputs": ["", "", "", "1", "1"]
//   aten::mm, op_id = 12, sizes = [[4, 1024], [1024, 2048]], input_op_ids = [(9,0), (11,0)]
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "engine/trace/operator_inputs.h"

namespace advise {

// Whether the sizes of an operator of this name are worth keeping: those that only make views or
// reserve memory launch nothing. O(length), for every operator.
bool KeepsInputs(std::string_view operator_name);

// The list of sizes in a range's name, "[[4, 1024], [1024, 2048]]"; "" when it holds none.
std::string_view SizesInName(std::string_view name);

// Distinct lists of inputs, numbered in the order of their first use. Texts as above; all but the
// sizes may be empty.
class InputLists {
 public:
  // kNone for a text without a tensor's sizes, or one that is no list of lists.
  std::uint32_t Intern(std::string_view sizes, std::string_view types = {},
                       std::string_view strides = {}, std::string_view values = {});
  std::vector<OperatorInputs> Take() { return std::move(lists_); }
  bool empty() const { return lists_.empty(); }

 private:
  std::unordered_map<std::string, std::uint32_t> numbers_;  // by the texts as they stand
  std::string key_;                                         // kept for its memory
  std::vector<OperatorInputs> lists_;
};

// Of "float", "c10::BFloat16", "Half" …
ElementType ElementTypeOf(std::string_view name);

}  // namespace advise
