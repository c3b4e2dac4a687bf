// Loops over experts, on stories whose numbers add up by hand.
#include "tests/support/analyzed.h"

namespace advise {
namespace {

constexpr const char* kGather =
    "void at::native::vectorized_gather_kernel<16, long>(char*, char*, long*, int, long)";
constexpr const char* kAddRows =
    "void at::native::(anonymous namespace)::indexFuncLargeIndex<c10::BFloat16, long, unsigned "
    "int, 2, 2, -2, true>(int)";

// Rounds of three kernels of 2 us, one every 10 us, each of 50 blocks on 100 SMs.
TraceBuilder Experts(int rounds, const char* first, const char* last) {
  TraceBuilder story;
  Look look;
  look.blocks = 50;
  for (Nanos r = 0; r < rounds; ++r) {
    const Nanos at = r * 30_us;
    story.Launch(first, {at, at + 1_us}, {at + 5_us, at + 7_us}, look);
    story.Launch(kMatrixBf16, {at + 10_us, at + 11_us}, {at + 15_us, at + 17_us}, look);
    story.Launch(last, {at + 20_us, at + 21_us}, {at + 25_us, at + 27_us}, look);
  }
  return story;
}

TEST_CASE("rounds that gather, multiply and add rows are a loop over experts") {
  const Analyzed run(Experts(10, kGather, kAddRows));
  const LoopedExperts& found = run->looped_experts.Get();
  CHECK(found.loss.count == 1);
  CHECK(found.experts == 10);
  // Of nine rounds 8 us of idle time before each of three kernels, and half of what gathers and
  // adds; the product reads as fast with half of the SMs. The host goes on to the second round 4 us
  // before the last kernel of the first one begins.
  CHECK(found.loss.lost->Total() == 9 * (3 * 8_us + 2_us) + 4_us);
  CHECK(found.loss.remedy->vanished_calls.size() == 27);
}

TEST_CASE("seven rounds, and rounds that pass on all rows, are none") {
  CHECK(Analyzed(Experts(7, kGather, kAddRows))->looped_experts->loss.count == 0);
  CHECK(Analyzed(Experts(10, kElementwise, kAddRows))->looped_experts->loss.count == 0);
  CHECK(Analyzed(Experts(10, kGather, kElementwise))->looped_experts->loss.count == 0);
}

}  // namespace
}  // namespace advise
