// Activation checkpointing that only the order of kernels shows, on stories whose numbers add up by
// hand.
#include "engine/metrics/losses/operators/recomputed_forward.h"
#include "tests/support/analyzed.h"

namespace advise {
namespace {

constexpr const char* kNorm = "void vectorized_layer_norm_kernel<float, float>(int)";
constexpr const char* kProduct = "ampere_sgemm_128x64_tn";
constexpr const char* kGelu = "void vectorized_elementwise_kernel<4, GeluCUDAKernelImpl>(int)";
constexpr const char* kProductBack = "ampere_sgemm_128x64_nn";
constexpr const char* kProductOfWeights = "ampere_sgemm_128x64_nt";
constexpr const char* kAdd = "void vectorized_elementwise_kernel<4, CUDAFunctor_add<float>>(int)";

using Names = std::vector<const char*>;

const Names kLayer = {kNorm, kProduct, kGelu, kProduct, kAdd};
const Names kGradients = {kProductBack, kProductOfWeights, kAdd, kProductBack, kProductOfWeights};

// One pass, in a range of that name: kernels of 100 us, 10 us apart, each launched 50 us before.
class Passes {
 public:
  void Pass(const char* name, const Names& kernels) {
    const Nanos first = at_;
    for (const char* kernel : kernels) {
      story_.Launch(kernel, {at_, at_ + 5_us}, {at_ + 50_us, at_ + 150_us});
      at_ += 110_us;
    }
    story_.Range(name, {first, at_ - 50_us});
  }
  void Step(int number, const Names& forward, const Names& backward) {
    const Nanos first = at_;
    Pass("forward", forward);
    Pass("backward", backward);
    story_.Range("step " + std::to_string(number), {first, at_ - 20_us});
  }

  const RecomputedForward& Find() {
    run_ = std::make_unique<Analyzed>(story_);
    return (*run_)->recomputed_forward;
  }
  std::size_t Gone() { return Find().loss.remedy->scaled_ops.size(); }

 private:
  TraceBuilder story_ = TraceBuilder().Device("NVIDIA A100-SXM4-80GB", 0);
  Nanos at_ = 0;
  std::unique_ptr<Analyzed> run_;
};

Names Joined(Names first, const Names& second) {
  first.insert(first.end(), second.begin(), second.end());
  return first;
}

TEST_CASE("kernels of the backward pass in the order of the forward pass are computed again") {
  Passes p;
  p.Pass("forward", kLayer);
  p.Pass("backward", Joined(kLayer, kGradients));
  const RecomputedForward& found = p.Find();
  CHECK(found.known);
  CHECK(found.loss.count == 1);
  CHECK(found.loss.lost->Total() == 500_us);
  CHECK(found.loss.remedy->scaled_ops.size() == 5);
  // The norm, the activation and the sum move about what is kept: 300 us at 2.0 TB/s.
  CHECK(found.bytes == Approx(300e-6 * 2.039e12).epsilon(0.02));
}

TEST_CASE("what checkpointing keeps is told for one step, however many were recorded") {
  Passes p;
  for (int i = 0; i < 6; ++i) p.Step(i, kLayer, Joined(kLayer, kGradients));
  const RecomputedForward& found = p.Find();
  CHECK(found.loss.lost->Total() == 6 * 500_us);
  CHECK(found.bytes == Approx(300e-6 * 2.039e12).epsilon(0.02));
}

TEST_CASE("each layer is computed again before its own gradients") {
  Passes p;
  p.Pass("forward", Joined(kLayer, kLayer));
  p.Pass("backward", Joined(Joined(kLayer, kGradients), Joined(kLayer, kGradients)));
  CHECK(p.Find().loss.count == 2);
  CHECK(p.Gone() == 10);
}

TEST_CASE("a backward pass of its own kernels computes nothing again") {
  Passes p;
  p.Pass("forward", kLayer);
  p.Pass("backward", Joined(kGradients, kGradients));
  CHECK(p.Find().known);
  CHECK(p.Find().loss.count == 0);
  CHECK(p.Find().bytes < 0);
}

TEST_CASE("kernels that only move data, or repeat, can stand in any pass") {
  const Names moves = {kAdd, kGelu, kNorm, kAdd};
  const Names same = {kProduct, kProduct, kProduct, kProduct};
  Passes p;
  p.Pass("forward", Joined(moves, same));
  p.Pass("backward", Joined(Joined(moves, kGradients), same));
  CHECK(p.Find().loss.count == 0);
}

TEST_CASE("without named passes, nothing is known of what runs again") {
  Passes p;
  p.Pass("step", Joined(kLayer, kLayer));
  CHECK_FALSE(p.Find().known);
}

}  // namespace
}  // namespace advise
