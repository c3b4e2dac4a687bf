// Operations outside a compiled function, called one by one, on stories whose numbers add up by
// hand.
#include "tests/support/analyzed.h"
#include "tests/support/loops.h"

namespace advise {
namespace {

// A step of 2 ms: one large program of ten kernels, then `singles` programs of one kernel, 50 us
// apart. Every fifth works on a larger tensor.
TraceBuilder Steps(int singles) {
  TraceBuilder story;
  Repeat(10, 2_ms, [&](int i, Nanos at) {
    story.Range("step " + std::to_string(i), {at, at + 1990_us});
    story.Range("XlaModule:#hlo_module=jit_loss_fn,program_id=1#", {at, at + 200_us});
    for (Nanos k = 0; k < 10; ++k) {
      story.Launch("input_reduce_fusion", {at + k * 20_us, at + k * 20_us + 5_us},
                   {at + k * 20_us + 10_us, at + k * 20_us + 30_us});
    }
    for (Nanos k = 0; k < singles; ++k) {
      const Nanos start = at + 250_us + k * 50_us;
      story.Range("XlaModule:#hlo_module=jit_multiply,program_id=2#", {start, start + 15_us});
      story.Launch("loop_multiply_fusion", {start + 5_us, start + 10_us},
                   {start + 15_us, start + 17_us}, {k % 5 == 0 ? 4096U : 8U, 128});
    }
  });
  return story;
}

TEST_CASE("operations that the host calls one by one lose the time between them") {
  const Analyzed run(Steps(20));
  const SingleOperations& found = run->single_operations;
  CHECK(found.programs_per_step == 21);
  CHECK(found.single_share == Approx(200.0 / 209));  // the warm-up holds one large program less
  CHECK(found.loss.per_step == 20);
  // Each series lasts from its first program to the end of its last one, 965 us; 19 of its kernels
  // end in it, and 12 could be a part of the one before.
  const auto steps = static_cast<Nanos>(run->run.steps.steady_count());
  CHECK(found.loss.lost->Total() == steps * (965_us - (19 - 12) * 2_us));
  REQUIRE(found.loss.remedy->host_cuts.size() == 1);
  CHECK(found.loss.remedy->host_cuts[0].when.Total() == steps * 965_us);
  // Of five, four are on tensors of one size: three of them are fused into the first.
  const auto& scaled = found.loss.remedy->scaled_ops;
  CHECK(static_cast<Nanos>(scaled.size()) == steps * 4 * 3);
  CHECK(scaled.front().second == Approx(0.15));
}

TEST_CASE("a few operations are the log of a step, and large programs are what is wanted") {
  const Analyzed few(Steps(4));
  CHECK(few->single_operations.programs_per_step == 5);
  CHECK(few->single_operations.loss.count == 0);
  const Analyzed none(Steps(0));
  CHECK(none->single_operations.single_share == 0);
  CHECK(none->single_operations.loss.lost->Total() == 0);
}

TEST_CASE("annotations of XLA name programs, not their compilation") {
  const Analyzed run(Steps(20));
  CHECK(run->host.jit.count == 0);
}

}  // namespace
}  // namespace advise
