// Calls of MPI: idle time in them goes to late ranks, to the transfer, or to small messages; copies
// that only feed MPI are told from those that the host works on.
#include "engine/metrics/losses/ranks/mpi_waits.h"
#include "tests/support/analyzed.h"

namespace advise {
namespace {

// One step of a solver: a kernel, an exchange with `bytes` each way that ends `waited` after the
// kernel, the next kernel.
TraceBuilder& ExchangeAt(TraceBuilder& story, Nanos at, std::int64_t bytes, Nanos waited) {
  return story.Launch("step", {at, at + 5_us}, {at + 10_us, at + 1000_us})
      .Sync({at + 6_us, at + 1000_us})
      .Mpi("MPI_Irecv", {at + 1000_us, at + 1001_us}, -1, bytes, 1)
      .Mpi("MPI_Isend", {at + 1001_us, at + 1002_us}, bytes, -1, 1)
      .Mpi("MPI_Waitall", {at + 1002_us, at + 1002_us + waited});
}

TEST_CASE("the GPU waits for a peer while the launching thread is in MPI") {
  TraceBuilder story;
  ExchangeAt(story, 0, 1_MiB, 898_us).OsCall("poll", {1100_us, 1800_us});
  story.Launch("next", {1900_us, 1905_us}, {1910_us, 3000_us});
  const Analyzed run(story);
  // What MPI does inside (polling) is part of the call.
  CHECK(run.Causes() == "launch 10000, peer_wait 900000");
}

TEST_CASE("what a wait takes beyond the needs of its messages is a late rank") {
  TraceBuilder story;
  ExchangeAt(story, 0, 5'000'000, 3998_us);  // a millisecond at the least rate
  story.Launch("next", {5000_us, 5005_us}, {5010_us, 6000_us});
  const Analyzed run(story);
  const Mpi& mpi = run->mpi;
  // 20 us of latency, 5 us for the second message, 1000 us for the bytes.
  CHECK(mpi.late.lost->Total() == 3998_us - 1025_us);
  CHECK(mpi.transfer.lost->Total() == 1025_us + 2_us);  // with the two calls that start it
  CHECK(mpi.uneven.lost->Total() == 0);
  CHECK(mpi.late.count == 1);
  REQUIRE(mpi.functions.size() == 3);
  CHECK(mpi.functions[0].name == "MPI_Waitall");
  CHECK(mpi.functions[0].idle_ns == Approx(3998_us));
  CHECK(mpi.functions[0].time_ns == 3998e3);
  CHECK(mpi.count == 3);
}

TEST_CASE("each gap in which a rank is late is one event, with all that it waited") {
  TraceBuilder story;
  for (int i = 0; i < 3; ++i) ExchangeAt(story, i * 5_ms, 5'000'000, 3998_us);
  story.Launch("next", {15000_us, 15005_us}, {15010_us, 16000_us});
  const Analyzed run(story);
  CHECK(run->mpi.late.count == 3);
  CHECK(run->mpi.late.time_ns == 3 * (3998e3 - 1025e3));
  CHECK(run->mpi.late.lost->Total() == 3 * (3998_us - 1025_us));
  CHECK(run->mpi.transfer.count == 3);
  CHECK(run->mpi.transfer.time_ns == 3 * 1027e3);
  // Beside the GPU's work messages travel as long as before, and no run is shorter than that.
  CHECK(run->mpi.transfer.remedy->floor_ns == run->mpi.transfer.lost->Total());
}

TEST_CASE("near miss: a wait that ends when its messages can be there is nobody's fault") {
  TraceBuilder story;
  ExchangeAt(story, 0, 5'000'000, 998_us);
  story.Launch("next", {2000_us, 2005_us}, {2010_us, 3000_us});
  const Analyzed run(story);
  CHECK(run->mpi.late.lost->Total() == 0);
  CHECK(run->mpi.transfer.lost->Total() == 1000_us);
}

TEST_CASE("a collective that takes longer than its data needs waits for the last rank") {
  const Analyzed run(TraceBuilder()
                         .Launch("step", {0_us, 5_us}, {10_us, 1000_us})
                         .Sync({6_us, 1000_us})
                         .Mpi("MPI_Allreduce", {1000_us, 3000_us}, 8, 8)
                         .Mpi("MPI_Barrier", {3000_us, 4000_us})
                         .Launch("next", {4000_us, 4005_us}, {4010_us, 5000_us}));
  CHECK(run->mpi.uneven.lost->Total() ==
        3000_us - 25_us - 1_ns - 20_us);  // a nanosecond for 8 bytes
  CHECK(run->mpi.transfer.lost->Total() == 45_us + 1_ns);
  CHECK(run->mpi.late.lost->Total() == 0);
}

TEST_CASE("without sizes, the quick calls of a function tell what it needs") {
  TraceBuilder story;
  for (int i = 0; i < 10; ++i) {
    const Nanos at = i * 10_ms;
    const Nanos waited = i == 5 ? 5000_us : 500_us;
    story.Launch("step", {at, at + 5_us}, {at + 10_us, at + 1000_us})
        .Sync({at + 6_us, at + 1000_us})
        .Mpi("MPI_Recv", {at + 1000_us, at + 1000_us + waited})
        .Launch("rest", {at + 1000_us + waited, at + 1005_us + waited},
                {at + 1010_us + waited, at + 9999_us});
  }
  const Analyzed run(story);
  CHECK(run->mpi.late.lost->Total() == 4500_us);
  CHECK(run->mpi.message_median_bytes == -1);
}

TEST_CASE("small messages to one rank could travel as one") {
  TraceBuilder story;
  story.Launch("step", {0_us, 5_us}, {10_us, 1000_us}).Sync({6_us, 1000_us});
  for (int i = 0; i < 20; ++i) {
    const Nanos at = 1000_us + i * 20_us;
    story.Mpi("MPI_Send", {at, at + 20_us}, 512, -1, i % 2);
  }
  story.Launch("next", {1400_us, 1405_us}, {1410_us, 3000_us});
  const Analyzed run(story);
  CHECK(run->mpi.messages_per_step == 20);
  CHECK(run->mpi.small_per_step == 20);
  CHECK(run->mpi.message_median_bytes == 512);
  CHECK(run->mpi.small.lost->Total() == 18 * 20_us);  // one stays for each of the two
}

TEST_CASE("near miss: large messages do not gain by travelling as one") {
  TraceBuilder story;
  story.Launch("step", {0_us, 5_us}, {10_us, 1000_us}).Sync({6_us, 1000_us});
  for (int i = 0; i < 20; ++i) {
    const Nanos at = 1000_us + i * 20_us;
    story.Mpi("MPI_Send", {at, at + 20_us}, 512_KiB, -1, 0);
  }
  story.Launch("next", {1400_us, 1405_us}, {1410_us, 3000_us});
  const Analyzed run(story);
  CHECK(run->mpi.small.lost->Total() == 0);
  CHECK(run->mpi.small_per_step == 0);
}

// Data goes down, `between` happens, data of the same size goes up.
template <typename Between>
Analyzed DownAndUp(Between between) {
  TraceBuilder story;
  story.Launch("pack", {0_us, 5_us}, {10_us, 100_us})
      .CopyFromGpu(2_MiB, MemoryKind::kPinned, {6_us, 205_us}, {100_us, 200_us}, "cudaMemcpy");
  between(story);
  story.CopyToGpu(2_MiB, MemoryKind::kPinned, {900_us, 1005_us}, {905_us, 1000_us}, "cudaMemcpy")
      .Launch("unpack", {1010_us, 1015_us}, {1020_us, 3000_us});
  return Analyzed(story);
}

TEST_CASE("copies around an exchange of their bytes are staged for MPI, and no round trip") {
  const Analyzed run = DownAndUp([](TraceBuilder& story) {
    story.Mpi("MPI_Sendrecv", {210_us, 890_us}, 2_MiB, 2_MiB, 1);
  });
  CHECK(run->mpi.staged.count == 2);
  CHECK(run->mpi.staged.bytes == Approx(4_MiB));
  CHECK(run->mpi.staged.lost->Total() == 195_us);  // the copies; the message stays
  // Whoever computes while the message travels copies beside that, too.
  CHECK(run->mpi.transfer.remedy->detached_ops.size() == 2);
  // The host still waits for what it sends.
  REQUIRE(run->mpi.staged.remedy->unblocked_calls.size() == 1);
  CHECK(run->run.trace.calls.start[run->mpi.staged.remedy->unblocked_calls[0]] == 900_us);
  CHECK(run->copies.roundtrip.count == 0);
}

TEST_CASE("calls of MPI without sizes stage what goes down and comes up around them") {
  const Analyzed run = DownAndUp([](TraceBuilder& story) {
    story.Mpi("MPI_Isend", {210_us, 215_us}).Mpi("MPI_Waitall", {220_us, 890_us});
  });
  CHECK(run->mpi.staged.count == 2);
  CHECK(run->copies.roundtrip.count == 0);
}

TEST_CASE("what one exchange moved says nothing of the copies around the next") {
  TraceBuilder story;
  for (const Nanos at : {0_us, 4000_us}) {
    const std::int64_t message = at == 0 ? 2_MiB : 1_KiB;
    story.Launch("pack", {at, at + 5_us}, {at + 10_us, at + 100_us})
        .CopyFromGpu(2_MiB, MemoryKind::kPinned, {at + 6_us, at + 205_us},
                     {at + 100_us, at + 200_us}, "cudaMemcpy")
        .Mpi("MPI_Sendrecv", {at + 210_us, at + 890_us}, message, message, 1)
        .CopyToGpu(2_MiB, MemoryKind::kPinned, {at + 900_us, at + 1005_us},
                   {at + 905_us, at + 1000_us}, "cudaMemcpy")
        .Launch("unpack", {at + 1010_us, at + 1015_us}, {at + 1020_us, at + 3000_us});
  }
  CHECK(Analyzed(story)->mpi.staged.count == 2);
}

TEST_CASE("a transpose that counts the part of each rank stages the whole copies around it") {
  const Analyzed run = DownAndUp([](TraceBuilder& story) {
    story.Mpi("MPI_Alltoall", {210_us, 890_us}, 512_KiB, 512_KiB);
  });
  CHECK(run->mpi.staged.count == 2);
}

TEST_CASE("a range that names the exchange tells it as well") {
  for (const bool named : {true, false}) {
    const Analyzed run = DownAndUp([named](TraceBuilder& story) {
      story.Range(named ? "halo_exchange" : "boundary", {210_us, 890_us});
    });
    CHECK(run->copies.roundtrip.count == (named ? 0 : 1));
  }
}

TEST_CASE("where MPI was not recorded, kernels that pack messages tell an exchange") {
  const auto between = [](const std::string& before, const std::string& behind) {
    TraceBuilder story;
    story.Launch(before, {0_us, 5_us}, {10_us, 100_us})
        .CopyFromGpu(2_MiB, MemoryKind::kPinned, {6_us, 205_us}, {100_us, 200_us}, "cudaMemcpy")
        .CopyToGpu(2_MiB, MemoryKind::kPinned, {900_us, 1005_us}, {905_us, 1000_us}, "cudaMemcpy")
        .Launch(behind, {1010_us, 1015_us}, {1020_us, 3000_us});
    const Analyzed run(story);
    return std::pair(run->copies.roundtrip.count, run->stalls.exchange.lost->Total());
  };
  const std::string pack = "pack_halo_kernel(double const*, double*)";
  const auto exchange = std::pair<std::int64_t, Nanos>(0, 695_us);
  const auto round_trip = std::pair<std::int64_t, Nanos>(1, 0);
  CHECK(between(pack, "unpackRecvBufKernel(float3*)") == exchange);
  CHECK(between(pack, "stencil") == round_trip);
  CHECK(between("stencil", pack) == round_trip);
}

TEST_CASE("near miss: without MPI between the two ways it is a round trip") {
  const Analyzed run = DownAndUp([](TraceBuilder& story) {
    story.Mpi("MPI_Comm_rank", {210_us, 211_us}).Mpi("MPI_Barrier", {1100_us, 1200_us});
  });
  CHECK(run->mpi.staged.count == 0);
  CHECK(run->copies.roundtrip.count == 1);
}

TEST_CASE("near miss: MPI that moves a few bytes meanwhile does not move the copies") {
  const Analyzed run = DownAndUp([](TraceBuilder& story) {
    story.Mpi("MPI_Allreduce", {210_us, 890_us}, 8, 8);
  });
  CHECK(run->mpi.staged.count == 0);
}

TEST_CASE("near miss: what the host computes with between copy and message is not only carried") {
  const Analyzed run = DownAndUp([](TraceBuilder& story) {
    story.Mpi("MPI_Recv", {210_us, 300_us}, -1, 2_MiB, 1)
        .Mpi("MPI_Send", {700_us, 800_us}, 2_MiB, -1, 1);
  });
  CHECK(run->mpi.staged.count == 0);
  CHECK(run->copies.roundtrip.count == 0);
}

TEST_CASE("receives may be posted before the data goes down, and results go down with it") {
  TraceBuilder story;
  story.Launch("pack", {0_us, 5_us}, {10_us, 100_us})
      .Mpi("MPI_Irecv", {6_us, 7_us}, -1, 1_MiB, 1)
      .CopyFromGpu(64_MiB, MemoryKind::kPinned, {8_us, 10_us}, {100_us, 3000_us})  // a result
      .CopyFromGpu(1_MiB, MemoryKind::kPinned, {11_us, 12_us}, {3000_us, 3050_us})
      .Sync({13_us, 3060_us})
      .Mpi("MPI_Isend", {3060_us, 3062_us}, 1_MiB, -1, 1)
      .Mpi("MPI_Waitall", {3062_us, 3300_us})
      .CopyToGpu(1_MiB, MemoryKind::kPinned, {3300_us, 3302_us}, {3305_us, 3355_us})
      .Launch("unpack", {3303_us, 3304_us}, {3360_us, 9000_us});
  const Analyzed run(story);
  CHECK(run->mpi.staged.count == 2);
  CHECK(run->mpi.staged.bytes == Approx(2_MiB));
}

// Twenty pieces of 64 KiB each way, each in a call that waits for it: 3 us of copying and 12 us
// until the next. The kernel behind them waits for the last.
TEST_CASE("where sizes of messages are unknown, no more is staged up than went down") {
  const auto staged = [](std::int64_t received) {
    TraceBuilder story;
    story.Launch("pack", {0_us, 5_us}, {10_us, 100_us})
        .CopyFromGpu(2_MiB, MemoryKind::kPinned, {6_us, 205_us}, {100_us, 200_us}, "cudaMemcpy")
        .Mpi("MPI_Waitall", {210_us, 890_us}, -1, received);
    for (Nanos at = 900_us; at < 1300_us; at += 110_us)  // the halo, and three tables
      story.CopyToGpu(2_MiB, MemoryKind::kPinned, {at, at + 105_us}, {at + 5_us, at + 100_us},
                      "cudaMemcpy");
    return Analyzed(story.Launch("unpack", {1400_us, 1405_us}, {1410_us, 3000_us}))->mpi.staged;
  };
  CHECK(staged(-1).bytes == Approx(4_MiB));
  CHECK(staged(6_MiB).bytes == Approx(8_MiB));
}

TEST_CASE("pieces that are staged one by one cost the pauses between them as well") {
  TraceBuilder story;
  story.Launch("pack", {0_us, 5_us}, {10_us, 100_us});
  const auto pieces = [&](Nanos from, bool down) {
    for (int i = 0; i < 20; ++i) {
      const Nanos at = from + i * 15_us;
      const Interval call{at, at + 12_us}, copy{at + 5_us, at + 8_us};
      if (down) {
        story.CopyFromGpu(64_KiB, MemoryKind::kPinned, call, copy, "cudaMemcpy");
      } else {
        story.CopyToGpu(64_KiB, MemoryKind::kPinned, call, copy, "cudaMemcpy");
      }
    }
  };
  pieces(100_us, true);
  story.Mpi("MPI_Sendrecv", {400_us, 450_us}, 20 * 64_KiB, 20 * 64_KiB, 1);
  pieces(455_us, false);
  story.Launch("unpack", {760_us, 765_us}, {770_us, 3000_us});
  const Analyzed run(story);
  CHECK(run->mpi.staged.count == 40);
  CHECK(run->mpi.staged.lost->Total() == 2 * (20 * 3_us + 19 * 12_us));
  CHECK(run->replay().Gain(*run->mpi.staged.remedy) > 2 * 19 * 14_us);
}

TEST_CASE("files that MPI writes are file input and output, not waiting for a peer") {
  const Analyzed run(TraceBuilder()
                         .Launch("step", {0_us, 5_us}, {10_us, 1000_us})
                         .Sync({6_us, 1000_us})
                         .Mpi("MPI_File_write_all", {1000_us, 5000_us}, 1_MiB)
                         .Launch("next", {5000_us, 5005_us}, {5010_us, 6000_us}));
  CHECK(run.Causes() == "file_io 4000000, launch 10000");
  CHECK(run->input.loss.lost->Total() == 0);  // what is written is no data that the GPU waits for
  CHECK(run->mpi.file.lost->Total() == 4000_us);
  CHECK(run->mpi.late.lost->Total() == 0);
}

TEST_CASE("a run without MPI loses nothing to it") {
  const Analyzed run(TraceBuilder().Launch("step", {0_us, 5_us}, {10_us, 1000_us}));
  CHECK(run->mpi.count == 0);
  CHECK(run->mpi.late.lost->Total() == 0);
  CHECK(run->mpi.staged.count == 0);
}

}  // namespace
}  // namespace advise
