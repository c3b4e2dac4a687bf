// Runs of like kernels, and blocks that waste lanes, on stories whose numbers add up by hand.
#include "tests/support/analyzed.h"
#include "tests/support/loops.h"

namespace advise {
namespace {

TEST_CASE("the same small product again and again is a train") {
  TraceBuilder story;
  for (Nanos k = 0; k < 10; ++k) {
    story.Launch(kMatrixBf16, {k * 10_us, k * 10_us + 2_us}, {k * 10_us + 3_us, k * 10_us + 8_us});
  }
  const Analyzed run(story);
  CHECK(run->kernel_trains->products.count == 1);
  CHECK(run->kernel_trains->product_kernels == 10);
  CHECK(run->kernel_trains->products.lost->Total() == 9 * 5_us);  // the gaps
  CHECK(run->kernel_trains->products.remedy->vanished_calls.size() == 9);
}

// Ten products of 5 us on 100 SMs, 5 us apart; perhaps each behind a kernel of 1 us.
Nanos LostByProducts(std::uint32_t blocks, const char* between = nullptr) {
  TraceBuilder story;
  Look look;
  look.blocks = blocks;
  for (Nanos k = 0; k < 10; ++k) {
    const Nanos at = k * 10_us;
    if (between != nullptr) story.Launch(between, {at, at + 1_us}, {at + 1_us, at + 2_us});
    story.Launch(kMatrixBf16, {at + 1_us, at + 2_us}, {at + 3_us, at + 8_us}, look);
  }
  return Analyzed(story)->kernel_trains->products.lost->Total();
}

TEST_CASE("small products of a loop run side by side when they are batched") {
  // 20 blocks are on a fifth of the SMs. Half of them are enough for the bandwidth of memory, so
  // that two fifths of the time are left.
  CHECK(LostByProducts(20) == 9 * 5_us + 9 * 3_us);
  // Near misses: what runs between them may prepare the next from the last; and they fill the GPU.
  CHECK(LostByProducts(20, "indexSelectSmallIndex") == 9 * 4_us);
  CHECK(LostByProducts(60) == 9 * 5_us);
  // Layers of a network: each activation makes the input of the next product.
  CHECK(LostByProducts(20, kElementwise) == 0);
}

TEST_CASE("layers of different products are no train, and seven are too few") {
  TraceBuilder layers;
  for (Nanos k = 0; k < 20; ++k) {
    Look look;
    look.blocks = k % 2 == 0 ? 100 : 400;
    layers.Launch(kMatrixBf16, {k * 10_us, k * 10_us + 2_us}, {k * 10_us + 3_us, k * 10_us + 8_us},
                  look);
  }
  CHECK(Analyzed(layers)->kernel_trains->products.count == 0);
  TraceBuilder few;
  for (Nanos k = 0; k < 7; ++k) {
    few.Launch(kMatrixBf16, {k * 10_us, k * 10_us + 2_us}, {k * 10_us + 3_us, k * 10_us + 8_us});
  }
  CHECK(Analyzed(few)->kernel_trains->products.count == 0);
}

TEST_CASE("products of one shape with ever other kernels between them are layers") {
  const auto products = [](bool like) {
    TraceBuilder story;
    for (Nanos k = 0; k < 24; ++k) {
      const Nanos at = k * 20_us;
      story.Launch(kMatrixBf16, {at, at + 2_us}, {at + 3_us, at + 8_us});
      story.Launch(like || k % 2 == 0 ? "indexSelectSmallIndex" : "vectorized_layer_norm_kernel",
                   {at + 10_us, at + 12_us}, {at + 13_us, at + 14_us});
    }
    return Analyzed(story)->kernel_trains->products.count;
  };
  CHECK(products(false) == 0);
  CHECK(products(true) == 1);
}

TEST_CASE("long products are no train however many") {
  TraceBuilder story;
  for (Nanos k = 0; k < 10; ++k) {
    story.Launch(kMatrixBf16, {k * 50_us, k * 50_us + 2_us}, {k * 50_us + 3_us, k * 50_us + 48_us});
  }
  CHECK(Analyzed(story)->kernel_trains->products.count == 0);
}

TEST_CASE("one small kernel with one grid eight times in a row is a loop over pieces") {
  TraceBuilder story;
  for (Nanos k = 0; k < 8; ++k) {
    story.Launch(kElementwise, {k * 10_us, k * 10_us + 2_us}, {k * 10_us + 3_us, k * 10_us + 5_us});
  }
  story.Launch(kMatrixBf16, {80_us, 82_us}, {83_us, 200_us});
  const Analyzed run(story);
  CHECK(run->kernel_trains->repeats.count == 1);
  CHECK(run->kernel_trains->repeat_kernels == 8);
  CHECK(run->kernel_trains->repeats.lost->Total() == 7 * 8_us);
}

// Kernels of 5 us, one every 7 us.
TraceBuilder Pieces(int count, std::uint32_t blocks) {
  TraceBuilder story;
  Look look;
  look.blocks = blocks;
  for (Nanos k = 0; k < count; ++k) {
    story.Launch(kElementwise, {k * 7_us, k * 7_us + 2_us}, {k * 7_us + 2_us, k * 7_us + 7_us},
                 look);
  }
  return story;
}

TEST_CASE("many kernels of one block could run side by side") {
  const Analyzed run(Pieces(200, 1));  // on 100 SMs
  const KernelTrains& trains = run->kernel_trains;
  CHECK(trains.pieces.count == 1);
  CHECK(trains.pieces_mean == 200);
  REQUIRE(trains.pieces.remedy->scaled_ops.size() == 199);
  CHECK(trains.pieces.remedy->scaled_ops[0].second == Approx(0.01));
  CHECK(trains.pieces.lost->Total() == 199 * 7_us);
  const auto left = static_cast<double>(run.Window() - run->replay().Gain(*trains.pieces.remedy));
  CHECK(left == Approx(17e3).margin(3e3));  // one of 5 us, and a hundredth of the others
}

TEST_CASE(
    "systems that three kernels of one block solve are pieces, with what the host reads of each") {
  // A product may be one of them; layers of a model have more blocks.
  const auto systems = [](int count, std::uint32_t blocks) {
    TraceBuilder story;
    Look look;
    look.blocks = blocks;
    for (Nanos k = 0; k < count; ++k) {
      const Nanos at = k * 40_us;
      story.Launch("getf2", {at, at + 4_us}, {at + 5_us, at + 14_us}, look);
      story.Launch("trsm", {at + 4_us, at + 8_us}, {at + 15_us, at + 20_us}, look);
      story.Launch(kMatrixFp32, {at + 8_us, at + 12_us}, {at + 21_us, at + 25_us}, look);
      story.CopyFromGpu(4, MemoryKind::kPageable, {at + 12_us, at + 30_us},
                        {at + 26_us, at + 27_us});
    }
    return story;
  };
  const Analyzed run(systems(150, 1));
  const KernelTrains& trains = run->kernel_trains;
  CHECK(trains.pieces.count == 1);
  CHECK(trains.pieces_mean == 150);
  CHECK(trains.pieces_body == 3);
  const auto left = static_cast<double>(run.Window() - run->replay().Gain(*trains.pieces.remedy));
  CHECK(left < 100e3);  // of 6 ms
  CHECK(Analyzed(systems(150, 50))->kernel_trains->pieces.count == 0);
  CHECK(Analyzed(systems(40, 1))->kernel_trains->pieces.count == 0);
}

TEST_CASE(
    "a few kernels that pack faces in turn are pieces, though none has a long row of its own") {
  const auto faces = [](int rounds, const char* last) {
    TraceBuilder story;
    Look look;
    look.blocks = 4;
    Nanos at = 0;
    for (int k = 0; k < rounds; ++k) {
      for (const char* name : {"pack_x", "pack_y", last}) {
        story.Launch(name, {at, at + 2_us}, {at + 2_us, at + 4_us}, look);
        at += 5_us;
      }
    }
    return story;
  };
  const Analyzed run(faces(40, "pack_z"));
  CHECK(run->kernel_trains->pieces.count == 1);
  CHECK(run->kernel_trains->pieces_body == 3);
  CHECK(Analyzed(faces(10, "pack_z"))->kernel_trains->pieces.count == 0);
  CHECK(Analyzed(faces(40, kMatrixFp32))->kernel_trains->pieces.count == 0);  // of a recurrence
}

TEST_CASE("kernels of many blocks, and few of one block, are no such pieces") {
  for (const TraceBuilder& story : {Pieces(200, 50), Pieces(20, 1)}) {
    const Analyzed run(story);
    CHECK(run->kernel_trains->repeats.count == 1);
    CHECK(run->kernel_trains->pieces.count == 0);
  }
}

TEST_CASE("where each step is one piece, the run of them counts") {
  const Analyzed run(Pieces(200, 1), kAuto);
  CHECK(run->kernel_trains->repeat_kernels >= 150);
}

TEST_CASE("blocks of 48 threads leave a quarter of their lanes empty") {
  Look look;
  look.threads = 48;
  const Analyzed run(
      TraceBuilder().Kernel("stencil", {0_us, 100_us}, look).Kernel("gemm", {100_us, 200_us}));
  CHECK(run->block_shapes->partial_warps.count == 1);
  CHECK(run->block_shapes->partial_warps.lost->Total() == 100_us);
  CHECK(run->block_shapes->partial_warp_waste_ns == Approx(25e3));
  Look few = look;
  few.blocks = 1;  // the grid is the cause then
  CHECK(Analyzed(TraceBuilder().Kernel("serial", {0_us, 100_us}, few))
            ->block_shapes->partial_warps.count == 0);
  REQUIRE(run->block_shapes->partial_warp_rows.size() == 1);
  CHECK(run->block_shapes->partial_warp_rows[0].name == "stencil");
}

// Twelve runs of candidates in each step, each behind a memset of `bytes`.
TraceBuilder Tuned(std::int64_t bytes, bool clears_each) {
  TraceBuilder story;
  Repeat(10, 4_ms, [&](int i, Nanos at) {
    story.Range("step " + std::to_string(i), {at, at + 3900_us});
    for (Nanos k = 0; k < 12; ++k) {
      const Nanos from = at + 20_us + k * 100_us;
      if (clears_each)
        story.Memset(bytes, {from - 15_us, from - 12_us}, {from, from + 60_us});
      else
        story.Launch("fill", {from - 15_us, from - 12_us}, {from, from + 60_us});
      story.Launch(k < 6 ? "triton_red_a" : "triton_red_b", {from - 10_us, from - 6_us},
                   {from + 60_us, from + 100_us});
    }
    story.Launch("gemm", {at + 1500_us, at + 1505_us}, {at + 1600_us, at + 3800_us});
  });
  return story;
}

TEST_CASE("runs of kernels behind memsets of one large size are a search for the fastest form") {
  const Analyzed run(Tuned(256'000'000, true));
  CHECK(run->kernel_tuning.loss.count >= 9);
  CHECK(run->kernel_tuning.runs == 12);
  CHECK(run->kernel_tuning.loss.remedy->scaled_ops.size() % 24 == 0);
  CHECK(run->kernel_tuning.loss.per_step == Approx(1).epsilon(0.15));
  CHECK(Analyzed(Tuned(4'000'000, true))->kernel_tuning.loss.count == 0);  // no cache is so small
  CHECK(Analyzed(Tuned(256'000'000, false))->kernel_tuning.loss.count == 0);
}

}  // namespace
}  // namespace advise
