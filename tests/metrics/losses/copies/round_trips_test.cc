// Data that a GPU sends to the host and gets back.
#include "engine/metrics/losses/copies/round_trips.h"

#include "tests/support/analyzed.h"

namespace advise {
namespace {

// In each step of 9 ms three arrays of 32 MB go up, three loops compute, and the arrays come down;
// the host waits for all three at once, and does nothing before they go up again.
TraceBuilder NoDataRegion(const char* kernel, int back = 3) {
  TraceBuilder story;
  Nanos at = 0;
  for (int step = 0; step < 30; ++step) {
    Nanos gpu = at + 10'000;
    for (int i = 0; i < 3; ++i, gpu += 1'300'000)
      story.CopyToGpu(32'000'000, MemoryKind::kPageable, {at + i * 4'000, at + i * 4'000 + 3'000},
                      {gpu, gpu + 1'298'000});
    story.Sync({at + 12'000, gpu});
    at = gpu;
    for (int i = 0; i < 3; ++i, at += 320'000) {
      story.Launch(kernel, {at, at + 5'000}, {at + 6'000, at + 310'000});
      story.Sync({at + 6'000, at + 312'000});
    }
    gpu = at + 6'000;
    for (int i = 0; i < back; ++i, gpu += 1'300'000)
      story.CopyFromGpu(32'000'000, MemoryKind::kPageable, {at + i * 4'000, at + i * 4'000 + 3'000},
                        {gpu, gpu + 1'298'000});
    story.Sync({at + 12'000, gpu});
    at = gpu + 3'000;
  }
  return story;
}

TEST_CASE("loops of a directive get back what those before them left, though nothing changed it") {
  for (const char* kernel : {"main_78_gpu", "nvkernel_main_F1L78_2"}) {
    INFO(kernel);
    const Analyzed run(NoDataRegion(kernel));
    CHECK(run->copies.roundtrip.count == 29 * 3);
    CHECK(run->copies.roundtrip_by_directives);
    // All copies but the first uploads and the last downloads.
    CHECK(run->copies.roundtrip.lost->Total() / 10'000'000 == 29 * 3 * 2 * 1298 / 10'000);
  }
  // The next piece of a stream.
  const Analyzed stream(NoDataRegion("filter"));
  CHECK(stream->copies.roundtrip.count == 0);
  CHECK_FALSE(stream->copies.roundtrip_by_directives);
}

TEST_CASE(
    "arrays that a loop of a directive only reads stay on the GPU with those that it changes") {
  const Analyzed run(NoDataRegion("main_78_gpu", 1));
  // Of 30 steps all but the first go up and all but the last come down.
  CHECK(run->copies.roundtrip.lost->Total() / 10'000'000 == 29 * 4 * 1298 / 10'000);
}

// In each step three arrays go up, one after the other: before each copy the runtime fills its
// buffer. A loop computes, and one array comes down.
TEST_CASE("the time in which a runtime fills its buffers goes with the arrays that it sends") {
  const auto lost = [](Nanos filling) {
    TraceBuilder story;
    Nanos at = 0;
    for (int step = 0; step < 30; ++step) {
      for (int i = 0; i < 3; ++i, at += filling + 1_ms)
        story.CopyToGpu(16'000'000, MemoryKind::kPinned, {at, at + 4_us}, {at + 6_us, at + 1_ms});
      story.Sync({at - filling - 900_us, at - filling + 2_us});
      story.Launch("main_78_gpu", {at, at + 5_us}, {at + 6_us, at + 300_us});
      story.Sync({at + 6_us, at + 302_us});
      story.CopyFromGpu(16'000'000, MemoryKind::kPinned, {at + 310_us, at + 314_us},
                        {at + 316_us, at + 1316_us});
      story.Sync({at + 315_us, at + 1318_us});
      at += 1330_us;
    }
    return Analyzed(story)->copies.roundtrip.lost->Total();
  };
  CHECK((lost(1_ms + 10_us) - lost(10_us)) / 1_ms == 29 * 2);
}

TEST_CASE("an upload at the end of a step's range is of that step, where the GPU begins it") {
  // Steps of 20 ms: 10 ms of work, 8 MB that the host gets and changes for 5 ms. The call that
  // sends it back ends with the step, and the GPU copies 2 us later.
  TraceBuilder story;
  for (int step = 0; step < 8; ++step) {
    const Nanos at = step * 20_ms;
    story.Range("step " + std::to_string(step), {at, at + 20_ms});
    story.Launch("simulate", {at + 5_us, at + 10_us}, {at + 1_ms, at + 11_ms});
    story.CopyFromGpu(8'000'000, MemoryKind::kPinned, {at + 12_us, at + 15_us},
                      {at + 11_ms, at + 12_ms});
    story.Sync({at + 20_us, at + 12_ms});
    story.CopyToGpu(8'000'000, MemoryKind::kPinned, {at + 20_ms - 5_us, at + 20_ms - 1_us},
                    {at + 20_ms + 2_us, at + 20_ms + 500_us});
  }
  CHECK(Analyzed(story)->copies.roundtrip.count >= 7);
}

TEST_CASE("what the forward pass sends and the backward pass gets back are activations") {
  // Steps of 40 ms: four layers that each send 16 MB, and get them back in reverse order.
  const auto share = [](const char* back) {
    TraceBuilder story;
    for (int step = 0; step < 8; ++step) {
      Nanos at = step * 40_ms;
      for (int layer = 0; layer < 4; ++layer, at += 4_ms) {
        story.Thread("main").Launch("forward", {at, at + 5_us}, {at + 10_us, at + 2_ms});
        story.CopyFromGpu(16'000'000 + layer * 4096, MemoryKind::kPageable,
                          {at + 10_us, at + 3_ms + 600_us}, {at + 2_ms, at + 3_ms + 500_us});
      }
      for (int layer = 4; layer-- > 0; at += 4_ms) {
        story.Thread(back).CopyToGpu(16'000'000 + layer * 4096, MemoryKind::kPageable,
                                     {at, at + 1_ms + 600_us}, {at + 10_us, at + 1_ms + 500_us});
        story.Thread(back).Launch("backward", {at + 1_ms + 600_us, at + 1_ms + 610_us},
                                  {at + 1_ms + 620_us, at + 4_ms});
      }
    }
    const Analyzed run(story);
    CHECK(run->copies.roundtrip.count >= 28);
    return run->copies.roundtrip_activations;
  };
  CHECK(share("pt_autograd_0") == 1);
  CHECK(share("main") == 0);
}

TEST_CASE("Numba copies the arrays of the host there and back at each call") {
  const char* kernel = "cudapy::__main__::heat[abi:v1,cw51](Array<double, 2, C, mutable, aligned>)";
  CHECK(Analyzed(NoDataRegion(kernel))->copies.roundtrip.count == 29 * 3);
}

TEST_CASE("what goes down and up without being worked on passes through the host") {
  // 40 times the weights of a model, piece by piece, and then kernels; or a kernel on each piece.
  const auto story = [](bool works) {
    TraceBuilder builder;
    Nanos at = 0;
    for (int phase = 0; phase < 4; ++phase) {
      for (int piece = 0; piece < 10; ++piece) {
        builder.CopyFromGpu(12'000'000, MemoryKind::kPageable, {at, at + 1'300'000},
                            {at + 2'000, at + 1'299'000});
        at += 1'310'000;
        builder.CopyToGpu(12'000'000, MemoryKind::kPageable, {at, at + 1'300'000},
                          {at + 2'000, at + 1'299'000});
        at += 1'310'000;
        if (works) builder.Launch("filter", {at, at + 5'000}, {at + 6'000, at + 300'000});
        at += works ? 300'000 : 0;
      }
      for (int i = 0; i < 20; ++i, at += 1'000'000)
        builder.Launch("gemm", {at, at + 5'000}, {at + 6'000, at + 1'000'000});
    }
    return builder;
  };
  CHECK(Analyzed(story(false))->copies.roundtrip.count == 40);
  CHECK(Analyzed(story(true))->copies.roundtrip.count == 0);
}

TEST_CASE("one wait for several downloads lets the host change all of them") {
  TraceBuilder story;
  Nanos at = 0;
  for (int step = 0; step < 20; ++step) {
    story.Launch("advance", {at, at + 5'000}, {at + 6'000, at + 2'000'000});
    at += 2'000'000;
    for (int i = 0; i < 3; ++i)
      story.CopyFromGpu(8'000'000, MemoryKind::kPinned, {at + i * 4'000, at + i * 4'000 + 3'000},
                        {at + 10'000 + i * 300'000, at + 10'000 + (i + 1) * 300'000});
    story.Sync({at + 12'000, at + 915'000});
    at += 5'000'000;  // of code
    for (int i = 0; i < 3; ++i)
      story.CopyToGpu(8'000'000, MemoryKind::kPinned, {at + i * 4'000, at + i * 4'000 + 3'000},
                      {at + 10'000 + i * 300'000, at + 10'000 + (i + 1) * 300'000});
    at += 920'000;
  }
  CHECK(Analyzed(story)->copies.roundtrip.count == 20 * 3);
}

// Two GPUs of a process: both bring 8 MB to the host, which waits for them, and both get 8 MB. The
// first of them go up or down.
TEST_CASE("what several GPUs bring down before any of them gets as much goes from one to another") {
  const auto story = [](bool pieces_of_a_stream) {
    TraceBuilder builder;
    Nanos at = 0;
    const auto copy = [&](bool up) {
      for (const std::uint32_t device : {0U, 1U}) {
        builder.OnDevice(device);
        const Interval call{at + device * 4'000, at + device * 4'000 + 3'000};
        const Interval op{at + 10'000, at + 910'000};
        if (up) {
          builder.CopyToGpu(8'000'000, MemoryKind::kPinned, call, op);
        } else {
          builder.CopyFromGpu(8'000'000, MemoryKind::kPinned, call, op);
        }
      }
      if (!up) builder.Sync({at + 12'000, at + 915'000});
      at += 920'000;
    };
    for (int step = 0; step < 20; ++step) {
      if (pieces_of_a_stream) copy(true);
      for (const std::uint32_t device : {0U, 1U}) {
        builder.OnDevice(device).Launch("advance",
                                        {at + device * 4'000, at + device * 4'000 + 3'000},
                                        {at + 10'000, at + 2'000'000});
      }
      at += 2'010'000;
      copy(false);
      if (!pieces_of_a_stream) copy(true);
    }
    return builder;
  };
  const Analyzed exchange(story(false));
  CHECK(exchange->copies.through_host.count == 2 * 20);
  CHECK(exchange->copies.roundtrip.count == 0);
  CHECK(exchange->copies.serial.count == 0);
  const Analyzed stream(story(true));
  CHECK(stream->copies.through_host.count == 0);
  CHECK(stream->copies.serial.count == 4 * 20);
}

}  // namespace
}  // namespace advise
