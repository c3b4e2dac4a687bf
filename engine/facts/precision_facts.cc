// precision.*: number formats of matrix work, and whether it uses tensor cores.
#include "engine/facts/declare.h"

namespace advise::facts {
namespace {

// Activity of the tensor pipes while matrix and convolution kernels ran.
struct TensorActivity {
  double active = -1;  // -1 unknown
  const char* from = "";
};

// Samples see the run itself; counters see it kernel by kernel.
TensorActivity FindTensorActivity(const Analysis& a) {
  if (a.samples.tensor_in_matrix >= 0) return {a.samples.tensor_in_matrix, "samples"};
  double counted = 0, weight = 0;
  for (const CountedKernel& kernel : a.counters.kernels) {
    const bool matrix = kernel.kernel_class == "matrix" || kernel.kernel_class == "convolution";
    if (!matrix || kernel.tensor < 0) continue;
    counted += kernel.tensor * kernel.weight;
    weight += kernel.weight;
  }
  if (weight > 0) return {counted / weight, "counters"};
  return {};
}

void DeclareTensor(Catalog* catalog) {
  catalog->Of(&Analysis::samples)
      .Needs([](const Analysis& a) { return a.samples.tensor_in_matrix >= 0; },
             "no GPU metric samples fell into matrix kernels", "gpu-metrics")
      .Add("precision.tensor.samples", "count",
           "Samples of the tensor pipes that fell into matrix and convolution kernels.",
           &Samples::tensor_samples);
  auto& activity = catalog->Of(FindTensorActivity);
  const char* const kUnseen = "neither samples nor counters show the tensor pipes";
  activity.Add("precision.tensor.active", "share",
               "Activity of the tensor pipes while matrix and convolution kernels ran: from "
               "samples, else from counters of such kernels.",
               UnlessNegative(&TensorActivity::active, kUnseen, "gpu-metrics"));
  activity.Add("precision.tensor.active_from", "name",
               "What the activity of the tensor pipes is known from: samples or counters.",
               UnlessEmpty(&TensorActivity::from, kUnseen, "gpu-metrics"));
}

}  // namespace

void DeclarePrecisionFacts(Catalog* catalog) {
  auto& kernels = catalog->Of(&Analysis::kernels);
  kernels.Add("precision.matrix.share", "share",
              "Share of the compute time in matrix and convolution kernels.",
              [](const Kernels& k) { return ShareOfDevice(k.matrix_ns, k.compute_ns); });
  kernels.AddLoss("precision.fp32", kOfKernels,
                  {"FP32 matrix kernels without tensor cores",
                   "Time of FP32 matrix kernels without tensor cores.",
                   "FP32 matrix kernels run on tensor cores, as fast as memory allows."},
                  &Kernels::fp32);
  kernels.Add("precision.fp32.top", "name",
              "The FP32 matrix kernel without tensor cores that takes the most time.",
              &Kernels::fp32_top);
  kernels.AddLoss("precision.cast", kShare | kPerStep | kChange,
                  {"cast and dtype-copy kernels", "Time of cast and dtype-copy kernels.",
                   "Three of four cast and dtype-copy kernels are gone."},
                  &Kernels::cast);
  catalog->Of(&Analysis::casts)
      .Add("precision.cast.widening", "share",
           "Of the casts between 16 and 32 bits whose types were recorded: those from 16 bits.",
           UnlessNegative(&Casts::widening, "types of operators' tensors were not recorded",
                          "shapes"));
  kernels.AddLoss("precision.unaligned", kOfKernels,
                  {"matrix kernels chosen for unaligned sizes",
                   "Time of matrix kernels chosen for unaligned sizes.",
                   "Matrix kernels for unaligned sizes run at the rate of aligned ones."},
                  &Kernels::unaligned);
  kernels.Add("precision.tensor.share", "share",
              "Share of the matrix time in kernels known to use tensor cores.",
              [](const Kernels& k) { return ShareOf(k.tensor_ns, k.matrix_ns); });
  catalog->Of(&Analysis::hardware)
      .Add("precision.fp32.speedup", "num",
           "Peak tensor rate over peak FP32 rate of the device; absent without tensor cores or "
           "for an unknown device.",
           IfPositive([](const Hardware& hw) { return hw.tensor_ratio > 1 ? hw.tensor_ratio : 0; },
                      "the device has no tensor cores, or is not in the knowledge base (see --gpu)",
                      "hardware"));
  DeclareTensor(catalog);
  auto& formats = catalog->Of(&Analysis::number_formats);
  formats.AddLoss("precision.fp64", kOfKernels,
                  {"double-precision matrix kernels", "Time of double-precision matrix kernels.",
                   "Double-precision matrix kernels take half of their time."},
                  &NumberFormats::fp64);
  formats.AddLoss("precision.double", kOfKernels,
                  {"kernels on double-precision tensors",
                   "Time of PyTorch's kernels on double-precision tensors.",
                   "Kernels on double-precision tensors move half the bytes."},
                  &NumberFormats::doubles);
  formats.AddLoss("precision.bf16", kOfKernels,
                  {"bfloat16 matrix kernels that are not known to use tensor cores",
                   "Time of bfloat16 matrix kernels that are not known to use tensor cores.",
                   "Bfloat16 matrix kernels without tensor cores take half of their time."},
                  &NumberFormats::bf16);
  formats.Add("precision.half.share", "share",
              "Share of the compute time in 16-bit matrix kernels, convolutions aside.",
              [](const NumberFormats& f, const Analysis& a) {
                return ShareOfDevice(f.half_ns, a.kernels.compute_ns);
              });
  formats.Add("precision.fp8.share", "share",
              "Share of the compute time in 8-bit and 4-bit matrix kernels.",
              [](const NumberFormats& f, const Analysis& a) {
                return ShareOfDevice(f.fp8_ns, a.kernels.compute_ns);
              });
}

}  // namespace advise::facts
