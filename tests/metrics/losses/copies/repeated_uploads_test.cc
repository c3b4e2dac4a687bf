// Which uploads are more than a batch.
#include "engine/metrics/losses/copies/repeated_uploads.h"

#include "tests/support/analyzed.h"
#include "tests/support/stories.h"

namespace advise {
namespace {

constexpr int kSteps = 12;
constexpr Nanos kStep = 20'000'000;

// A step of four layers whose weights come on a stream of their own, `upload` each, while a layer
// computes for `compute`; each layer waits for its weights. Launches run far ahead. The first
// layer's weights may lie in other memory than those of the rest, and the last steps may find all
// weights sent.
TraceBuilder Offloaded(Nanos upload, Nanos compute, MemoryKind first = MemoryKind::kPinned,
                       MemoryKind rest = MemoryKind::kPinned,
                       const std::string& step = "train_step", int sending = kSteps) {
  TraceBuilder trace;
  for (int s = 0; s < kSteps; ++s) {
    const Nanos begin = s * kStep;
    trace.Range(step + " " + std::to_string(s), {begin, begin + kStep});
    Nanos link = begin + 10'000, gpu = begin;
    for (int layer = 0; layer < 4; ++layer) {
      const Nanos call = begin + layer * 4'000;
      if (s < sending) {
        trace.OnStream(13).CopyToGpu(64_MiB, layer == 0 ? first : rest, {call, call + 1'000},
                                     {link, link + upload});
        link += upload;
      }
      gpu = std::max(gpu, link) + 2'000;
      trace.OnStream(7).Launch("layer", {call + 2'000, call + 3'000}, {gpu, gpu + compute});
      gpu += compute;
    }
  }
  return trace;
}

// A batch in `pieces` that the step is computed from when all have come; and perhaps one more
// upload of another size, on a stream of its own.
TraceBuilder Fed(int pieces, bool batch_beside, const char* name,
                 const std::string& step = "train_step") {
  TraceBuilder trace;
  for (int s = 0; s < kSteps; ++s) {
    const Nanos begin = s * kStep;
    trace.Range(step + " " + std::to_string(s), {begin, begin + kStep});
    Nanos at = begin + 10'000;
    for (int piece = 0; piece < pieces; ++piece) {
      const Nanos call = begin + piece * 4'000;
      trace.OnStream(7).CopyToGpu(1_MiB, MemoryKind::kPinned, {call, call + 1'000},
                                  {at, at + 100'000});
      at += 101'000;
    }
    const Nanos call = begin + 600'000;
    trace.Launch(name, {call, call + 3'000}, {at, at + 9'000'000});
    if (!batch_beside) continue;
    trace.OnStream(13).CopyToGpu(64_MiB, MemoryKind::kPinned, {call + 4'000, call + 5'000},
                                 {at + 1'000'000, at + 4'000'000});
  }
  return trace;
}

// A frame comes in eight parts on a stream of its own, the next one while this one is filtered, and
// the result leaves on a third stream. `result`: its bytes.
TraceBuilder Streamed(std::int64_t result, const char* step) {
  TraceBuilder trace;
  for (int s = 0; s < kSteps; ++s) {
    const Nanos begin = s * kStep;
    trace.Range(std::string(step) + " " + std::to_string(s), {begin, begin + kStep});
    for (int part = 0; part < 8; ++part) {
      const Nanos call = begin + part * 500, at = begin + 10'000 + part * 740'000;
      trace.OnStream(13).CopyToGpu(8_MiB, MemoryKind::kPinned, {call, call + 400},
                                   {at, at + 730'000});
    }
    trace.OnStream(7).Launch("filter3d", {begin + 5'000, begin + 8'000},
                             {begin + 6'002'000, begin + 14'000'000});
    trace.OnStream(14).CopyFromGpu(result, MemoryKind::kPinned, {begin + 9'000, begin + 12'000},
                                   {begin + 14'002'000, begin + 18'000'000});
  }
  return trace;
}

TEST_CASE("uploads whose results go back on another stream are new each time") {
  CHECK(Analyzed(Streamed(16_MiB, "iteration"))->copies.repeated.count == 0);
  // A residual tells nothing of the upload.
  CHECK(Analyzed(Streamed(8, "iteration"))->copies.repeated.per_step == 8);
}

// Each request moves a model of 20 tensors of two sizes to the GPU, computes, and moves it back.
TEST_CASE("a model that comes and goes with each request is uploaded again and again") {
  TraceBuilder trace;
  for (int s = 0; s < kSteps; ++s) {
    const Nanos begin = s * kStep;
    trace.Range("request " + std::to_string(s), {begin, begin + kStep});
    trace.OnStream(7);
    for (int i = 0; i < 20; ++i) {
      const Nanos at = begin + i * 300'000;
      const std::int64_t bytes = i % 2 == 0 ? 1_MiB : 4_MiB;
      trace.CopyToGpu(bytes, MemoryKind::kPageable, {at, at + 290'000}, {at + 5'000, at + 285'000});
      const Nanos back = begin + 10'000'000 + i * 300'000;
      trace.CopyFromGpu(bytes, MemoryKind::kPageable, {back, back + 290'000},
                        {back + 5'000, back + 285'000});
    }
    trace.Launch("encode", {begin + 6'100'000, begin + 6'110'000},
                 {begin + 6'120'000, begin + 9'000'000});
  }
  CHECK(Analyzed(trace)->copies.repeated.per_step == 20);
}

// A solver sends a table in eight pieces in each step. Two halos leave from a stream of their own,
// are exchanged by the host, come back there, and are unpacked.
TraceBuilder TableBesideHalo() {
  TraceBuilder trace;
  for (int s = 0; s < kSteps; ++s) {
    const Nanos begin = s * kStep;
    trace.Range("iteration " + std::to_string(s), {begin, begin + kStep});
    trace.OnStream(7);
    for (int piece = 0; piece < 8; ++piece) {
      const Nanos call = begin + piece * 4'000, at = begin + 10'000 + piece * 101'000;
      trace.CopyToGpu(1_MiB, MemoryKind::kPinned, {call, call + 1'000}, {at, at + 100'000});
    }
    trace.Launch("relax", {begin + 40'000, begin + 43'000}, {begin + 900'000, begin + 9'000'000});
    trace.OnStream(14);
    for (int halo = 0; halo < 2; ++halo) {
      const Nanos call = begin + 50'000 + halo * 4'000, at = begin + 9'010'000 + halo * 190'000;
      trace.CopyFromGpu(2_MiB, MemoryKind::kPinned, {call, call + 3'000}, {at, at + 190'000});
    }
    trace.Sync({begin + 60'000, begin + 9'405'000});
    for (int halo = 0; halo < 2; ++halo) {
      const Nanos call = begin + 9'600'000 + halo * 2'000, at = begin + 9'610'000 + halo * 190'000;
      trace.CopyToGpu(2_MiB, MemoryKind::kPinned, {call, call + 1'000}, {at, at + 190'000});
    }
    trace.Launch("unpack", {begin + 9'605'000, begin + 9'608'000},
                 {begin + 10'000'000, begin + 10'100'000});
  }
  return trace;
}

TEST_CASE("a halo that comes and goes answers no other upload") {
  const Analyzed run(TableBesideHalo());
  CHECK(run->copies.repeated.per_step == 8);
}

// Observations of a simulation go up, what it is to do next comes down, before the next ones are
// known: 20 times a step, before the step computes for long. `answer`: bytes.
TraceBuilder Played(std::int64_t answer) {
  TraceBuilder trace;
  for (int s = 0; s < kSteps; ++s) {
    const Nanos begin = s * kStep;
    trace.Range("train_step " + std::to_string(s), {begin, begin + kStep});
    Nanos at = begin;
    for (int i = 0; i < 20; ++i) {
      trace.OnStream(7).CopyToGpu(128_KiB, MemoryKind::kPageable, {at, at + 20'000},
                                  {at + 5'000, at + 18'000});
      trace.Launch("policy", {at + 21'000, at + 25'000}, {at + 27'000, at + 60'000});
      trace.CopyFromGpu(answer, MemoryKind::kPageable, {at + 26'000, at + 66'000},
                        {at + 62'000, at + 64'000});
      at += 200'000;
    }
    trace.Launch("learn", {at, at + 4'000}, {at + 6'000, at + 15'000'000});
  }
  return trace;
}

TEST_CASE("what is answered each time, many times per step, is new each time") {
  CHECK(Analyzed(Played(2048))->copies.repeated.count == 0);
  CHECK(Analyzed(Played(256))->copies.repeated.count == 0);
  // A single number is no answer.
  CHECK(Analyzed(Played(8))->copies.repeated.per_step == 20);
}

TEST_CASE("layers that each wait for their weights are offloaded, few as they may be") {
  const Analyzed run(Offloaded(4'000'000, 700'000));
  CHECK(run->copies.repeated.per_step == 4);
  CHECK(run->copies.repeated_memory == "pinned");
  // All but what the compute of the layer before hides.
  const Nanos bare = 4 * 4'000'000 - 3 * 700'000;
  CHECK(static_cast<double>(run->copies.repeated.lost->Total()) ==
        Approx(static_cast<double>(run->run.steps.steady_count() * bare)).epsilon(0.15));
}

// In each step of 20 ms a batch comes, and then four tensors of one size. Each takes 1 ms and is
// computed on for `compute`. Behind them, the GPU computes for 12 ms.
TraceBuilder FewLayers(Nanos compute) {
  TraceBuilder trace;
  for (int s = 0; s < kSteps; ++s) {
    const Nanos begin = s * kStep;
    trace.Range("train_step " + std::to_string(s), {begin, begin + kStep});
    Nanos gpu = begin + 10'000;
    const auto upload = [&](int i, std::int64_t bytes) {
      const Nanos call = begin + i * 4'000;
      trace.OnStream(13).CopyToGpu(bytes, MemoryKind::kPinned, {call, call + 1'000},
                                   {gpu, gpu + 1'000'000});
      gpu += 1'002'000;
      const Nanos end = gpu + (i == 4 ? 12'000'000 : compute);
      trace.OnStream(7).Launch("layer", {call + 2'000, call + 3'000}, {gpu, end});
      gpu = i == 4 ? end : gpu + compute / 2;  // the next one comes beside the rest of the layer
    };
    upload(0, 20_MiB);
    for (int i = 1; i < 5; ++i) upload(i, 24_MiB);
  }
  return trace;
}

TEST_CASE("a few uploads of one size that feed one layer after the other are no batch") {
  const Analyzed run(FewLayers(200'000));
  CHECK(run->copies.repeated.per_step == 4);  // without the batch
  // Parts of a batch, on each of which more is computed.
  CHECK(Analyzed(FewLayers(700'000))->copies.repeated.count == 0);
}

TEST_CASE("what a step put away before comes back: it is no constant") {
  // Activations of four layers leave in the forward pass, and return, the last one first.
  const auto trained = [](bool away) {
    TraceBuilder trace;
    for (int s = 0; s < kSteps; ++s) {
      const Nanos begin = s * kStep;
      trace.Range("train_step " + std::to_string(s), {begin, begin + kStep});
      Nanos call = begin, gpu = begin + 10'000;
      for (int layer = 0; layer < 8; ++layer) {
        const bool backward = layer >= 4;
        const Interval at = {call, call + 1'000};
        const Interval copy = {gpu, gpu + 1'500'000};
        if (backward) trace.CopyToGpu(64_MiB, MemoryKind::kPinned, at, copy);
        if (!backward && away) trace.CopyFromGpu(64_MiB, MemoryKind::kPinned, at, copy);
        gpu += 1'501'000;
        trace.Launch("layer", {call + 2'000, call + 3'000}, {gpu, gpu + 700'000});
        gpu += 701'000;
        call += 4'000;
      }
    }
    return Analyzed(trace);
  };
  CHECK(trained(false)->copies.repeated.per_step == 4);
  CHECK(trained(true)->copies.repeated.count == 0);
}

TEST_CASE("weights that run ahead of their steps recur, but not those of a first part of the run") {
  const auto sent_in = [](int steps) {
    const auto pinned = MemoryKind::kPinned;
    return Analyzed(Offloaded(4'000'000, 700'000, pinned, pinned, "train_step", steps))
        ->copies.repeated.count;
  };
  CHECK(sent_in(8) == 8 * 4);
  CHECK(sent_in(5) == 0);
}

// Three pieces of a batch, and the weights of eight layers, each sent while the one before
// computes.
TEST_CASE("a batch from other memory than many weights is none of them") {
  const auto told = [](MemoryKind batch) {
    TraceBuilder trace;
    for (int s = 0; s < kSteps; ++s) {
      const Nanos begin = s * kStep;
      trace.Range("train_step " + std::to_string(s), {begin, begin + kStep});
      Nanos link = begin + 10'000;
      for (int piece = 0; piece < 3; ++piece) {
        trace.OnStream(7).CopyToGpu(4_MiB, batch, {link - 5'000, link + 400'000},
                                    {link, link + 400'000});
        link += 410'000;
      }
      for (int layer = 0; layer < 8; ++layer) {
        trace.OnStream(13).CopyToGpu(64_MiB, MemoryKind::kPinned, {link - 8'000, link - 5'000},
                                     {link, link + 2'000'000});
        link += 2'000'000;
        trace.OnStream(7).Launch("layer", {link - 4'000, link - 2'000}, {link, link + 500'000});
      }
    }
    return Analyzed(trace)->copies.repeated.per_step;
  };
  CHECK(told(MemoryKind::kPageable) == 8);
  CHECK(told(MemoryKind::kPinned) == 11);
}

// A batch of four tensors in pinned memory, and three that a collate function makes in pageable
// memory.
TEST_CASE("a batch whose tensors lie in two kinds of memory is no more than that") {
  const auto told = [](MemoryKind three) {
    TraceBuilder trace;
    for (int s = 0; s < kSteps; ++s) {
      const Nanos begin = s * kStep;
      trace.Range("train_step " + std::to_string(s), {begin, begin + kStep});
      Nanos link = begin + 10'000;
      for (int tensor = 0; tensor < 7; ++tensor) {
        trace.OnStream(7).CopyToGpu(tensor < 3 ? 4_MiB : 1_MiB,
                                    tensor < 3 ? three : MemoryKind::kPinned,
                                    {link - 5'000, link + 400'000}, {link, link + 400'000});
        link += 410'000;
      }
      trace.OnStream(7).Launch("layer", {link - 4'000, link - 2'000}, {link, link + 5'000'000});
    }
    return Analyzed(trace)->copies.repeated.per_step;
  };
  CHECK(told(MemoryKind::kPageable) == 0);
  CHECK(told(MemoryKind::kPinned) == 7);
}

// Three uploads before each step, which are done soon.
TEST_CASE("megabytes that come before each token are no input of it") {
  const auto told = [](const char* kernel, std::int64_t bytes) {
    TraceBuilder trace;
    for (int s = 0; s < kSteps; ++s) {
      const Nanos begin = s * kStep;
      trace.Range("step " + std::to_string(s), {begin, begin + kStep});
      Nanos link = begin + 10'000;
      for (int i = 0; i < 3; ++i) {
        trace.OnStream(7).CopyToGpu(bytes, MemoryKind::kPinned, {link - 5'000, link - 2'000},
                                    {link, link + 100'000});
        link += 110'000;
      }
      trace.OnStream(7).Launch(kernel, {link - 4'000, link - 2'000}, {link, link + 5'000'000});
    }
    return Analyzed(trace)->copies.repeated.per_step;
  };
  CHECK(told("paged_attention_v1_kernel", 2_MiB) == 3);
  CHECK(told("paged_attention_v1_kernel", 500'000) == 0);  // indices of its blocks
  CHECK(told("layer", 2_MiB) == 0);                        // a batch
}

TEST_CASE("weights say in which memory they lie, also where they lie in both") {
  const Analyzed pageable(
      Offloaded(4'000'000, 700'000, MemoryKind::kPageable, MemoryKind::kPageable));
  CHECK(pageable->copies.repeated_memory == "pageable");
  const Analyzed mixed(Offloaded(4'000'000, 700'000, MemoryKind::kPageable));
  CHECK(mixed->copies.repeated_memory == "mixed");
}

// A constant or the next frame: nothing tells.
TEST_CASE("few uploads that are computed on for longer than they take tell nothing") {
  const auto repeated = [](const char* step, const char* also) {
    TraceBuilder trace =
        Offloaded(1'000'000, 3'000'000, MemoryKind::kPinned, MemoryKind::kPinned, step);
    trace.OnStream(7).Launch(also, {100'000, 101'000}, {19'000'000, 19'100'000});
    return Analyzed(trace)->copies.repeated.per_step;
  };
  CHECK(repeated("train_step", "layer") == 0);
  CHECK(repeated("iteration", "stencil27_kernel") == 0);
}

// The indices and offsets of 26 tables, or as many matrices: in one go before anything is computed.
TEST_CASE("many small uploads in one go are the pieces of a batch, in two sizes as well") {
  const auto told = [](std::int64_t bytes, const char* also) {
    TraceBuilder trace;
    for (int s = 0; s < kSteps; ++s) {
      const Nanos begin = s * kStep;
      trace.Range("train_step " + std::to_string(s), {begin, begin + kStep});
      Nanos at = begin;
      for (int i = 0; i < 52; ++i, at += 100'000) {
        trace.OnStream(7).CopyToGpu(i % 2 == 0 ? bytes : bytes / 2, MemoryKind::kPageable,
                                    {at, at + 95'000}, {at + 5'000, at + 90'000});
      }
      if (also != nullptr)
        trace.CopyToGpu(12_KiB, MemoryKind::kPinned, {at, at + 2'000}, {at + 3'000, at + 5'000});
      trace.Launch("layer", {at + 4'000, at + 7'000}, {at + 10'000, at + 13'000'000});
    }
    return Analyzed(trace)->copies.repeated.per_step;
  };
  CHECK(told(256_KiB, nullptr) == 0);
  CHECK(told(2_MiB, nullptr) == 52);
  CHECK(told(256_KiB, "a batch beside them") == 52);
}

// While the step before computes, the next batch comes in eight pieces over a slow link; the next
// step waits for the last of them.
TEST_CASE("pieces of a batch that come beside the computing are a batch") {
  TraceBuilder trace;
  for (int s = 0; s < kSteps; ++s) {
    const Nanos begin = s * kStep;
    trace.Range("train_step " + std::to_string(s), {begin, begin + kStep});
    for (int piece = 0; piece < 8; ++piece) {
      const Nanos call = begin + piece * 4'000;
      const Nanos at = begin + 50'000 + piece * 2'400'000;
      trace.OnStream(13).CopyToGpu(8_MiB, MemoryKind::kPinned, {call, call + 1'000},
                                   {at, at + 2'390'000});
    }
    trace.OnStream(7);
    for (int layer = 0; layer < 4; ++layer) {
      const Nanos call = begin + 40'000 + layer * 4'000;
      const Nanos at = begin + 100'000 + layer * 2'000'000;
      trace.Launch(
          layer < 3 ? "layer" : "multi_tensor_apply_kernel<FusedAdamMathFunctor<float, 4>>",
          {call, call + 3'000}, {at, at + 1'990'000});
    }
  }
  CHECK(Analyzed(trace)->copies.repeated.count == 0);
}

// Eight passes of a step, each with a batch of its own and a loss.
TEST_CASE("each pass of accumulated gradients takes a batch") {
  for (const char* loss : {"nll_loss_forward_reduce_cuda_kernel_2d", "layer_end"}) {
    TraceBuilder trace;
    for (int s = 0; s < kSteps; ++s) {
      const Nanos begin = s * kStep;
      trace.Range("train_step " + std::to_string(s), {begin, begin + kStep});
      for (int pass = 0; pass < 8; ++pass) {
        const Nanos call = begin + pass * 20'000;
        const Nanos at = begin + 10'000 + pass * 2'000'000;
        trace.CopyToGpu(8_MiB, MemoryKind::kPinned, {call, call + 1'000}, {at, at + 900'000});
        trace.Launch("layer", {call + 2'000, call + 3'000}, {at + 901'000, at + 1'000'000});
        trace.Launch(loss, {call + 4'000, call + 5'000}, {at + 1'001'000, at + 1'100'000});
        trace.Launch("layer", {call + 6'000, call + 7'000}, {at + 1'101'000, at + 1'200'000});
      }
      const Nanos call = begin + 300'000;
      trace.Launch("multi_tensor_apply_kernel<FusedAdamMathFunctor<float, 4>>",
                   {call, call + 3'000}, {begin + 17'000'000, begin + 17'500'000});
      trace.OnStream(13).CopyToGpu(64_MiB, MemoryKind::kPinned, {call + 4'000, call + 5'000},
                                   {begin + 18'000'000, begin + 18'500'000});
      trace.OnStream(7);
    }
    const bool passes = std::string(loss) != "layer_end";
    CHECK((Analyzed(trace)->copies.repeated.per_step == 0) == passes);
  }
}

// Four large tensors per step, for longer than the step computes: over a link of 1 GB/s beside one
// that is known to be faster they are a batch on a slow link.
TEST_CASE("a batch that takes long because its link is slow is no weights") {
  const auto repeated = [](const char* device) {
    TraceBuilder trace = Offloaded(4'000'000, 700'000);
    trace.Device(device, 108);
    return Analyzed(trace)->copies.repeated.count;
  };
  CHECK(repeated("NVIDIA A100-SXM4-80GB") > 0);  // 64 MiB in 4 ms: 17 GB/s, near its link's rate
  CHECK(repeated("NVIDIA GB200") == 0);          // whose link carries the same in a tenth of it
}

TEST_CASE("a batch in pieces is a batch also where it takes longer than the computing") {
  const char* const kTraining = "multi_tensor_apply_kernel<FusedAdamMathFunctor<float, 4>>";
  TraceBuilder trace;
  for (int s = 0; s < kSteps; ++s) {
    const Nanos begin = s * kStep;
    // The range ends while the pieces of the next step come: half of them lie in the step before.
    trace.Range("train_step " + std::to_string(s), {begin + 6'000'000, begin + 25'000'000});
    for (int piece = 0; piece < 4; ++piece) {
      const Nanos at = begin + piece * 3'000'000;
      trace.OnStream(7).CopyToGpu(64_MiB, MemoryKind::kPinned, {at, at + 1'000},
                                  {at + 2'000, at + 3'000'000});
    }
    const Nanos call = begin + 12'000'000;
    trace.Launch(kTraining, {call, call + 3'000}, {call + 5'000, call + 2'000'000});
  }
  CHECK(Analyzed(trace)->copies.repeated.count == 0);
}

TEST_CASE("the only uploads of a training step are its batch, in however many pieces") {
  const char* const kTraining = "multi_tensor_apply_kernel<FusedAdamMathFunctor<float, 4>>";
  CHECK(Analyzed(Fed(8, false, kTraining))->copies.repeated.count == 0);
  CHECK(Analyzed(Fed(8, true, kTraining))->copies.repeated.per_step >= 8);
  // A solver takes no batches.
  CHECK(Analyzed(Fed(8, false, "stencil27_kernel", "iteration"))->copies.repeated.per_step == 8);
}

TEST_CASE("what a range of transfers sends after data was loaded is the batch") {
  const auto repeated = [](bool loads, Nanos sends_for) {
    TraceBuilder trace = Fed(8, true, "multi_tensor_apply_kernel<FusedAdamMathFunctor<float, 4>>");
    for (int s = 0; s < kSteps; ++s) {
      const Nanos begin = s * kStep;
      if (loads) trace.Range("load_batch", {begin - 100'000, begin - 1'000});
      trace.Range("to_device", {begin, begin + sends_for});
    }
    return Analyzed(trace)->copies.repeated.per_step;
  };
  CHECK(repeated(true, 32'000) == 0);
  CHECK(repeated(false, 32'000) == 9);
  // Outside of the range, seven of them are weights still.
  CHECK(repeated(true, 4'000) == 8);
}

}  // namespace
}  // namespace advise
