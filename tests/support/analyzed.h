// A trace that a test built, with everything that is computed of it, under the shipped knowledge.
#pragma once

#include <catch2/catch.hpp>
#include <memory>
#include <string>
#include <vector>

#include "engine/metrics/analysis.h"
#include "tests/support/shipped_knowledge.h"
#include "tests/support/trace_builder.h"

namespace advise {

// Names that the shipped knowledge base classes as they are called here.
inline const char* const kMatrixFp32 = "ampere_sgemm_128x64_tn";
inline const char* const kMatrixBf16 = "ampere_bf16_s16816gemm_bf16_128x64_ldg8_f2f_stages_64x3_tn";
inline const char* const kElementwise =
    "void at::native::vectorized_elementwise_kernel<4, at::native::AUnaryFunctor<float, float, "
    "float, at::native::MulFunctor<float> >, at::detail::Array<char*, 2> >(int)";
inline const char* const kSoftmax =
    "void (anonymous namespace)::softmax_warp_forward<float, float, float, 10, false, false>("
    "float*, float const*, int, int, int, bool const*, int, bool)";
inline const char* const kAllReduce = "ncclDevKernel_AllReduce_Sum_f32_RING_LL";
inline const char* const kAllGather = "ncclDevKernel_AllGather_RING_LL";

// The window that the program chooses by itself.
constexpr auto kAuto = WindowRequest::Mode::kAuto;

// Asked about every story that is analyzed, where a test program says so: what must hold for all.
extern void (*each_story)(const TraceBuilder&, const AnalysisOptions&, const Analysis&);

class Analyzed {
 public:
  // By default the window spans all GPU work, so that a story's numbers can be added up by hand.
  explicit Analyzed(const TraceBuilder& story, WindowRequest::Mode mode = WindowRequest::Mode::kAll)
      : Analyzed(story, WindowRequest{mode}) {}
  Analyzed(const TraceBuilder& story, const WindowRequest& window);
  Analyzed(Analyzed&&) noexcept;
  Analyzed& operator=(Analyzed&&) noexcept;
  ~Analyzed();
  const Analysis* operator->() const { return analysis_.get(); }
  const Analysis& operator*() const { return *analysis_; }
  const Trace& trace() const { return *trace_; }

  Nanos Window() const { return analysis_->run.window.Length(); }
  Nanos Idle(IdleCause cause, std::uint32_t device = 0) const {
    return analysis_->idle.by_device[device][static_cast<std::size_t>(cause)];
  }
  // The causes that hold any time, with their time: "launch 5000, host_sync 20000".
  std::string Causes(std::uint32_t device = 0) const;
  // The rows of the calls of that name.
  std::vector<std::uint32_t> Calls(const std::string& name) const;

 private:
  std::unique_ptr<Trace> trace_;
  std::unique_ptr<Analysis> analysis_;
};

}  // namespace advise
