// Operators whose work is the bytes that they move, by name: how the bytes flow, and where the
// argument stands that tells. Positions are those of PyTorch's native_functions.
#pragma once

#include <array>
#include <string_view>

#include "engine/metrics/kernels/shape_work.h"

namespace advise::work {

enum class Flow {
  kMap,        // reads its tensors, writes one as large as the largest
  kWrite,      // writes its first tensor
  kCopy,       // reads the second, writes the first
  kNorm,       // rows at `row`: read, and read again when they are long; written
  kNormGrad,   // the same with two tensors
  kBatchNorm,  // a row is a channel: whether it is training stands at `at`
  kSoftmax,    // reads and writes
  kSoftmaxGrad,
  kReduce,  // reads
  kScan,    // reads and writes
  kSort,
  kJoin,       // reads a list of tensors, writes one as large
  kLookup,     // rows of the table at 0, for each index at `at`
  kGather,     // as many as there are indices at `at`
  kScatter,    // rows at `at` are read, and added to what is there
  kTableGrad,  // gradient of a table: reads rows, writes all of the table
  kPool,
  kPoolGrad,
  kResize,
  kLists,       // lists of tensors: each is read, the first written
  kFused,       // an optimizer's update of parameter, gradient and state lists
  kNormOfList,  // reads a list
};

struct MemoryFormula {
  std::string_view name;
  Flow flow;
  WorkKind kind;
  int at = -1;
};

inline constexpr auto kN = WorkKind::kNormalization;
inline constexpr auto kS = WorkKind::kSoftmax;
inline constexpr auto kR = WorkKind::kReduction;
inline constexpr auto kE = WorkKind::kElementwise;
inline constexpr auto kI = WorkKind::kIndex;
inline constexpr auto kP = WorkKind::kPooling;
inline constexpr auto kO = WorkKind::kOptimizer;

inline constexpr auto kMemoryFormulas = std::to_array<MemoryFormula>({
    {"aten::copy_", Flow::kCopy, kE},
    {"aten::fill_", Flow::kWrite, kE},
    {"aten::zero_", Flow::kWrite, kE},
    {"aten::normal_", Flow::kWrite, kE},
    {"aten::uniform_", Flow::kWrite, kE},
    {"aten::bernoulli_", Flow::kWrite, kE},
    {"aten::random_", Flow::kWrite, kE},
    {"aten::exponential_", Flow::kWrite, kE},
    {"aten::native_layer_norm", Flow::kNorm, kN, 2},
    {"aten::native_layer_norm_backward", Flow::kNormGrad, kN, 5},
    {"aten::_fused_rms_norm", Flow::kNorm, kN, 2},
    {"aten::_fused_rms_norm_backward", Flow::kNormGrad, kN, 4},
    {"aten::native_group_norm", Flow::kNorm, kN},
    {"aten::native_group_norm_backward", Flow::kNormGrad, kN},
    {"aten::native_batch_norm", Flow::kBatchNorm, kN, 5},
    {"aten::cudnn_batch_norm", Flow::kBatchNorm, kN, 5},
    {"aten::miopen_batch_norm", Flow::kBatchNorm, kN, 5},
    {"aten::_native_batch_norm_legit", Flow::kBatchNorm, kN, 5},
    {"aten::native_batch_norm_backward", Flow::kNormGrad, kN},
    {"aten::cudnn_batch_norm_backward", Flow::kNormGrad, kN},
    {"aten::miopen_batch_norm_backward", Flow::kNormGrad, kN},
    {"aten::_softmax", Flow::kSoftmax, kS},
    {"aten::softmax", Flow::kSoftmax, kS},
    {"aten::_safe_softmax", Flow::kSoftmax, kS},
    {"aten::_log_softmax", Flow::kSoftmax, kS},
    {"aten::log_softmax", Flow::kSoftmax, kS},
    {"aten::_masked_softmax", Flow::kSoftmax, kS},
    {"aten::_softmax_backward_data", Flow::kSoftmaxGrad, kS},
    {"aten::_log_softmax_backward_data", Flow::kSoftmaxGrad, kS},
    {"aten::sum", Flow::kReduce, kR},
    {"aten::mean", Flow::kReduce, kR},
    {"aten::max", Flow::kReduce, kR},
    {"aten::min", Flow::kReduce, kR},
    {"aten::amax", Flow::kReduce, kR},
    {"aten::amin", Flow::kReduce, kR},
    {"aten::aminmax", Flow::kReduce, kR},
    {"aten::argmax", Flow::kReduce, kR},
    {"aten::argmin", Flow::kReduce, kR},
    {"aten::any", Flow::kReduce, kR},
    {"aten::all", Flow::kReduce, kR},
    {"aten::prod", Flow::kReduce, kR},
    {"aten::norm", Flow::kReduce, kR},
    {"aten::linalg_vector_norm", Flow::kReduce, kR},
    {"aten::var", Flow::kReduce, kR},
    {"aten::std", Flow::kReduce, kR},
    {"aten::var_mean", Flow::kReduce, kR},
    {"aten::logsumexp", Flow::kReduce, kR},
    {"aten::mse_loss", Flow::kReduce, kR},
    {"aten::cumsum", Flow::kScan, kR},
    {"aten::cumprod", Flow::kScan, kR},
    {"aten::topk", Flow::kReduce, kR},
    {"aten::sort", Flow::kSort, kR},
    {"aten::cat", Flow::kJoin, kE},
    {"aten::_cat", Flow::kJoin, kE},
    {"aten::stack", Flow::kJoin, kE},
    {"aten::embedding", Flow::kLookup, kI, 1},
    {"aten::index_select", Flow::kLookup, kI, 2},
    {"aten::index", Flow::kLookup, kI, 1},
    {"aten::gather", Flow::kGather, kI, 2},
    {"aten::take_along_dim", Flow::kGather, kI, 1},
    {"aten::embedding_dense_backward", Flow::kTableGrad, kI, 2},
    {"aten::index_add_", Flow::kScatter, kI, 3},
    {"aten::index_add", Flow::kScatter, kI, 3},
    {"aten::scatter_add_", Flow::kScatter, kI, 3},
    {"aten::scatter_", Flow::kScatter, kI, 3},
    {"aten::max_pool2d_with_indices", Flow::kPool, kP},
    {"aten::max_pool3d_with_indices", Flow::kPool, kP},
    {"aten::avg_pool2d", Flow::kPool, kP},
    {"aten::avg_pool3d", Flow::kPool, kP},
    {"aten::max_pool2d_with_indices_backward", Flow::kPoolGrad, kP},
    {"aten::max_pool3d_with_indices_backward", Flow::kPoolGrad, kP},
    {"aten::avg_pool2d_backward", Flow::kPoolGrad, kP},
    {"aten::_adaptive_avg_pool2d", Flow::kReduce, kP},
    {"aten::_adaptive_avg_pool2d_backward", Flow::kPoolGrad, kP},
    {"aten::upsample_nearest2d", Flow::kResize, kP, 1},
    {"aten::upsample_bilinear2d", Flow::kResize, kP, 1},
    {"aten::upsample_bicubic2d", Flow::kResize, kP, 1},
    {"aten::upsample_nearest3d", Flow::kResize, kP, 1},
    {"aten::upsample_trilinear3d", Flow::kResize, kP, 1},
    {"aten::_fused_adam_", Flow::kFused, kO},
    {"aten::_fused_adamw_", Flow::kFused, kO},
    {"aten::_fused_sgd_", Flow::kFused, kO},
    {"aten::_fused_adagrad_", Flow::kFused, kO},
    {"aten::_foreach_norm", Flow::kNormOfList, kO},
    {"aten::_amp_foreach_non_finite_check_and_unscale_", Flow::kLists, kO},
});

}  // namespace advise::work
