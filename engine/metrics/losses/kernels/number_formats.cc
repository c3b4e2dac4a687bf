#include "engine/metrics/losses/kernels/number_formats.h"

#include <algorithm>

namespace advise {
namespace {

// `known`: by shape, -1 until asked.
bool OnDoubles(const Run& run, std::uint32_t shape, std::vector<std::int8_t>* known) {
  std::int8_t& is = (*known)[shape];
  if (is < 0) {
    const std::string& name = run.trace.strings[run.trace.shapes[shape].name];
    is = run.knowledge.IsOfFamily(FamilyKind::kKernel, "double", name) ? 1 : 0;
  }
  return is == 1;
}

}  // namespace

NumberFormats FindNumberFormats(const Basis& basis, const std::vector<std::uint32_t>& kernels,
                                double fp64_ratio) {
  const OpTable& ops = basis.run.trace.ops;
  NumberFormats result;
  LossBuilder fp64(basis);
  LossBuilder doubles(basis);
  LossBuilder bf16(basis);
  const Names& names = basis.run.names;
  const ShapeSet fp64_products =
      names.Shapes([](const KernelClass& c) { return c.precision == "fp64"; });
  // Products on few FP64 units are bound by these: what is left is a part of their time, not half.
  const double slow = fp64_ratio / basis.run.knowledge.Number("precision.fp64_speedup");
  const float product_left = fp64_ratio > 0 ? static_cast<float>(std::min(0.5, slow)) : 0.5F;
  const ShapeSet plain_bf16 = names.Shapes(
      [](const KernelClass& c) { return c.precision == "bf16" && c.tensor_core != 1; });
  const auto is_product = [](const KernelClass& c) {
    return c.name == "matrix" || c.name == "convolution";
  };
  const ShapeSet halves = names.Shapes([&](const KernelClass& c) {
    const bool half = c.precision == "bf16" || c.precision == "fp16";
    return c.name == "matrix" && half && !c.HasTrait("packed-weights");
  });
  const ShapeSet eighths = names.Shapes([&](const KernelClass& c) {
    return is_product(c) && (c.precision == "fp8" || c.precision == "fp4" || c.precision == "int8");
  });
  std::vector<std::int8_t> on_doubles(basis.run.trace.shapes.size(), -1);
  // What the change wins depends on what binds each kernel: half their time is the assumption,
  // and said.
  const auto count = [&](std::uint32_t op, LossBuilder* loss) {
    loss->CountWhole(op);
    loss->ScaleOp(op, 0.5F);
  };
  // Shorter numbers are one change, whichever of the two asks for it: nobody wins it twice.
  const auto shorten = [&](std::uint32_t op, bool product, LossBuilder* loss) {
    loss->CountWhole(op);
    loss->remedy().lighter_ops.emplace_back(op, product ? product_left : 0.5F);
  };
  for (const std::uint32_t op : kernels) {
    const bool product = fp64_products.Has(ops.detail[op]);
    if (product) shorten(op, product, &fp64);
    if (OnDoubles(basis.run, ops.detail[op], &on_doubles)) shorten(op, product, &doubles);
    if (plain_bf16.Has(ops.detail[op])) count(op, &bf16);
    if (halves.Has(ops.detail[op]))
      result.half_ns += static_cast<double>(ops.end[op] - ops.start[op]);
    if (eighths.Has(ops.detail[op]))
      result.fp8_ns += static_cast<double>(ops.end[op] - ops.start[op]);
  }
  result.fp64 = fp64.Build();
  result.doubles = doubles.Build();
  result.bf16 = bf16.Build();
  return result;
}

}  // namespace advise
