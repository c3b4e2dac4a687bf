// Passes of compiled pieces, on stories whose numbers add up by hand.
#include "engine/metrics/losses/operators/graph_breaks.h"

#include "tests/support/loops.h"
#include "tests/support/operator_story.h"

namespace advise {
namespace {

// Twelve steps of 1 ms: pieces of 20 us, each with a kernel of 10 us, every 100 us. `name(i)`: of
// the piece at place i.
template <typename F>
GraphBreaks Pieces(int pieces, F name) {
  OperatorStory s;
  Repeat(12, 1_ms, [&](int step, Nanos at) {
    s.story.Range("step " + std::to_string(step), {at, at + 990_us});
    for (int i = 0; i < pieces; ++i) {
      const Nanos start = at + i * 100_us;
      s.operators.push_back({name(i), {start, start + 20_us}});
      s.story.Launch("triton_poi_fused_add_0", {start + 2_us, start + 6_us},
                     {start + 10_us, start + 20_us});
    }
  });
  return s.Analyze().graph_breaks.Get();
}

std::string Piece(int i) { return "Torch-Compiled Region: " + std::to_string(i) + "/0"; }

TEST_CASE("between the pieces of a pass the GPU waits for Python") {
  const GraphBreaks breaks = Pieces(6, Piece);
  CHECK(breaks.pieces == 6);
  CHECK(breaks.loss.per_step == 5);
  // 90 us between two kernels, of which 80 us pass before the next piece begins.
  CHECK(breaks.loss.lost->Total() == Approx(breaks.loss.count * 80_us).epsilon(0.03));
}

TEST_CASE("a layer that was compiled by itself is no piece of a pass") {
  const GraphBreaks breaks = Pieces(6, [](int) { return Piece(0); });
  CHECK(breaks.loss.count == 0);
  CHECK(breaks.pieces == 1);
}

TEST_CASE("what is compiled anew is the same piece") {
  const GraphBreaks breaks =
      Pieces(2, [](int i) { return "Torch-Compiled Region: 0/" + std::to_string(i); });
  CHECK(breaks.loss.count == 0);
}

}  // namespace
}  // namespace advise
