// Convolutions: any number of dimensions, groups, dilation, strides, transposed, both directions.
#include <fmt/format.h>

#include <algorithm>

#include "engine/metrics/kernels/shape_call.h"

namespace advise::work {
namespace {

// The extents of the smaller and the larger image; a transposed convolution makes the larger one.
struct Window {
  Sizes in, out, kernel;
  double input_used = 1;  // part of the input that any window touches
};

std::optional<Window> WindowOf(const Call& call, const ConvolutionFormula& formula,
                               const Sizes& input, const Sizes& weight) {
  const std::size_t dimensions = input.size() - 2;
  const auto stride = call.List(formula.stride, dimensions);
  const auto padding = call.List(formula.padding, dimensions);
  auto dilation = call.List(formula.dilation, dimensions);
  if (formula.dilation < 0) dilation = Sizes(dimensions, 1);
  if (!stride || !padding || !dilation) return {};
  Window window;
  for (std::size_t d = 0; d < dimensions; ++d) {
    const std::int64_t in = input[d + 2];
    const std::int64_t kernel = weight[d + 2];
    const std::int64_t reach = (*dilation)[d] * (kernel - 1) + 1;
    const std::int64_t room = in + 2 * (*padding)[d] - reach;
    if ((*stride)[d] <= 0 || room < 0) return {};
    const std::int64_t out = room / (*stride)[d] + 1;
    window.in.push_back(in);
    window.out.push_back(out);
    window.kernel.push_back(kernel);
    window.input_used *= std::min(1.0, static_cast<double>(out * kernel) / static_cast<double>(in));
  }
  return window;
}

// From the sizes of all three tensors, where options were not recorded.
Window WindowBetween(const Sizes& input, const Sizes& weight, const Sizes& output) {
  Window window;
  for (std::size_t d = 2; d < input.size(); ++d) {
    window.in.push_back(input[d]);
    window.out.push_back(output[d]);
    window.kernel.push_back(weight[d]);
    window.input_used *=
        std::min(1.0, static_cast<double>(output[d] * weight[d]) / static_cast<double>(input[d]));
  }
  return window;
}

std::string TraitOf(const SizeLimits& limits, const Sizes& input, const Sizes& weight) {
  const std::int64_t groups = input[1] / weight[1];
  if (groups > 1 && weight[1] <= 2) return "depthwise";
  if (groups > 1) return "grouped";
  const auto channels = static_cast<double>(std::min(weight[0], weight[1]));
  if (channels < limits.few_channels) return "few-channels";
  const auto multiple = static_cast<std::int64_t>(limits.channel_multiple);
  if (weight[1] % multiple != 0 || weight[0] % multiple != 0) return "odd-channels";
  return "";
}

bool IsResult(const Sizes& sizes, const Sizes& input, const Sizes& weight) {
  return sizes.size() == input.size() && sizes[0] == input[0] && sizes[1] == weight[0];
}

ShapeWork Counted(const SizeLimits& limits, const Sizes& input, const Sizes& weight,
                  const Window& window, ElementType type) {
  ShapeWork work;
  work.kind = WorkKind::kConvolution;
  work.type = type;
  const double bytes = ElementBytes(type);
  const double pixels = static_cast<double>(input[0]) * Product(window.out);
  const double results = pixels * static_cast<double>(weight[0]);
  work.depth = static_cast<double>(weight[1]) * Product(window.kernel);
  work.flops = 2 * results * work.depth;
  work.bytes = (Product(input) * window.input_used + Product(weight) + results) * bytes;
  const double groups = static_cast<double>(input[1]) / static_cast<double>(weight[1]);
  work.tiles = groups * limits.Tiles(pixels, static_cast<double>(weight[0]) / groups);
  work.shape = fmt::format("{} * {}", Words(input), Words(weight));
  if (window.out != window.in) work.shape += fmt::format(" to {}", Words(window.out));
  work.trait = TraitOf(limits, input, weight);
  return work;
}

// The gradients of the input and of the weight, those that were asked for: each is as much work as
// forward, and reads the gradient of the result.
std::optional<ShapeWork> Gradients(ShapeWork forward, const Sizes& input, const Sizes& weight,
                                   const Window& window, bool of_input, bool of_weight) {
  if (!of_input && !of_weight) return {};
  const double bytes = ElementBytes(forward.type);
  const double in = Product(input) * window.input_used * bytes;
  const double weights = Product(weight) * bytes;
  const double out = forward.bytes - in - weights;
  forward.flops *= (of_input ? 1 : 0) + (of_weight ? 1 : 0);
  forward.bytes = out + (of_input ? weights + in : 0) + (of_weight ? in + weights : 0);
  return forward;
}

}  // namespace

std::optional<ShapeWork> ConvolutionWork(const Call& call, const ConvolutionFormula& formula) {
  // Gradients: of the result first, then input and weight; before PyTorch 1.11 the input first.
  const bool old = formula.form == ConvolutionFormula::Form::kOldBackward;
  const bool backward = formula.form == ConvolutionFormula::Form::kBackward || old;
  const int at = backward && !old ? 1 : 0;
  const int at_weight = old ? 2 : at + 1;
  const std::size_t rank = call.Tensor(at).sizes.size();
  if (rank < 3 || !call.HasRank(at, rank) || !call.HasRank(at_weight, rank)) return {};
  const bool flag = formula.transposed >= 0 && call.count() > 0;
  const std::string_view said = call.Value(formula.transposed);
  if (flag && said != "True" && said != "False") return {};
  const bool transposed = formula.form == ConvolutionFormula::Form::kTransposed || said == "True";
  const ElementType type = call.Type(at);
  if (ElementBytes(type) == 0) return {};

  const Sizes& weight = call.Tensor(at_weight).sizes;
  const Sizes* result = backward ? &call.Tensor(old ? 1 : 0).sizes : call.hints().output;
  if (backward && !call.HasRank(old ? 1 : 0, rank)) return {};
  // A transposed convolution is the gradient of one that makes the small image of the large one.
  Sizes large = call.Tensor(at).sizes;
  std::optional<Window> window;
  if (transposed) {
    const Sizes small = large;
    if (small[1] != weight[0]) return {};
    const double groups =
        result != nullptr && result->size() == rank
            ? static_cast<double>((*result)[1]) / static_cast<double>(weight[1])
            : call.Number(formula.transposed >= 0 ? formula.transposed + 2 : formula.dilation + 1)
                  .value_or(1);
    large[1] = static_cast<std::int64_t>(groups) * weight[1];
    if (result != nullptr && result->size() == rank) {
      large = *result;
    } else {
      const auto stride = call.List(formula.stride, rank - 2);
      const auto padding = call.List(formula.padding, rank - 2);
      const auto dilation = call.List(formula.dilation, rank - 2);
      if (!stride || !padding || !dilation) return {};
      for (std::size_t d = 0; d + 2 < rank; ++d) {
        large[d + 2] = (small[d + 2] - 1) * (*stride)[d] - 2 * (*padding)[d] +
                       (*dilation)[d] * (weight[d + 2] - 1) + 1;
        if (large[d + 2] <= 0) return {};
      }
    }
    window = WindowBetween(large, weight, small);
    window->input_used = 1;  // each of the larger image's points is written
  } else {
    window = WindowOf(call, formula, large, weight);
    const bool fits = result != nullptr && IsResult(*result, large, weight);
    if (!window && fits) window = WindowBetween(large, weight, *result);
    if (window && backward && fits &&
        !std::equal(window->out.begin(), window->out.end(), result->begin() + 2)) {
      return {};
    }
    if (backward && !fits) return {};
  }
  if (!window || large[1] % weight[1] != 0) return {};
  ShapeWork work = Counted(call.limits(), large, weight, *window, type);
  if (!backward) return work;
  if (old) {
    // Which gradients were asked for stands last; both where it was not recorded.
    const std::string_view mask =
        call.count() > 0 ? call.Value(static_cast<int>(call.count()) - 1) : std::string_view();
    const bool both = !mask.starts_with("[");
    return Gradients(work, large, weight, *window, both || mask.starts_with("[True"),
                     both || mask.find(", True") != std::string_view::npos);
  }
  // The mask stands behind `transposed`, the padding of the result and the groups.
  const std::string_view mask = call.Value(formula.transposed + 3);
  return Gradients(work, large, weight, *window, mask.starts_with("[True"),
                   mask.find(", True,") != std::string_view::npos);
}

}  // namespace advise::work
