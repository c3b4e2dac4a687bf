// The work of one call of a framework operator, from the sizes of its tensors. Operations are
// counted as multiply and add, two each; bytes are the least that can be moved: each operand and
// each result once, twice where a pass over all of it must come first.
//
// Where sizes leave a choice (a mask that was not recorded), the larger work is taken, so that no
// kernel is called slow for work that it may have done.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "engine/knowledge/knowledge.h"
#include "engine/trace/operator_inputs.h"

namespace advise {

enum class WorkKind {
  kProduct,
  kConvolution,
  kAttention,
  kExperts,  // the products of a mixture of experts
  kNormalization,
  kSoftmax,
  kReduction,
  kElementwise,  // casts, copies and changes of layout included
  kIndex,        // looks up or scatters rows
  kPooling,
  kOptimizer,
};
const char* WorkKindName(WorkKind kind);  // "product", "normalization" …
// Whether it is arithmetic that matrix units do; the other kinds move data.
bool IsArithmetic(WorkKind kind);

struct ShapeWork {
  WorkKind kind = WorkKind::kElementwise;
  double flops = 0;
  double bytes = 0;
  // Where sizes leave a choice, the fewest bytes: of experts, when tokens choose as few as they
  // can; of what may change two tensors in place, when it makes one of the other. 0 as above.
  double least_bytes = 0;
  ElementType type = ElementType::kUnknown;
  std::string shape;  // "[8192, 1024] x [1024, 4096]"
  // Of single products: the smaller of the rows and the columns of the result (how often an element
  // of the larger operand is used); 0 for batches of products and other work.
  double uses = 0;
  double narrow = 0;  // of products: the smaller of the rows and the columns of each result
  // Of products: a distance between rows in memory that is no multiple of 16 bytes, in elements;
  // 0 when all are, or when sizes alone do not tell.
  double odd = 0;
  double tiles = 0;  // of 128 by 128 results; 0 unknown
  double depth = 0;  // of products and convolutions: terms of each sum
  // What is special to the sizes, "" nothing: "depthwise", "grouped", "few-channels",
  // "odd-channels", "short-sequence", "one-query", "short-rows", "long-rows", "strided",
  // "broadcast".
  std::string trait;
};

// From which sizes on work has a trait, the tiles that it is cut into, and what names of operators
// tell.
struct SizeLimits {
  explicit SizeLimits(const Knowledge& of);
  double Tiles(double rows, double columns) const;

  const Knowledge& knowledge;
  double tile_side;         // of the tiles that libraries prefer for large products
  double row_bytes;         // of the rows that stay on the SM that reads them
  double short_row;         // elements of rows that are shorter than a block of threads
  double long_row;          // elements of rows that one block of threads takes long for …
  double few_rows;          // … and that leave the device idle when there are no more
  double short_sequence;    // keys of attention
  double few_channels;      // of a convolution, in and out
  double channel_multiple;  // of channels that tensor cores take without padding
  double norm_groups;       // of a group norm whose groups were not recorded
};

// What is known of a call beside its inputs.
struct CallHints {
  ElementType type = ElementType::kUnknown;  // where the inputs do not say
  // Of the kernel that takes most of its time: tells what an operator that is not known by name
  // does; "" unknown.
  std::string_view kernel_class = {};
  double products = 0;  // kernels of a call that multiply matrices; 0 unknown
  const std::vector<std::int64_t>* output = nullptr;  // sizes of its result, where others tell
  const OperatorInputs* around = nullptr;             // of the operator that called it
};

// How an operator counts: the class of their kernels may still say it of kUnnamed ones.
enum class OperatorWork { kMultiplies, kMoves, kPartOfCaller, kUnnamed };
OperatorWork OperatorWorkOf(const OperatorFormula* formula);  // nullptr: it has none

// Nothing when the work is not known: sizes that do not fit each other, options that were not
// recorded (a convolution's strides), an unknown type. O(arguments).
std::optional<ShapeWork> WorkOf(std::string_view operator_name, const OperatorInputs& inputs,
                                const SizeLimits& limits, const CallHints& hints = {});

// Who looks at whom: an attention operator of the forward pass on whole sequences, or a product of
// a batch, which may be that of queries and keys.
struct AttentionSizes {
  std::int64_t batch = 0;  // sequences times heads
  std::int64_t width = 0;  // of a head
  std::int64_t queries = 0;
  std::int64_t keys = 0;
};
std::optional<AttentionSizes> AttentionSizesOf(const OperatorFormula* formula,
                                               const OperatorInputs& inputs,
                                               const SizeLimits& limits);

// The second operand of a product, such as its weights: which argument; -1 for other work.
int SecondOperand(const OperatorFormula* formula);
// The keys of an attention operator, in front of its values; -1 for other work.
int KeysOfAttention(const OperatorFormula* formula);

double ElementBytes(ElementType type);  // 0 unknown
bool IsComplex(ElementType type);
bool IsFloat(ElementType type);          // of any width; no complex numbers
const char* TypeName(ElementType type);  // "bf16", "" unknown: the words of kernels' precision
ElementType TypeNamed(std::string_view name);  // "tf32" is kept as fp32
// The type of element that a kernel's full name gives as template argument; kUnknown for none.
ElementType TypeInKernelName(std::string_view name);

}  // namespace advise
